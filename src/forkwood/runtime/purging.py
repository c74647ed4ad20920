"""Purge: the one verb that destroys what was said, and only when a person asks for it by name."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from forkwood import wire
from forkwood.domain import limits
from forkwood.domain.errors import Conflict, LimitExceeded, Misused, StoreUnusable
from forkwood.domain.event import Purged
from forkwood.domain.ids import Id, ending
from forkwood.domain.response import Affects, PurgeReport
from forkwood.runtime import acts, guard, naming
from forkwood.runtime.acts import Acting
from forkwood.runtime.shaping import named_conversation
from forkwood.store import conversations, leftovers, log, nodes, purge, reach, receipts, runs
from forkwood.store.db import Tx

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


class Purging(Acting):
    """purge."""

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
        named, unless EVERYWHERE. Raises NotFound, Refused (a run is at work on a path that holds it), Misused.
        """
        given = self._begun(names, conversation, everywhere=everywhere, key=key)
        if isinstance(given, PurgeReport):
            return given
        self._end_runs(given.conversations)
        with self.house.store.write() as tx:
            named = self._named(tx, names, conversation, everywhere=everywhere)
            report = self._destroyed(tx, named)
            if key is not None:
                receipts.finish(tx, self.house.settings.client, key, wire.encode(report))
        self._wipe()
        return report

    def purge_preview(
        self, names: Sequence[str], *, conversation: str | None = None, everywhere: bool = False
    ) -> PurgeReport:
        """What `purge` would destroy and keep: for asking before it is done."""
        with self.house.store.read() as tx:
            return _report(tx, self._named(tx, names, conversation, everywhere=everywhere))

    def _begun(
        self, names: Sequence[str], conversation: str | None, *, everywhere: bool, key: str | None
    ) -> Named | PurgeReport:
        """The first transaction: nothing may start in the conversations named, what is at work there is to end."""
        arguments = {"names": list(names), "conversation": conversation, "everywhere": everywhere}
        fingerprint, client = wire.digest(["purge", arguments]), self.house.settings.client
        with self.house.store.write() as tx:
            given = None if key is None else receipts.find(tx, client, acts.checked_key(key))
            if given is not None and given.fingerprint != fingerprint:
                raise Conflict(f"the key '{key}' was used for another command ({given.verb})", key=key)
            if given is not None and given.response is not None:
                return wire.decode(given.response, PurgeReport)
            named = self._named(tx, names, conversation, everywhere=everywhere)
            if given is None and key is not None:
                receipts.give(tx, client, key, "purge", fingerprint, None, self.house.clock())
            for whole in named.conversations:
                purge.close(tx, whole)
            return named

    def _named(self, tx: Tx, names: Sequence[str], here: str | None, *, everywhere: bool) -> Named:
        if not names:
            raise Misused("nothing was named", hint="forkwood purge CONV or NODE, one or more")
        if len(names) > limits.purge_names_max:
            raise LimitExceeded("names", limit="purge_names_max", bound=limits.purge_names_max, got=len(names))
        whole: set[int] = set()
        single: set[int] = set()
        for name in names:
            found = named_conversation(tx, here, name)
            if found is not None:
                whole.add(found)
            else:
                single.update(_versions(tx, naming.node_anywhere(tx, here, name), name))
        for seq in whole:
            single.update(reach.messages_of(tx, seq))
        inside = whole | reach.conversations_of(tx, single)
        kept = frozenset() if everywhere else purge.carried_outside(tx, single, inside)
        return Named(nodes=tuple(sorted(single - kept)), conversations=tuple(sorted(whole)), kept=tuple(sorted(kept)))

    def _end_runs(self, named: Sequence[int]) -> None:
        """End every run of these conversations, and wait until those that other processes drive have let go."""
        until = time.monotonic() + limits.purge_wait_seconds
        while active := self._active(named):
            for run in active:
                self.house.engine.cancel(run, self.house.who)
            if time.monotonic() > until:
                raise Conflict(
                    f"run {ending(active[0])} does not end",
                    hint="close the program that drives it, then send the same purge again",
                    run=active[0],
                )
            time.sleep(_LOOK_AGAIN_SECONDS)

    def _active(self, named: Sequence[int]) -> list[Id]:
        with self.house.store.read() as tx:
            return [run for seq in named for run in runs.active(tx, seq)]

    def _destroyed(self, tx: Tx, named: Named) -> PurgeReport:
        report = _report(tx, named)
        purge.destroy(tx, purge.condemned(tx, named.nodes, named.conversations))
        for seq in {*named.conversations, *reach.conversations_of(tx, named.nodes)}:
            log.write(
                tx,
                Purged(nodes=report.nodes, conversations=report.conversations, kept=report.kept),
                who=self.house.who,
                now_ms=self.house.clock(),
                conversation=seq,
            )
        return report

    def _wipe(self) -> None:
        """Take the words out of free pages, the write-ahead log, backups and files kept aside."""
        self.house.store.vacuum()
        if not self.house.store.checkpoint():
            raise StoreUnusable(
                "another process is reading the store, so its write-ahead log still holds what was purged",
                hint="close the other program and run forkwood purge again: it finishes the rest",
            )
        leftovers.remove(Path(self.house.settings.home))


def _versions(tx: Tx, node: int, name: str) -> set[int]:
    """Every version of a node, each with its tool group. Refuses what a run at work has on its path."""
    found: set[int] = set()
    for version in nodes.versions(tx, node):
        found.update(nodes.group(tx, version.seq))
    guard.not_on_active_path(tx, sorted(found), name, "purged")
    return found


def _report(tx: Tx, named: Named) -> PurgeReport:
    touched: set[Id] = set()
    branches = 0
    for seq in named.nodes if len(named.nodes) <= limits.purge_names_max else ():
        count, inside = reach.of_node(tx, seq)
        branches = max(branches, count)
        touched.update(inside)
    whole = tuple(conversations.row(tx, seq).id for seq in named.conversations)
    return PurgeReport(
        nodes=reach.ids_of(tx, named.nodes),
        conversations=whole,
        kept=reach.ids_of(tx, named.kept),
        affects=Affects(branches=branches, conversations=tuple(sorted({*touched, *whole}))),
        out_of_reach=OUT_OF_REACH,
    )
