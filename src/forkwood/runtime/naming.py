"""How a person's names become conversations, nodes and places: labels, `@`, `@~N`, `#SEQ`, ids and their endings."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from forkwood.domain.errors import Misused, NotFound, Refused
from forkwood.domain.ids import Id, ending
from forkwood.domain.run import Run
from forkwood.domain.tree import Node, Spot, parse_place
from forkwood.store import conversations, locate, marks, names, nodes, places, runs, walk
from forkwood.store.db import Tx

_WITH_ROLE = walk.reading("n.seq, n.role")
_FURTHER = 4
"""How many times as far back is looked where what was read holds too few visible messages."""


class Met(Struct, frozen=True, kw_only=True):
    """A node as met on a path: the places before and after it, and the path's end, None where no path was meant.

    For a member of a tool group BEFORE and AFTER are those of the GROUP: the reply first, then the results.
    """

    node: int
    group: tuple[int, ...]
    before: Spot
    after: Spot
    path: Spot | None


def conversation(tx: Tx, name: str | None) -> int:
    """The conversation of that name, or the current one. Raises NotFound."""
    if name is not None:
        return names.conversation(tx, name)
    current = conversations.current(tx)
    if current is None:
        raise NotFound("there is no current conversation", hint="forkwood new, or name one with -c")
    return current


def node(tx: Tx, conversation: int, name: str) -> int:
    """The node of that name. Raises NotFound, with candidates where the name fits several."""
    if name.startswith("@"):
        return _from_head(tx, conversation, name)
    labelled = conversations.label_of(tx, conversation, name)
    return labelled if labelled is not None else names.node(tx, name)


def node_anywhere(tx: Tx, here: str | None, name: str) -> int:
    """The node of that name for a verb that only reads: with ids no conversation need be current. Raises NotFound."""
    if here is None and conversations.current(tx) is None and not name.startswith("@"):
        return names.node(tx, name)
    return node(tx, conversation(tx, here), name)


def run(tx: Tx, here: str | None, name: str | None, fits: Callable[[Run], bool]) -> Id:
    """The run of that name; None: the newest that FITS, of a conversation or (None) of the current one, of all where
    there is none. Raises NotFound."""
    if name is not None:
        return names.run(tx, name)
    nowhere = here is None and conversations.current(tx) is None
    for one in runs.listed(tx, None if nowhere else conversation(tx, here)):
        if fits(one):
            return one.id
    raise NotFound("no run is in such a state here", hint="forkwood runs lists all; name one")


def _from_head(tx: Tx, conversation: int, name: str) -> int:
    """`@` is the head's last entry, `@~N` the N-th visible entry before it."""
    head = conversations.head(tx, conversation)
    last = walk.last(tx, head)
    if not last:
        raise NotFound("the head stands on an empty path: there is no message yet", hint="forkwood send TEXT")
    if not name.startswith("@~") and name != "@":
        raise Misused(f"'{name}' names no node", hint="@ is the head, @~2 two visible messages before it")
    back = parse_place(name)[1]
    if back == 0:
        return last
    visible = _visible_before(tx, head, back)
    if back > len(visible):
        raise NotFound(f"'{name}' reaches before the first message: {len(visible)} visible ones stand before @")
    return visible[-back]


def _visible_before(tx: Tx, head: Spot, wanted: int) -> list[int]:
    """The visible messages before the head's last entry, as far back as WANTED of them takes, or all there are."""
    whole, count = walk.size(tx, head), wanted + 1
    while True:
        read = walk.messages(tx, head, min(count + 1, whole), _WITH_ROLE)  # one more: a reply hides its results
        hidden = marks.unseen(tx, [row[0] for row in read], [row[1] for row in read])
        visible = [node for node, _ in read[-count:-1] if node not in hidden]
        if len(visible) >= wanted or count >= whole:
            return visible
        count *= _FURTHER


def met(tx: Tx, conversation: int, name: str, on: str | None = None, *, foreign: bool = False) -> Met:
    """The node of that name as met on a path: ON's where given, else the head's, else none in particular.

    A node that is on neither is read on the path it was appended to; of another conversation only where FOREIGN.
    Raises NotFound, Refused.
    """
    seq = node(tx, conversation, name)
    head = walk.behind_results(tx, conversations.head(tx, conversation))
    paths = [head] if on is None else _leaf(tx, conversation, on, foreign=foreign)
    for path in paths:
        found = locate.entry(tx, path, seq)
        if found is not None:
            return Met(node=seq, group=found.group, before=found.before, after=found.after, path=path)
    row = nodes.row(tx, seq)
    if on is not None:
        raise Refused(f"{name} is not on the path of {on}", hint="forkwood branches lists the leaves")
    if row.kind == "graft":
        raise Refused(f"{name} is a carry, not a message", hint="name one of the messages it carries", node=row.id)
    if not foreign:
        own(tx, conversation, row, name)
    there = locate.appended(tx, seq)
    return Met(node=seq, group=there.group, before=there.before, after=there.after, path=None)


def _leaf(tx: Tx, conversation: int, name: str, *, foreign: bool) -> list[Spot]:
    """The paths that LEAF can mean: as any name is read, and the one it was appended to."""
    read = place(tx, conversation, name, foreign=foreign)
    if "~" in name or name.startswith("@"):
        return [read]
    return [read, walk.canonical(tx, node(tx, conversation, name), 0)]


def own(tx: Tx, conversation: int, row: Node, name: str) -> None:
    """Refuse a node of another conversation."""
    here = conversations.row(tx, conversation).id
    if row.conversation != here:
        raise Refused(
            f"{name} belongs to another conversation",
            hint=f"name it: -c {ending(row.conversation)}",
            node=row.id,
            conversation=row.conversation,
        )


def followed(tx: Tx, conversation: int, name: str, on: str | None, *, foreign: bool = False) -> tuple[Met, Spot]:
    """As `met`, where what follows matters: the path must be meant. Raises Refused for a node off the head's path."""
    entry = met(tx, conversation, name, on, foreign=foreign)
    if entry.path is None:
        raise Refused(
            f"{name} is not on the head's path, so what follows it is not clear",
            hint=_meant(tx, conversation, entry.node)
            or "name the branch with --on LEAF (forkwood branches lists them), or switch to it first",
        )
    return entry, entry.path


def _meant(tx: Tx, conversation: int, seq: int) -> str | None:
    """The version of a message that stands on the head's path in its place, in words; None where there is none."""
    head = conversations.head(tx, conversation)
    for version in reversed(nodes.versions(tx, seq)):
        if version.seq != seq and locate.entry(tx, head, version.seq) is not None:
            return f"{ending(version.id)} is the version of it that stands there; or name a branch with --on LEAF"
    return None


def place(tx: Tx, conversation: int, name: str, *, foreign: bool = False) -> Spot:
    """The place of a name: behind a node (on the head's path as met there), or `ID~N` inside a graft.

    Of another conversation only where FOREIGN. Raises NotFound, Misused, Refused.
    """
    if name == "@":
        return conversations.head(tx, conversation)
    inner, cut = (name, None) if "~" not in name or name.startswith("@") else parse_place(name)
    seq = node(tx, conversation, inner)
    row = nodes.row(tx, seq)
    if cut is None and row.kind == "message":
        return met(tx, conversation, name, foreign=foreign).after
    if not foreign:
        own(tx, conversation, row, name)
    return places.checked(tx, seq, cut or 0)
