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

_JSON = click.option("--json", "as_json", is_flag=True, help="Give JSON, and nothing else, on standard output.")
_KEY = click.option("--key", type=WORDS, metavar="KEY", help="Given again with the same key, it is done once.")
_CONVERSATION = click.option(
    "-c", "--conversation", type=CONVERSATION, metavar="CONV", help="Which conversation; else the current one."
)
ON = click.option("--on", type=WORDS, metavar="LEAF", help="The branch that is meant, by its leaf.")
NO_RUN = click.option("--no-run", is_flag=True, help="Nobody answers.")
MODELS = click.option(
    "--model", "models", type=MODEL, multiple=True, metavar="M", help="Who answers; several times: each."
)


def verb(
    name: str, *, conversation: bool = True, key: bool = False, options_end: bool = False
) -> Callable[[Body], click.Command]:
    """The command NAME from its body: with `--json`, with `-c` where CONVERSATION, with `--key` where KEY.

    OPTIONS_END: a word that begins with a dash and is no option of the command is a value.
    """
    shared = [_JSON, *([_CONVERSATION] if conversation else []), *([_KEY] if key else [])]
    settings: dict[str, Any] = {"help_option_names": ["-h", "--help"], "ignore_unknown_options": options_end}

    def command(body: Body) -> click.Command:
        def carried_out(*, as_json: bool, conversation: str | None = None, key: str | None = None, **words: Any) -> int:
            desk = click.get_current_context().ensure_object(Desk)
            return body(Call(desk, conversation=conversation, key=key, as_json=as_json), **words) or 0

        framed: Any = update_wrapper(carried_out, body)
        for option in shared:
            framed = option(framed)
        made: click.Command = click.command(name, context_settings=settings)(framed)
        return made

    return command


def wants_json(arguments: Sequence[str]) -> bool:
    """Whether a command line asks for JSON: true also for one that makes no sense otherwise."""
    words = list(arguments)
    return "--json" in (words[: words.index("--")] if "--" in words else words)
