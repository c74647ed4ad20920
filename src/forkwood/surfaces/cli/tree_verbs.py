"""Commands that shape the tree: switch, labels, drop, graft, hide, purge."""

from __future__ import annotations

from collections.abc import Sequence

import click

from forkwood.domain.ids import Id, ending
from forkwood.domain.response import Moved, PurgeReport, Touched
from forkwood.domain.tree import Entry, Node, is_node_ending
from forkwood.surfaces.cli.desk import Call
from forkwood.surfaces.cli.named import ANY_NODE, HIDDEN, LEAF, NODE, WORDS
from forkwood.surfaces.cli.options import ON, verb
from forkwood.surfaces.cli.screen_text import visible_line
from forkwood.surfaces.cli.undoing import left_in_trash, standing
from forkwood.surfaces.cli.waiting import waiting
from forkwood.surfaces.cli.words import count_of, reach_words, short

TAKE_BACK = "forkwood undo takes it back."


@verb("switch", key=True)
@click.argument("node", type=LEAF)
@click.option("--here", is_flag=True, help="Stand at NODE itself, not at the newest leaf below it.")
def switch(call: Call, *, node: str, here: bool) -> None:
    """Move the head to the branch of NODE.

    A NODE on the path of the head is read there; ID~0 is the place behind it on its own branch, as branches lists it.
    """
    now = call.runtime.switch(node, conversation=call.conversation, here=here, key=call.key)
    reached = "" if now.passed is None else reached_words(now.passed, node, stays=now.stays)
    call.give(now, lambda: f"The head is at {short(now.head)}.{call.terminal.hint(reached)}\n{standing(call, now.id)}")


@verb("label", key=True)
@click.argument("node", type=NODE)
@click.argument("name", type=WORDS)
def label(call: Call, *, node: str, name: str) -> None:
    """Give NODE a name by which it can be called in this conversation."""
    now = call.runtime.label(node, name, conversation=call.conversation, key=call.key)
    call.give(now, lambda: f"{visible_line(name)} names {_labelled(call, now.id, name)} now.")


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
    moved = call.runtime.drop(node, conversation=call.conversation, on=on, key=call.key)
    gone = [call.runtime.show(one).node for one in moved.gone]
    call.give(moved, lambda: f"{dropped_words(gone)} {_moved(call, moved)}")


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
    call.give(touched, lambda: call.terminal.hint(_touched(call, touched, name)))
    if touched.conversation:
        call.remark(left_in_trash(call))


@verb("unhide", key=True)
@click.argument("name", metavar="CONV|NODE", type=HIDDEN)
def unhide(call: Call, *, name: str) -> None:
    """Take hide back."""
    touched = call.runtime.unhide(name, conversation=call.conversation, key=call.key)
    call.give(touched, lambda: call.terminal.hint(_touched(call, touched, name)))


@verb("purge", key=True)
@click.argument("names", metavar="CONV|NODE...", type=NODE, nargs=-1, required=True)
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--everywhere", is_flag=True, help="Also what a conversation that is not named carries.")
def purge(call: Call, *, names: tuple[str, ...], yes: bool, everywhere: bool) -> None:
    """Destroy messages or conversations with every version of them, for good. The one command that does."""
    if not yes and not call.is_repeat:
        _asked(call, names, everywhere=everywhere)
    with waiting("Destroying every trace", call.terminal):
        report = call.runtime.purge(names, conversation=call.conversation, everywhere=everywhere, key=call.key)
    call.give(report, lambda: _purged(report))


def _path(call: Call, conversation: str | None) -> list[Entry]:
    return call.runtime.path(conversation=conversation, hidden=True)


def _labelled(call: Call, conversation: Id, name: str) -> str:
    """The message that NAME is the label of; a command that comes again may come when it is none any more."""
    node = call.runtime.labels(conversation=conversation).get(name)
    return "nothing" if node is None else ending(node)


def reached_words(meant: Id, typed: str, *, stays: bool) -> str:
    """What a switch did that did not end at the message MEANT: it went on to a leaf, or STAYS where the head was."""
    name = ending(meant)
    if stays:
        said = name if is_node_ending(typed) else f"{visible_line(typed)} ({name})"
        return f" {said} is on this branch already: forkwood switch {name} --here stands there."
    return f" From {name} it went on to the newest leaf below it; --here stands there."


def dropped_words(gone: Sequence[Node]) -> str:
    """What is not on the branch any more: the message that was named, and what went with it."""
    first, *others = gone
    if not others:
        return f"Dropped {ending(first.id)} from this branch; every other branch keeps it."
    went = ", ".join(
        f"{'the results of its calls' if node.role == 'tool' else 'the reply that called'} ({ending(node.id)})"
        for node in others
    )
    return f"Dropped {ending(first.id)} and with it {went} from this branch; every other branch keeps them."


def _moved(call: Call, moved: Moved) -> str:
    carried = f"{count_of(moved.node.count or 0, 'message')} carried. " if moved.node else ""
    return f"{carried}The head is at {short(moved.head)}. {call.terminal.hint(TAKE_BACK)}"


def _touched(call: Call, touched: Touched, name: str) -> str:
    """What is hidden or visible now, and the way back: by its id, for `@~2` counts what is visible."""
    if not touched.nodes and not touched.conversation:
        return _untouched(call, ending(touched.named or name), hidden=touched.hidden)
    lasting = ending(touched.nodes[0]) if touched.nodes else name
    back = f"forkwood {'unhide' if touched.hidden else 'hide'} {lasting} takes it back."
    return f"{_state(touched, lasting)}. {reach_words(touched.affects)}\n{back}"


def _state(touched: Touched, name: str) -> str:
    if touched.conversation:
        return "The conversation is in the trash" if touched.hidden else "The conversation is out of the trash"
    return f"{name} is {'hidden' if touched.hidden else 'visible'}"


def _untouched(call: Call, node: str, *, hidden: bool) -> str:
    """That NODE was so already, and for who wants something back what there is: `@~2` counts what is visible."""
    if hidden:
        return f"{node} is hidden already. forkwood unhide {node} brings it back."
    here = _path(call, call.conversation)
    found = [entry.node.id for entry in here if entry.node.hidden]
    others = ", ".join(map(ending, found))
    way = (
        f"Hidden on this branch: {others}; forkwood unhide {ending(found[-1])}" if found else "forkwood trash lists all"
    )
    return f"{node} is visible already. {way}{'' if found else ' that is hidden'}."


def _asked(call: Call, names: tuple[str, ...], *, everywhere: bool) -> None:
    """Ask a person for their yes. Raises Refused where nobody can be asked, or they say no."""
    from forkwood.domain.errors import Refused

    going = call.runtime.purge_preview(names, conversation=call.conversation, everywhere=everywhere)
    if not (going.nodes or going.conversations or going.queued):
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
    amounts = [count_of(len(report.nodes), "message")] if report.nodes or not report.queued else []
    if report.queued:
        amounts.append(count_of(len(report.queued), "queued message"))
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
