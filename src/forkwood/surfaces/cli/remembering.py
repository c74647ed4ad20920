"""The command about what is remembered: memory, and what a person decides, states, lets be forgotten, looks back at."""

from __future__ import annotations

from collections.abc import Callable

import click

from forkwood.domain.memory import Memory
from forkwood.surfaces.cli.desk import Call
from forkwood.surfaces.cli.named import MEMORY, WORDS
from forkwood.surfaces.cli.options import verb
from forkwood.surfaces.cli.show_memory import decided_words, draw_history, draw_memories


@verb("memory", conversation=False, key=True)
@click.argument("name", type=WORDS, required=False)
@click.option("--accept", type=MEMORY, metavar="ID", help="Let this proposal count: later runs are told it.")
@click.option("--reject", type=MEMORY, metavar="ID", help="Let it not count.")
@click.option("--add", type=WORDS, nargs=2, metavar="NAME VALUE", help="State a fact yourself: it counts at once.")
@click.option("--forget", type=WORDS, metavar="NAME", help="Let a fact count no more; its versions stay.")
@click.option("--history", type=WORDS, metavar="NAME", help="Every version of a fact: who, when, from which message.")
def memory(
    call: Call,
    *,
    name: str | None,
    accept: str | None,
    reject: str | None,
    add: tuple[str, str] | None,
    forget: str | None,
    history: str | None,
) -> None:
    """List the facts that are remembered, and those that a model proposed and that wait for you.

    With NAME: of that name alone. What is accepted stands in the prompt of every later run, as data.
    """
    runtime, key = call.runtime, call.key
    asked: list[Callable[[], Memory]] = []
    if accept is not None:
        asked.append(lambda: runtime.memory_decide(accept, "accept", key=key))
    if reject is not None:
        asked.append(lambda: runtime.memory_decide(reject, "reject", key=key))
    if add is not None:
        asked.append(lambda: runtime.memory_add(*add, key=key))
    if forget is not None:
        asked.append(lambda: runtime.memory_forget(forget, key=key))
    if len(asked) + (history is not None) + (name is not None) > 1:
        raise click.UsageError("say one thing at a time", click.get_current_context())
    if asked:
        _tell_decided(call, asked[0]())
    elif history is not None:
        versions = runtime.memory_history(history)
        call.give(versions, lambda: draw_history(versions, call.terminal))
    else:
        _list(call, name)


def _tell_decided(call: Call, made: Memory) -> None:
    call.give([made], lambda: call.terminal.hint(decided_words(made)))


def _list(call: Call, name: str | None) -> None:
    found = call.runtime.memory(name)
    call.give(found, lambda: draw_memories(found, call.terminal))
    if not found:
        call.remark("Nothing is remembered under that name." if name else "Nothing is remembered.")
