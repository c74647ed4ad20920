"""The frame that commands share."""

from __future__ import annotations

import click
import pytest

from forkwood.surfaces.cli.app import COMMANDS, forkwood
from forkwood.surfaces.cli.desk import Call, Desk
from forkwood.surfaces.cli.options import OF_ALL, Body, verb, verb_group, wants_json
from tests.surfaces.cli.desks import succeed, terminal


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    (
        (("path", "--json"), True),
        (("--json", "path"), True),
        (("path",), False),
        (("send", "--", "--json"), False),
        (("send", "--json", "--", "x"), True),
        (("send", "--role", "--", "--json"), True),
        (("send", "--role", "--", "--", "--json"), False),
        (("send", "--role=x", "--", "--json"), False),
        (("send", "--no-run", "--", "--json"), False),
        (("config", "set", "--key", "--", "a", "--json"), True),
        (("nosuch", "--key", "--", "--json"), False),
        (("--", "stats", "--json"), False),
        ((), False),
    ),
)
def test_json_is_wanted_where_it_is_an_option(arguments: tuple[str, ...], wanted: bool) -> None:
    assert wants_json(arguments, forkwood) == wanted


@pytest.mark.parametrize("name", COMMANDS)
def test_help_says_what_is_meant_where_no_conversation_is_named(name: str) -> None:
    told = " ".join(succeed(name, "--help").out.split())
    assert ("Only this conversation; else all." in told) == (name in OF_ALL)
    assert not (name in OF_ALL and "else the current one" in told)


class Heard:
    """A body that remembers its call."""

    def __init__(self, code: int | None = None) -> None:
        self.calls: list[Call] = []
        self.code = code

    def body(self) -> Body:
        def heard(call: Call) -> int | None:
            """Hear."""
            self.calls.append(call)
            return self.code

        return heard


def invoke(command: click.Command, *arguments: str) -> object:
    return command.main(list(arguments), prog_name="x", standalone_mode=False, obj=Desk(terminal()))


def test_shared_options_become_the_call() -> None:
    heard = Heard()
    assert invoke(verb("x", key=True)(heard.body()), "-c", "conv", "--key", "k", "--json") == 0
    call = heard.calls[0]
    assert (call.conversation, call.key, call.as_json) == ("conv", "k", True)


def test_what_a_body_gives_is_the_exit_code() -> None:
    assert invoke(verb("x")(Heard(5).body())) == 5


def test_options_that_make_no_sense_are_not_there() -> None:
    command = verb("x", conversation=False)(Heard().body())
    for option in (["-c", "conv"], ["--key", "k"]):
        with pytest.raises(click.NoSuchOption):
            invoke(command, *option)


def test_a_group_gives_way_to_its_commands() -> None:
    above, below = Heard(), Heard(3)
    group = verb_group("x")(above.body())
    group.verb("y")(below.body())
    assert (invoke(group), len(above.calls), len(below.calls)) == (0, 1, 0)
    assert (invoke(group, "--json", "y"), len(above.calls)) == (3, 1)
    assert below.calls[0].as_json is True
