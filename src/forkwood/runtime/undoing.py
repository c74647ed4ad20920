"""Undo and redo: the newest act taken back by a new act, and brought back by another. No book ever loses a line."""

from __future__ import annotations

from typing import assert_never

from forkwood.domain.act import (
    Act,
    ActRedone,
    ActUndone,
    Effect,
    HeadMoved,
    LabelMoved,
    MarkChanged,
    QueuedChanged,
    QueuedStands,
    RunStarted,
    SettingChanged,
    TrashChanged,
    inverse,
)
from forkwood.domain.errors import Conflict
from forkwood.domain.event import Event
from forkwood.domain.ids import Id, ending
from forkwood.domain.queued import IN_QUEUE
from forkwood.domain.run import ACTIVE
from forkwood.domain.tree import ROOT, Spot, parse_place
from forkwood.runtime import guard, queueing
from forkwood.runtime.acts import Acting, OpenAct
from forkwood.store import conversations, log, marks, names, nodes, queue, runs, walk


class Undoing(Acting):
    """undo, redo."""

    def undo(self, *, conversation: str | None = None, key: str | None = None) -> Event:
        """Take back the newest act of a conversation that is neither an undo or redo nor undone now.

        A run it started is ended: by its driver, or here where nobody drives it.
        """
        begun: list[Id] = []

        def do(act: OpenAct) -> Event:
            seq, kind, undone = newest_act(act)
            pending = [taken_back(act, effect) for effect in reversed(undone.effects)]
            begun.extend(run for effect in undone.effects for run in runs_of(act, effect))
            written = act.record(ActUndone, act=seq, kind=kind)
            return finished(act, written, pending)

        event = self._act("undo", {}, Event, do, conversation=conversation, key=key)
        self._end(begun)
        return event

    def redo(self, *, conversation: str | None = None, key: str | None = None) -> Event:
        """Bring back what the newest undo took. Refused once any other act came after that undo."""

        def do(act: OpenAct) -> Event:
            seq, undo = newest_undo(act)
            pending = [taken_back(act, effect) for effect in reversed(undo.effects)]
            written = act.record(ActRedone, undo=seq, kind=undo.kind)
            return finished(act, written, pending)

        return self._act("redo", {}, Event, do, conversation=conversation, key=key)

    def _end(self, begun: list[Id]) -> None:
        """What was asked to end in the act's own transaction ends now, also where its driver has died."""
        with self.house.store.read() as tx:
            active = [run for run in begun if runs.row(tx, run).status in ACTIVE]
        for run in active:
            self.house.engine.cancel(run, self.house.who)


def newest_act(act: OpenAct) -> tuple[int, str, Act]:
    """The act that undo takes back. Raises Conflict where there is none."""
    undone: set[int] = set()
    redone: set[int] = set()
    for seq, kind, payload in log.acts(act.tx, act.conversation):
        match payload:
            case ActRedone(undo=undo):
                redone.add(undo)
            case ActUndone(act=taken):
                if seq not in redone:
                    undone.add(taken)
            case _ if seq not in undone:
                return seq, kind, payload
    raise Conflict("there is nothing left to undo in this conversation", hint="forkwood log shows what was done")


def newest_undo(act: OpenAct) -> tuple[int, ActUndone]:
    """The undo that redo takes back. Raises Conflict where there is none, or another act came after it."""
    redone: set[int] = set()
    for seq, _, payload in log.acts(act.tx, act.conversation):
        match payload:
            case ActRedone(undo=undo):
                redone.add(undo)
            case ActUndone():
                if seq not in redone:
                    return seq, payload
            case _:
                raise Conflict(
                    "there is nothing to redo: no undo came after the last act of this conversation",
                    hint="forkwood branches lists every leaf, undone ones too; forkwood switch goes to one",
                )
    raise Conflict("there is nothing to redo in this conversation", hint="forkwood undo takes an act back first")


def taken_back(act: OpenAct, effect: Effect) -> MarkChanged | None:
    """Apply the inverse of EFFECT and note it. Marks need the act's own number: given back, to be written later."""
    match effect, inverse(effect):
        case _, HeadMoved(after=after, after_run=led):
            act.move_head(_place_now(act, after, led))
        case _, MarkChanged(nodes=ids, hidden=hidden):
            return _noted_marks(act, ids, hidden=hidden)
        case _, SettingChanged(key=key, after=value):
            act.write_setting(key, value)
        case _, LabelMoved(name=""):
            pass  # a purge took the label's name
        case _, LabelMoved(name=name, before=before, after=node):
            seq = None if node is None else names.node(act.tx, node)
            conversations.write_label(act.tx, act.conversation, name, seq)
            act.effects.append(LabelMoved(name=name, before=before, after=node))
        case _, TrashChanged(hidden=hidden) as change:
            conversations.write_setting(act.tx, act.conversation, "hidden", hidden)
            act.effects.append(change)
        case QueuedStands(queued=queued), QueuedStands(waits=waits):
            _queue_again(act, queued, waits=waits)
        case _, QueuedChanged(queued=queued, after=parts):
            old = queue.row(act.tx, queued)
            if parts and old.state in IN_QUEUE:
                queueing.change(act, old, parts)
        case RunStarted(run=run), _:
            runs.ask_to_cancel(act.tx, run, who=act.house.who, now_ms=act.now_ms)
        case _, None:
            pass
        case _, other:
            assert_never(other)  # type: ignore[arg-type]
    return None


def runs_of(act: OpenAct, effect: Effect) -> tuple[Id, ...]:
    """The runs that an effect began: also those that reply to a message which was queued then and is sent by now."""
    match effect:
        case RunStarted(run=run):
            return (run,)
        case QueuedStands(queued=queued, waits=True):
            return queue.row(act.tx, queued).runs
        case _:
            return ()


def _queue_again(act: OpenAct, queued: Id, *, waits: bool) -> None:
    """Bring a message into the queue (WAITS) or take it out. Of one that was sent the runs end, and the head goes back
    behind the run it waited for, if it stands where they led it. One that steered a run stays a part of that."""
    old = queue.row(act.tx, queued)
    if waits:
        queueing.put_back(act, queued)
    elif old.state in IN_QUEUE:
        queueing.take_out(act, queued)
    elif old.state == "sent":
        led = {runs.tip(act.tx, run) for run in old.runs}
        for run in old.runs:
            runs.ask_to_cancel(act.tx, run, who=act.house.who, now_ms=act.now_ms)
        if act.head() in led:
            act.move_head(runs.tip(act.tx, old.behind))


def _place_now(act: OpenAct, place: str | None, led: Id | None) -> Spot:
    """The place an effect names; where a run's tip stood there and has gone on, its tip now."""
    if led is not None:
        return runs.tip(act.tx, led)
    if place is None:
        return ROOT
    name, cut = parse_place(place)
    return walk.canonical(act.tx, names.node(act.tx, name), cut)


def _noted_marks(act: OpenAct, ids: tuple[Id, ...], *, hidden: bool) -> MarkChanged | None:
    seqs = {names.node(act.tx, name): name for name in ids}
    already = marks.hidden_now(act.tx, list(seqs))
    changing = tuple(name for seq, name in seqs.items() if (seq in already) != hidden)
    if not changing:
        return None
    for seq in {nodes.group(act.tx, seq)[0] for seq in seqs} if hidden else ():
        guard.not_on_active_path(act.tx, seq, ending(nodes.row(act.tx, seq).id), "hidden")
    change = MarkChanged(nodes=changing, hidden=hidden)
    act.effects.append(change)
    return change


def finished(act: OpenAct, seq: int, pending: list[MarkChanged | None]) -> Event:
    """Write the marks that waited for the act's number; the act's event."""
    for change in pending:
        if change is not None:
            write = marks.hide if change.hidden else marks.show
            write(act.tx, [names.node(act.tx, name) for name in change.nodes], seq)
    event = log.event(act.tx, seq)
    assert event is not None
    return event
