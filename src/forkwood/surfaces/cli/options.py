"""What commands share: `-c`, `--json`, `--key`, and the frame each is carried out in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import update_wrapper
from typing import Any, TypeAlias

import click

from forkwood.surfaces.cli.desk import Call, Desk
from forkwood.surfaces.cli.named import CONVERSATION, MODEL, WORDS

Body: TypeAlias = Callable[..., int | None]
"""What a command does with its Call and its words; its exit code, None for 0."""
Decorator: TypeAlias = Callable[[Any], Any]

SUMMARY_CHARACTERS = 200
_JSON = click.option("--json", "as_json", is_flag=True, help="Give JSON, and nothing else, on standard output.")
_KEY = click.option(
    "--key", "given_key", type=WORDS, metavar="KEY", help="Given again with the same key, it is done once."
)
_CONVERSATION = click.option(
    "-c", "--conversation", type=CONVERSATION, metavar="CONV", help="Which conversation; else the current one."
)
_ONLY = click.option(
    "-c", "--conversation", type=CONVERSATION, metavar="CONV", help="Only this conversation; else all."
)
OF_ALL = frozenset({"search", "log", "pending", "runs", "grants", "trash"})
"""Commands that mean all conversations where none is named."""
ON = click.option("--on", type=WORDS, metavar="LEAF", help="The branch that is meant, by its leaf.")
NO_RUN = click.option("--no-run", is_flag=True, help="Nobody answers.")
MODELS = click.option(
    "--model", "models", type=MODEL, multiple=True, metavar="M", help="Who answers; several times: each."
)


def verb(
    name: str, *, conversation: bool = True, key: bool = False, kind: type[click.Command] = click.Command
) -> Callable[[Body], click.Command]:
    """The command NAME from its body: with `--json`, with `-c` where CONVERSATION, with `--key` where KEY."""
    which = [_ONLY if name in OF_ALL else _CONVERSATION] if conversation else []
    shared = [_JSON, *which, *([_KEY] if key else [])]

    def command(body: Body) -> click.Command:
        made: click.Command = click.command(name, cls=kind, add_help_option=False)(_framed(body, shared))
        made.params.append(HELP)
        return made

    return command


class HelpAsked(Exception):
    """A command line asked to be explained, not to be carried out. TEXT is what there is to know."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


def _ask_help(ctx: click.Context, _: click.Parameter, asked: bool) -> None:  # noqa: FBT001 - click calls it so
    if asked and not ctx.resilient_parsing:
        raise HelpAsked(ctx.get_help())


HELP = click.Option(
    ["-h", "--help"], is_flag=True, is_eager=True, expose_value=False, callback=_ask_help, help="Say what this does."
)
"""Help of every command: how it is given, as words or as JSON, is decided where the command line came in."""


class VerbGroup(click.Group):
    """A command that has commands of its own, and does something without them too."""

    def verb(self, name: str, *, key: bool = False) -> Callable[[Body], click.Command]:
        """The command NAME below this one, from its body."""

        def command(body: Body) -> click.Command:
            made = verb(name, conversation=False, key=key)(body)
            self.add_command(made)
            return made

        return command


def verb_group(name: str) -> Callable[[Body], VerbGroup]:
    """The command NAME with commands below it; its body is done where none of them is given."""

    def command(body: Body) -> VerbGroup:
        made: VerbGroup = click.group(name, cls=VerbGroup, invoke_without_command=True, add_help_option=False)(
            _framed(body, [_JSON])
        )
        made.params.append(HELP)
        return made

    return command


def _framed(body: Body, shared: Sequence[Decorator]) -> Any:
    """BODY as click calls it: with a Call made of the shared options. The body of a group gives way to its commands."""

    def carried_out(
        *, as_json: bool, conversation: str | None = None, given_key: str | None = None, **words: Any
    ) -> int:
        ctx = click.get_current_context()
        if ctx.invoked_subcommand is not None:
            return 0
        above = ctx.parent.params.get("as_json", False) if ctx.parent else False
        call = Call(ctx.ensure_object(Desk), conversation=conversation, key=given_key, as_json=as_json or above)
        try:
            return body(call, **words) or 0
        finally:
            call.desk.tell_notices()

    framed: Any = update_wrapper(carried_out, body)
    for option in shared:
        framed = option(framed)
    return framed


def listing(group: click.Command, ctx: click.Context) -> dict[str, Any]:
    """The commands below GROUP as JSON has them: what a program gets that names a group and none of them."""
    assert isinstance(group, click.Group)
    found = ((name, group.get_command(ctx, name)) for name in group.list_commands(ctx))
    below = [{"name": name, "summary": made.get_short_help_str(SUMMARY_CHARACTERS)} for name, made in found if made]
    return {"commands": below}


def option_of(command: click.Command, word: str) -> click.Option | None:
    """The option of COMMAND that WORD names, with or without a value behind `=`."""
    name = word.partition("=")[0]
    options = (param for param in command.params if isinstance(param, click.Option))
    return next((option for option in options if name in option.opts), None)


def takes_next(command: click.Command, word: str) -> bool:
    """Whether WORD is an option of COMMAND whose value is the next word."""
    option = option_of(command, word)
    return option is not None and not option.is_flag and "=" not in word


def wants_json(arguments: Sequence[str], command: click.Command) -> bool:
    """Whether a command line of COMMAND asks for JSON: true also for one that makes no sense otherwise.

    What stands behind `--` are words; a `--` that an option before it takes for its value ends nothing.
    """
    taken = False
    for word in arguments:
        if word == "--json":
            return True
        if word == "--" and not taken:
            return False
        if isinstance(command, click.Group) and not taken:
            command = command.get_command(click.Context(command), word) or command
        taken = not taken and takes_next(command, word)
    return False
