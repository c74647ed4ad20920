"""A tree to test with: one store in memory, one open transaction, and the verbs of the tree by short names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from forkwood.domain.act import NodesHidden, Who
from forkwood.domain.conversation import ConversationSettings
from forkwood.domain.ids import Id, make_id
from forkwood.domain.message import Origin, Part, Role, Text, ToolCall, ToolResult
from forkwood.domain.tree import ROOT, Spot
from forkwood.store import append, conversations, entries, grafts, log, marks, nodes, walk
from forkwood.store.db import Store, Tx

NOW = 1_770_000_000_000
ME = Origin(by="user", via="cli")
MODEL = Origin(by="model", via="cli", run=make_id(NOW, bytes(10)), model="scripted:x")


class Tree:
    """Conversations that grow. Places are the store's Spots; `say` gives the place behind the message."""

    def __init__(self, tx: Tx) -> None:
        self.tx = tx
        self.made = 0

    def id(self) -> Id:
        self.made += 1
        return make_id(NOW, self.made.to_bytes(10, "big"))

    def conversation(self, **settings: str) -> int:
        wanted = ConversationSettings(**settings)  # type: ignore[arg-type]
        return conversations.create(self.tx, self.id(), NOW, title="a talk", titled_by="rule", settings=wanted)

    def add(self, conversation: int, at: Spot, parts: Sequence[Part], role: Role = "user", *, revises: int = 0) -> Spot:
        origin = ME if role == "user" else MODEL
        node = append.add_message(
            self.tx,
            id=self.id(),
            conversation=conversation,
            at=at,
            role=role,
            parts=tuple(parts),
            origin=origin,
            now_ms=NOW + self.made,
            revises=revises,
        )
        return Spot(node)

    def say(self, conversation: int, at: Spot, words: str, role: Role = "user", *, revises: int = 0) -> Spot:
        return self.add(conversation, at, (Text(text=words),), role, revises=revises)

    def line(self, conversation: int, words: str, at: Spot = ROOT) -> list[Spot]:
        """A message for each letter of WORDS, one below the other; the places behind them."""
        found = []
        for number, letter in enumerate(words):
            at = self.say(conversation, at, letter, "assistant" if number % 2 else "user")
            found.append(at)
        return found

    def call(self, conversation: int, at: Spot, *calls: str) -> Spot:
        asked = tuple(ToolCall(call=call, name="look", arguments={"at": call}) for call in calls)
        return self.add(conversation, at, (Text(text="let me see"), *asked), "assistant")

    def results(self, at: Spot, *calls: str) -> Spot:
        given = tuple(
            ToolResult(call=call, name="look", outcome="ok", parts=(Text(text=f"saw {call}"),)) for call in calls
        )
        origin = Origin(by="tool", via="cli", run=MODEL.run)
        return Spot(append.add_results(self.tx, id=self.id(), at=at, parts=given, origin=origin, now_ms=NOW))

    def graft(self, conversation: int, at: Spot, source: Spot, count: int) -> Spot:
        return Spot(self.grafted(conversation, at, source, count)[0])

    def grafted(self, conversation: int, at: Spot, source: Spot, count: int) -> tuple[int, bool]:
        return grafts.add_graft(
            self.tx, id=self.id(), conversation=conversation, at=at, source=source, count=count, origin=ME, now_ms=NOW
        )

    def edit(self, conversation: int, head: Spot, index: int, words: str) -> Spot:
        """A new version of the entry at INDEX of the path at HEAD."""
        (entry,) = walk.light_entries(self.tx, walk.prefix(self.tx, head, index + 1), 1)
        return self.say(conversation, entry.before, words, entry.role, revises=entry.node)

    def keep(self, conversation: int, head: Spot, index: int, words: str) -> Spot:
        """The same, and all that followed is carried."""
        made = self.edit(conversation, head, index, words)
        count = walk.size(self.tx, head) - index - 1
        return self.graft(conversation, made, head, count) if count else made

    def drop(self, conversation: int, head: Spot, index: int) -> Spot:
        before = walk.prefix(self.tx, head, index)
        count = walk.size(self.tx, head) - index - 1
        return self.graft(conversation, before, head, count) if count else before

    def act(self, conversation: int, node: int) -> int:
        """An event to hang marks on; its log number."""
        who = Who(by="user", via="cli")
        return log.write(self.tx, NodesHidden(effects=()), who=who, now_ms=NOW, conversation=conversation, node=node)

    def hide(self, conversation: int, *hidden: int) -> int:
        event = self.act(conversation, hidden[0])
        marks.hide(self.tx, hidden, event)
        return event

    def show(self, conversation: int, *shown: int) -> int:
        event = self.act(conversation, shown[0])
        marks.show(self.tx, shown, event)
        return event

    def words(self, spot: Spot) -> str:
        """What the visible path says, joined."""
        return "".join(entry.node.text for entry in entries.entries(self.tx, spot))

    def all_words(self, spot: Spot) -> list[str]:
        return [entry.node.text for entry in entries.entries(self.tx, spot, hidden=True)]

    def seqs(self, spot: Spot) -> list[int]:
        return [entry.node for entry in walk.light_entries(self.tx, spot)]

    def beside(self, spot: Spot, index: int) -> str:
        """The texts of the siblings of an entry, the entry's own index in front."""
        found = entries.entries(self.tx, spot, hidden=True)[index].siblings
        names = [nodes.rows(self.tx, [self.seq(name)])[0].text for name in found.ids]
        return f"{found.index}/{found.count} {' '.join(names)}"

    def seq(self, name: Id) -> int:
        return int(self.tx.value("SELECT seq FROM node WHERE id = ?", (bytes.fromhex(name),)))

    def work(self, do: Callable[[], object]) -> int:
        """How many instructions of SQLite's machine DO takes, in tens."""
        tens = 0

        def count() -> bool:
            nonlocal tens
            tens += 1
            return False

        self.tx.connection.set_progress_handler(count, 10)
        do()
        self.tx.connection.set_progress_handler(None)
        return tens

    def rows(self) -> int:
        return int(self.tx.value("SELECT count(*) FROM node"))


@contextmanager
def growing(*, damaged: bool = False) -> Iterator[Tree]:
    """A tree in a new store. DAMAGED: rows can be lost from it, as from a file that was."""
    store = Store.in_memory()
    if damaged:
        store._connection.execute("PRAGMA foreign_keys = OFF; DROP TRIGGER node_stays; DROP TRIGGER node_is_forever")
    with store.write() as tx:
        yield Tree(tx)
    store.close()
