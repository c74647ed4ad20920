"""Hearing out the runs that a command started: they are driven and shown, and what is to know at their end is said."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing

from forkwood.domain.ids import Id, ending
from forkwood.domain.watch import Result
from forkwood.surfaces.cli.desk import Call
from forkwood.surfaces.cli.failures import tell_words
from forkwood.surfaces.cli.live import Heard, follow, in_loop
from forkwood.surfaces.cli.queue_lines import WithQueue
from forkwood.surfaces.cli.tool_lines import WithTools
from forkwood.surfaces.cli.views import Finishing, JsonLines, view_for


def hear(call: Call, runs: Sequence[Id], conversation: Id, *, asked: Id | None = None) -> int:
    """Drive and show RUNS, all of one conversation, and say how they ended; the exit code. ASKED: what they answer."""
    models = _models(call, runs, conversation)
    view = view_for(call.terminal, models, as_json=call.as_json)
    if not call.as_json:
        view = WithTools(view, call.terminal, models, lambda node: call.runtime.show(node).node)
        view = WithQueue(view, call.terminal, lambda node: call.runtime.show(node).node)
    heard = follow(call.runtime, runs, view, call.terminal)
    if not call.as_json:
        tell_ends(call, heard, asked=asked)
    return heard.code


def settle(call: Call, conversation: str | None) -> None:
    """Drive to its end what a process that died left at work in CONVERSATION. The replies are kept, not written here.

    Ctrl-C ends the reply that is coming and keeps what came of it; nothing else is done then.
    """
    view = JsonLines(call.terminal) if call.as_json else Finishing(call.terminal)
    watching: asyncio.Task[None] | None = None

    def stop() -> None:
        if watching is not None:
            watching.cancel()

    async def watch() -> None:
        nonlocal watching
        watching = asyncio.current_task()
        async with aclosing(call.runtime.settle(conversation, key=call.key)) as items:
            async for seen in items:
                view.see(seen)

    try:
        in_loop(watch(), stop)
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None
    finally:
        view.close()


def tell_ends(call: Call, heard: Heard, *, asked: Id | None = None) -> None:
    """Say how runs ended: to a person at a screen always, to others where it was not well."""
    every = (*heard.followed, *heard.results)
    for result in every:
        if result.error:
            message = str(result.error.get("message", "the run failed"))
            tell_words(message, str(result.error.get("hint", "")), call.terminal)
        if result.run in heard.cut and result.status == "done":
            call.remark(f"The reply was cut at the token limit: forkwood resume {ending(result.run)} goes on.")
        call.remark(_end(call, result, asked if result in heard.results else None))
    _tell_proposed(call, [result.run for result in every])
    if waiting := [result.run for result in every if result.status == "waiting"]:
        _tell_waiting(call, waiting)


def _tell_proposed(call: Call, runs: Sequence[Id]) -> None:
    """Say what the runs proposed to be remembered and nobody has decided: it counts for nothing by itself."""
    from forkwood.surfaces.cli.show_memory import proposed_words

    call.remark(proposed_words([one for one in call.runtime.memory(state="proposed") if one.run in runs]))


def _tell_waiting(call: Call, stopped: Sequence[Id]) -> None:
    """Say what the runs wait for, and how it is answered; in a chat the person is asked next anyway."""
    from forkwood.surfaces.cli.show_asked import draw_pending

    if call.terminal.in_chat and call.terminal.is_conversation:
        return
    if not call.terminal.in_chat:
        call.remark("\n".join(f"The run {ending(run)} waits for you:" for run in stopped))
    waiting = [asked for asked in call.runtime.pending() if asked.run in stopped]
    call.terminal.note(draw_pending(waiting, call.terminal))


def _end(call: Call, result: Result, asked: Id | None) -> str:
    run = ending(result.run)
    match result.status:
        case "cancelled":
            kept = f" What came is kept as {ending(result.node)}, marked partial." if result.node else ""
            return f"The run was cancelled.{kept} forkwood resume {run} goes on."
        case "failed" if asked and result.node is None:
            kept = f"Your message stands at {ending(asked)}: forkwood retry {ending(asked)} --model M answers it"
            return f"{kept}, forkwood undo takes it back."
        case "failed":
            return f"forkwood resume {run} goes on from where it stopped."
        case "waiting":
            return ""
        case "queued" | "running":
            return f"The run {run} is {result.status}."
        case "done" if call.terminal.is_conversation and result.node:
            tokens = result.usage.input + result.usage.output
            used = f", {result.usage.input:,} + {result.usage.output:,} tokens" if tokens else ""
            return call.terminal.pen.inks.dim(f"{ending(result.node)}{used}") + "\n"
    return ""


def _models(call: Call, runs: Sequence[Id], conversation: Id) -> dict[Id, str]:
    """The model of each run, where there are several to tell apart."""
    if len(runs) == 1:
        return {runs[0]: ""}
    models = {run.id: run.model for run in call.runtime.runs(conversation=conversation)}
    return {run: models.get(run, "") for run in runs}
