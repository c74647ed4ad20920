"""Verbs that read: path, tree, show, branches, history, log, search. What they write is only what doctor would make
anew: `show` keeps the digests it was asked for, and a head that cannot be read is settled."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TypeVar

from forkwood.domain.conversation import Leaf
from forkwood.domain.errors import Misused
from forkwood.domain.event import Event
from forkwood.domain.hit import SearchResponse
from forkwood.domain.ids import Id
from forkwood.domain.response import Branch, NodeShown
from forkwood.domain.run import Run
from forkwood.domain.tree import Entry, Node, Spot
from forkwood.runtime import driven, naming
from forkwood.runtime.settling import settled
from forkwood.runtime.verbs import Verbs
from forkwood.store import conversations, digests, entries, log, names, nodes, places, runs, walk
from forkwood.store.db import Tx

LOG_ROWS = 500
_NUMBERS_END = 1 << 63


T = TypeVar("T")


class Reading(Verbs):
    """path, tree, show, branches, history, clients, labels, log, search, runs, left, abandoned,
    replied_before, notices."""

    def path(self, node: str | None = None, *, conversation: str | None = None, hidden: bool = False) -> list[Entry]:
        """The entries from the root to a message (None: to the head), hidden ones left out unless HIDDEN."""

        def look(tx: Tx) -> list[Entry]:
            seq = naming.conversation(tx, conversation)
            spot = conversations.head(tx, seq) if node is None else naming.place(tx, seq, node)
            return entries.entries(tx, spot, hidden=hidden)

        return self._settled(conversation, self.house.store.read, look)

    def tree(self, *, conversation: str | None = None) -> list[Node]:
        """The conversation's own nodes by age: grafts too, hidden ones flagged."""
        with self.house.store.read() as tx:
            return nodes.of_conversation(tx, naming.conversation(tx, conversation))

    def show(self, node: str, *, conversation: str | None = None) -> NodeShown:
        """One node, whole, with the digests of the path it ends."""

        def look(tx: Tx) -> NodeShown:
            seq = naming.node_anywhere(tx, conversation, node)
            spot = walk.canonical(tx, seq, 0)
            return NodeShown(
                node=nodes.row(tx, seq),
                digest=digests.path_digest(tx, spot),
                match_digest=digests.match_digest(tx, spot),
            )

        return self._settled(conversation, self.house.store.write, look)  # digests that are asked for are kept

    def branches(self, *, conversation: str | None = None) -> list[Branch]:
        """The leaves of a conversation, newest first."""

        def look(tx: Tx) -> list[Branch]:
            seq = naming.conversation(tx, conversation)
            head = conversations.head(tx, seq)
            return [_branch(tx, leaf, head) for leaf in nodes.leaves(tx, seq)]

        return self._settled(conversation, self.house.store.read, look)

    def history(self, node: str, *, conversation: str | None = None) -> list[Node]:
        """Every version of a message, oldest first."""

        def look(tx: Tx) -> list[Node]:
            return nodes.versions(tx, naming.node_anywhere(tx, conversation, node))

        return self._settled(conversation, self.house.store.read, look)

    def clients(self, asked: Sequence[Id]) -> dict[Id, str]:
        """Which client asked for each of these runs; one of which nobody knows is left out."""
        with self.house.store.read() as tx:
            known = ((run, runs.client(tx, run)) for run in asked)
            return {run: client for run, client in known if client}

    def labels(self, *, conversation: str | None = None) -> dict[str, Id]:
        """The labels of a conversation and the messages they name."""
        with self.house.store.read() as tx:
            found = conversations.labels(tx, naming.conversation(tx, conversation))
            return {name: nodes.row(tx, seq).id for name, seq in found.items()}

    def log(self, *, conversation: str | None = None, after: int = 0) -> Iterator[Event]:
        """The events above AFTER, oldest first, of one conversation or (None) of all. Read a stretch at a time."""
        checked_after(after)
        while True:
            with self.house.store.read() as tx:
                only = None if conversation is None else naming.conversation(tx, conversation)
                stretch = log.events(tx, after=after, limit=LOG_ROWS, conversation=only)
            yield from stretch
            if len(stretch) < LOG_ROWS:
                return
            after = stretch[-1].seq

    def search(
        self,
        words: str | Sequence[str],
        *,
        conversation: str | None = None,
        role: str | None = None,
        limit: int = 20,
        substring: bool = False,
        raw: bool = False,
    ) -> SearchResponse:
        """Messages of any branch that hold all of WORDS: one line, or each as it is meant, blanks and all.

        RAW takes FTS5's own syntax, SUBSTRING reads every text.
        """
        from forkwood.store import search  # its tables of letters are loaded when they are needed

        with self.house.store.read() as tx:
            only = None if conversation is None else naming.conversation(tx, conversation)
            return search.find(tx, words, conversation=only, role=role, limit=limit, substring=substring, raw=raw)

    def runs(self, *, conversation: str | None = None) -> list[Run]:
        """The runs of a conversation or (None) of all, newest first."""
        with self.house.store.read() as tx:
            only = None if conversation is None else naming.conversation(tx, conversation)
            return runs.listed(tx, only)

    def left(self, conversation: str | None = None) -> list[Id]:
        """The runs of a conversation (None: the current one) that are at work and that no living driver has.

        The next `send` drives them, and `resume` each.
        """
        with self.house.store.read() as tx:
            return driven.left(tx, self.house, naming.conversation(tx, conversation))

    def abandoned(self, conversation: str | None = None) -> list[Id]:
        """As `left`, to be told: without those that began this moment, whose driver is about to take them up."""
        with self.house.store.read() as tx:
            return driven.abandoned(tx, self.house, naming.conversation(tx, conversation))

    def replied_before(self, run: str) -> str | None:
        """The model of the last reply on the path that a run answers; None where no model has spoken there."""
        with self.house.store.read() as tx:
            return places.last_model(tx, runs.details(tx, names.run(tx, run)).start)

    def notices(self) -> list[str]:
        """What happened to the store beside what was asked since this was last called: a head that was settled."""
        told, self.house.notices = self.house.notices, []
        return told

    def _settled(
        self, conversation: str | None, begin: Callable[[], AbstractContextManager[Tx]], look: Callable[[Tx], T]
    ) -> T:
        """What LOOK gives in a transaction that BEGIN opens; once more where the head had to be settled first."""

        def once() -> T:
            with begin() as tx:
                return look(tx)

        return settled(self.house, conversation, once)


def checked_after(after: int) -> int:
    """AFTER, if it can be a log number. Raises Misused."""
    if not 0 <= after < _NUMBERS_END:
        raise Misused(f"--after takes a log number, not {after}", hint="forkwood log --after 0 shows everything")
    return after


def _branch(tx: Tx, leaf: Leaf, head: Spot) -> Branch:
    place = nodes.spot_text(tx, leaf.spot)
    assert place is not None
    return Branch(
        leaf=place,
        node=leaf.node,
        text=leaf.text,
        role=leaf.role,
        length=leaf.length,
        hidden=leaf.hidden,
        created_ms=leaf.created_ms,
        head=leaf.spot == head,
    )
