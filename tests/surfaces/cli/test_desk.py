"""A desk opens the one door when it is needed and closes what it opened."""

from __future__ import annotations

import os
from pathlib import Path

from forkwood.surfaces.cli.desk import Call, Desk
from tests.surfaces.cli.desks import terminal, written


def call(desk: Desk, *, as_json: bool = False, conversation: str | None = None) -> Call:
    return Call(desk, conversation=conversation, key=None, as_json=as_json)


def test_a_command_that_needs_no_store_makes_none(home: Path) -> None:
    with Desk(terminal(**os.environ)) as desk:  # type: ignore[arg-type]
        assert desk.settings.home == str(home)
        assert not home.exists()
        assert desk.runtime is desk.runtime
        assert (home / "forkwood.db").exists()


def test_the_conversation_named_counts_before_the_desks() -> None:
    desk = Desk(terminal(), conversation="of the desk")
    assert (call(desk).conversation, call(desk).named) == ("of the desk", None)
    assert (call(desk, conversation="named").conversation, call(desk, conversation="named").named) == ("named", "named")


def test_json_stands_alone_and_words_go_where_they_belong() -> None:
    as_json, in_words = Desk(terminal()), Desk(terminal())
    for desk, json in ((as_json, True), (in_words, False)):
        call(desk, as_json=json).give({"a": 1}, lambda: "one")
        call(desk, as_json=json).give(None, lambda: "")
        call(desk, as_json=json).remark("by the way")
    assert (written(as_json.terminal.out), written(as_json.terminal.err)) == ('{"a":1}\nnull\n', "")
    assert (written(in_words.terminal.out), written(in_words.terminal.err)) == ("one\n", "by the way\n")


def test_a_result_is_broken_between_words_on_a_screen_alone() -> None:
    for here, said in (
        (terminal(is_screen=True, COLUMNS="9"), "one two\nthree\n"),
        (terminal(COLUMNS="9"), "one two three\n"),
    ):
        call(Desk(here)).give({}, lambda: "one two three")
        assert written(here.out) == said


def test_a_notice_names_the_way_as_it_is_given_here(home: Path) -> None:
    with Desk(terminal(**os.environ)) as desk:  # type: ignore[arg-type]
        desk.runtime.house.notices.append("broken\x1b (forkwood doctor tells the damage)")
        desk.terminal.in_chat = True
        desk.tell_notices()
        assert written(desk.terminal.err) == "Notice: broken\\x1b (/doctor tells the damage)\n"
