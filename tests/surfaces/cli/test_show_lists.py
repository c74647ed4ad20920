"""Lists as a person reads them."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from forkwood.domain import limits
from forkwood.domain.act import Act
from forkwood.domain.conversation import Conversation, ConversationUsage
from forkwood.domain.event import KINDS, Event
from forkwood.domain.hit import Hit
from forkwood.domain.message import Origin
from forkwood.domain.model import Usage
from forkwood.domain.response import Branch, NodeShown, Trash
from forkwood.domain.run import Run
from forkwood.domain.settings import Parameters, Profile
from forkwood.surfaces.cli import show_lists
from forkwood.surfaces.cli.glyphs import COLOURED, PLAIN, UNICODE, Pen
from forkwood.tools.ask_user import AskUser
from tests.surfaces.cli.made import graft, message, name

PEN = Pen(glyphs=UNICODE, inks=PLAIN, width=80)
NOW = 10_000_000


def conversation(number: int, title: str = "", **fields: Any) -> Conversation:
    """Conversation NUMBER with what its list line shows."""
    usual: dict[str, Any] = {
        "head": None,
        "model": None,
        "system": None,
        "approvals": "ask",
        "tools_off": (),
        "params": Parameters(),
        "profile": None,
        "usage": ConversationUsage(),
        "created_ms": 0,
        "updated_ms": NOW - 120_000,
        "forked_from": None,
        "tags": (),
        "folder": None,
        "pinned": False,
        "archived": False,
        "hidden": False,
        "project": None,
        "purged": False,
        "titled_by": "rule",
    }
    return Conversation(id=name(number), title=title, **{**usual, **fields})


def test_conversations_have_one_line_each_and_the_current_one_is_marked() -> None:
    found = [conversation(1, "Trees\x1b[2J", model="a:b"), conversation(2, pinned=True, tags=("x",))]
    assert show_lists.draw_conversations(found, name(2), PEN, NOW) == (
        "  00000001  Trees\\x1b[2J  a:b  2 min ago\n● 00000002  untitled  2 min ago  pinned  #x"
    )


def test_a_list_fits_a_narrow_screen_and_is_whole_for_a_program() -> None:
    rows = [conversation(1, title="A title that is longer than the screen is wide", model="some:model-with-a-name")]
    narrow = Pen(glyphs=UNICODE, inks=PLAIN, width=40, wraps=38)
    assert len(show_lists.draw_conversations(rows, None, narrow, NOW)) <= 40
    assert "model-with-a-name" in show_lists.draw_conversations(rows, None, PEN, NOW)


def test_branches_say_where_they_end_and_how() -> None:
    leaf = {"role": "user", "length": 3, "created_ms": NOW}
    found = [
        Branch(leaf=f"{name(7)}~2", node=name(7), text="last\nwords", head=True, hidden=False, **leaf),  # type: ignore[arg-type]
        Branch(leaf=name(4), node=name(4), text="x" * 200, head=False, hidden=True, **leaf),  # type: ignore[arg-type]
    ]
    first, second = show_lists.draw_branches(found, PEN, NOW).split("\n")
    assert first == "00000007~2  last words  3 messages, just now  ◀ @"
    assert len(second) <= 80
    assert second.endswith(", hidden")
    exact = show_lists.draw_branches(found, PEN, NOW, on_path={name(4), name(7)}).split("\n")
    assert [line.split()[0] for line in exact] == ["00000007~2", "00000004~0"]


def test_branches_say_where_each_left_the_path_of_the_head() -> None:
    leaf = {"role": "user", "text": "same", "length": 3, "created_ms": NOW, "hidden": False}
    found = [Branch(leaf=name(at), node=name(at), head=at == 7, **leaf) for at in (7, 4, 3)]  # type: ignore[arg-type]
    left = {name(4): message(2, 1, "words " * 40), name(3): None}
    lines = show_lists.draw_branches(found, PEN, NOW, left_at=left).split("\n")
    assert [line.split()[0] for line in lines] == ["00000007", "00000004", "from", "00000003", "from"]
    assert lines[2].startswith("  from #2 'words words") and lines[2].endswith("…'") and len(lines[2]) <= 80
    assert lines[4] == "  from the beginning"


def test_a_node_is_shown_with_its_place_and_digest() -> None:
    shown = NodeShown(node=message(2, 1, "words"), digest="d" * 64, match_digest="m" * 64)
    lines = show_lists.draw_shown(shown, PEN).split("\n")
    assert lines[:2] == ["you  00000002 #2", "  words"]
    assert lines[-1] == f"path    2 messages, digest {'d' * 64}"
    carried = show_lists.draw_shown(NodeShown(node=graft(3, 2, 9, 4), digest="d", match_digest="m"), PEN)
    assert f"carries 4 messages up to {name(9)}" in carried


def test_a_history_says_who_made_each_version_through_which_door() -> None:
    web = Origin(by="user", via="web")
    drawn = show_lists.draw_history(
        [message(1, None, "old"), message(2, None, "new", revises=name(1), origin=web)], PEN
    )
    first, second = drawn.split("\n\n")
    assert first.startswith("version 1 of 2, ") and first.endswith("  old")
    assert "by user via web" in second and "replaces 00000001" in second
    made = Origin(by="model", via="cli", run=name(9))
    known = show_lists.draw_history([message(1, None, "old", origin=made)], PEN, {name(9): "night\u202ely"})
    assert "by model via cli, asked for by night\\u202ely" in known


def test_hits_are_marked_inside_their_snippet() -> None:
    hit = Hit(
        node=name(1),
        conversation=name(2),
        role="user",
        snippet="a foo\x1b bar",
        hidden=True,
        score=1.0,
        marks=((2, 6),),
        title="My\ntrees",
        created_ms=NOW,
    )
    day = show_lists.moment(NOW)[:10]
    told = f"00000001  user, hidden, {day}, in 00000002 My trees\n  a foo\\x1b bar"
    assert show_lists.draw_hits([hit], PLAIN) == told
    assert "\x1b[1mfoo\\x1b\x1b[0m" in show_lists.draw_hits([hit], COLOURED)
    assert show_lists.draw_hits([], PLAIN) == "Nothing found."
    called = replace(hit, role="assistant", tool="look")
    assert show_lists.draw_hits([called], PLAIN).startswith("00000001  called look, hidden, ")


def test_the_trash_says_how_things_come_back() -> None:
    drawn = show_lists.draw_trash(
        Trash(conversations=(conversation(1, "Old", hidden=True),), nodes=(message(3, 1, "gone", hidden=True),)),
        PEN,
        NOW,
    )
    assert drawn.split("\n") == [
        "conversation  00000001  Old  2 min ago",
        "message  00000003  you  gone  in 00000099",
    ]
    assert show_lists.draw_trash(Trash(conversations=(), nodes=()), PEN, NOW) == "Nothing is hidden."


def run(**fields: Any) -> Run:
    usual: dict[str, Any] = {
        "id": name(1),
        "conversation": name(2),
        "start": name(3),
        "tip": name(4),
        "status": "done",
        "model": "a:b",
        "manifest": None,
        "turns": 1,
        "usage": Usage(input=1200, output=30),
        "error": None,
    }
    return Run(**{**usual, **fields})


def test_runs_say_how_they_ended() -> None:
    assert show_lists.draw_runs([run()], PLAIN) == "00000001  done  a:b  at 00000004  1,200 + 30 tokens"
    failed = run(status="failed", error={"kind": "provider", "message": "no\nserver"}, tip=None)
    assert show_lists.draw_runs([failed], PLAIN).endswith("at the beginning  1,200 + 30 tokens  no server")
    left = show_lists.draw_runs([run(status="running"), run()], PLAIN, left={run().id}).split("\n")
    assert left[0].startswith("00000001  left at work  a:b")
    assert left[0].endswith("forkwood resume 00000001 goes on")
    cut = show_lists.draw_runs([run(), run(id=name(9))], PLAIN, partial={name(9)}).split("\n")
    assert [line.split("  ")[1] for line in cut] == ["done", "done, cut"]
    assert show_lists.draw_runs([], PLAIN) == "There are no runs."


def event(kind: str, **fields: Any) -> Event:
    usual: dict[str, Any] = {"seq": 7, "at_ms": 0, "conversation": None, "run": None, "node": None, "by": "user"}
    return Event(kind=kind, **{**usual, "via": "cli", "payload": {}, **fields})


def test_an_event_is_a_line() -> None:
    line = show_lists.event_line(event("message.sent", node=name(5)), PLAIN)
    assert line.split("  ")[-3:] == ["message.sent", "user via cli", "node 00000005"]


@pytest.mark.parametrize("at_ms", [(1 << 63) - 1, limits.time_ms_max + 1, -1, -(1 << 63)])
def test_a_time_that_no_clock_shows_is_shown_as_the_number_it_is(at_ms: int) -> None:
    assert f"no time ({at_ms})" in show_lists.event_line(event("message.sent", at_ms=at_ms), PLAIN)
    assert "no time" not in show_lists.moment(limits.time_ms_max)


@pytest.mark.parametrize("kind", sorted(kind for payload, kind in KINDS.items() if issubclass(payload, Act)))
def test_every_act_that_can_be_undone_has_words(kind: str) -> None:
    undone = event("act.undone", payload={"act": 3, "kind": kind})
    if kind not in {"act.undone", "act.redone"}:
        assert show_lists.act_words(undone) != kind


def test_profiles_say_what_they_set() -> None:
    found = {
        "b": Profile(),
        "a": Profile(model="x:y", params=Parameters(temperature=0.5), tools_off=("t",), system="Be\nbrief"),
    }
    assert show_lists.draw_profiles(found) == "a  x:y  temperature 0.5  without t  Be brief\nb  "
    assert "config.toml" in show_lists.draw_profiles({})


SCHEMAS: tuple[tuple[dict[str, Any], str], ...] = (
    ({"type": "object", "properties": {}}, "{}"),
    (
        {"type": "object", "properties": {"a": {"type": "string"}, "b": {}}, "required": ["a"]},
        "{a: string, b?: anything}",
    ),
    (AskUser.sealed.spec.schema, "{questions: [{text: string, options?: [string]}]}"),
)


@pytest.mark.parametrize(("schema", "words"), SCHEMAS)
def test_a_schema_is_one_line(schema: dict[str, Any], words: str) -> None:
    assert show_lists.shape_words(schema) == words
