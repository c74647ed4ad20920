"""Purge: the one verb that destroys what was said, and only when a person asks for it by name."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from forkwood.domain import limits
from forkwood.domain.errors import Conflict, LimitExceeded, Misused, NotFound, StoreUnusable
from forkwood.domain.event import Purged
from forkwood.domain.ids import Id, ending
from forkwood.domain.queued import Queued
from forkwood.domain.response import Affects, FileTouched, PurgeReport
from forkwood.domain.run_event import SteerWithdrawn
from forkwood.runtime import guard, naming
from forkwood.runtime.acts import Acting
from forkwood.runtime.shaping import named_conversation
from forkwood.store import conversations, leftovers, log, names, nodes, purge, queue, reach, runs
from forkwood.store.db import Tx
from forkwood.store.purge import Condemned

OUT_OF_REACH = (
    "exports and copies made outside Forkwood's home",
    "what providers kept of the prompts they were sent",
    "snapshots and backups that other programs made of this disk",
)
_LOOK_AGAIN_SECONDS = 0.05


class Named(Struct, frozen=True, kw_only=True):
    """What a purge was asked for, as it stands in the store."""

    nodes: tuple[int, ...]
    conversations: tuple[int, ...]
    kept: tuple[int, ...]
    queued: tuple[Id, ...]
    """Messages that were accepted while a run was at work, by the names they had then."""


class Asked(Struct, frozen=True, kw_only=True):
    """What a purge was asked for, in a person's words: its arguments as the receipt knows them."""

    names: tuple[str, ...]
    conversation: str | None
    everywhere: bool

    def arguments(self) -> dict[str, Any]:
        """As they are fingerprinted."""
        return {"names": list(self.names), "conversation": self.conversation, "everywhere": self.everywhere}

    def command(self) -> str:
        """What a person types to ask for it again."""
        return " ".join(["forkwood purge", *self.names, *(["--everywhere"] if self.everywhere else [])])


class Purging(Acting):
    """purge, purge_preview."""

    def purge(
        self,
        names: Sequence[str],
        *,
        conversation: str | None = None,
        everywhere: bool = False,
        key: str | None = None,
    ) -> PurgeReport:
        """Destroy the words of messages (every version of each) and of whole conversations; husks remain.

        Runs of the conversations are ended first. A message that a conversation outside the list carries stays and is
        named, unless EVERYWHERE. Asked for again, also by the names of husks, it wipes again: what could not be wiped
        then goes now. Raises NotFound, Refused (a run is at work on a path that holds a message), Misused, Conflict (a
        run does not end), StoreUnusable (a reader is in the way of wiping).
        """
        asked = Asked(names=tuple(names), conversation=conversation, everywhere=everywhere)
        given = self._begun("purge", asked.arguments(), PurgeReport, lambda tx: self._closed(tx, asked), key=key)
        gone: list[Condemned] = []
        report = (
            given if isinstance(given, PurgeReport) else self._through(asked, given.conversations, key, gone.append)
        )
        self._wipe(asked, report, *gone)
        return report

    def purge_preview(
        self, names: Sequence[str], *, conversation: str | None = None, everywhere: bool = False
    ) -> PurgeReport:
        """What `purge` would destroy and keep: for asking before it is done."""
        asked = Asked(names=tuple(names), conversation=conversation, everywhere=everywhere)
        with self.house.store.read() as tx:
            named = _named(tx, asked)
            return _report(tx, named, self._touched(tx, _condemned(tx, named)))

    def _closed(self, tx: Tx, asked: Asked) -> Named:
        """What is meant. Nothing may start any more in the conversations named."""
        named = _named(tx, asked)
        for whole in named.conversations:
            purge.close(tx, whole)
        return named

    def _through(
        self, asked: Asked, closed: Sequence[int], key: str | None, tell: Callable[[Condemned], None]
    ) -> PurgeReport:
        """End what is at work and destroy. Given up for whatever reason, it leaves the conversations open again."""
        try:
            self._end_runs(asked, closed)
            return self._ended(
                "purge", asked.arguments(), PurgeReport, lambda tx: self._destroyed(tx, asked, tell), key=key
            )
        except BaseException:
            self._given_up(lambda tx: purge.reopen(tx, closed), key=key)
            raise

    def _end_runs(self, asked: Asked, named: Sequence[int]) -> None:
        """End every run of these conversations, and wait until those that other processes drive have let go."""
        until = time.monotonic() + limits.purge_wait_seconds
        while active := self._active(named):
            for run in active:
                self.house.engine.cancel(run, self.house.who)
            if time.monotonic() > until:
                raise _not_ending(asked, active[0])
            time.sleep(_LOOK_AGAIN_SECONDS)

    def _active(self, named: Sequence[int]) -> list[Id]:
        with self.house.store.read() as tx:
            return _active(tx, named)

    def _destroyed(self, tx: Tx, asked: Asked, tell: Callable[[Condemned], None]) -> PurgeReport:
        """Everything that is meant by now, in the one transaction; what is a husk already is only reported.

        TELL is told what went: afterwards the store no longer knows all of it.
        """
        named = _named(tx, asked)
        what = _condemned(tx, named)
        report = _report(tx, named, self._touched(tx, what))
        for run in _active(tx, named.conversations):
            raise _not_ending(asked, run)  # it began after another purge of this conversation was given up
        tell(what)
        told = purge.tells_anything(tx, named.nodes, named.conversations, what.ids)
        if not told and not purge.is_queued(tx, what):
            return report
        self._withdraw_steers(tx, named)
        purge.destroy(tx, what)
        around = {names.conversation(tx, queue.row(tx, name).conversation) for name in named.queued}
        for seq in sorted({*named.conversations, *reach.conversations_of(tx, named.nodes), *around}):
            log.write(
                tx,
                Purged(
                    nodes=report.nodes,
                    conversations=report.conversations,
                    kept=report.kept,
                    queued=report.queued,
                ),
                who=self.house.who,
                now_ms=self.house.clock(),
                conversation=seq,
            )
        return report

    def _withdraw_steers(self, tx: Tx, named: Named) -> None:
        """A message that was to steer a run comes no more: the run is told, as where it is taken out."""
        for one in (queue.row(tx, name) for name in named.queued):
            if one.state == "waiting" and one.steers:
                event = SteerWithdrawn(queued=one.id)
                runs.add(tx, one.behind, event, who=self.house.who, now_ms=self.house.clock())

    def _touched(self, tx: Tx, what: Condemned) -> tuple[FileTouched, ...]:
        return leftovers.touched(tx, self.house.beside, what)

    def _wipe(self, asked: Asked, report: PurgeReport, what: Condemned | None = None) -> None:
        """Take the words out of backups and files kept aside, of free pages and of the write-ahead log.

        WHAT went; where that was done before, it is what REPORT names.
        """
        with self.house.store.read() as tx:
            gone = what or purge.condemned_by_name(tx, (*report.nodes, *report.conversations, *report.queued))
            leftovers.wipe(tx, self.house.beside, gone)
        self.house.store.vacuum()
        if not self.house.store.checkpoint():
            raise StoreUnusable(
                "another process is reading the store, so its write-ahead log still holds what was purged",
                hint=f"close the other program, then {asked.command()} again: it wipes the rest",
                reason="reader",
            )


def _named(tx: Tx, asked: Asked) -> Named:
    """What is meant by the names. Raises Misused, LimitExceeded, NotFound, Refused."""
    if not asked.names:
        raise Misused("nothing was named", hint="forkwood purge CONV or NODE, one or more")
    if len(asked.names) > limits.purge_names_max:
        raise LimitExceeded("names", limit="purge_names_max", bound=limits.purge_names_max, got=len(asked.names))
    whole: set[int] = set()
    single: set[int] = set()
    waiting: list[Id] = []
    for name in asked.names:
        found = _found(tx, asked.conversation, name)
        if isinstance(found, Queued):
            waiting.append(found.id)
            single |= _versions(tx, names.node(tx, found.node)) if found.node else set()
        elif found is not None:
            whole.add(found)
            single |= reach.messages_of(tx, found)
        else:
            single |= _versions(tx, naming.node_anywhere(tx, asked.conversation, name))
    inside = whole | reach.conversations_of(tx, single)
    kept = frozenset() if asked.everywhere else purge.carried_outside(tx, single, inside)
    guard.not_under_active_run(tx, single - kept, whole)
    return Named(
        nodes=tuple(sorted(single - kept)),
        conversations=tuple(sorted(whole)),
        kept=tuple(sorted(kept)),
        queued=tuple(waiting),
    )


def _condemned(tx: Tx, named: Named) -> Condemned:
    what = purge.condemned(tx, named.nodes, named.conversations)
    return replace(what, ids=what.ids.union(named.queued))


def _found(tx: Tx, here: str | None, name: str) -> int | Queued | None:
    """The conversation of that name, or the message of the queue where nothing else has it; None for a node's."""
    try:
        return _conversation(tx, here, name)
    except NotFound as nothing:
        if nothing.facts.get("candidates"):
            raise
        try:
            return queue.row(tx, names.queued(tx, name))
        except NotFound as neither:
            raise neither if neither.facts.get("candidates") else nothing from None


def _conversation(tx: Tx, here: str | None, name: str) -> int | None:
    """The conversation of that name, or the husk of one; None where the name is a node's."""
    husks = names.husks(tx, name)
    try:
        found = named_conversation(tx, here, name)
    except NotFound as nothing:
        if len(husks) != 1 or nothing.facts.get("candidates"):
            raise
        return husks[0]
    if husks:
        purged = [conversations.row(tx, seq).id for seq in husks]
        raise NotFound(
            f"'{name}' is also the ending of what was purged before: {', '.join(purged)}",
            hint="give more of its last characters",
            name=name,
            candidates=purged,
        )
    return found


def _versions(tx: Tx, node: int) -> set[int]:
    """Every version of a node, each with its tool group; of results every version of their reply."""
    said = nodes.group(tx, node)[0]
    return {node}.union(*(nodes.group(tx, version.seq) for version in nodes.versions(tx, said)))


def _active(tx: Tx, named: Sequence[int]) -> list[Id]:
    return [run for seq in named for run in runs.active(tx, seq)]


def _not_ending(asked: Asked, run: Id) -> Conflict:
    return Conflict(
        f"run {ending(run)} does not end, so nothing was purged",
        hint=f"end the program that drives it, then {asked.command()} again",
        run=run,
    )


def _report(tx: Tx, named: Named, files: tuple[FileTouched, ...]) -> PurgeReport:
    branches, inside = reach.of_nodes(tx, named.nodes)
    whole = tuple(conversations.row(tx, seq).id for seq in named.conversations)
    around = {queue.row(tx, name).conversation for name in named.queued}
    return PurgeReport(
        nodes=reach.ids_of(tx, named.nodes),
        conversations=whole,
        kept=reach.ids_of(tx, named.kept),
        affects=Affects(branches=branches, conversations=tuple(sorted({*inside, *whole, *around}))),
        out_of_reach=OUT_OF_REACH,
        files=files,
        queued=named.queued,
    )
