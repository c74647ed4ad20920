"""Commands that talk to models: send, edit, retry, resume; and the runs they start: runs, cancel."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from forkwood.domain.ids import ending
from forkwood.domain.response import Started
from forkwood.surfaces.cli.desk import Call
from forkwood.surfaces.cli.named import NODE, RUN, WORDS
from forkwood.surfaces.cli.options import MODELS, NO_RUN, ON, verb
from forkwood.surfaces.cli.show_lists import draw_runs, run_line
from forkwood.surfaces.cli.typed import edited, text_of

if TYPE_CHECKING:
    from forkwood.domain.message import Role


@verb("send", key=True)
@click.argument("text", type=WORDS)
@click.option("--at", type=NODE, metavar="NODE", help="Behind this message; else behind the head.")
@click.option("--role", type=click.Choice(["user", "assistant"]), default="user", help="Whose words they are.")
@MODELS
@click.option(
    "--attach", type=click.Path(path_type=Path), multiple=True, metavar="FILE", help="A file that goes along."
)
@NO_RUN
def send(
    call: Call,
    *,
    text: str,
    at: str | None,
    role: Role,
    models: tuple[str, ...],
    attach: tuple[Path, ...],
    no_run: bool,
) -> int:
    """Say TEXT (- reads standard input) and hear the reply; with several --model, one reply each."""
    said = text_of(text, call.terminal)
    finish_left(call)
    started = call.runtime.send(
        said,
        conversation=call.conversation,
        at=at,
        role=role,
        models=models,
        attach=attach,
        run=not no_run,
        key=call.key,
    )
    return answered(call, started, resting=f"Kept as {ending(started.node.id)}.")


@verb("edit", key=True)
@click.argument("node", type=NODE)
@click.argument("text", type=WORDS, required=False)
@click.option("--keep", is_flag=True, help="Carry what followed behind the new version; nobody answers then.")
@ON
@NO_RUN
def edit(call: Call, *, node: str, text: str | None, keep: bool, on: str | None, no_run: bool) -> int:
    """Say NODE anew, beside the old version, which stays with all that followed it.

    TEXT - reads standard input; without TEXT your editor opens.
    """
    new = edited(_words_of(call, node), call.terminal) if text is None else text_of(text, call.terminal)
    finish_left(call)
    started = call.runtime.edit(
        node, new, conversation=call.conversation, keep=keep, on=on, run=not no_run, key=call.key
    )
    said = edit_words(started)
    return answered(call, started, running=said, resting=said)


@verb("retry", key=True)
@click.argument("node", type=NODE)
@MODELS
def retry(call: Call, *, node: str, models: tuple[str, ...]) -> int:
    """Get another reply in NODE's place; for a message of yours, a reply to it. What is there stays."""
    finish_left(call)
    started = call.runtime.retry(node, conversation=call.conversation, models=models, key=call.key)
    return answered(call, started, running=retry_words(started))


@verb("resume", conversation=False, key=True)
@click.argument("run", type=RUN)
def resume(call: Call, *, run: str) -> int:
    """Drive a run that nobody drives, or let one that failed, was cancelled or broke off go on from its tip."""
    return answered(call, call.runtime.resume(run, key=call.key))


@verb("runs")
def runs(call: Call) -> None:
    """List the runs, newest first. Without -c: of all conversations."""
    found = call.runtime.runs(conversation=call.named)
    call.give(found, lambda: draw_runs(found, call.terminal.pen.inks))


@verb("cancel", conversation=False, key=True)
@click.argument("run", type=RUN)
def cancel(call: Call, *, run: str) -> None:
    """End a run, from whichever process. What came of its reply is kept, marked partial."""
    ended = call.runtime.cancel(run, key=call.key)
    call.give(ended, lambda: run_line(ended, call.terminal.pen.inks))


def answered(call: Call, started: Started, *, running: str = "", resting: str = "") -> int:
    """Say RUNNING and hear the runs of STARTED to their end, or say RESTING where there are none; the exit code."""
    from forkwood.surfaces.cli.hearing import hear

    for warning in started.warnings:
        call.terminal.note(f"Careful: {warning}")
    if started.runs:
        call.remark(running)
        return hear(call, started.runs, started.conversation)
    call.give(started.node, lambda: resting)
    return 0


def finish_left(call: Call) -> None:
    """Let what was left at work in the conversation of CALL come to its end, before something new is said there."""
    if call.runtime.left(conversation=call.conversation):
        from forkwood.surfaces.cli.hearing import settle

        settle(call, call.conversation)


def edit_words(started: Started) -> str:
    """Which version an edit replaced, what became of what followed, and how to get back."""
    old, new = ending(started.replaced or ""), ending(started.node.id)
    carried = f" What followed is carried ({ending(started.kept)})." if started.kept else ""
    return (
        f"{new} is a new version of {old}, which stays as it was.{carried}\n"
        f"Back to it: forkwood switch {old}. All versions: forkwood history {new}"
    )


def retry_words(started: Started) -> str:
    """Where a reply is beside another, which, and how to get back to it."""
    old = ending(started.node.id)
    return "" if started.node.role == "user" else f"Beside {old}, which stays as it was: forkwood switch {old}"


def _words_of(call: Call, node: str) -> str:
    return call.runtime.show(node, conversation=call.conversation).node.text
