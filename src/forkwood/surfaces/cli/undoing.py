"""undo and redo at the command line: what was taken back or done again, and which runs and messages that ended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from forkwood.domain.event import Event
from forkwood.domain.ids import Id, ending
from forkwood.domain.run import ACTIVE, RunStatus
from forkwood.surfaces.cli.desk import Call
from forkwood.surfaces.cli.options import verb
from forkwood.surfaces.cli.screen_text import visible_line
from forkwood.surfaces.cli.show_lists import act_words
from forkwood.surfaces.cli.show_setting import shown
from forkwood.surfaces.cli.words import count_of

AGAIN = "forkwood redo does it again."
PURGED = "A purge cannot be undone: what was done before it is."


@verb("undo", key=True)
def undo(call: Call) -> None:
    """Take back the last act of this conversation. A run that it started is cancelled."""
    at_work = {} if call.as_json or call.is_repeat else _at_work(call)
    event = call.runtime.undo(conversation=call.conversation, key=call.key)
    if _purged_since(call, event):
        call.remark(PURGED)
    call.give(
        event, lambda: f"Taken back: {act(event)}. {call.terminal.hint(AGAIN)}\n{standing(call, event.conversation)}"
    )
    if not call.as_json:
        call.remark("\n".join(_ended(call, event, at_work)))
    call.remark(left_in_trash(call))


@verb("redo", key=True)
def redo(call: Call) -> None:
    """Do again what undo took back. No run is started by it."""
    event = call.runtime.redo(conversation=call.conversation, key=call.key)
    call.give(event, lambda: f"Done again: {act(event)}.\n{standing(call, event.conversation)}")


def act(event: Event) -> str:
    """An act in words, with the message it was about, and of a setting which it was and what holds now."""
    effects = event.payload.get("effects", ())
    settings = [change for effect in effects if effect["effect"] == "setting" for change in _changed(effect)]
    if event.payload.get("kind") == "setting.changed" and settings:
        return "; ".join(f"{name}: {'back to ' * (event.kind == 'act.undone')}{value}" for name, value in settings)
    return act_words(event) + (f" ({ending(event.node)})" if event.node else "")


def _changed(effect: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The settings that EFFECT changed, by the names that `set` knows, and what each is now."""
    key, before, after = effect["key"], effect["before"], effect["after"]
    if key == "params":
        names = sorted(name for name in {*before, *after} if before.get(name) != after.get(name))
        yield from ((name, shown(after.get(name))) for name in names)
    else:
        yield ("tools switched off" if key == "tools_off" else key), shown(after)


def standing(call: Call, conversation: Id | None) -> str:
    """The last words on the path of the head: where one stands now."""
    from forkwood.surfaces.cli.show_path import draw_last

    return draw_last(call.runtime.path(conversation=conversation), call.terminal.pen)


def left_in_trash(call: Call) -> str:
    """Where the current conversation is in the trash now: that it still is the current one, and the way to another."""
    here = call.runtime.conversation() if call.named is None else None
    if here is None or not here.hidden:
        return ""
    others = call.runtime.listed()
    way = f"forkwood use {ending(others[0].id)} goes to the newest" if others else "forkwood new begins another"
    return f"It is in the trash and still the current conversation: {way}."


def _at_work(call: Call) -> dict[Id, RunStatus]:
    here = call.runtime.conversation(call.conversation).id
    return {run.id: run.status for run in call.runtime.runs(conversation=here) if run.status in ACTIVE}


def _purged_since(call: Call, event: Event) -> bool:
    """Whether a purge came between the act that was taken back and EVENT, which did that."""
    since = call.runtime.log(conversation=event.conversation, after=event.payload["act"])
    return any(one.kind == "purge.done" and one.seq < event.seq for one in since)


def _ended(call: Call, event: Event, at_work: Mapping[Id, RunStatus]) -> Iterator[str]:
    """What became of runs that were AT_WORK and of messages in the queue when the act that began them went."""
    undone = next(call.runtime.log(conversation=event.conversation, after=event.payload["act"] - 1))
    effects = undone.payload["effects"]
    queued = [call.runtime.queued(one["queued"]) for one in effects if one["effect"] == "queued" and one["waits"]]
    begun = [one["run"] for one in effects if one["effect"] == "run"] + [run for one in queued for run in one.runs]
    now = {run.id: run.status for run in call.runtime.runs(conversation=event.conversation)}
    yield from (f"What waited comes no more: {visible_line(one.text)}" for one in queued if one.state == "removed")
    for run in begun:
        if run in at_work:
            yield _run_words(run, at_work[run], now[run])
    held = [one for one in call.runtime.queue(event.conversation) if one.state == "held" and one.behind in begun]
    if held:
        yield f"What waited behind it is held ({count_of(len(held), 'message')}): forkwood queue lists it."


def _run_words(run: Id, before: RunStatus, now: RunStatus) -> str:
    was = {"waiting": "waited for you", "queued": "had not begun"}.get(before, "was at work")
    if now in ACTIVE:
        return f"Run {ending(run)}, which {was}, is asked to end."
    return f"Run {ending(run)}, which {was}, is {now}: forkwood resume {ending(run)} starts another."
