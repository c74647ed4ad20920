"""Conversations as plain lists: a path, a stack of what was done and one of what was undone. No store, no SQL."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

Path: TypeAlias = tuple[str, ...]


class Head(NamedTuple):
    """A path, and the place it ends at in the store's spelling: equal lists can end at several places."""

    path: Path = ()
    place: str | None = None


EMPTY = Head()


@dataclass(eq=False)
class Run:
    """A run: its tip, whether the head follows it, and whether it is still to be driven."""

    id: str
    talk: Talk
    tip: Head
    leads: bool
    is_active: bool = True


class Moved(NamedTuple):
    """The head went from one place to another; with the run that led there then, for its tip may go on."""

    before: tuple[Head, Run | None]
    after: tuple[Head, Run | None]


class Marked(NamedTuple):
    nodes: Path
    hidden: bool


class Changed(NamedTuple):
    before: str | None
    after: str | None


@dataclass
class Labelled:
    """A label went from a message to another. A purge of either takes NAME, and nothing is left to take back."""

    name: str
    before: str | None
    after: str | None


class Trashed(NamedTuple):
    talk: Talk
    hidden: bool


class Begun(NamedTuple):
    run: Run


Effect: TypeAlias = Moved | Marked | Changed | Labelled | Trashed | Begun
Act: TypeAlias = list[Effect]


@dataclass(eq=False)
class Talk:
    """One conversation. PAST is what undo takes back, FUTURE what redo brings back: the act, and what its undo did."""

    id: str
    head: Head = EMPTY
    model: str | None = None
    hidden: bool = False
    labels: dict[str, str] = field(default_factory=dict)
    carried: set[str] = field(default_factory=set)
    runs: list[Run] = field(default_factory=list)
    past: list[Act] = field(default_factory=list)
    future: list[tuple[Act, Act]] = field(default_factory=list)

    def leading(self, head: Head) -> Run | None:
        """The newest run that leads the head and whose tip stands at HEAD's place."""
        return next((run for run in reversed(self.runs) if run.leads and run.tip.place == head.place), None)

    def moved(self, act: Act, to: Head, leader: Run | None = None) -> None:
        """The head goes TO a place, as a part of ACT; LEADER is the run that this act begins there."""
        if to.place != self.head.place or leader:
            act.append(Moved((self.head, self.leading(self.head)), (to, leader or self.leading(to))))
        self.head = to

    def done(self, act: Act) -> None:
        """ACT is over: one that had no effect is none."""
        if act:
            self.past.append(act)
            self.future.clear()


@dataclass
class Books:
    """What all conversations share: the words of each message, what stands where, what is hidden, what was purged."""

    texts: dict[str, str] = field(default_factory=dict)
    roles: dict[str, str] = field(default_factory=dict)
    appended: dict[str, Path] = field(default_factory=dict)
    homes: dict[str, str] = field(default_factory=dict)
    revises: dict[str, str] = field(default_factory=dict)
    hidden: set[str] = field(default_factory=set)
    purged: set[str] = field(default_factory=set)
    talks: list[Talk] = field(default_factory=list)

    def versions(self, node: str) -> set[str]:
        """Every version of a message."""
        first = node
        while first in self.revises:
            first = self.revises[first]
        found = {first}
        while more := {new for new, old in self.revises.items() if old in found} - found:
            found |= more
        return found

    def active(self) -> list[Run]:
        """Every run that is still to be driven."""
        return [run for talk in self.talks for run in talk.runs if run.is_active]

    def keeps_from_hiding(self, act: Act) -> bool:
        """Whether taking ACT back would hide a message on the path of a run that is still to be driven."""
        shown = {node for effect in act if isinstance(effect, Marked) and not effect.hidden for node in effect.nodes}
        return any((shown - self.hidden) & set(run.tip.path) for run in self.active())

    def marked(self, nodes: Path, *, hidden: bool) -> Act:
        """Hide or show NODES: the effect, none where all are so already."""
        changing = tuple(node for node in nodes if (node in self.hidden) != hidden)
        self.hidden = self.hidden | set(changing) if hidden else self.hidden - set(changing)
        return [Marked(changing, hidden)] if changing else []

    def taken_back(self, talk: Talk, act: Act) -> Act:
        """Take ACT back in TALK, its last effect first; what that did."""
        undone: Act = []
        for effect in reversed(act):
            match effect:
                case Moved(before=(head, run)):
                    talk.moved(undone, run.tip if run else head)
                case Marked(nodes=nodes, hidden=hidden):
                    undone += self.marked(nodes, hidden=not hidden)
                case Changed(before=value):
                    undone += set_model(talk, value)
                case Labelled(name=name, before=before, after=after) if name:
                    undone.append(named(talk, name, before, after))
                case Trashed(talk=other, hidden=hidden):
                    other.hidden = not hidden
                    undone.append(Trashed(other, not hidden))
                case Begun(run=run):
                    run.is_active = False
        return undone

    def forgotten(self, gone: set[str]) -> None:
        """The messages GONE say nothing any more; no label, and no memory of one, names them."""
        self.purged |= gone
        self.texts |= dict.fromkeys(gone, "")
        for talk in self.talks:
            talk.labels = {name: node for name, node in talk.labels.items() if node not in gone}
            acts = [*talk.past, *(act for both in talk.future for act in both)]
            for effect in (effect for act in acts for effect in act):
                if isinstance(effect, Labelled) and gone & {effect.before, effect.after}:
                    effect.name = ""


def set_model(talk: Talk, value: str | None) -> Act:
    """Set the model: the effect, none where it is that already."""
    before, talk.model = talk.model, value
    return [] if before == value else [Changed(before, value)]


def named(talk: Talk, name: str, node: str | None, was: str | None) -> Labelled:
    """Give NAME to NODE (None: to nothing); it WAS another's."""
    talk.labels.pop(name, None)
    if node is not None:
        talk.labels[name] = node
    return Labelled(name, was, node)
