"""Memories: versions that are proposed once for each call or stated by a person, decided once, never overwritten."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from forkwood.domain import limits
from forkwood.domain.act import Who
from forkwood.domain.errors import Conflict, LimitExceeded, NotFound, Refused
from forkwood.domain.ids import Id, make_id
from forkwood.domain.memory import Decision, Fact, Memory, Proposal
from forkwood.store import log, memories
from forkwood.store.db import Store, Tx
from tests.store.said import NOW, say, talk

RUN = "a" * 32
PERSON = Who(by="user", via="cli")


def fresh(tx: Tx) -> Id:
    """A name for the next memory."""
    return make_id(NOW, (1_000 + tx.value("SELECT count(*) FROM memory")).to_bytes(10, "big"))


def proposal(tx: Tx, **fields: Any) -> Proposal:
    """A proposal in a reply of its own."""
    conversation = talk(tx)
    node = tx.value("SELECT id FROM node WHERE seq = ?", (say(tx, conversation, "Hm.", role="assistant"),)).hex()
    made = Proposal(name="tea", value="green", conversation=conversation, run=RUN, node=node, call="c", via="cli")
    return replace(made, **fields)


def proposed(tx: Tx, name: str = "tea", value: str = "green", call: str = "c") -> Memory:
    return memories.propose(tx, fresh(tx), proposal(tx, name=name, value=value, call=call), now_ms=NOW)


def decide(tx: Tx, memory: Memory, decision: Decision, now_ms: int = NOW) -> Memory:
    return memories.decide(tx, memory.id, decision, who=PERSON, now_ms=now_ms)


def stated(tx: Tx, name: str, value: str, now_ms: int = NOW) -> Memory:
    fact = Fact(name=name, value=value, via="cli")
    return memories.state_fact(tx, fresh(tx), fact, who=PERSON, now_ms=now_ms)


def told(tx: Tx) -> list[tuple[str, str, dict[str, Any]]]:
    """The events about memories: kind, who, payload."""
    found = log.events(tx, after=0, limit=100)
    return [(one.kind, one.by, one.payload) for one in found if one.kind.startswith("memory.")]


def test_a_proposal_is_a_version_and_says_where_it_comes_from() -> None:
    with Store.in_memory().write() as tx:
        asked = proposal(tx)
        made = memories.propose(tx, fresh(tx), asked, now_ms=NOW)
        assert (made.name, made.value, made.version, made.state) == ("tea", "green", 1, "proposed")
        assert (made.run, made.node, made.call, made.by, made.via) == (RUN, asked.node, "c", "model", "cli")
        assert made.conversation == tx.value("SELECT lower(hex(id)) FROM conversation")
        assert (made.created_ms, made.decided_ms, made.superseded_by, made.purged) == (NOW, None, None, False)
        assert memories.propose(tx, "f" * 32, replace(asked, value="black"), now_ms=NOW + 1) == made
        assert tx.value("SELECT count(*) FROM memory") == 1


def test_a_call_of_that_name_in_another_reply_of_the_run_is_another_call() -> None:
    with Store.in_memory().write() as tx:
        made = [proposed(tx, "tea", "green"), proposed(tx, "milk", "warm"), proposed(tx, "tea", "black")]
        assert [(one.name, one.value, one.version) for one in made] == [
            ("tea", "green", 1), ("milk", "warm", 1), ("tea", "black", 2),
        ]  # fmt: skip
        assert {(one.run, one.call) for one in made} == {(RUN, "c")}


def test_only_accepted_ones_that_nothing_supersedes_count() -> None:
    with Store.in_memory().write() as tx:
        made = [
            proposed(tx, name, str(number), str(number)) for number, name in enumerate(("tea", "tea", "milk", "sugar"))
        ]
        assert [one.version for one in made] == [1, 2, 1, 1]
        for one in made[:3]:
            decide(tx, one, "accepted")
        decide(tx, made[3], "rejected")
        assert [(one.name, one.value) for one in memories.accepted(tx)] == [("milk", "2"), ("tea", "1")]
        assert memories.accepted(tx, limit=1)[0].name == "milk" and memories.count_accepted(tx) == 2
        found = memories.accepted_by_name(tx, "tea")
        assert found is not None and found.version == 2
        assert memories.accepted_by_name(tx, "sugar") is None


def test_an_accepted_version_supersedes_and_overwrites_nothing() -> None:
    with Store.in_memory().write() as tx:
        first, second = proposed(tx), proposed(tx, value="black", call="d")
        assert memories.in_use(tx) == ()
        accepted = decide(tx, first, "accepted", NOW + 1)
        assert accepted == replace(first, state="accepted", decided_ms=NOW + 1)
        assert memories.in_use(tx) == (first.id,)
        decide(tx, second, "accepted", NOW + 2)
        assert memories.in_use(tx) == (second.id,)
        assert memories.row(tx, first.id) == replace(accepted, superseded_by=second.id)
        assert [one.value for one in memories.versions(tx, "tea")] == ["green", "black"]
        assert [one.value for one in memories.of_ids(tx, [second.id, first.id])] == ["black", "green"]


def test_each_step_is_an_event_that_names_ids_and_no_words() -> None:
    with Store.in_memory().write() as tx:
        first = proposed(tx)
        decide(tx, first, "accepted")
        second = stated(tx, "tea", "black")
        assert told(tx) == [
            ("memory.proposed", "model", {"memory": first.id}),
            ("memory.decided", "user", {"memory": first.id, "decision": "accepted", "supersedes": None}),
            ("memory.proposed", "user", {"memory": second.id}),
            ("memory.decided", "user", {"memory": second.id, "decision": "accepted", "supersedes": first.id}),
        ]
        (event,) = [one for one in log.events(tx, after=0, limit=9) if one.by == "model"]
        assert (event.run, event.node, event.conversation) == (first.run, first.node, first.conversation)


def test_a_decision_stands_and_the_same_again_is_fine() -> None:
    with Store.in_memory().write() as tx:
        memory = decide(tx, proposed(tx), "rejected")
        assert decide(tx, memory, "rejected", NOW + 9) == memory and len(told(tx)) == 2
        with pytest.raises(Conflict, match="was rejected already"):
            decide(tx, memory, "accepted")


def test_an_earlier_version_does_not_come_back_behind_a_later_one() -> None:
    with Store.in_memory().write() as tx:
        early = proposed(tx)
        stated(tx, "tea", "black")
        with pytest.raises(Conflict, match="a later version of 'tea' counts already: version 2"):
            decide(tx, early, "accepted")
        assert decide(tx, early, "rejected").state == "rejected"


def test_a_fact_is_forgotten_by_a_version_without_a_value() -> None:
    with Store.in_memory().write() as tx:
        stated(tx, "tea", "green")
        gone = stated(tx, "tea", "")
        assert memories.in_use(tx) == () and memories.accepted(tx) == [] and memories.count_accepted(tx) == 0
        assert [one.superseded_by for one in memories.versions(tx, "tea")] == [gone.id, None]
        for name in ("tea", "milk"):
            with pytest.raises(NotFound):
                stated(tx, name, "")
        assert stated(tx, "tea", "white").version == 3
        assert [one.value for one in memories.accepted(tx)] == ["white"]


def test_they_are_in_use_in_the_order_in_which_they_came_to_count() -> None:
    with Store.in_memory().write() as tx:
        late = proposed(tx, "a")
        stated(tx, "z", "1", NOW + 1)
        stated(tx, "m", "2", NOW + 2)
        decide(tx, late, "accepted", NOW + 3)
        assert [one.name for one in memories.of_ids(tx, memories.in_use(tx))] == ["z", "m", "a"]


def test_what_is_listed() -> None:
    with Store.in_memory().write() as tx:
        stated(tx, "tea", "green")
        stated(tx, "tea", "black")
        waiting = proposed(tx, "milk")
        no = decide(tx, proposed(tx, "sugar", call="d"), "rejected")
        assert [one.value for one in memories.listed(tx)] == ["green", "black"]
        assert memories.listed(tx)[0] == waiting
        assert memories.listed(tx, state="rejected") == [no]
        assert [one.value for one in memories.listed(tx, name="tea", state="accepted")] == ["black", "green"]


def test_only_so_many_facts_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "memories_accepted_max", 2)
    with Store.in_memory().write() as tx:
        stated(tx, "a", "1")
        stated(tx, "b", "1")
        assert stated(tx, "b", "2").version == 2
        with pytest.raises(LimitExceeded) as refused:
            stated(tx, "c", "1")
        assert refused.value.facts["limit"] == "memories_accepted_max"
        stated(tx, "a", "")
        stated(tx, "d", "1")
        with pytest.raises(LimitExceeded):
            stated(tx, "a", "1")


def test_what_is_not_there_is_told() -> None:
    with Store.in_memory().write() as tx:
        there = stated(tx, "tea", "green")
        assert memories.are_standing(tx, [there.id]) and memories.are_standing(tx, [])
        assert not memories.are_standing(tx, [there.id, RUN]) and not memories.is_any_purged(tx, [there.id, RUN])
        for look in (lambda: memories.of_ids(tx, [there.id, RUN]), lambda: memories.row(tx, RUN)):
            with pytest.raises(NotFound, match=RUN):
                look()


@pytest.mark.parametrize("whole", [True, False])
def test_a_purge_leaves_husks_of_what_comes_from_there(whole: bool) -> None:
    with Store.in_memory().write() as tx:
        first = decide(tx, proposed(tx), "accepted")
        second = proposed(tx, value="black", call="d")
        other = stated(tx, "milk", "none")
        seqs = tx.one("SELECT conversation, node FROM memory WHERE call = 'c'")
        assert seqs is not None
        here = ((), seqs[:1]) if whole else (seqs[1:], ())
        assert memories.coming_from(tx, *here) == [first.id]
        tx.run("INSERT INTO purging VALUES (1)")
        memories.forget(tx, *here)
        tx.run("DELETE FROM purging")
        husk = memories.row(tx, first.id)
        assert (husk.name, husk.value, husk.call, husk.purged) == ("#1", "", None, True)
        assert (husk.state, husk.run, husk.created_ms) == ("accepted", RUN, NOW)
        assert memories.in_use(tx) == (other.id,) and memories.is_any_purged(tx, [first.id, other.id])
        assert not memories.are_standing(tx, [first.id, other.id])
        assert memories.listed(tx) == [other, second] and memories.versions(tx, "tea") == [second]
        with pytest.raises(NotFound, match="was purged"):
            decide(tx, husk, "accepted")


@pytest.mark.parametrize(
    ("limit", "at_limit", "over"),
    [
        (
            "memory_name_characters_max",
            {"name": "x" * limits.memory_name_characters_max},
            {"name": "x" * (limits.memory_name_characters_max + 1)},
        ),
        (
            "memory_value_characters_max",
            {"value": "x" * limits.memory_value_characters_max},
            {"value": "x" * (limits.memory_value_characters_max + 1)},
        ),
    ],
)
def test_names_and_values_have_bounds(limit: str, at_limit: dict[str, str], over: dict[str, str]) -> None:
    with Store.in_memory().write() as tx:
        assert memories.propose(tx, fresh(tx), proposal(tx, **at_limit), now_ms=NOW)
        with pytest.raises(LimitExceeded) as refused:
            memories.propose(tx, fresh(tx), proposal(tx, call="d", **over), now_ms=NOW)
        assert refused.value.facts["limit"] == limit


def test_only_so_many_proposals_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "memories_proposed_max", 2)
    with Store.in_memory().write() as tx:
        first, second = proposed(tx), proposed(tx, value="black", call="d")
        assert proposed(tx, value="black", call="again") == second
        with pytest.raises(LimitExceeded) as refused:
            proposed(tx, value="white", call="e")
        assert refused.value.facts["limit"] == "memories_proposed_max"
        decide(tx, first, "rejected")
        assert proposed(tx, value="white", call="e").version == 3


@pytest.mark.parametrize("blank", [{"name": " "}, {"value": "\n"}])
def test_a_fact_without_words_is_refused(blank: dict[str, str]) -> None:
    with Store.in_memory().write() as tx, pytest.raises(Refused):
        memories.propose(tx, fresh(tx), proposal(tx, **blank), now_ms=NOW)
