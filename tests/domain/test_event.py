"""The list of event kinds is whole, and every payload survives its JSON."""

from __future__ import annotations

import pytest
from msgspec import Struct

from forkwood import wire
from forkwood.domain.act import Act, HeadMoved, MarkChanged, MessageSent
from forkwood.domain.event import ACT_KINDS, KINDS, PAYLOADS, NoticeGiven


def test_each_kind_has_its_own_payload() -> None:
    assert len(KINDS) == len(PAYLOADS)
    assert all(kind.count(".") == 1 and kind == kind.lower() for kind in PAYLOADS)


def test_acts_are_the_kinds_whose_payload_has_effects() -> None:
    assert {kind for kind, payload in PAYLOADS.items() if "effects" in payload.__struct_fields__} == ACT_KINDS
    assert "message.sent" in ACT_KINDS
    assert "run.ended" not in ACT_KINDS


@pytest.mark.parametrize(
    "payload",
    [
        MessageSent(effects=(HeadMoved(before=None, after="a~1"), MarkChanged(nodes=("b",), hidden=True)), runs=("c",)),
        NoticeGiven(what="partial", text="cut"),
    ],
    ids=lambda payload: type(payload).__name__,
)
def test_a_payload_is_what_its_json_says(payload: Struct) -> None:
    assert wire.decode(wire.text(payload), type(payload)) == payload
    assert PAYLOADS[KINDS[type(payload)]] is type(payload)


def test_an_act_without_effects_is_still_an_act() -> None:
    assert wire.decode('{"effects":[]}', Act) == Act(effects=())
