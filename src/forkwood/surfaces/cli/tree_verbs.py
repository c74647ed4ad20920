"""Commands that shape the tree: switch, labels, drop, graft, hide, undo and redo, purge."""

from __future__ import annotations

import click

from forkwood.domain.event import Event
from forkwood.domain.ids import Id, ending
from forkwood.domain.response import Moved, PurgeReport, Touched
from forkwood.surfaces.cli.desk import Call
from forkwood.surfaces.cli.named import ANY_NODE, HIDDEN, LEAF, NODE, WORDS
from forkwood.surfaces.cli.options import ON, verb
from forkwood.surfaces.cli.screen_text import visible_line
from forkwood.surfaces.cli.show_lists import act_words
from forkwood.surfaces.cli.waiting import waiting
from forkwood.surfaces.cli.words import count_of, reach_words, short

TAKE_BACK = "forkwood undo takes it back."
AGAIN = "forkwood redo does it again."


@verb("switch", key=True)
@click.argument("node", type=LEAF)
@click.option("--here", is_flag=True, help="Stand at NODE itself, not at the newest leaf below it.")
def switch(call: Call, *, node: str, here: bool) -> None:
    """Move the head to the branch of NODE.

    A NODE on the path of the head is read there; ID~0 is the place behind it on its own branch, as branches lists it.
    """
    now = call.runtime.switch(node, conversation=call.conversation, here=here, key=call.key)
    call.give(now, lambda: f"The head is at {short(now.head)}.\n{_standing(call, now.id)}")


@verb("label", key=True)
@click.argument("node", type=NODE)
@click.argument("name", type=WORDS)
def label(call: Call, *, node: str, name: str) -> None:
    """Give NODE a name by which it can be called in this conversation."""
    now = call.runtime.label(node, name, conversation=call.conversation, key=call.key)
    call.give(now, lambda: f"{visible_line(name)} names {ending(call.runtime.labels(conversation=now.id)[name])} now.")


@verb("unlabel", key=True)
@click.argument("name", type=WORDS)
def unlabel(call: Call, *, name: str) -> None:
    """Take a label away. The message stays."""
    now = call.runtime.unlabel(name, conversation=call.conversation, key=call.key)
    call.give(now, lambda: f"{visible_line(name)} names nothing now.")


@verb("drop", key=True)
@click.argument("node", type=NODE)
@ON
def drop(call: Call, *, node: str, on: str | None) -> None:
    """Take NODE out of this branch: what follows is carried on without it."""
    dropped = ending(call.runtime.show(node, conversation=call.conversation).node.id)
    moved = call.runtime.drop(node, conversation=call.conversation, on=on, key=call.key)
    call.give(moved, lambda: f"Dropped {dropped} from this branch; every other branch keeps it. {_moved(call, moved)}")


@verb("graft", key=True)
@click.argument("entries", metavar="FIRST[..LAST]", type=ANY_NODE)
@ON
@click.option("--onto", type=NODE, metavar="NODE", help="Behind this message; else behind the head.")
def graft(call: Call, *, entries: str, on: str | None, onto: str | None) -> None:
    """Carry messages of another branch or conversation to here. They keep their identity; nothing is copied."""
    first, between, last = entries.partition("..")
    moved = call.runtime.graft(
        first, last if between else None, conversation=call.conversation, on=on, onto=onto, key=call.key
    )
    call.give(moved, lambda: _moved(call, moved))


@verb("hide", key=True)
@click.argument("name", metavar="CONV|NODE", type=NODE)
def hide(call: Call, *, name: str) -> None:
    """Leave a message out of every path and prompt, or put a conversation into the trash."""
    touched = call.runtime.hide(name, conversation=call.conversation, key=call.key)
    call.give(touched, lambda: call.terminal.hint(_touched(touched, name)))
    if touched.conversation:
        call.remark(_left_in_trash(call))


@verb("unhide", key=True)
@click.argument("name", metavar="CONV|NODE", type=HIDDEN)
def unhide(call: Call, *, name: str) -> None:
    """Take hide back."""
    touched = call.runtime.unhide(name, conversation=call.conversation, key=call.key)
    call.give(touched, lambda: call.terminal.hint(_touched(touched, name)))


@verb("undo", key=True)
def undo(call: Call) -> None:
    """Take back the last act of this conversation."""
    event = call.runtime.undo(conversation=call.conversation, key=call.key)
    call.give(
        event, lambda: f"Taken back: {_act(event)}. {call.terminal.hint(AGAIN)}\n{_standing(call, event.conversation)}"
    )
    call.remark(_left_in_trash(call))


@verb("redo", key=True)
def redo(call: Call) -> None:
    """Do again what undo took back."""
    event = call.runtime.redo(conversation=call.conversation, key=call.key)
    call.give(event, lambda: f"Done again: {_act(event)}.\n{_standing(call, event.conversation)}")


@verb("purge", key=True)
@click.argument("names", metavar="CONV|NODE...", type=NODE, nargs=-1, required=True)
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--everywhere", is_flag=True, help="Also what a conversation that is not named carries.")
def purge(call: Call, *, names: tuple[str, ...], yes: bool, everywhere: bool) -> None:
    """Destroy messages or conversations with every version of them, for good. The one command that does."""
    if not yes:
        _asked(call, names, everywhere=everywhere)
    with waiting("Destroying every trace", call.terminal):
        report = call.runtime.purge(names, conversation=call.conversation, everywhere=everywhere, key=call.key)
    call.give(report, lambda: _purged(report))


def _act(event: Event) -> str:
    """An act in words, with the message it was about."""
    return act_words(event) + (f" ({ending(event.node)})" if event.node else "")


def _standing(call: Call, conversation: Id | None) -> str:
    """The last words on the path of the head: where one stands now."""
    from forkwood.surfaces.cli.show_path import draw_last

    return draw_last(call.runtime.path(conversation=conversation), call.terminal.pen)


def _left_in_trash(call: Call) -> str:
    """Where the current conversation is in the trash now: that it still is the current one, and the way to another."""
    here = call.runtime.conversation() if call.named is None else None
    if here is None or not here.hidden:
        return ""
    others = call.runtime.listed()
    way = f"forkwood use {ending(others[0].id)} goes to the newest" if others else "forkwood new begins another"
    return f"It is in the trash and still the current conversation: {way}."


def _moved(call: Call, moved: Moved) -> str:
    carried = f"{count_of(moved.node.count or 0, 'message')} carried. " if moved.node else ""
    return f"{carried}The head is at {short(moved.head)}. {call.terminal.hint(TAKE_BACK)}"


def _touched(touched: Touched, name: str) -> str:
    """What is hidden or visible now, and the way back: by its id, for `@~2` counts what is visible."""
    lasting = ending(touched.nodes[0]) if touched.nodes else name
    back = f"forkwood {'unhide' if touched.hidden else 'hide'} {lasting} takes it back."
    return f"{_state(touched, lasting)}. {reach_words(touched.affects)}\n{back}"


def _state(touched: Touched, name: str) -> str:
    if touched.conversation:
        return "The conversation is in the trash" if touched.hidden else "The conversation is out of the trash"
    return f"{name} is {'hidden' if touched.hidden else 'visible'}{'' if touched.nodes else ' already'}"


def _asked(call: Call, names: tuple[str, ...], *, everywhere: bool) -> None:
    """Ask a person for their yes. Raises Refused where nobody can be asked, or they say no."""
    from forkwood.domain.errors import Refused

    going = call.runtime.purge_preview(names, conversation=call.conversation, everywhere=everywhere)
    if not going.nodes and not going.conversations:
        return  # all of it stays, and the report names it
    question = f"Destroy {_amounts(going)} with every version, for good?"
    for file in going.files:
        call.terminal.note(f"{file.path} will be {file.fate}: {file.why}.")
    if not call.terminal.is_conversation:
        raise Refused(f"{question} Nobody is here to be asked", hint="say --yes, or hide it, which can be taken back")
    call.terminal.note(reach_words(going.affects))
    if not click.confirm(question, err=True):
        raise Refused("Nothing was destroyed", hint="hide takes a message out of sight and can be taken back")


def _amounts(report: PurgeReport) -> str:
    amounts = [count_of(len(report.nodes), "message")]
    if report.conversations:
        amounts.append(count_of(len(report.conversations), "conversation"))
    return " and ".join(amounts)


def _purged(report: PurgeReport) -> str:
    lines = [f"Destroyed: {_amounts(report)}. {reach_words(report.affects)}"]
    if report.kept:
        kept = ", ".join(map(short, report.kept))
        lines.append(f"Kept, for another conversation carries it: {kept} (--everywhere destroys it there too)")
    lines += (f"{file.fate.capitalize()}: {file.path}, {file.why}." for file in report.files)
    if report.out_of_reach:
        lines.append(f"Out of reach: {'; '.join(report.out_of_reach)}.")
    return "\n".join(lines)
