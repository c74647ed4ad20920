"""The chat through a pipe: lines in, replies out, verbs as commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from forkwood.domain import limits
from forkwood.surfaces.cli.app import COMMANDS
from forkwood.surfaces.cli.chat import help_text
from forkwood.surfaces.cli.chat_lines import LEAVING
from tests.surfaces.cli.desks import Ran, given, run_cli, succeed
from tests.surfaces.cli.scripts import echoing, scripted


@pytest.fixture
def model(tmp_path: Path) -> str:
    return echoing(tmp_path)


def chat(*lines: str | bytes, options: tuple[str, ...] = ()) -> Ran:
    typed = b"".join((line if isinstance(line, bytes) else line.encode()) + b"\n" for line in lines)
    return run_cli("chat", *options, stdin=typed)


def texts() -> list[str]:
    return [entry["node"]["text"] for entry in given(["path"])]


def test_lines_are_messages_and_replies_are_all_there_is(model: str) -> None:
    ran = chat("Hello?", "", "And again", options=("--model", model))
    assert (ran.code, ran.out) == (0, "A reply.\nA reply.\n")
    assert texts() == ["Hello?", "A reply.", "And again", "A reply."]


def test_it_begins_by_saying_who_answers_and_why(model: str) -> None:
    ran = chat(options=("--model", model))
    assert f"{model} answers: this conversation says so." in ran.err
    assert "/model NAME changes who answers" in ran.err
    assert "embedded:smollm2 answers: " in chat(options=("--new",)).err


def test_it_goes_on_with_the_current_conversation_unless_told_otherwise(model: str) -> None:
    first = given(["new", "--model", model])["id"]
    chat("Hello?")
    assert len(texts()) == 2
    chat("Hello?", options=("--new", "--model", model))
    assert len(given(["ls"])) == 2
    chat("Again", options=("-c", first))
    assert (given(["ls"])[0]["id"], len(texts())) == (first, 4)


@pytest.mark.parametrize("more", (("--profile", "nosuch"), ("--new",)))
def test_what_begins_a_conversation_and_what_goes_on_with_one_exclude_each_other(
    model: str, more: tuple[str, ...]
) -> None:
    here = given(["new", "--model", model])["id"]
    told = run_cli("chat", "-c", here, *more, stdin=b"Hello?\n")
    assert (told.code, told.out) == (2, "")
    assert "-c goes on with a conversation" in told.err
    assert (len(given(["ls"])), texts()) == (1, [])


def test_verbs_are_the_commands(model: str) -> None:
    ran = chat(
        "Hello?",
        '/edit @~1 it\'s "new"',
        "/label @ here it is",
        "/label @ here",
        "/path here",
        "//not a verb",
        options=("--model", model),
    )
    assert texts() == ['it\'s "new"', "A reply.", "/not a verb", "A reply."]
    assert "unexpected extra arguments" in ran.err
    assert "you  " in ran.out


def test_the_chat_goes_along_where_a_verb_makes_another_conversation_current(model: str) -> None:
    chat("Hello?", "/fork @~1 --title Other", "In the fork", options=("--model", model))
    assert texts() == ["Hello?", "In the fork", "A reply."]
    assert [row["title"] for row in given(["ls"])] == ["Other", "Hello?"]


def test_hints_name_commands_as_the_chat_takes_them(model: str) -> None:
    ran = chat("Hello?", "/drop @", "/undo", "/hide @", "/switch zzzz", options=("--model", model))
    said = ran.out + ran.err
    for hint in ("/undo takes it back.", "/redo does it again.", "/unhide ", "/tree lists the nodes"):
        assert hint in said
    assert "forkwood " not in said


def test_going_on_shows_where_one_stands(model: str) -> None:
    chat("Hello?", options=("--model", model))
    ran = chat()
    shown = [line.split(None, 2) for line in ran.err.splitlines() if line.startswith("  ")]
    assert [(role, words) for role, _, words in shown] == [("you", "Hello?"), ("reply", "A reply.")]


def test_help_lists_every_verb_but_those_of_the_shell() -> None:
    for name in COMMANDS:
        assert (f"/{name} " in help_text()) == (name not in {"chat", "completion"})
    assert "/model " in help_text()
    assert all(f"/{word} " in help_text().replace(",", " ") for word in LEAVING)


@pytest.mark.parametrize(
    ("line", "said"),
    (
        ("/nonsense", "There is no verb /nonsense"),
        ("/switch zzzz", "zzzz"),
        ("/label @ 'open", "quotation mark"),
        (b"\xff\xfe", "not UTF-8 at byte 0"),
        (b"a\0b", "NUL at byte 1"),
    ),
)
def test_what_goes_wrong_is_told_and_the_chat_goes_on(model: str, line: str | bytes, said: str) -> None:
    ran = chat(line, "Still here?", options=("--model", model))
    assert said in ran.err
    assert texts() == ["Still here?", "A reply."]


def test_a_line_without_end_is_left_out(model: str) -> None:
    ran = chat(b"x" * (limits.message_bytes_max + 100), "Still here?", options=("--model", model))
    assert "over the limit" in ran.err
    assert texts() == ["Still here?", "A reply."]


def test_the_last_line_says_how_it_ended(tmp_path: Path, model: str) -> None:
    failing = scripted(tmp_path, {"text": "", "fail": {"status": 401, "times": 9}}, file="failing.json")
    assert chat("Hello?", options=("--model", failing)).code == 1
    assert chat("Hello?", f"/model {model}", "Now?", options=("--new", "--model", failing)).code == 0
    assert chat("/quit", "never said").code == 0
    assert "never said" not in texts()


def test_a_model_that_cannot_be_reached_does_not_end_the_chat(model: str) -> None:
    succeed("new", "--model", "http://127.0.0.1:9/v1#none")
    ran = chat("Hello?", f"/model {model}", "Hello!")
    assert texts()[-2:] == ["Hello!", "A reply."]
    assert "A reply." in ran.out


def test_a_chat_can_be_json_from_end_to_end(model: str) -> None:
    ran = chat("Hello?", "/path", "/nonsense", options=("--model", model, "--json"))
    values = ran.lines
    assert [value["type"] for value in values if "type" in value][-1] == "result"
    assert [entry["node"]["text"] for entry in values[-2]] == ["Hello?", "A reply."]
    assert values[-1]["error"]["kind"] == "usage"


def test_what_is_said_of_the_house_names_commands_as_a_chat_has_them(model: str) -> None:
    succeed("new", "--model", model, "--title", "All")
    succeed("send", "forkwood undo", "--no-run")
    ran = chat("/hide @", "/trash", "/undo", "/new", "/undo")
    assert "forkwood " not in ran.err.replace("forkwood undo", "")
    assert "/unhide NAME brings one back." in ran.err
    assert "still the current conversation: /use " in ran.err
    assert "forkwood undo" in ran.out, "what a person said stays as it is"
