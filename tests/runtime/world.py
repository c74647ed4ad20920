"""The runtime beside plain lists: each verb is done with both, and then both must say the same."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path as Folder

import pytest

from forkwood.domain.errors import Conflict, NotFound, Refused
from forkwood.domain.message import Role
from forkwood.domain.response import Started
from forkwood.domain.watch import Result, Seen
from forkwood.runtime import Runtime
from tests.runtime.doors import script
from tests.runtime.talks import Act, Begun, Books, Head, Path, Run, Talk, Trashed, named, set_model

ROWS_MAX = {"send": 1, "ask": 1, "edit": 1, "edit and ask": 1, "keep": 2, "drop": 1, "graft": 1, "fork": 1, "answer": 1}
"""How many nodes a verb appends at most; one that is not named appends none."""
BRANCHING = ("send", "send", "edit", "keep", "keep", "drop", "graft", "switch", "hide", "unhide", "label", "unlabel")
BACK = ("set", "undo", "redo", "reopen")
RUNS = ("ask", "edit and ask", "retry", "answer", "cancel")
TALKS = ("fork", "use", "trash", "restore")
PURGES = ("purge", "purge everywhere", "purge conversation")
VERBS = (*BRANCHING, *BACK)
ALL_VERBS = (*BRANCHING, *BRANCHING, *BACK, *BACK, *RUNS, *RUNS, *TALKS, *TALKS, *PURGES)
ELSEWHERE = frozenset({"set", "undo", "redo", "reopen", "use", "trash", "restore", "answer", "cancel"})
"""Verbs that an empty path does not stop."""
LABELS = ("here it is", "another name")


class World:
    """The runtime and what is expected of it. AGAIN leaves it and enters it anew; scripts are kept in FOLDER."""

    def __init__(self, runtime: Runtime, again: Callable[[Runtime], Runtime], folder: Folder) -> None:
        self.runtime = runtime
        self.again = again
        self.script = script(folder, {"text": "an answer"})
        self.books = Books()
        self.known_paths: list[Path] = []
        self.begin()

    def begin(self) -> None:
        """A new conversation, made current."""
        self.talk = Talk(self.runtime.new(title="a world").id)
        self.talk.past.append([Trashed(self.talk, False)])
        self.books.talks.append(self.talk)

    @property
    def path(self) -> Path:
        return self.talk.head.path

    def do(self, verb: str, draws: Iterator[int]) -> str:
        """One verb, and the lists follow; what was done. On an empty path there is only something to say."""
        number = next(draws)
        if not self.path and verb not in ELSEWHERE:
            verb = "send"
        verbs: dict[str, Callable[[int, int], None]] = {
            "send": self._send, "ask": self._send, "edit": self._edit, "edit and ask": self._edit,
            "keep": self._keep, "drop": self._drop, "graft": self._graft, "switch": self._switch,
            "hide": self._hide, "unhide": self._unhide, "label": self._label, "unlabel": self._unlabel,
            "set": self._set, "undo": self._undo, "redo": self._redo, "reopen": self._reopen,
            "retry": self._retry, "answer": self._answer, "cancel": self._cancel, "fork": self._fork,
            "use": self._use, "trash": self._trash, "restore": self._restore, "purge": self._purge,
            "purge everywhere": self._purge, "purge conversation": self._purge_talk,
        }  # fmt: skip
        self.wanted = verb
        verbs[verb](number, next(draws))
        return verb

    def head(self, path: Path) -> Head:
        """PATH, ended where the runtime's head stands now."""
        return Head(path, self.runtime.conversation().head)

    def say(self, started: Started, path: Path, role: str, act: Act, revises: str | None = None) -> None:
        """A message was appended behind PATH, with the runs that answer it; the head moved there."""
        node = started.node
        self.remember(node.id, node.text, role, path)
        if revises is not None:
            self.books.revises[node.id] = revises
        self.ask(started, self.head((*path, node.id)), act)

    def remember(self, node: str, text: str, role: str, path: Path) -> None:
        books = self.books
        books.texts[node], books.roles[node], books.homes[node] = text, role, self.talk.id
        books.appended[node] = (*path, node)

    def ask(self, started: Started, head: Head, act: Act) -> None:
        runs = [Run(run, self.talk, head, leads=run == started.runs[0]) for run in started.runs]
        self.talk.moved(act, head, runs[0] if runs else None)
        self.talk.runs += runs
        act += [Begun(run) for run in runs]
        self.talk.done(act)

    # What is said ---------------------------------------------------------------------------------------------------

    def _send(self, number: int, _: int) -> None:
        asks = self.wanted == "ask"
        role: Role = "assistant" if number % 3 == 2 and not asks else "user"
        models = [self.script] * (1 + number % 2) if asks else []
        busy = any(run.tip.place == self.talk.head.place for run in self.talk.runs if run.is_active)
        if self.talk.hidden or busy:
            with pytest.raises(Refused if self.talk.hidden else Conflict):
                self.runtime.send("not now", role=role, run=False)  # what is answered is queued: test_queueing
            return
        started = self.runtime.send(f"said {number}", role=role, models=models, run=asks)
        assert len(started.runs) == len(models)
        self.say(started, self.path, role, [])

    def _edit(self, number: int, _: int) -> None:
        old = self.path[number % len(self.path)]
        role, text = self.books.roles[old], f"{self.books.texts[old]}'"
        asks = self.wanted == "edit and ask" and role == "user"
        models = [self.script] if asks else []
        if self.talk.hidden or old in self.books.purged:
            with pytest.raises(Refused):
                self.runtime.edit(old, text, models=models, run=asks)
            return
        started = self.runtime.edit(old, text, models=models, run=asks)
        assert started.replaced == old
        self.say(started, self.path[: self.path.index(old)], role, [], revises=old)

    def _keep(self, number: int, _: int) -> None:
        old = self.path[number % len(self.path)]
        before, tail = self.path[: self.path.index(old)], self.path[self.path.index(old) + 1 :]
        if self.talk.hidden or old in self.books.purged:
            with pytest.raises(Refused):
                self.runtime.edit(old, "not now", keep=True)
            return
        edited = self.runtime.edit(old, f"{self.books.texts[old]}'", keep=True)
        assert (edited.replaced, edited.kept is not None) == (old, bool(tail))
        new, act = edited.node.id, Act()
        self.remember(new, edited.node.text, self.books.roles[old], before)
        self.books.revises[new] = old
        self.talk.moved(act, self.head((*before, new, *tail)))
        self.talk.carried |= set(tail)
        self.talk.done(act)

    def _retry(self, number: int, other: int) -> None:
        index = number % len(self.path)
        node, models = self.path[index], [self.script] * (1 + other % 2)
        before = self.path[: index + (self.books.roles[node] == "user")]
        if self.talk.hidden or not before:
            with pytest.raises(Refused):
                self.runtime.retry(node, models=models)
            return
        started = self.runtime.retry(node, models=models)
        assert len(started.runs) == len(models)
        self.ask(started, self.head(before), [])

    def _answer(self, number: int, _: int) -> None:
        """Drive a run that was left: its reply comes behind its tip, and takes along a head that stands there."""
        active = self.books.active()
        if not active:
            return
        run = active[number % len(active)]
        last = asyncio.run(driven(self.runtime, run.id))[-1]
        assert isinstance(last, Result)
        assert (last.status, last.text) == ("done", "an answer"), last.error
        assert last.node is not None
        here, self.talk = self.talk, run.talk
        self.remember(last.node, last.text, "assistant", run.tip.path)
        follows = run.leads and run.talk.head.place == run.tip.place
        run.tip, run.is_active = Head((*run.tip.path, last.node), last.node), False
        if follows:
            run.talk.head = run.tip
        self.talk = here

    def _cancel(self, number: int, _: int) -> None:
        active = self.books.active()
        if active:
            run = active[number % len(active)]
            assert self.runtime.cancel(run.id).status == "cancelled"
            run.is_active = False

    # What gives the tree another shape ------------------------------------------------------------------------------

    def _drop(self, number: int, _: int) -> None:
        index = number % len(self.path)
        self.runtime.drop(self.path[index])
        self.talk.carried |= set(self.path[index + 1 :])
        act = Act()
        self.talk.moved(act, self.head(self.path[:index] + self.path[index + 1 :]))
        self.talk.done(act)

    def _graft(self, number: int, other: int) -> None:
        if not self.known_paths:
            return
        source = self.known_paths[number % len(self.known_paths)]
        first = other % len(source)
        last = first + other % 3 if first + other % 3 < len(source) else first
        wanted = source[first : last + 1]
        if self.books.appended.get(source[last]) != source[: last + 1]:
            return  # it stands so on a path that no single node names: --on could not mean it
        collides = not set(wanted).isdisjoint(self.path)
        try:
            self.runtime.graft(wanted[0], wanted[-1], on=source[last])
        except Refused:
            assert collides, "only a message that would stand there twice is refused"
            return
        assert not collides
        self.talk.carried |= set(wanted)
        act = Act()
        self.talk.moved(act, self.head(self.path + wanted))
        self.talk.done(act)

    def _fork(self, number: int, _: int) -> None:
        index = number % len(self.path)
        made = self.runtime.fork(self.path[index], title="a fork")
        assert (made.hidden, made.model) == (False, self.talk.model)
        path = self.path[: index + 1]
        self.talk = Talk(made.id, model=self.talk.model, carried=set(path))
        self.books.talks.append(self.talk)
        act: Act = [Trashed(self.talk, False)]
        self.talk.moved(act, self.head(path))
        self.talk.done(act)

    def _switch(self, number: int, _: int) -> None:
        here = [node for node, home in self.books.homes.items() if home == self.talk.id]
        node = [*here, *self.path][number % len([*here, *self.path])]
        self.runtime.switch(node, here=True)
        to = self.path[: self.path.index(node) + 1] if node in self.path else self.books.appended[node]
        act = Act()
        self.talk.moved(act, self.head(to))
        self.talk.done(act)

    # What stands beside the tree ------------------------------------------------------------------------------------

    def _hide(self, number: int, _: int) -> None:
        node = self.path[number % len(self.path)]
        if any(node in run.tip.path for run in self.books.active()):
            with pytest.raises(Refused):
                self.runtime.hide(node)
            return
        self._mark(node, hidden=True)

    def _unhide(self, number: int, _: int) -> None:
        self._mark(self.path[number % len(self.path)], hidden=False)

    def _mark(self, node: str, *, hidden: bool) -> None:
        touched = (self.runtime.hide if hidden else self.runtime.unhide)(node)
        act = self.books.marked((node,), hidden=hidden)
        assert touched.nodes == ((node,) if act else ())
        self.talk.done(act)

    def _label(self, number: int, other: int) -> None:
        node, name = self.path[number % len(self.path)], LABELS[other % 2]
        self.runtime.label(node, name)
        was = self.talk.labels.get(name)
        self.talk.done([] if was == node else [named(self.talk, name, node, was)])

    def _unlabel(self, number: int, _: int) -> None:
        name = LABELS[number % 2]
        if name not in self.talk.labels:
            with pytest.raises(NotFound):
                self.runtime.unlabel(name)
            return
        self.runtime.unlabel(name)
        self.talk.done([named(self.talk, name, None, self.talk.labels[name])])

    def _set(self, number: int, _: int) -> None:
        value = f"scripted:/{number % 3}.json"
        self.runtime.set("model", value)
        self.talk.done(set_model(self.talk, value))

    def _use(self, number: int, _: int) -> None:
        self.talk = self.books.talks[number % len(self.books.talks)]
        assert self.runtime.use(self.talk.id).id == self.talk.id

    def _trash(self, number: int, _: int) -> None:
        self._shelve(number, hidden=True)

    def _restore(self, number: int, _: int) -> None:
        self._shelve(number, hidden=False)

    def _shelve(self, number: int, *, hidden: bool) -> None:
        talk = self.books.talks[number % len(self.books.talks)]
        touched = (self.runtime.hide if hidden else self.runtime.unhide)(talk.id)
        assert (touched.conversation, touched.hidden) == (talk.id, hidden)
        talk.done([] if talk.hidden == hidden else [Trashed(talk, hidden)])
        talk.hidden = hidden

    # What takes back, and what destroys -----------------------------------------------------------------------------

    def _undo(self, _: int, __: int) -> None:
        if not self.talk.past:
            with pytest.raises(Conflict):
                self.runtime.undo()
            return
        if self.books.keeps_from_hiding(self.talk.past[-1]):
            with pytest.raises(Refused, match="is at work on a path that holds it"):
                self.runtime.undo()
            return
        self.runtime.undo()
        act = self.talk.past.pop()
        self.talk.future.append((act, self.books.taken_back(self.talk, act)))

    def _redo(self, _: int, __: int) -> None:
        if not self.talk.future:
            with pytest.raises(Conflict):
                self.runtime.redo()
            return
        if self.books.keeps_from_hiding(self.talk.future[-1][1]):
            with pytest.raises(Refused, match="is at work on a path that holds it"):
                self.runtime.redo()
            return
        self.runtime.redo()
        act, undone = self.talk.future.pop()
        self.books.taken_back(self.talk, undone)
        self.talk.past.append(act)

    def _reopen(self, _: int, __: int) -> None:
        self.runtime = self.again(self.runtime)

    def _purge(self, number: int, _: int) -> None:
        targets = self.books.versions(self.path[number % len(self.path)])
        self._destroyed([self.path[number % len(self.path)]], targets, None)

    def _purge_talk(self, number: int, _: int) -> None:
        talk = self.books.talks[number % len(self.books.talks)]
        targets = {node for node, home in self.books.homes.items() if home == talk.id}
        self._destroyed([talk.id], targets, talk)

    def _destroyed(self, names: list[str], targets: set[str], whole: Talk | None) -> None:
        everywhere = self.wanted == "purge everywhere"
        inside = {self.books.homes[node] for node in targets} | ({whole.id} if whole else set())
        carried = set[str]().union(*(talk.carried for talk in self.books.talks if talk.id not in inside))
        kept = set[str]() if everywhere else targets & carried - self.books.purged
        gone = targets - kept
        if any(gone.intersection(run.tip.path) for run in self.books.active() if run.talk is not whole):
            with pytest.raises(Refused):
                self.runtime.purge(names, everywhere=everywhere)
            return
        report = self.runtime.purge(names, everywhere=everywhere)
        assert (set(report.nodes), set(report.kept)) == (gone, kept)
        self.books.forgotten(gone)  # with the label that a husk was given since
        if whole is not None:
            self.books.talks.remove(whole)
            if whole is self.talk:
                self.begin()

    # What both must say ---------------------------------------------------------------------------------------------

    def check(self) -> None:
        """The runtime is where the lists are."""
        entries = self.runtime.path(hidden=True)
        assert tuple(entry.node.id for entry in entries) == self.path
        assert [entry.node.text for entry in entries] == [self.books.texts[node] for node in self.path]
        assert [entry.node.purged for entry in entries] == [node in self.books.purged for node in self.path]
        visible = [node for node in self.path if node not in self.books.hidden]
        assert [entry.node.id for entry in self.runtime.path()] == visible
        for entry in entries:
            if not entry.node.hidden:
                assert entry.siblings.ids[entry.siblings.index - 1] == entry.node.id
        shown = self.runtime.conversation()
        found = (shown.id, shown.head, shown.model, shown.hidden)
        assert found == (self.talk.id, self.talk.head.place, self.talk.model, self.talk.hidden)
        assert self.runtime.labels() == self.talk.labels
        if self.path:
            self.known_paths.append(self.path)

    def check_all(self) -> None:
        """What is beside the current conversation too: the trash, the runs, every message that was ever said."""
        books, here = self.books, self.talk
        trash = self.runtime.trash()
        assert {row.id for row in trash.conversations} == {talk.id for talk in books.talks if talk.hidden}
        active = {run.id for run in self.runtime.runs() if run.status in {"queued", "running", "waiting"}}
        assert active == {run.id for run in books.active()}
        for node, text in books.texts.items():
            shown = self.runtime.show(node).node
            assert (shown.text, shown.purged) == (text, node in books.purged), "nothing else is ever lost"
        for talk in books.talks:
            self.runtime.use(talk.id)
            self.talk = talk
            self.check()
            for node in (node for node, home in books.homes.items() if home == talk.id):
                met = self.path[: self.path.index(node) + 1] if node in self.path else books.appended[node]
                assert tuple(entry.node.id for entry in self.runtime.path(node, hidden=True)) == met
        self.runtime.use(here.id)
        self.talk = here


async def driven(runtime: Runtime, run: str) -> list[Seen]:
    """All that came of a run."""
    return [seen async for seen in runtime.drive([run])]
