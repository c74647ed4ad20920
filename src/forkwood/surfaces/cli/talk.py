"""Commands that talk to models: send, edit, retry, resume; and the runs they start: runs, cancel."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from forkwood.domain.errors import Misused, NotFound
from forkwood.domain.ids import Id, ending
from forkwood.domain.response import Started
from forkwood.domain.run import ACTIVE, Run
from forkwood.surfaces.cli.desk import Call
from forkwood.surfaces.cli.named import NODE, PATH, RUN, WORDS
from forkwood.surfaces.cli.options import MODELS, NO_RUN, ON, verb
from forkwood.surfaces.cli.screen_text import visible_line
from forkwood.surfaces.cli.show_lists import conversation_line, draw_runs, run_line
from forkwood.surfaces.cli.typed import STDIN, edited, is_unread, text_of

if TYPE_CHECKING:
    from forkwood.domain.message import Role


@verb("send", key=True)
@click.argument("text", type=WORDS, required=False)
@click.option("--at", type=NODE, metavar="NODE", help="Behind this message; else behind the head.")
@click.option("--role", type=click.Choice(["user", "assistant"]), default="user", help="Whose words they are.")
@MODELS
@click.option("--attach", type=PATH, multiple=True, metavar="FILE", help="A file that goes along.")
@NO_RUN
@click.option("--queue", "queues", is_flag=True, help="Where a run is at work: wait until it is over (it does anyway).")
@click.option("--steer", "steers", is_flag=True, help="Where a run is at work: before its next turn.")
def send(
    call: Call,
    *,
    text: str | None,
    at: str | None,
    role: Role,
    models: tuple[str, ...],
    attach: tuple[Path, ...],
    no_run: bool,
    queues: bool,
    steers: bool,
) -> int:
    """Say TEXT and hear the reply; with several --model, one reply each. While a run is at work there, it waits.

    TEXT - reads standard input; so does a pipe without TEXT. With --json each line is a delta, an event or a result:
    the result of the first model is the last line. What waits is one line instead.
    """
    if queues and steers:
        raise Misused("--queue and --steer: a message waits for the run or comes before its next turn", hint="give one")
    said = _said(call, text, attached=bool(attach))
    before = current(call) if call.conversation is None else None
    if not steers:
        finish_left(call)
    started = call.runtime.send(
        said,
        conversation=call.conversation,
        at=at,
        role=role,
        models=models,
        attach=attach,
        run=not no_run,
        steer=steers,
        key=call.key,
    )
    if call.conversation is None and before is None:
        begun = call.runtime.conversation(started.conversation)
        call.remark(f"New: {conversation_line(begun, call.terminal.now_ms())}")
    tell_who(call, started, models)
    return answered(call, started, resting=f"Kept as {ending(started.node.id)}.")


@verb("edit", key=True)
@click.argument("node", type=NODE)
@click.argument("text", type=WORDS, required=False)
@click.option("--keep", is_flag=True, help="Carry what followed behind the new version; nobody answers then.")
@ON
@MODELS
@NO_RUN
def edit(
    call: Call, *, node: str, text: str | None, keep: bool, on: str | None, models: tuple[str, ...], no_run: bool
) -> int:
    """Say NODE anew, beside the old version, which stays with all that followed it.

    TEXT - reads standard input; without TEXT your editor opens.
    """
    new = edited(_words_of(call, node), call.terminal) if text is None else text_of(text, call.terminal)
    finish_left(call)
    started = call.runtime.edit(
        node, new, conversation=call.conversation, keep=keep, on=on, models=models, run=not no_run, key=call.key
    )
    said = edit_words(started)
    tell_who(call, started, models)
    return answered(call, started, running=said, resting=said)


@verb("retry", key=True)
@click.argument("node", type=NODE, default="@")
@MODELS
def retry(call: Call, *, node: str, models: tuple[str, ...]) -> int:
    """Get another reply in NODE's place; for a message of yours, a reply to it. What is there stays.

    Without NODE: in the place of the head.
    """
    finish_left(call)
    started = call.runtime.retry(node, conversation=call.conversation, models=models, key=call.key)
    tell_who(call, started, models)
    return answered(call, started, running=retry_words(started))


@verb("resume", conversation=False, key=True)
@click.argument("run", type=RUN, required=False)
def resume(call: Call, *, run: str | None) -> int:
    """Drive a run that nobody drives, or let one that failed, was cancelled or broke off go on from its tip.

    Without RUN: the newest of the conversation that nobody went on from. What else was left at work there goes on too.
    """
    started = call.runtime.resume(run, conversation=call.conversation, key=call.key)
    return answered(call, replace(started, runs=call.runtime.going_on(started.runs)))


@verb("runs")
def runs(call: Call) -> None:
    """List the runs, newest first. Without -c: of all conversations."""
    found = call.runtime.runs(conversation=call.named)
    call.give(
        found,
        lambda: draw_runs(
            found,
            call.terminal.pen.inks,
            left=_left(call, found),
            partial=_partial(call, found),
            hint=call.terminal.hint,
        ),
    )


@verb("cancel", conversation=False, key=True)
@click.argument("run", type=RUN, required=False)
def cancel(call: Call, *, run: str | None) -> None:
    """End a run, from whichever process. What came of its reply is kept, marked partial.

    Without RUN: the newest of the conversation that is at work. Half a second is waited for whoever drives it.
    """
    from forkwood.surfaces.cli.live import until_ended

    ended = call.runtime.cancel(run, conversation=call.conversation, key=call.key)
    if ended.status in ACTIVE:
        ended = until_ended(call.runtime, ended)
    asked = "" if ended.status not in ACTIVE else "  asked to end"
    call.give(ended, lambda: run_line(ended, call.terminal.pen.inks) + asked)


def answered(call: Call, started: Started, *, running: str = "", resting: str = "") -> int:
    """Say RUNNING and hear the runs of STARTED to their end, or say RESTING where there are none; the exit code."""
    from forkwood.surfaces.cli.hearing import hear
    from forkwood.surfaces.cli.queueing import going_on, waits

    for warning in dict.fromkeys(started.warnings):
        call.terminal.note(f"Careful: {warning}")
    if started.queued:
        return waits(call, started)
    if started.runs:
        call.remark(running)
        call.remark(going_on(started))
        asked = started.node.id if started.node.role == "user" else None
        return hear(call, started.runs, started.conversation, asked=asked)
    call.give(started.node, lambda: resting)
    return 0


def finish_left(call: Call) -> None:
    """Let what was left at work in the conversation of CALL come to its end, before something new is said there."""
    if call.is_repeat or (call.conversation is None and current(call) is None):
        return
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


def tell_who(call: Call, started: Started, models: Sequence[str]) -> None:
    """Tell a person at a screen which model answers and why it is that one, where nobody chose one or it is another
    than before. A chat has said at its beginning who answers."""
    if models or not started.runs or not call.terminal.err.isatty():
        return
    found = call.runtime.answering(conversation=started.conversation)
    before = call.runtime.replied_before(started.runs[0]) or found.model
    is_chosen = call.terminal.in_chat or call.runtime.conversation(started.conversation).model is not None
    if before == found.model and is_chosen:
        return
    other = "" if before == found.model else f" The last reply here is of {visible_line(before)}."
    words = f"{visible_line(found.model)} answers: {visible_line(found.why)}.{other}"
    call.remark(call.terminal.pen.inks.dim(words))


def current(call: Call) -> Id | None:
    """The conversation that is meant where none is named; None before there is one."""
    try:
        return call.runtime.conversation().id
    except NotFound:
        return None


def _said(call: Call, text: str | None, *, attached: bool) -> str:
    """What is to be said: TEXT, or what a pipe holds where there is none. Raises as click does for a missing TEXT."""
    if text is None and attached:
        return ""
    found = text_of(STDIN if text is None and not call.terminal.stdin.isatty() else text or "", call.terminal)
    if text not in {None, STDIN} and not call.terminal.in_chat and is_unread(call.terminal):
        call.remark("What stands on standard input was not read: TEXT was given (- in its place reads the input).")
    if text is None and not found:
        ctx = click.get_current_context()
        raise click.MissingParameter(ctx=ctx, param_hint="'TEXT'", param_type="argument")
    return found


def _left(call: Call, runs: Sequence[Run]) -> frozenset[Id]:
    """Those of RUNS that are at work and that nobody drives."""
    here = {run.conversation for run in runs if run.status in ACTIVE}
    return frozenset(run for conversation in here for run in call.runtime.abandoned(conversation=conversation))


def _partial(call: Call, runs: Sequence[Run]) -> frozenset[Id]:
    """Those of RUNS that are done, and yet their last reply is not whole."""
    return call.runtime.partial([run.id for run in runs if run.status == "done"])


def _words_of(call: Call, node: str) -> str:
    return call.runtime.show(node, conversation=call.conversation).node.text
