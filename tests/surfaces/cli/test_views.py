"""How replies that come are shown where no Markdown is drawn."""

from __future__ import annotations

import msgspec
import pytest

from forkwood.domain.watch import Result
from forkwood.surfaces.cli.markdown import MarkdownReply
from forkwood.surfaces.cli.views import Finishing, JsonLines, PlainReply, RepliesInTurn, view_for
from tests.surfaces.cli.desks import terminal, written
from tests.surfaces.cli.made import name
from tests.surfaces.cli.test_markdown import RUN, delta, result, turn_started

LEFT = "A run was left here that is not over (run 00000001): it goes on first, and what had come is kept."


def plain(*seen: object) -> str:
    here = terminal()
    view = PlainReply(here)
    for one in seen:
        view.see(one)  # type: ignore[arg-type]
    view.close()
    return written(here.out)


def test_a_reply_is_its_text_and_a_line_end() -> None:
    assert plain(delta("hel"), delta("lo"), result("hello")) == "hello\n"
    assert plain(result("hello")) == "hello\n"
    assert plain(result("hello\n")) == "hello\n"
    assert plain(result("")) == ""


def test_what_was_missed_follows() -> None:
    assert plain(delta("hel"), result("hello")) == "hello\n"
    assert plain(delta("lo"), result("hello")) == "lo\nhello\n"


def test_parts_are_paragraphs_and_thinking_stays_out() -> None:
    assert plain(delta("hm", "thinking"), delta("a", index=1), delta("b", index=2), result("a\n\nb")) == "a\n\nb\n"


def test_turns_are_apart() -> None:
    assert plain(turn_started(), delta("one"), turn_started(), delta("two"), result("two")) == "one\ntwo\n"


def test_a_reply_cannot_act_on_the_screen() -> None:
    assert plain(delta("\x1b[2J"), result("\x1b[2J")) == "\\x1b[2J\n"


def test_json_lines_are_what_was_seen() -> None:
    here = terminal()
    view = JsonLines(here)
    for seen in (delta("hi"), result("hi")):
        view.see(seen)
    view.close()
    lines = [msgspec.json.decode(line) for line in written(here.out).splitlines()]
    assert lines[0] == {"type": "delta", "run": RUN, "part": "text", "index": 0, "text": "hi"}
    assert lines[1]["type"] == "result"
    assert set(lines[1]) == {"type", "run", "status", "node", "text", "usage", "error"}


def test_several_replies_stand_one_after_another_under_their_models() -> None:
    here = terminal()
    view = RepliesInTurn(here, {RUN: "one:a", name(5): "two:b"})
    for seen in (delta("a"), result("from b", run=name(5), node=name(6)), result("from a")):
        view.see(seen)
    assert written(here.out) == "00000006  two:b\nfrom b\n\n00000002  one:a\nfrom a\n\n"


@pytest.mark.parametrize(
    ("end", "said"),
    (
        (result("one"), "It is done. It is kept as 00000002."),
        (result("", node=None, status="cancelled"), "It is cancelled."),
        (result("on", status="failed", error={"message": "gone\x1b"}), "It failed: gone\\x1b. It is kept as 00000002."),
    ),
)
def test_a_reply_that_is_finished_first_is_said_and_not_shown(end: Result, said: str) -> None:
    here = terminal()
    view = Finishing(here)
    for seen in (delta("on"), delta("e"), end):
        view.see(seen)
    view.close()
    assert written(here.out) == ""
    assert written(here.err) == f"{LEFT}\n{said}\n"


@pytest.mark.parametrize(
    ("is_screen", "as_json", "models", "kind"),
    (
        (True, False, 1, MarkdownReply),
        (False, False, 1, PlainReply),
        (True, True, 1, JsonLines),
        (True, False, 2, RepliesInTurn),
        (False, True, 2, JsonLines),
    ),
)
def test_the_view_fits_the_reader(is_screen: bool, as_json: bool, models: int, kind: type) -> None:
    names = {name(number): "m" for number in range(models)}
    assert isinstance(view_for(terminal(is_screen=is_screen), names, as_json=as_json), kind)


def test_a_dumb_terminal_gets_plain_text() -> None:
    assert isinstance(view_for(terminal(is_screen=True, TERM="dumb"), {RUN: ""}, as_json=False), PlainReply)


def test_several_replies_on_a_screen_are_markdown() -> None:
    here = terminal(is_screen=True, NO_COLOR="1")
    RepliesInTurn(here, {RUN: "one:a", name(5): "two:b"}).see(result("- *item*"))
    shown = written(here.out)
    assert shown.startswith("00000002  one:a\n")
    assert "item" in shown and "*item*" not in shown
