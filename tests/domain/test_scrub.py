"""Scrubbing takes every word and leaves the structure."""

from __future__ import annotations

from forkwood import wire
from forkwood.domain.act import ConversationCreated, HeadMoved, LabelMoved, MessageSent, SettingChanged
from forkwood.domain.event import PAYLOADS
from forkwood.domain.run_event import RunEnded, TryFailed
from forkwood.domain.scrub import scrubbed

MARKER = "the seeded marker"
NODE = "0189" * 8


def test_no_word_is_left_and_every_id_is() -> None:
    sent = MessageSent(
        effects=(
            HeadMoved(before=None, after=NODE),
            HeadMoved(before=f"{NODE}~2", after=NODE),
            SettingChanged(key="title", before="", after=MARKER),
            LabelMoved(name=MARKER, before=None, after=NODE),
        ),
        runs=(NODE,),
    )
    left = wire.text(scrubbed(wire.decode(wire.encode(sent), dict)))
    assert MARKER not in left
    assert left.count(NODE) == 5
    assert f"{NODE}~2" in left


def test_a_scrubbed_payload_is_still_one_of_its_kind() -> None:
    for payload in (
        ConversationCreated(effects=(), settings={"system": MARKER}),
        TryFailed(turn=1, number=1, reason="timeout", message=MARKER, wait_ms=None),
        RunEnded(status="failed", error={"message": MARKER, "kind": "provider"}),
    ):
        left = wire.text(scrubbed(wire.decode(wire.encode(payload), dict)))
        assert MARKER not in left
        assert type(wire.decode(left, type(payload))) is type(payload)
        assert type(payload) in PAYLOADS.values()


def test_nodes_in_responses_keep_their_place_alone() -> None:
    node = {"id": NODE, "role": "user", "text": MARKER, "parts": [{"kind": "text", "text": MARKER}], "length": 3}
    assert scrubbed({"node": node}) == {"node": {"id": NODE, "role": "user", "text": "", "parts": [], "length": 3}}
