"""The table of commands: each has help, loads alone, and what is not built is absent."""

from __future__ import annotations

import click
import pytest

from forkwood import __version__
from forkwood.surfaces.cli.app import COMMANDS, forkwood
from tests.surfaces.cli.desks import run_cli, succeed

LATER = [
    "project",
    "changes",
    "diff",
    "revert",
    "serve",
    "mcp",
    "import",
    "export",
    "backup",
    "restore",
]
LATER_OPTIONS = ("--revert",)


def command(name: str) -> click.Command:
    found = forkwood.get_command(click.Context(forkwood), name)
    assert found is not None
    return found


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_says_what_it_does(name: str) -> None:
    shown = succeed(name, "--help")
    assert shown.out.startswith(f"Usage: forkwood {name}")
    assert "--json" in shown.out
    assert command(name).name == name


@pytest.mark.parametrize("name", LATER)
def test_what_is_not_built_is_absent(name: str) -> None:
    assert run_cli(name).code == 2
    assert name not in COMMANDS


def test_no_option_pretends() -> None:
    options = {opt for name in COMMANDS for param in command(name).params for opt in param.opts}
    assert not options & set(LATER_OPTIONS)


def test_what_changes_something_takes_a_key() -> None:
    changing = {
        "new",
        "use",
        "set",
        "fork",
        "send",
        "edit",
        "retry",
        "cancel",
        "resume",
        "undo",
        "redo",
        "purge",
        "queue",
    }
    changing |= {"switch", "label", "unlabel", "drop", "graft", "hide", "unhide"}
    changing |= {"answer", "grants", "memory", "summarize", "models use", "models key", "models pull", "config set"}
    commands = {name: command(name) for name in COMMANDS}
    for name, group in list(commands.items()):
        if isinstance(group, click.Group):
            commands |= {f"{name} {below}": made for below, made in group.commands.items()}
    keyed = {name for name, made in commands.items() if any("--key" in param.opts for param in made.params)}
    assert keyed == changing


def test_help_is_the_answer_where_nobody_sits_at_a_screen() -> None:
    shown = succeed()
    assert shown.out.startswith("Usage: forkwood")
    for name in COMMANDS:
        assert f"  {name} " in shown.out


def test_json_is_all_there_is_even_where_no_command_is_named() -> None:
    assert [row["name"] for row in succeed("--json").value["commands"]] == list(COMMANDS)
    assert all(row["summary"] and row["section"] for row in succeed("--json").value["commands"])
    below = succeed("config", "--json").value["commands"]
    assert [row["name"] for row in below] == ["get", "set"]
    assert all(row["summary"].endswith(".") for row in below)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_as_json_is_the_same_words(name: str) -> None:
    assert succeed(name, "--json", "--help").value == {"help": succeed(name, "-h").out.removesuffix("\n")}


@pytest.mark.parametrize(
    ("word", "meant"),
    (("carry", "graft"), ("swich", "switch"), ("histroy", "history"), ("steer", "send --steer"), ("qqqqq", "")),
)
def test_a_command_that_is_not_there_is_told_with_the_one_that_may_be_meant(word: str, meant: str) -> None:
    told = run_cli(word)
    assert (told.code, told.out) == (2, "")
    assert (f"perhaps forkwood {meant};" in told.err) == bool(meant)


def test_the_exit_codes_are_in_the_help() -> None:
    assert "Exit codes: 0 done" in " ".join(succeed().out.split())


def test_the_version_is_the_packages() -> None:
    from importlib.metadata import version

    assert __version__ == version("forkwood")
    assert succeed("--version").out == f"forkwood {__version__}\n"
    assert succeed("--version", "--json").value == {"version": __version__}


@pytest.mark.parametrize(
    ("arguments", "message"),
    (
        (("nonsense",), "No such command 'nonsense'"),
        (("--nonsense",), "No such option '--nonsense'"),
        (("path", "a", "b"), "Got unexpected extra argument (b)"),
        (("send",), "Missing argument 'TEXT'"),
        (("switch",), "Missing argument 'NODE'"),
        (("send", "x", "--role", "tool"), "Invalid value for '--role'"),
        (("log", "--after", "x"), "Invalid value for '--after'"),
        (("completion", "powershell"), "Invalid value for"),
        (("config", "set", "model"), "say either VALUE or --unset"),
        (("send", "a\udcffb"), "it is not UTF-8 at byte 1"),
        (("set", "title", "\udcff"), "it is not UTF-8 at byte 0"),
    ),
)
def test_words_that_make_no_sense_are_usage_errors(arguments: tuple[str, ...], message: str) -> None:
    told = run_cli(*arguments)
    assert (told.code, told.out) == (2, "")
    assert message in told.err
    as_json = run_cli(*arguments, "--json")
    assert (as_json.code, as_json.err) == (2, "")
    assert message in as_json.value["error"]["message"]
    assert as_json.value["error"]["kind"] == "usage"
    assert as_json.value["error"]["hint"].endswith("--help")
