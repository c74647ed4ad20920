"""Verbs about what is remembered: memory, its history, and what a person decides, states or lets be forgotten."""

from __future__ import annotations

from collections.abc import Callable

from forkwood.domain.errors import Misused, NotFound, Refused
from forkwood.domain.ids import Id
from forkwood.domain.memory import Decision, Fact, Memory, MemoryState, fact_name
from forkwood.domain.response import MemoryWhy
from forkwood.domain.text import storable
from forkwood.runtime.acts import Acting
from forkwood.runtime.wording import warned
from forkwood.store import memories, names, nodes
from forkwood.store.db import Tx

STATES: dict[str, MemoryState] = {"proposed": "proposed", "accepted": "accepted", "rejected": "rejected"}
WORDS: dict[str, Decision] = {"accept": "accepted", "reject": "rejected"}


class Remembering(Acting):
    """memory, memory_history, memory_named, memory_why, memory_decide, memory_add, memory_forget."""

    def memory(self, name: str | None = None, state: str | None = None) -> list[Memory]:
        """What waits for a person and what counts, or every version in STATE; of one NAME or of all; newest first."""
        if state is not None and state not in STATES:
            raise Misused(f"'{state}' is no state of a memory", hint=f"one of {', '.join(STATES)}")
        with self.house.store.read() as tx:
            wanted = None if state is None else STATES[state]
            return memories.listed(tx, name=None if name is None else fact_name(name), state=wanted)

    def memory_history(self, name: str) -> list[Memory]:
        """Every version of the fact of that name (or of the one that the id NAME belongs to), oldest first.

        Raises NotFound.
        """
        with self.house.store.read() as tx:
            found = memories.versions(tx, fact_name(name))
            return found or memories.versions(tx, memories.row(tx, names.memory(tx, name)).name)

    def memory_named(self, name: str) -> Memory | None:
        """The version whose id NAME is; None where it is no memory's. Raises NotFound where it fits several."""
        with self.house.store.read() as tx:
            try:
                return memories.row(tx, names.memory(tx, name))
            except NotFound as nothing:
                if nothing.facts.get("candidates"):
                    raise
                return None

    def memory_why(self, name: str) -> MemoryWhy:
        """Where the version of that id comes from, and who decided about it. Raises NotFound."""
        with self.house.store.read() as tx:
            memory = memories.row(tx, names.memory(tx, name))
            reply = None if memory.node is None else nodes.row(tx, names.node(tx, memory.node))
            return MemoryWhy(
                memory=memory,
                model=None if reply is None else reply.origin.model,
                decided=memories.decision(tx, memory.id),
            )

    def memory_decide(self, name: str, decision: str, *, key: str | None = None) -> Memory:
        """Accept or reject a proposal: accept or reject. What is accepted counts in every prompt of later runs.

        Raises Conflict where it was decided otherwise or a later version counts; Refused for who is no person.
        """
        if decision not in WORDS:
            raise Misused(f"'{decision}' decides nothing", hint=f"one of {', '.join(WORDS)}")
        self._only_people("decide what is remembered", "forkwood memory")

        def do(tx: Tx) -> Id:
            return memories.decide(
                tx, names.memory(tx, name), WORDS[decision], who=self.house.who, now_ms=self.house.clock()
            ).id

        return self._once_memory("memory_decide", {"memory": name, "decision": decision}, do, key=key)

    def memory_add(self, name: str, value: str, *, key: str | None = None) -> Memory:
        """State a fact: it counts at once, and what counted under that name is superseded. Stated again: no change.
        One that holds a credential is kept as it is, with a notice.

        Raises Refused for blanks and for who is no person, LimitExceeded for what is too long or too much.
        """
        if not value.strip():
            raise Refused("a fact has a name and a value", hint="forkwood memory --forget NAME lets one be forgotten")
        made = self._state("memory_add", name, storable(value.strip()), key=key)
        self.house.notices += warned(self.house.secrets(), f"{made.name}\n{made.value}")
        return made

    def memory_forget(self, name: str, *, key: str | None = None) -> Memory:
        """Let a fact count no more: a version without a value supersedes it, and those before stay. Raises NotFound."""
        return self._state("memory_forget", name, "", key=key)

    def _state(self, verb: str, name: str, value: str, *, key: str | None) -> Memory:
        self._only_people("decide what is remembered", "forkwood memory")
        fact = Fact(name=fact_name(name), value=value, via=self.house.who.via)

        def do(tx: Tx) -> Id:
            known = memories.accepted_by_name(tx, fact.name)
            if known is not None and known.value == fact.value:
                return known.id
            now_ms = self.house.clock()
            return memories.state_fact(tx, self.house.new_id(), fact, who=self.house.who, now_ms=now_ms).id

        return self._once_memory(verb, {"name": fact.name, "value": value}, do, key=key)

    def _once_memory(self, verb: str, arguments: dict[str, str], do: Callable[[Tx], Id], *, key: str | None) -> Memory:
        """A receipt names the version and holds none of its words: a purge need not look for them there."""
        made = self._once(verb, dict(arguments), Id, do, key=key)
        with self.house.store.read() as tx:
            return memories.row(tx, made)
