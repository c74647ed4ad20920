"""Verbs about what waits for a person: pending, answer; and about yeses given beforehand: grants, revoke."""

from __future__ import annotations

from collections.abc import Sequence

from forkwood.domain.errors import Conflict, Misused, Refused
from forkwood.domain.ids import Id, ending
from forkwood.domain.interaction import Answer, Interaction, answer_words, checked
from forkwood.domain.policy import Grant, Scope
from forkwood.domain.response import GrantHeld
from forkwood.runtime import naming
from forkwood.runtime.acts import Acting
from forkwood.runtime.wording import warned
from forkwood.store import grants, interactions, names, runs
from forkwood.store.db import Tx


class Answering(Acting):
    """pending, interaction, answer, grants, revoke."""

    def pending(self, conversation: str | None = None) -> list[Interaction]:
        """What waits for a person in a conversation or (None) in all, oldest first. What is overdue is closed."""
        with self.house.store.read() as tx:
            here = None if conversation is None else naming.conversation(tx, conversation)
            late = interactions.overdue(tx, self.house.clock(), here)
        for run in late:
            self._expire(run)
        with self.house.store.read() as tx:
            return interactions.pending(tx, here)

    def interaction(self, name: str) -> Interaction:
        """One interaction, open or closed. Raises NotFound."""
        with self.house.store.read() as tx:
            return interactions.row(tx, names.interaction(tx, name))

    def answer(
        self, name: str, words: Sequence[str], *, remember: str | None = None, key: str | None = None
    ) -> Interaction:
        """Answer an interaction; its run then has something to do: `drive` does it. With REMEMBER (run, conversation) a
        yes is also a grant for its tool there.

        The first answer counts, and the same again is fine. Raises Conflict for another, and for one that comes after
        its time or after its run has ended; Misused for words that are no answer; Refused for who is no person. One
        that holds a credential is kept as it is, with a notice.
        """
        self._only_people("answer", "forkwood pending")

        def do(tx: Tx) -> Id:
            asked = interactions.row(tx, names.interaction(tx, name))
            given = checked(asked, words)
            scope = _scope(asked, given, remember)
            if _is_open(asked, given, remembered=scope is not None):
                self._close(tx, asked, given, scope)
            return asked.id

        if self._receipt(key) is None:
            self._expire_asked(name)
        arguments = {"interaction": name, "words": list(words), "remember": remember}
        found = self.interaction(self._once("answer", arguments, Id, do, key=key))
        self.house.notices += warned(self.house.secrets(), answer_words(found.answer))
        if self.house.begun_engine is not None:
            self.house.begun_engine.poke(found.run)
        return found

    def grants(self, conversation: str | None = None) -> list[GrantHeld]:
        """The grants that hold in a conversation or (None) in all, newest first."""
        with self.house.store.read() as tx:
            return grants.listed(tx, None if conversation is None else naming.conversation(tx, conversation))

    def revoke(self, name: str, *, key: str | None = None) -> GrantHeld:
        """End a grant: its tool asks again from the next call on, also in runs at work. No-op where it has ended."""
        self._only_people("revoke what people granted", "forkwood grants")

        def do(tx: Tx) -> GrantHeld:
            return grants.revoke(tx, names.grant(tx, name), who=self.house.who, now_ms=self.house.clock())

        return self._once("revoke", {"grant": name}, GrantHeld, do, key=key)

    def _close(self, tx: Tx, asked: Interaction, given: Answer, scope: Scope | None) -> None:
        """The answer, and what it grants: other calls of that tool that wait there are covered by it too."""
        grant = None if scope is None else self._grant(tx, asked, scope)
        who, now_ms = self.house.who, self.house.clock()
        interactions.close(tx, asked, given, grant=grant, who=who, now_ms=now_ms)
        if scope is None or asked.call is None:
            return
        for other in interactions.pending(tx, runs.details(tx, asked.run).conversation):
            same_place = scope == "conversation" or other.run == asked.run
            if same_place and other.kind == "approval" and other.call and other.call.name == asked.call.name:
                interactions.close(tx, other, given, grant=grant, who=who, now_ms=now_ms)

    def _grant(self, tx: Tx, asked: Interaction, scope: Scope) -> Id:
        assert asked.call is not None
        grant = Grant(
            id=self.house.new_id(),
            tool=asked.call.name,
            scope=scope,
            of=asked.run if scope == "run" else asked.conversation,
        )
        conversation = runs.details(tx, asked.run).conversation
        return grants.give(tx, grant, conversation=conversation, who=self.house.who, now_ms=self.house.clock())

    def _expire_asked(self, name: str) -> None:
        """Close what is overdue beside the interaction of that name: that holds whatever comes of the answer."""
        with self.house.store.read() as tx:
            run = interactions.row(tx, names.interaction(tx, name)).run
            late = interactions.is_late(tx, run, self.house.clock())
        if late:
            self._expire(run)

    def _expire(self, run: Id) -> None:
        with self.house.store.write() as tx:
            interactions.expire(tx, run, via=self.house.who.via, now_ms=self.house.clock())


def _scope(asked: Interaction, given: Answer, remember: str | None) -> Scope | None:
    """What a yes is remembered for. Raises Misused where it is no yes to a call, Refused for a scope there is not."""
    match remember:
        case None:
            return None
        case "run" | "conversation" if asked.kind == "approval" and given == "allow":
            return remember
        case "project":
            raise Refused(
                "no project is attached: a yes is remembered for a run or a conversation",
                hint=f"forkwood answer {ending(asked.id)} allow --remember conversation",
            )
        case "run" | "conversation":
            raise Misused("only allow is remembered", hint="leave out --remember, or answer allow to an approval")
        case _:
            raise Misused(f"'{remember}' is nothing a yes is remembered for", hint="--remember run|conversation")


def _is_open(asked: Interaction, given: Answer, *, remembered: bool) -> bool:
    """Whether ASKED still waits; False where the same was answered. Raises Conflict where it was closed otherwise."""
    if asked.status == "open":
        return True
    if asked.status == "answered" and asked.answer == given and (asked.grant is not None or not remembered):
        return False
    how = {
        "answered": f"was answered by another word already: {answer_words(asked.answer)}",
        "expired": "has expired: nobody answered in time, and that counts as a no",
        "withdrawn": "was withdrawn: its run has ended",
    }
    if asked.status == "answered" and asked.answer == given:
        how["answered"] = "was answered already, and that yes was not remembered"
    raise Conflict(
        f"interaction {ending(asked.id)} {how[asked.status]}",
        hint="forkwood pending lists what still waits",
        interaction=asked.id,
        status=asked.status,
        answer=asked.answer,
    )
