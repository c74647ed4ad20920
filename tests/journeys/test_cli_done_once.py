"""A command line that carries a key, given twice: the same words on standard output and the same exit code.

The receipt comes before anything is looked for: by the second time `@` is another message and no run is at work.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click
import pytest

from forkwood.surfaces.cli.app import forkwood
from tests.surfaces.cli.desks import Ran, given, run_cli, succeed
from tests.surfaces.cli.scripts import scripted

GOING = {"text": "A reply.", "usage": {"input": 3, "output": 2}}
LOOKS = {"tool_calls": [{"name": "ask_user", "arguments": {"questions": [{"text": "Which?"}]}}]}


def waiting_run(folder: Path) -> str:
    """A run that waits for an answer, and the ending of what it asks."""
    succeed("set", "model", scripted(folder, LOOKS, GOING, file="asks.json"))
    run_cli("send", "ask me")
    [asked] = given(["pending"])
    return str(asked["id"])


def queued(folder: Path) -> str:
    waiting_run(folder)
    return str(given(["send", "later", "--queue"])["id"])


def stopped(folder: Path) -> None:
    waiting_run(folder)
    succeed("cancel")


def remembered(_: Path) -> str:
    return str(given(["memory", "--add", "tea", "green"])[0]["id"])


def before_last() -> str:
    return str(given(["show", "@~1"])["id"])


def last_left(_: Path) -> str:
    """The last message, on whose branch nobody stands any more."""
    last = str(given(["show", "@"])["id"])
    succeed("drop", "@")
    return last


def hidden(_: Path) -> str:
    name = before_last()
    succeed("hide", name)
    return name


def labelled(_: Path) -> None:
    succeed("label", "@", "here")


def branched(_: Path) -> str:
    name = before_last()
    succeed("edit", name, "q2'", "--no-run")
    return name


def undone(_: Path) -> None:
    succeed("drop", "@")
    succeed("undo")


def lasting(ran: Ran) -> list[str]:
    """What a command gave, without what is told on the way there: a run that is over is at work no more."""
    return [line for line in ran.out.splitlines() if not line.startswith(('{"type":"event"', '{"type":"delta"'))]


Setting = Callable[[Path], "str | None"]

COMMANDS: dict[str, tuple[str, Setting | None]] = {
    "send": ("send hello", None),
    "send beside": ("send hello --no-run --at @~1", None),
    "edit": ("edit @~1 anew", None),
    "edit and keep": ("edit @~1 anew --keep", None),
    "retry": ("retry", None),
    "retry a message": ("retry @~1", None),
    "drop": ("drop @~1", None),
    "drop the last": ("drop @", None),
    "graft": ("graft NAME --onto @~1", last_left),
    "fork": ("fork @~1", None),
    "switch": ("switch @~2 --here", None),
    "switch to a leaf": ("switch NAME", branched),
    "switch on the branch": ("switch @~2", None),
    "label": ("label @~1 there", None),
    "unlabel": ("unlabel here", labelled),
    "hide": ("hide @~1", None),
    "hide what is hidden": ("hide NAME", hidden),
    "unhide": ("unhide NAME", hidden),
    "unhide what is visible": ("unhide @~1", None),
    "undo": ("undo", None),
    "undo of a run": ("undo", waiting_run),
    "redo": ("redo", undone),
    "new": ("new --title other", None),
    "use": ("use NAME", lambda _: str(given(["new", "--title", "other"])["id"])),
    "set": ("set title other", None),
    "cancel": ("cancel", waiting_run),
    "resume": ("resume", stopped),
    "queue --edit": ("queue --edit NAME words", queued),
    "queue --remove": ("queue --remove NAME", queued),
    "answer": ("answer NAME this", waiting_run),
    "answer only": ("answer NAME this --no-run", waiting_run),
    "memory --add": ("memory --add colour green", None),
    "memory --accept": ("memory --accept NAME", remembered),
    "memory --forget": ("memory --forget tea", remembered),
    "purge": ("purge @~1 --yes", None),
    "config set": ("config set title_by_model false", None),
    "models use": ("models use NAME", lambda folder: scripted(folder, GOING, file="another.json")),
}
ELSEWHERE = {
    "grants": "it lists what holds, which is what it says: tests/runtime/test_done_once.py",
    "summarize": "it asks a model once: the same test",
    "models key": "it reads a secret from a terminal: the same test",
    "models pull": "it fetches: the same test",
}


def keyed(group: click.Group, above: str = "") -> set[str]:
    """The commands that take a key, also those below others."""
    ctx, found = click.Context(group), set[str]()
    for name in group.list_commands(ctx):
        command = group.get_command(ctx, name)
        assert command is not None
        if isinstance(command, click.Group):
            found |= keyed(command, f"{above}{name} ")
        if any(param.name == "given_key" for param in command.params):
            found.add(f"{above}{name}")
    return found


def test_the_walk_is_through_every_command_that_takes_a_key() -> None:
    assert isinstance(forkwood, click.Group)
    walked = [line for line, _ in COMMANDS.values()]
    missed = {name for name in keyed(forkwood) if not any(f"{line} ".startswith(f"{name} ") for line in walked)}
    assert missed == ELSEWHERE.keys()


@pytest.fixture
def named(tmp_path: Path) -> str:
    """A conversation of four messages, whose model always says the same."""
    succeed("new", "--model", scripted(tmp_path, GOING), "--title", "t")
    for number, role in enumerate(("user", "assistant", "user", "assistant")):
        succeed("send", f"m{number}", "--role", role, "--no-run")
    return "t"


@pytest.mark.usefixtures("named")
@pytest.mark.parametrize("as_json", [False, True])
@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_given_again_with_its_key_says_the_same(name: str, as_json: bool, tmp_path: Path) -> None:
    line, setting = COMMANDS[name]
    made = None if setting is None else setting(tmp_path)
    arguments = [*(made or word if word == "NAME" else word for word in line.split()), "--key", "k"]
    arguments += ["--json"] * as_json
    first, again = run_cli(*arguments), run_cli(*arguments)
    assert (again.code, lasting(again)) == (first.code, lasting(first)), again.err
    assert first.code == (5 if name == "resume" else 0), f"{first.err}: a run that is begun anew asks anew"


@pytest.mark.usefixtures("named")
def test_a_purge_that_is_given_again_asks_nobody() -> None:
    gone = before_last()
    first = run_cli("purge", "@~1", "--yes", "--key", "k")
    succeed("send", "more", "--no-run")
    again = run_cli("purge", "@~1", "--key", "k")
    assert (again.code, again.out) == (0, first.out)
    assert given(["show", gone])["purged"] and not given(["show", "@~1"])["purged"]


@pytest.mark.usefixtures("named")
def test_a_label_that_is_given_again_when_it_is_gone_says_so() -> None:
    succeed("label", "@", "here", "--key", "k")
    succeed("unlabel", "here")
    assert succeed("label", "@", "here", "--key", "k").out == "here names nothing now.\n"


@pytest.mark.usefixtures("named")
def test_a_command_is_answered_from_its_receipt_though_its_conversation_is_gone(tmp_path: Path) -> None:
    here = given(["show", "@"])["conversation"]
    first = run_cli("send", "hello", "--no-run", "-c", here[-8:], "--key", "k", "--json")
    used = scripted(tmp_path, GOING, file="gone.json")
    succeed("config", "set", "model", used, "--key", "c")
    (tmp_path / "gone.json").unlink()
    succeed("config", "set", "model", used, "--key", "c")
    succeed("purge", here, "--yes")
    again = run_cli("send", "hello", "--no-run", "-c", here[-8:], "--key", "k", "--json")
    assert (first.code, again.code) == (0, 0) and again.value["id"] == first.value["id"]
