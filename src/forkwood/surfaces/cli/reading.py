"""Commands that read the tree and the log: path, tree, show, branches, history, why, log, search, trash."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import to_builtins

from forkwood.domain.errors import Misused, NotFound
from forkwood.domain.ids import ending
from forkwood.surfaces.cli.desk import Call
from forkwood.surfaces.cli.named import ANY_NODE, NODE, PATH, WORDS
from forkwood.surfaces.cli.options import verb

if TYPE_CHECKING:
    from forkwood.domain.ids import Id
    from forkwood.domain.memory import Memory
    from forkwood.domain.response import Branch
    from forkwood.domain.tree import Node
    from forkwood.surfaces.cli.show_tree import Marked

LIMIT = 20
SEQ_MAX = 2**63 - 1


@verb("path")
@click.argument("node", type=NODE, required=False)
def path(call: Call, *, node: str | None) -> None:
    """Show the messages from the beginning to NODE; without one, to the head."""
    from forkwood.surfaces.cli.show_path import draw_path

    entries = call.runtime.path(node, conversation=call.conversation)
    call.give(entries, lambda: draw_path(entries, call.terminal.pen, head=_head(call)))
    _mention_undriven(call)


@verb("tree")
@click.option("--fold", is_flag=True, help="Draw straight runs of messages as one line each.")
@click.option("--svg", type=PATH, metavar="FILE", help="Write a picture instead.")
def tree(call: Call, *, fold: bool, svg: Path | None) -> None:
    """Draw every branch of the conversation."""
    from forkwood.surfaces.cli.show_tree import draw_tree

    nodes = call.runtime.tree(conversation=call.conversation)
    if svg is not None:
        from forkwood.surfaces.cli.screen_text import visible
        from forkwood.surfaces.cli.show_svg import draw_svg

        _write(svg, draw_svg(nodes, _head(call)))
        call.give(nodes, lambda: f"Written: {visible(str(svg))}")
        return
    terminal = call.terminal
    call.give(
        nodes,
        lambda: draw_tree(nodes, _marked(call, nodes), terminal.pen, fold=fold),
    )
    _mention_undriven(call)


@verb("show")
@click.argument("node", type=ANY_NODE, default="@")
def show(call: Call, *, node: str) -> None:
    """Show one message whole, with the digests of its path."""
    from forkwood.surfaces.cli.show_lists import draw_shown

    shown = call.runtime.show(node, conversation=call.conversation)
    whole = {**to_builtins(shown.node), "digest": shown.digest, "match_digest": shown.match_digest}
    call.give(whole, lambda: draw_shown(shown, call.terminal.pen))


@verb("branches")
def branches(call: Call) -> None:
    """List the leaves: where each branch ends, with its last words and their age, and where it left the head's path.

    NAME~0 is a message that the head's path carries too: ~0 means the branch on which it was said first.
    """
    from forkwood.surfaces.cli.show_lists import draw_branches

    found = call.runtime.branches(conversation=call.conversation)
    terminal = call.terminal
    call.give(found, lambda: draw_branches(found, terminal.pen, terminal.now_ms(), **_beside_head(call, found)))
    _mention_undriven(call)


@verb("history")
@click.argument("node", type=ANY_NODE, default="@")
def history(call: Call, *, node: str) -> None:
    """Show every version of a message, oldest first: who wrote it, when, and through which door.

    Also of a fact that is remembered, by the id of any of its versions.
    """
    from forkwood.surfaces.cli import show_memory
    from forkwood.surfaces.cli.show_lists import draw_history

    try:
        versions = call.runtime.history(node, conversation=call.conversation)
    except NotFound as nothing:
        facts = call.runtime.memory_history(_memory(call, node, nothing).id)
        call.give(facts, lambda: show_memory.draw_history(facts, call.terminal))
        return
    made = [version.origin.run for version in versions if version.origin.run]
    call.give(versions, lambda: draw_history(versions, call.terminal.pen, call.runtime.clients(made)))


@verb("why")
@click.argument("node", type=NODE, default="@")
@click.option("--prompt", is_flag=True, help="Show the words that were sent, too.")
def why(call: Call, *, node: str, prompt: bool) -> None:
    """Say what a reply was made from, and prove it: its prompt is built again from the books and compared.

    Of a fact that is remembered, by the id of a version: which reply proposed it, and who decided about it.
    """
    from forkwood.surfaces.cli.show_memory import draw_why as draw_memory_why
    from forkwood.surfaces.cli.show_why import draw_prompt, draw_why

    try:
        found, inks = call.runtime.why(node, conversation=call.conversation), call.terminal.pen.inks
    except NotFound as nothing:
        fact = call.runtime.memory_why(_memory(call, node, nothing).id)
        call.give(fact, lambda: draw_memory_why(fact, call.terminal))
        return
    call.give(found, lambda: draw_why(found, inks) + (f"\n\n{draw_prompt(found, inks)}" if prompt else ""))


def _memory(call: Call, name: str, nothing: NotFound) -> Memory:
    """The memory whose id NAME is. Raises NOTHING, which says that it is no node's, where it is none."""
    found = None if nothing.facts.get("candidates") else call.runtime.memory_named(name)
    if found is None:
        raise nothing
    return found


@verb("log")
@click.option(
    "--after", type=click.IntRange(max=SEQ_MAX), metavar="SEQ", help="Only events above this log number; 0: all."
)
@click.option(
    "--follow", is_flag=True, help="Go on with what is done, until Ctrl-C; without --after, from the last ten."
)
def log(call: Call, *, after: int | None, follow: bool) -> None:
    """List what was done, oldest first. Without -c: in all conversations.

    With --follow the words of a reply are shown as they come, whichever process hears it; with --json each line is an
    event or a delta: a scrap of a reply in flight.
    """
    if follow:
        from forkwood.surfaces.cli.following import follow_log

        follow_log(call, after)
        return
    from forkwood.surfaces.cli.show_lists import event_line

    inks = call.terminal.pen.inks
    for event in call.runtime.log(conversation=call.named, after=after or 0):
        call.give(event, partial(event_line, event, inks))


@verb("search")
@click.argument("words", type=WORDS, nargs=-1, required=True)
@click.option("--role", type=click.Choice(["user", "assistant", "system", "tool"]), help="Only what this role said.")
@click.option("--limit", type=int, default=LIMIT, show_default=True, metavar="N", help="At most so many hits.")
@click.option("--substring", is_flag=True, help="Look inside words too, by reading every message.")
@click.option("--fts", is_flag=True, help="WORDS are an expression of SQLite's FTS5.")
def search(call: Call, *, words: tuple[str, ...], role: str | None, limit: int, substring: bool, fts: bool) -> None:
    """Find messages of every branch that hold all WORDS, taken literally. Without -c: in all conversations."""
    from forkwood.surfaces.cli.show_lists import draw_hits
    from forkwood.surfaces.cli.waiting import waiting

    with waiting("Searching", call.terminal):
        found = call.runtime.search(
            words, conversation=call.named, role=role, limit=limit, substring=substring, raw=fts
        )
    if found.note:
        call.terminal.note(found.note)
    call.give(found.hits, lambda: draw_hits(found.hits, call.terminal.pen.inks))


@verb("trash")
def trash(call: Call) -> None:
    """List what is hidden: conversations, and messages. Without -c: of all conversations."""
    from forkwood.surfaces.cli.show_lists import draw_trash

    found = call.runtime.trash(conversation=call.named)
    whole = (*found.conversations, *found.nodes)
    call.give(whole, lambda: draw_trash(found, call.terminal.pen, call.terminal.now_ms()))
    if whole:
        call.remark("forkwood unhide NAME brings one back.")


def _head(call: Call) -> str | None:
    return call.runtime.conversation(call.conversation).head


def _carried(call: Call) -> dict[Id, tuple[str, str]]:
    """The first and last words that each graft on the head's path carries there."""
    from forkwood.surfaces.cli.words import one_line

    found: dict[Id, tuple[str, str]] = {}
    for entry in call.runtime.path(conversation=call.conversation):
        if entry.graft:
            first, _ = found.get(entry.graft, (one_line(entry.node), ""))
            found[entry.graft] = first, one_line(entry.node)
    return found


def _beside_head(call: Call, branches: Sequence[Branch]) -> dict[str, Any]:
    """Of several branches: the messages of the head's path, for there a leaf's own name would mean another place; and
    with which of them each branch that leaves it does so."""
    from forkwood.surfaces.cli.tree_rows import branched_at, places_of

    if len(branches) < 2:
        return {}
    entries = call.runtime.path(conversation=call.conversation, hidden=True)
    nodes = {node.id: node for node in call.runtime.tree(conversation=call.conversation)}
    path = places_of(entries, _head(call))
    left = {branch.leaf: branched_at(branch.leaf, nodes, path) for branch in branches if not branch.head}
    return {"on_path": {entry.node.id for entry in entries}, "left_at": left}


def _mention_undriven(call: Call) -> None:
    """Say that a run is at work here and nobody drives it: this command does not."""
    for run in call.runtime.abandoned(call.conversation):
        name = ending(run)
        call.terminal.note(call.terminal.hint(f"Run {name} was left at work: forkwood resume {name} goes on with it."))


def _write(path: Path, text: str) -> None:
    """Make TEXT the content of PATH. Raises Misused where that cannot be, also where a pipe has no reader: nobody
    waits for one."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NONBLOCK", 0), 0o666)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            os.set_blocking(handle, True)
            file.write(text)
    except OSError as error:
        raise Misused(f"{path} cannot be written: {error.strerror}", hint="name another file", path=str(path)) from None


def _marked(call: Call, nodes: Sequence[Node]) -> Marked:
    from forkwood.domain.run import ACTIVE
    from forkwood.surfaces.cli.show_tree import Marked
    from forkwood.surfaces.cli.tree_rows import node_of

    at_work = [run for run in call.runtime.runs(conversation=call.conversation) if run.status in ACTIVE]
    nobodys = frozenset(call.runtime.abandoned(conversation=call.conversation) if at_work else ())
    tips = {run.id: node_of(run.tip) or "" for run in at_work}
    labels: dict[str, list[str]] = {}
    for name, node in call.runtime.labels(conversation=call.conversation).items():
        labels.setdefault(node, []).append(name)
    return Marked(
        head=_head(call),
        labels=labels,
        working=frozenset(tips.values()),
        carried=_carried(call) if any(node.kind == "graft" for node in nodes) else {},
        left={tips[run]: run for run in nobodys if run in tips},
    )
