"""Scrubbing takes every word and leaves the structure."""

from __future__ import annotations

from typing import Any

import pytest

from forkwood import wire
from forkwood.domain.act import ConversationCreated, HeadMoved, LabelMoved, MessageSent, SettingChanged
from forkwood.domain.event import PAYLOADS, ConversationTitled
from forkwood.domain.run_event import CallAsked, InteractionClosed, ReplyKept, RunEnded, RunStopped, TryFailed
from forkwood.domain.scrub import GONE, OF_FAILURES, forgotten, is_made_of, renamed, scrubbed, titles_in

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


@pytest.mark.parametrize("place", [NODE, f"{NODE}~2", f"{NODE}~"])
def test_a_place_stays_and_words_that_begin_like_one_do_not(place: str) -> None:
    assert scrubbed({"before": place}) == {"before": place}
    assert scrubbed({"before": f"{NODE}~{MARKER}", "after": f"{NODE} {MARKER}"}) == {"before": "", "after": ""}


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


def plain(payload: object) -> dict[str, Any]:
    return wire.decode(wire.encode(payload), dict)


def test_of_an_error_kind_and_reason_are_left() -> None:
    error = {"said": MARKER, "kind": "provider", "message": MARKER, "hint": MARKER, "reason": "refused"}
    due = {"kind": "provider", "reason": "refused", "message": GONE, "hint": ""}
    for payload in (RunEnded(status="failed", error=error), RunStopped(error=error)):
        assert scrubbed(plain(payload))["error"] == due
        assert scrubbed(plain(payload), OF_FAILURES)["error"] == due
    assert scrubbed(plain(RunEnded(status="done")))["error"] is None


def test_a_failed_try_keeps_no_fact_of_the_provider() -> None:
    tried = TryFailed(
        turn=1, number=1, reason="timeout", message=MARKER, wait_ms=None, hint=MARKER, facts={"body": MARKER}
    )
    left = scrubbed(plain(tried), OF_FAILURES)
    assert (left["message"], left["hint"], left["facts"], left["reason"]) == ("", "", {}, "timeout")


@pytest.mark.parametrize(("answer", "left"), [("allow", "allow"), ("go-on", "go-on"), (MARKER, ""), ((MARKER,), [])])
def test_an_answer_stays_where_it_is_no_persons_words(answer: Any, left: Any) -> None:
    closed = InteractionClosed(interaction=NODE, status="answered", answer=answer)
    assert scrubbed(plain(closed))["answer"] == left


def test_a_tool_that_a_model_made_up_loses_its_name() -> None:
    known, unknown = (
        CallAsked(call=name, name=name, effect="read", verdict="allow", after_crash="again", fault=fault)
        for name, fault in (("current_time", None), ("no such tool", f"there is no tool {MARKER}"))
    )
    kept = ReplyKept(turn=1, usage=None, cost=None, finish=None, partial=None, calls=(known, unknown))
    calls = scrubbed(plain(kept))["calls"]
    assert [(call["name"], call["fault"]) for call in calls] == [("current_time", None), ("", "")]


@pytest.mark.parametrize(
    ("title", "is_made"),
    [
        ("on bread", True),
        ("on bread (fork)", True),
        ("on bread (fork) (fork)", True),
        ("on bread (fork 12)", True),
        ("on br… (fork)", True),
        ("on br…", False),
        ("on breadcrumbs", False),
        ("bread", False),
        ("", False),
        (None, False),
        (7, False),
    ],
)
def test_titles_are_known_in_forks_and_not_inside_others(title: Any, is_made: bool) -> None:
    assert is_made_of(title, {"on bread"}) is is_made


@pytest.mark.parametrize(
    ("title", "made_of", "is_made"),
    [
        ("\ufffdon bread", "on bread", True),
        ("o\ufffd bread", "on bread", True),
        ("on bre\ufffd\ufffd (fork)", "on bread", True),
        ("on bread", "\ufffd\ufffdn bread", True),
        ("on\ufffdbread", "\ufffdn bread", True),
        ("on breadcrumb\ufffd", "on bread", False),
        ("on", "\ufffd", False),
        ("\ufffd", "on", False),
    ],
)
def test_titles_are_known_where_damage_garbled_them(title: str, made_of: str, is_made: bool) -> None:
    assert is_made_of(title, {made_of}) is is_made


def test_titles_are_found_where_they_were_given() -> None:
    sent = MessageSent(effects=(SettingChanged(key="title", before="", after="a"), HeadMoved(before=None, after=NODE)))
    created = ConversationCreated(effects=(), settings={"title": "b", "system": "c"})
    titled = ConversationTitled(before="d", after="e", nodes=(NODE,))
    found = [titles_in(plain(payload)) for payload in (sent, created, titled)]
    assert found == [{"a"}, {"b"}, {"e"}]
    assert titles_in(plain(ConversationTitled(before="a person's", after="a person's", nodes=(NODE,)))) == set()


def test_of_what_stays_only_what_is_said_of_what_goes_is_taken() -> None:
    other = "0190" * 8
    response = {
        "node": {"id": other, "at": NODE, "text": "mine", "parts": [{"kind": "text", "text": "mine"}]},
        "replaced": {"id": NODE, "text": MARKER, "parts": [{"kind": "text", "text": MARKER}]},
        "title": f"{MARKER} (fork)",
        "effects": [
            {"effect": "label", "name": MARKER, "before": None, "after": NODE},
            {"effect": "label", "name": "mine", "before": None, "after": other},
            {"effect": "setting", "key": "title", "before": MARKER, "after": "mine"},
        ],
    }
    left = forgotten(response, {NODE}, {MARKER})
    assert left["node"] == response["node"]
    assert left["replaced"] == {"id": NODE, "text": "", "parts": []}
    assert left["title"] == ""
    assert [effect.get("name", effect.get("after")) for effect in left["effects"]] == ["", "mine", "mine"]
    assert MARKER not in wire.text(left)


def test_what_a_conversation_that_goes_was_answered_goes_whole() -> None:
    response = {"conversation": {"id": NODE, "title": MARKER}, "key": "folder", "before": MARKER}
    assert MARKER not in wire.text(forgotten(response, {NODE}, set()))


def test_questions_and_their_proposals_are_words() -> None:
    opened = {"interaction": "i", "questions": [{"text": "Is it Ada?", "options": ["Ada"]}], "about": ""}
    assert scrubbed(opened) == {"interaction": "i", "questions": [{"text": "", "options": []}], "about": ""}


def test_a_call_gets_another_name_wherever_it_stands_and_one_that_is_told_of_does_not() -> None:
    payload = {"calls": [{"call": "a", "name": "x"}], "call": "b", "note": {"call": None}}
    left = {"calls": [{"call": "A", "name": "x"}], "call": "B", "note": {"call": None}}
    assert renamed(payload, str.upper) == left
    told = {"call": {"name": "look", "arguments": {}}}
    assert renamed(told, str.upper) == told


def test_why_a_provider_says_it_ended_is_its_word() -> None:
    kept = ReplyKept(turn=1, usage=None, cost=None, finish=MARKER, partial=None)
    assert scrubbed(plain(kept))["finish"] == ""
