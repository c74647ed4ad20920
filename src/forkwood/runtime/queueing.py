"""Verbs about what waits behind runs: queue, queue_edit, queue_remove; and how a message comes into the queue."""

from __future__ import annotations

from collections.abc import Sequence

from forkwood.domain.act import QueuedChanged, QueuedStands
from forkwood.domain.errors import Conflict, Misused
from forkwood.domain.ids import Id, ending
from forkwood.domain.message import Part, Text
from forkwood.domain.queued import IN_QUEUE, MessageQueued, Queued, QueueEdited, QueueRemoved
from forkwood.domain.response import Started
from forkwood.domain.run_event import SteerAsked, SteerWithdrawn
from forkwood.domain.tree import Spot
from forkwood.engine import succession
from forkwood.runtime import naming
from forkwood.runtime.acts import Acting, OpenAct
from forkwood.runtime.wording import checked_text, warned
from forkwood.store import conversations, names, nodes, queue, runs, walk
from forkwood.store.db import Tx


class Queueing(Acting):
    """queue, queued, queue_edit, queue_remove."""

    def queue(self, conversation: str | None = None) -> list[Queued]:
        """What waits or is held in a conversation (None: the current one), in the order in which it comes."""
        with self.house.store.read() as tx:
            return queue.listed(tx, naming.conversation(tx, conversation))

    def queued(self, name: str) -> Queued:
        """A message that was queued, whatever became of it. Raises NotFound."""
        with self.house.store.read() as tx:
            return queue.row(tx, names.queued(tx, name))

    def queue_edit(self, name: str, text: str, *, key: str | None = None) -> Queued:
        """Let a message in the queue say TEXT; its attachments stay. Raises Conflict where it waits no more."""
        checked_text(text, blank_allowed=False)

        def do(tx: Tx) -> Queued:
            old = _standing(tx, name)
            act = OpenAct(tx, self.house, names.conversation(tx, old.conversation))
            change(act, old, (Text(text=text), *(part for part in old.parts if not isinstance(part, Text))))
            act.record(QueueEdited, queued=old.id)
            return queue.row(tx, old.id)

        edited = self._once("queue_edit", {"queued": name, "text": text}, Queued, do, key=key)
        self.house.notices.extend(warned(self.house.secrets(), text))
        return edited

    def queue_remove(self, name: str, *, key: str | None = None) -> Queued:
        """Take a message out of the queue; its words are kept, undo brings it back. Raises Conflict as `queue_edit`."""

        def do(tx: Tx) -> Queued:
            old = _standing(tx, name)
            act = OpenAct(tx, self.house, names.conversation(tx, old.conversation))
            take_out(act, old.id)
            act.record(QueueRemoved, queued=old.id)
            return queue.row(tx, old.id)

        return self._once("queue_remove", {"queued": name}, Queued, do, key=key)


def enqueue(act: OpenAct, run: Id, parts: tuple[Part, ...], models: Sequence[str], *, steers: bool) -> Started:
    """Let a message wait behind RUN, or steer it: no node yet, and no run. Raises LimitExceeded."""
    name, who = act.new_id(), act.house.who
    queue.add(
        act.tx,
        id=name,
        conversation=act.conversation,
        behind=run,
        steers=steers,
        parts=parts,
        models=models,
        who=who,
        now_ms=act.now_ms,
        client=act.house.settings.client,
        key=act.key,
    )
    if steers:
        runs.add(act.tx, run, SteerAsked(queued=name), who=who, now_ms=act.now_ms)
    act.effects.append(QueuedStands(queued=name, waits=True))
    act.record(MessageQueued, queued=name, behind=run, steers=steers)
    here, last = conversations.row(act.tx, act.conversation).id, walk.last(act.tx, runs.tip(act.tx, run))
    return Started(conversation=here, node=nodes.row(act.tx, last), runs=(), queued=name)


def released(act: OpenAct, spot: Spot, run: Id) -> tuple[Id, ...]:
    """A person goes on at SPOT: what is held behind runs that led there waits behind RUN from now on. Their names."""
    return succession.release(act.tx, act.conversation, spot, run, who=act.house.who, now_ms=act.now_ms)


def change(act: OpenAct, old: Queued, parts: tuple[Part, ...]) -> None:
    """Let a message in the queue say PARTS, as an effect of ACT."""
    if parts != old.parts:
        queue.write_parts(act.tx, old.id, parts)
        act.effects.append(QueuedChanged(queued=old.id, before=old.parts, after=parts))


def take_out(act: OpenAct, name: Id) -> None:
    """Take a message that waits or is held out of the queue, as an effect of ACT."""
    old = queue.row(act.tx, name)
    if old.state == "waiting" and old.steers:
        runs.add(act.tx, old.behind, SteerWithdrawn(queued=name), who=act.house.who, now_ms=act.now_ms)
    queue.remove(act.tx, name)
    act.effects.append(QueuedStands(queued=name, waits=False))


def put_back(act: OpenAct, name: Id) -> None:
    """Bring a message back into the queue as an effect of ACT, where there is still anything to say."""
    old = queue.row(act.tx, name)
    if old.state != "removed" or not old.parts:
        return
    queue.check_room(act.tx, act.conversation)
    waits = runs.exists(act.tx, old.behind) and runs.takes_on(act.tx, old.behind)
    queue.put_back(act.tx, name, waits=waits)
    if waits and old.steers:
        runs.add(act.tx, old.behind, SteerAsked(queued=name), who=act.house.who, now_ms=act.now_ms)
    act.effects.append(QueuedStands(queued=name, waits=True))


def _standing(tx: Tx, name: str) -> Queued:
    """The message of that name, which is in the queue. Raises NotFound, Conflict."""
    found = queue.row(tx, names.queued(tx, name))
    if found.state in IN_QUEUE:
        return found
    now = "was sent" if found.state == "sent" else "was removed"
    if found.node:
        hint = f"forkwood edit {ending(found.node)} TEXT says it anew, forkwood undo takes the last act back"
    else:
        hint = "forkwood queue lists those that wait"
    raise Conflict(f"message {ending(found.id)} {now}: it is in no queue any more", hint=hint, queued=found.id)


def nothing_to_steer() -> Conflict:
    """There is no run at work at the place of a steering message."""
    return Conflict(
        "no run is at work here: there is nothing to steer",
        hint="forkwood send TEXT says it at once; forkwood runs lists the runs",
    )


def check_steering(models: Sequence[str], *, runs_then: bool) -> None:
    """Raises Misused where what a steering message asks for cannot be."""
    if models:
        raise Misused(
            "a steering message is for the model that is at work: it takes no --model",
            hint="leave out --model, or --steer: then it waits for the reply, and that model answers it",
        )
    if not runs_then:
        raise Misused(
            "a steering message is what the next turn of the run answers: --no-run and --role cannot be with it",
            hint="leave out --steer",
        )
