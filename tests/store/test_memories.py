"""Memories: versions that are proposed once for each call, and which of them count."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from forkwood.domain import limits
from forkwood.domain.errors import LimitExceeded, Refused
from forkwood.domain.memory import Memory, Proposal
from forkwood.store import memories
from forkwood.store.db import Store, Tx
from tests.store.said import NOW, new_id, say, talk

RUN = "a" * 32


def proposal(tx: Tx, **fields: Any) -> Proposal:
    """A proposal in a reply of its own."""
    conversation = talk(tx)
    node = tx.value("SELECT id FROM node WHERE seq = ?", (say(tx, conversation, "Hm.", role="assistant"),)).hex()
    made = Proposal(name="tea", value="green", conversation=conversation, run=RUN, node=node, call="c", via="cli")
    return replace(made, **fields)


def decide(tx: Tx, memory: Memory, state: str) -> None:
    tx.run("UPDATE memory SET state = ?, decided_ms = 2 WHERE id = ?", (state, bytes.fromhex(memory.id)))


def test_a_proposal_is_a_version_and_says_where_it_comes_from() -> None:
    with Store.in_memory().write() as tx:
        asked = proposal(tx)
        made = memories.propose(tx, new_id(tx), asked, now_ms=NOW)
        assert (made.name, made.value, made.version, made.state) == ("tea", "green", 1, "proposed")
        assert (made.run, made.node, made.call, made.by, made.via) == (RUN, asked.node, "c", "model", "cli")
        assert made.conversation == tx.value("SELECT lower(hex(id)) FROM conversation")
        assert (made.created_ms, made.decided_ms, made.superseded_by, made.purged) == (NOW, None, None, False)
        assert memories.propose(tx, "f" * 32, replace(asked, value="black"), now_ms=NOW + 1) == made
        assert tx.value("SELECT count(*) FROM memory") == 1


def test_only_accepted_ones_that_nothing_supersedes_count() -> None:
    with Store.in_memory().write() as tx:
        made = [
            memories.propose(tx, new_id(tx), proposal(tx, name=name, value=str(number), call=str(number)), now_ms=NOW)
            for number, name in enumerate(("tea", "tea", "milk", "sugar"))
        ]
        assert [one.version for one in made] == [1, 2, 1, 1]
        for one, state in zip(made, ("accepted", "accepted", "accepted", "rejected"), strict=True):
            decide(tx, one, state)
        tx.run("UPDATE memory SET superseded_by = 2 WHERE seq = 1")
        assert [(one.name, one.value) for one in memories.accepted(tx)] == [("milk", "2"), ("tea", "1")]
        assert memories.accepted(tx, limit=1)[0].name == "milk" and memories.count_accepted(tx) == 2
        found = memories.accepted_by_name(tx, "tea")
        assert found is not None and found.version == 2
        assert memories.accepted_by_name(tx, "sugar") is None


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
        assert memories.propose(tx, new_id(tx), proposal(tx, **at_limit), now_ms=NOW)
        with pytest.raises(LimitExceeded) as refused:
            memories.propose(tx, new_id(tx), proposal(tx, call="d", **over), now_ms=NOW)
        assert refused.value.facts["limit"] == limit


def test_only_so_many_proposals_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "memories_proposed_max", 2)
    with Store.in_memory().write() as tx:
        first = memories.propose(tx, new_id(tx), proposal(tx), now_ms=NOW)
        memories.propose(tx, new_id(tx), proposal(tx, call="d"), now_ms=NOW)
        with pytest.raises(LimitExceeded) as refused:
            memories.propose(tx, new_id(tx), proposal(tx, call="e"), now_ms=NOW)
        assert refused.value.facts["limit"] == "memories_proposed_max"
        decide(tx, first, "rejected")
        assert memories.propose(tx, new_id(tx), proposal(tx, call="e"), now_ms=NOW).version == 3


@pytest.mark.parametrize("blank", [{"name": " "}, {"value": "\n"}])
def test_a_fact_without_words_is_refused(blank: dict[str, str]) -> None:
    with Store.in_memory().write() as tx, pytest.raises(Refused):
        memories.propose(tx, new_id(tx), proposal(tx, **blank), now_ms=NOW)
