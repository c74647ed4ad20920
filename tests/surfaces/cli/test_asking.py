"""Asked in place: what a person types is an answer, a proposal's number stands for it, and leaving leaves it open."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from forkwood.domain.interaction import Interaction, Question
from forkwood.surfaces.cli import chat
from forkwood.surfaces.cli.asking import Given, ask_all, tell_open, typed
from forkwood.surfaces.cli.desk import Call, Desk
from tests.runtime.askers import Asking, Writer, calls
from tests.runtime.doors import answered, script
from tests.surfaces.cli.desks import given, succeed, terminal, written
from tests.surfaces.cli.scripts import scripted
from tests.surfaces.cli.test_chat_input import READY, Screen
from tests.surfaces.cli.test_show_asked import QUESTIONS, asking


class Person:
    """Types LINES, one for each prompt, then leaves."""

    def __init__(self, *lines: str) -> None:
        self.lines = list(lines)
        self.prompts: list[str] = []

    def __call__(self, prompt: str) -> str | None:
        self.prompts.append(prompt)
        return self.lines.pop(0) if self.lines else None


TYPED: dict[str, tuple[Interaction, tuple[str, ...], Given | None]] = {
    "a yes": (asking(), ("y",), Given(("allow",))),
    "the word": (asking(), (" Allow ",), Given(("allow",))),
    "a no": (asking(), ("n",), Given(("deny",))),
    "for this run": (asking(), ("r",), Given(("allow",), "run")),
    "for this conversation": (asking(), ("c",), Given(("allow",), "conversation")),
    "asked again until it is an answer": (asking(), ("", "what?", "y"), Given(("allow",))),
    "left open": (asking(), (), None),
    "left open later": (asking(), ("hm",), None),
    "a doubt": (asking("doubt"), ("allow", "done"), Given(("done",))),
    "a cut prompt": (asking("doubt", None, call=None), ("go-on",), Given(("go-on",))),
    "a number is a proposal": (asking("question", questions=QUESTIONS), ("2", "so"), Given(("b\nc", "so"))),
    "any text": (asking("question", questions=QUESTIONS), ("", "3", " well "), Given(("3", "well"))),
    "half of it is none": (asking("question", questions=QUESTIONS), ("1",), None),
}


@pytest.mark.parametrize("name", TYPED)
def test_what_is_typed_is_an_answer(name: str) -> None:
    asked, lines, given = TYPED[name]
    assert typed(asked, terminal(), Person(*lines)) == given


def test_each_prompt_says_what_can_be_typed() -> None:
    person = Person("y", "1", "so", "done")
    typed(asking(), terminal(), person)
    typed(
        asking("question", questions=(Question(text="Q\x07?", options=("a\nb",)), Question(text="Why?"))),
        terminal(),
        person,
    )
    typed(asking("doubt"), terminal(), person)
    assert person.prompts == [
        "y: allow, n: deny, r: allow for this run, c: allow for this conversation? ",
        "1: a b  or any text? ",
        "Why? ",
        "retry, done, failed? ",
    ]


@pytest.fixture
def house(home: Path, tmp_path: Path) -> Iterator[Asking]:
    made = Asking(home, Writer("edit"), Writer("build"))
    runtime = made.door()
    model = script(tmp_path, calls("edit", "build"), {"text": "So."})
    assert answered(runtime, runtime.send("Do it", models=[model])).status == "waiting"
    yield made
    made.close()


def test_all_that_waits_is_asked(house: Asking) -> None:
    runtime, screen = house.doors[0], terminal()
    here = runtime.conversation().id
    assert ask_all(runtime, here, screen, Person("c", "n"))
    assert runtime.pending() == []
    assert [one.tool for one in runtime.grants()] == ["edit"]
    told = written(screen.err)
    assert told.count("approval:\n") == 2 and "  build {}\n" in told


def test_leaving_leaves_it_open_and_says_how_it_is_answered_later(house: Asking) -> None:
    runtime, screen = house.doors[0], terminal()
    screen.in_chat = True
    here = runtime.conversation().id
    assert not ask_all(runtime, here, screen, Person("y"))
    assert [one.call.name for one in runtime.pending() if one.call] == ["build"]
    tell_open(runtime, here, screen)
    assert written(screen.err).endswith("It stays open: /pending shows it, /answer answers it.\n")


def test_a_ctrl_c_between_two_prompts_leaves_it_open_as_well(house: Asking) -> None:
    runtime, screen = house.doors[0], terminal()
    first, second = runtime.pending()
    prompts = iter(("what?", None))

    def interrupted(_: str) -> str | None:
        if (typed := next(prompts)) is None:
            raise KeyboardInterrupt
        return typed

    assert not ask_all(runtime, first.conversation, screen, interrupted)
    assert runtime.pending() == [first, second]
    assert "'what?' is no answer to this\n" in written(screen.err)


def test_where_nothing_waits_nothing_is_said_to_stay_open(house: Asking) -> None:
    runtime, screen = house.doors[0], terminal()
    here = runtime.conversation().id
    assert ask_all(runtime, here, screen, Person("y", "n"))
    tell_open(runtime, here, screen)
    assert "stays open" not in written(screen.err)


def test_a_chat_says_that_it_stays_open_however_its_asking_ends(house: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(chat, "_ask_in_place", interrupted)
    with Desk(terminal(is_screen=True, **os.environ)) as desk:  # type: ignore[arg-type]
        assert chat.attend(Call(desk, conversation=None, key=None, as_json=False)) == 130
        assert written(desk.terminal.err).startswith("interrupted\nIt stays open: ")


def test_who_was_slower_is_told_and_asked_for_what_still_waits(house: Asking) -> None:
    runtime, screen = house.doors[0], terminal()
    first, second = runtime.pending()

    def meanwhile(_: str) -> str | None:
        if runtime.pending() == [first, second]:
            house.door("web").answer(first.id, ["deny"])
        return "y"

    assert ask_all(runtime, first.conversation, screen, meanwhile)
    assert (runtime.interaction(first.id).answer, runtime.interaction(second.id).answer) == ("deny", "allow")
    assert "was answered by another word already: deny" in written(screen.err)


SEARCH = {"name": "search_conversations", "arguments": {"words": "tree"}}


def test_a_chat_asks_in_place_and_ctrl_c_leaves_it_open(tmp_path: Path) -> None:
    succeed("new", "--model", scripted(tmp_path, *[{"text": "Hm.", "tool_calls": [SEARCH]}] * 2, {"text": "Fine."}))
    screen = Screen()
    screen.until("/help the rest")
    screen.until(READY)
    screen.type("Look for trees\r")
    screen.until("search_conversations {")
    screen.until("allow for this conversation?")
    screen.type("y\r")
    screen.until("search_conversations {")
    screen.until("allow for this conversation?")
    screen.type("\x03")
    screen.until("It stays open: /pending shows it")
    screen.until(READY)
    screen.type("/answer\r")
    screen.until("search_conversations {")
    screen.until("allow for this conversation?")
    screen.type("\x03")
    screen.until("It stays open: /pending shows it")
    screen.until(READY)
    screen.type("\x04")
    assert screen.end() == 0
    assert [asked["kind"] for asked in given(["pending"])] == ["approval"]
    again = Screen()
    again.until("allow for this conversation?")
    again.type("c\r")
    again.until("Fine.")
    again.until(READY)
    again.type("\x04")
    assert again.end() == 0
    assert [entry["node"]["text"] for entry in given(["path"])][-1] == "Fine."
