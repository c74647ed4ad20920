"""The command queue, and what is told of a message that waits for a run instead of being said at once."""

from __future__ import annotations

from collections.abc import Sequence

import click

from forkwood.domain.errors import Misused
from forkwood.domain.ids import ending
from forkwood.domain.queued import Queued
from forkwood.domain.response import Started
from forkwood.domain.text import first_line
from forkwood.surfaces.cli.desk import Call
from forkwood.surfaces.cli.named import QUEUED, WORDS
from forkwood.surfaces.cli.options import verb
from forkwood.surfaces.cli.screen_text import visible_line
from forkwood.surfaces.cli.terminal import Terminal
from forkwood.surfaces.cli.typed import edited, text_of
from forkwood.surfaces.cli.words import count_of

WORDS_SHOWN = 100


@verb("queue", key=True)
@click.option(
    "--edit", "edit", type=QUEUED, metavar="ID", help="Let this one say TEXT; without TEXT your editor opens."
)
@click.option("--remove", "remove", type=QUEUED, metavar="ID", help="Take this one out; undo brings it back.")
@click.argument("text", type=WORDS, required=False)
def queue(call: Call, *, edit: str | None, remove: str | None, text: str | None) -> None:
    """List what waits for a run that is at work, in the order in which it comes; change it, or take it out.

    What is held waits for you: forkwood send or forkwood resume goes on there, and it follows.
    """
    if (edit is not None and remove is not None) or (edit is None and text is not None):
        raise Misused("what is to be done cannot be told", hint="forkwood queue [--edit ID TEXT | --remove ID]")
    here = call.conversation
    if edit is not None:
        words = edited(call.runtime.queued(edit).text, call.terminal) if text is None else text_of(text, call.terminal)
        here = call.runtime.queue_edit(edit, words, key=call.key).conversation
    elif remove is not None:
        gone = call.runtime.queue_remove(remove, key=call.key)
        here = gone.conversation
        call.remark(f"{ending(gone.id)} comes no more. forkwood undo brings it back.")
    found = call.runtime.queue(here)
    call.give(found, lambda: draw_queue(found, call.terminal))
    if not found and remove is None:
        call.remark("Nothing waits. What you send while a run is at work does.")


def draw_queue(found: Sequence[Queued], terminal: Terminal) -> str:
    """What waits, one line each, with what it waits for."""
    return "\n".join(
        f"{terminal.pen.inks.bold(ending(one.id))}  {terminal.hint(_waits_for(one))}  {_words(one)}" for one in found
    )


def waits(call: Call, started: Started) -> int:
    """Tell that a message waits, or where it was sent meanwhile, and drive what nobody drives; the exit code.

    A command that comes again by its key is told how things stand by then.
    """
    from forkwood.surfaces.cli.hearing import hear

    message = call.runtime.queued(started.queued or "")
    if message.runs:
        return hear(call, message.runs, message.conversation, asked=message.node)
    call.give(message, lambda: call.terminal.hint(_told(call, message)))
    if message.behind in call.runtime.left(message.conversation):
        return hear(call, [message.behind], message.conversation)
    return 0


def going_on(started: Started) -> str:
    """That what was held comes behind these runs now; empty where nothing was."""
    number = len(started.released)
    return f"What was held comes after it ({count_of(number, 'message')}): forkwood queue" if number else ""


def _told(call: Call, message: Queued) -> str:
    name, run = ending(message.id), ending(message.behind)
    if message.state == "sent":
        return f"{name} was taken up by run {run}."
    if message.state in {"held", "removed"}:
        return f"{name} is {message.state}: forkwood queue"
    comes = f"before the next turn of run {run}" if message.steers else f"when run {run} is over"
    status = next(
        (one.status for one in call.runtime.runs(conversation=message.conversation) if one.id == message.behind), ""
    )
    asked = " That run waits for an answer: forkwood pending." if status == "waiting" else ""
    return f"Queued as {name}: it comes {comes}.{asked} forkwood queue lists what waits."


def _waits_for(message: Queued) -> str:
    if message.state == "held":
        return f"{'a steer, held' if message.steered else 'held'}, behind {ending(message.behind)}"
    return f"{'steers' if message.steers else 'behind'} {ending(message.behind)}"


def _words(message: Queued) -> str:
    return visible_line(first_line(message.text, WORDS_SHOWN)) or count_of(len(message.parts), "attachment")
