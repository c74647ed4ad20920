"""Verbs that change the shape of the tree: drop, carry, fork, switch, label, hide. Each appends at most one row."""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import count

from msgspec import structs
from msgspec.structs import replace

from forkwood.domain import choices, limits
from forkwood.domain.act import (
    ConversationForked,
    ConversationHidden,
    ConversationShown,
    EntriesCarried,
    EntryDropped,
    HeadSwitched,
    LabelMoved,
    LabelSet,
    MarkChanged,
    NodesHidden,
    NodesShown,
    TrashChanged,
)
from forkwood.domain.conversation import Conversation
from forkwood.domain.errors import LimitExceeded, Misused, NotFound, Refused
from forkwood.domain.ids import ending
from forkwood.domain.message import Origin
from forkwood.domain.response import Affects, Moved, Switched, Touched
from forkwood.domain.text import first_line
from forkwood.domain.tree import ROOT, Spot, is_node_ending
from forkwood.runtime import guard, naming
from forkwood.runtime.acts import Acting, OpenAct
from forkwood.runtime.house import House
from forkwood.store import conversations, grafts, marks, names, nodes, reach, walk
from forkwood.store.db import Tx

_FORKED = re.compile(r" \(fork(?: (?P<number>[1-9][0-9]{0,8}))?\)$")


class Shaping(Acting):
    """drop, graft, fork, switch, label, unlabel, hide, unhide."""

    def drop(
        self, node: str, *, conversation: str | None = None, on: str | None = None, key: str | None = None
    ) -> Moved:
        """Take a message out of *this branch*: what follows it is carried to the place before it."""

        def do(act: OpenAct) -> Moved:
            entry, path = naming.followed(act.tx, act.conversation, node, on)
            graft = carry(act, entry.before, path, walk.size(act.tx, path) - walk.size(act.tx, entry.after))
            if act.effects:
                name = None if graft is None else nodes.row(act.tx, graft).id
                act.record(EntryDropped, node=entry.node, graft=name)
            gone = sorted(entry.group, key=lambda seq: seq != entry.node)
            return replace(moved(act, graft), gone=tuple(row.id for row in nodes.rows(act.tx, gone)))

        return self._act("drop", {"node": node, "on": on}, Moved, do, conversation=conversation, key=key)

    def graft(
        self,
        first: str,
        last: str | None = None,
        *,
        conversation: str | None = None,
        on: str | None = None,
        onto: str | None = None,
        key: str | None = None,
    ) -> Moved:
        """Carry FIRST to LAST, as they stand on one path, onto a place of this conversation (None: the head)."""

        def do(act: OpenAct) -> Moved:
            source, count = _stretch(act, first, last, on)
            target = act.head() if onto is None else naming.place(act.tx, act.conversation, onto)
            graft = carry(act, target, source, count)
            assert graft is not None
            if act.effects:
                act.record(EntriesCarried, node=graft, source=nodes.spot_text(act.tx, source), count=count)
            return moved(act, graft)

        arguments = {"first": first, "last": last, "on": on, "onto": onto}
        return self._act("graft", arguments, Moved, do, conversation=conversation, key=key)

    def fork(
        self, node: str, *, conversation: str | None = None, title: str | None = None, key: str | None = None
    ) -> Conversation:
        """A new conversation that shares the path up to a message; it is made current."""
        named = None if title is None else choices.parse("title", title)

        def do(tx: Tx) -> Conversation:
            here = naming.conversation(tx, conversation)
            entry = naming.met(tx, here, node, foreign=True)
            if entry.path is None:
                here = names.conversation(tx, nodes.row(tx, entry.node).conversation)
            source = conversations.row(tx, here)
            made = OpenAct(tx, self.house, _forked(tx, self.house, here, entry, named))
            conversations.make_current(tx, made.conversation)
            made.effects.append(TrashChanged(conversation=conversations.row(tx, made.conversation).id, hidden=False))
            carry(made, ROOT, entry.after, walk.size(tx, entry.after))
            made.record(
                ConversationForked,
                source_conversation=source.id,
                source_node=nodes.row(tx, entry.node).id,
                settings=conversations.settings(tx, made.conversation),
            )
            return conversations.row(tx, made.conversation)

        return self._once(
            "fork", {"conversation": conversation, "node": node, "title": title}, Conversation, do, key=key
        )

    def switch(
        self, node: str, *, conversation: str | None = None, here: bool = False, key: str | None = None
    ) -> Switched:
        """Move the head: to the newest leaf below a message of another branch, or with HERE to the message itself."""

        def do(act: OpenAct) -> Switched:
            meant = _meant(act, node)
            act.move_head(_switched(act, node, here=here))
            if act.effects:
                act.record(HeadSwitched, node=act.head().node or None)
            row, is_past = conversations.row(act.tx, act.conversation), meant != walk.last(act.tx, act.head())
            passed = nodes.row(act.tx, meant).id if meant and is_past and not here else None
            return Switched(**structs.asdict(row), passed=passed, stays=passed is not None and not act.effects)

        return self._act("switch", {"node": node, "here": here}, Switched, do, conversation=conversation, key=key)

    def label(self, node: str, name: str, *, conversation: str | None = None, key: str | None = None) -> Conversation:
        """Give a message a name of its own in this conversation; the name leaves the message that had it."""

        def do(act: OpenAct) -> Conversation:
            seq = naming.met(act.tx, act.conversation, node).node
            return _label(act, checked_label(name), seq)

        return self._act("label", {"node": node, "name": name}, Conversation, do, conversation=conversation, key=key)

    def unlabel(self, name: str, *, conversation: str | None = None, key: str | None = None) -> Conversation:
        """Take a label away."""

        def do(act: OpenAct) -> Conversation:
            if conversations.label_of(act.tx, act.conversation, name) is None:
                known = ", ".join(conversations.labels(act.tx, act.conversation)) or "there are none"
                raise NotFound(f"there is no label '{name}'", hint=f"labels here: {known}")
            return _label(act, name, None)

        return self._act("unlabel", {"name": name}, Conversation, do, conversation=conversation, key=key)

    def hide(self, name: str, *, conversation: str | None = None, key: str | None = None) -> Touched:
        """Leave a message (with its tool group) out of every path and prompt, or put a conversation into the trash."""
        return self._mark("hide", name, conversation, key, hidden=True)

    def unhide(self, name: str, *, conversation: str | None = None, key: str | None = None) -> Touched:
        """Take `hide` back: exactly what was there is there again."""
        return self._mark("unhide", name, conversation, key, hidden=False)

    def _mark(self, verb: str, name: str, conversation: str | None, key: str | None, *, hidden: bool) -> Touched:
        def do(tx: Tx) -> Touched:
            whole = named_conversation(tx, conversation, name)
            if whole is not None:
                return _trash(OpenAct(tx, self.house, whole), hidden=hidden)
            return _hide(OpenAct(tx, self.house, naming.conversation(tx, conversation)), name, hidden=hidden)

        return self._once(verb, {"conversation": conversation, "name": name}, Touched, do, key=key)


def carry(act: OpenAct, at: Spot, source: Spot, count: int) -> int | None:
    """Append one graft of the last COUNT entries at SOURCE; the head moves there, or to AT with nothing to carry."""
    if not count:
        act.move_head(at)
        return None
    seq, _ = grafts.add_graft(
        act.tx,
        id=act.new_id(),
        conversation=act.conversation,
        at=at,
        source=source,
        count=count,
        origin=Origin(by=act.house.who.by, via=act.house.who.via),
        now_ms=act.now_ms,
    )
    act.move_head(walk.canonical(act.tx, seq, 0))
    return seq


def moved(act: OpenAct, node: int | None) -> Moved:
    """The response of a verb that moved the head."""
    return Moved(
        head=nodes.spot_text(act.tx, act.head()),
        node=None if node is None else nodes.row(act.tx, node),
    )


def _stretch(act: OpenAct, first: str, last: str | None, on: str | None) -> tuple[Spot, int]:
    """FIRST to LAST as a place and a count. One message needs no path; two are read on one path that is meant."""
    if last is None:
        entry = naming.met(act.tx, act.conversation, first, on, foreign=True)
        return entry.after, walk.size(act.tx, entry.after) - walk.size(act.tx, entry.before)
    begin, end = (naming.met(act.tx, act.conversation, name, on, foreign=True) for name in (first, last))
    if begin.path is None or end.path is None:
        raise Refused(
            f"{first} and {last} are not both on the head's path: on which branch they follow each other is not clear",
            hint=f"forkwood graft {first}..{last} --on {last}, or another leaf below them",
        )
    count = walk.size(act.tx, end.after) - walk.size(act.tx, begin.before)
    if count < 1:
        raise Refused(f"{last} stands before {first} on that path", hint=f"carry {last}..{first} instead")
    return end.after, count


def _forked(tx: Tx, house: House, here: int, entry: naming.Met, title: str | None) -> int:
    """The row of a forked conversation: the source's model, system, approvals, parameters, tags and tool switches."""
    source = conversations.row(tx, here)
    return conversations.create(
        tx,
        house.new_id(),
        house.clock(),
        title=forked_title(source.title, conversations.fork_titles(tx)) if title is None else title,
        titled_by="rule" if title is None else "user",
        settings=conversations.forked_settings(tx, here),
        forked_from=(source.id, nodes.row(tx, entry.node).id),
    )


def forked_title(title: str, taken: Collection[str] = ()) -> str:
    """The title of a fork of what has TITLE: `T (fork)`, then `T (fork 2)`, T cut where the whole would be too long.

    The first one that is not TAKEN.
    """
    already = _FORKED.search(title)
    words = title[: already.start()] if already else title
    first = int(already["number"] or 1) + 1 if already else 1
    numbered = (_signed(words, number) for number in count(first))
    return next(one for one in numbered if one not in taken) if words else ""


def _signed(words: str, number: int) -> str:
    sign = f" (fork {number})" if number > 1 else " (fork)"
    return first_line(words, limits.title_characters_max - len(sign)) + sign


def _meant(act: OpenAct, name: str) -> int | None:
    """The message that NAME means, which `switch` may not end at; None for a place."""
    if "~" in name and not name.startswith("@"):
        return None
    seq = naming.node(act.tx, act.conversation, name)
    return seq if walk.role_of(act.tx, seq) else None


def _switched(act: OpenAct, name: str, *, here: bool) -> Spot:
    if here or ("~" in name and not name.startswith("@")):
        return naming.place(act.tx, act.conversation, name)
    if nodes.row(act.tx, naming.node(act.tx, act.conversation, name)).kind == "graft":
        return nodes.leaf_below(act.tx, naming.place(act.tx, act.conversation, name))
    entry = naming.met(act.tx, act.conversation, name)
    return act.head() if entry.path is not None else nodes.leaf_below(act.tx, entry.after)


def _label(act: OpenAct, name: str, node: int | None) -> Conversation:
    before = conversations.label_of(act.tx, act.conversation, name)
    if before != node:
        conversations.write_label(act.tx, act.conversation, name, node)
        old, new = (None if seq is None else nodes.row(act.tx, seq).id for seq in (before, node))
        act.effects.append(LabelMoved(name=name, before=old, after=new))
        act.record(LabelSet, node=node if node is not None else before)
    return conversations.row(act.tx, act.conversation)


def checked_label(name: str) -> str:
    """NAME, if it can be a label: it must not read as another kind of name. Raises Misused, LimitExceeded."""
    if not name.strip() or name != name.strip() or any(sign in name for sign in "@#~") or ".." in name:
        raise Misused(f"'{name}' cannot be a label", hint="no blanks at its ends, no @, #, ~ and no two dots in a row")
    if not name.isprintable():
        raise Misused(f"{name!r} cannot be a label: it has signs that cannot be seen", hint="letters, digits, blanks")
    if is_node_ending(name):
        raise Misused(f"'{name}' reads like the ending of an id", hint="add a letter beyond f, or a word")
    if len(name) > limits.label_characters_max:
        raise LimitExceeded(
            "the label's characters", limit="label_characters_max", bound=limits.label_characters_max, got=len(name)
        )
    return name


def named_conversation(tx: Tx, here: str | None, name: str) -> int | None:
    """The conversation that NAME means where a node or a conversation may be named; None where it is a node's.

    Raises NotFound, with candidates of both kinds where the name fits several.
    """
    current = conversations.current(tx) if here is None else naming.conversation(tx, here)
    labelled = current is not None and conversations.label_of(tx, current, name) is not None
    if labelled or name.startswith(("@", "#")):
        naming.node_anywhere(tx, here, name)
        return None
    return names.whole(tx, name)


def _trash(act: OpenAct, *, hidden: bool) -> Touched:
    row = conversations.row(act.tx, act.conversation)
    if row.hidden != hidden:
        conversations.write_setting(act.tx, act.conversation, "hidden", hidden)
        act.effects.append(TrashChanged(conversation=row.id, hidden=hidden))
        act.record(ConversationHidden if hidden else ConversationShown)
    branches = nodes.count_leaves(act.tx, act.conversation)
    return Touched(affects=Affects(branches=branches, conversations=(row.id,)), hidden=hidden, conversation=row.id)


def _hide(act: OpenAct, name: str, *, hidden: bool) -> Touched:
    entry = naming.met(act.tx, act.conversation, name)
    if hidden:
        guard.not_on_active_path(act.tx, entry.group[0], name, "hidden")
    own = nodes.group(act.tx, entry.group[-1])
    marked = entry.group if own == entry.group else entry.group[:1]  # carried results stand behind another reply too
    already = marks.hidden_now(act.tx, marked)
    changing = [seq for seq in marked if (seq in already) != hidden]
    ids = tuple(row.id for row in nodes.rows(act.tx, changing))
    if changing:
        act.effects.append(MarkChanged(nodes=ids, hidden=hidden))
        seq = act.record(NodesHidden if hidden else NodesShown, node=entry.node)
        (marks.hide if hidden else marks.show)(act.tx, changing, seq)
    named, affects = nodes.row(act.tx, entry.node).id, _reach(act.tx, entry.group[0], hidden=hidden)
    return Touched(affects=affects, hidden=hidden, named=named, nodes=ids)


def _reach(tx: Tx, node: int, *, hidden: bool) -> Affects:
    branches, inside = reach.of_node(tx, node)
    local = f"to take it out of this branch only: forkwood drop {ending(nodes.row(tx, node).id)}"
    note = local if hidden and branches > 1 else ""
    return Affects(branches=branches, conversations=inside, note=note)
