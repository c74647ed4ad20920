"""A memory is one wire value: what a version says, where it comes from, and what became of it."""

from __future__ import annotations

from forkwood import wire
from forkwood.domain.memory import Memory, Proposal


def test_a_memory_and_a_proposal_are_read_again_as_they_were() -> None:
    proposal = Proposal(name="tea", value="green", conversation=1, run="a" * 32, node="b" * 32, call="c", via="cli")
    memory = Memory(
        id="d" * 32,
        name="tea",
        value="green",
        version=1,
        state="proposed",
        superseded_by=None,
        conversation=None,
        run=proposal.run,
        node=proposal.node,
        call=proposal.call,
        by="model",
        via="cli",
        created_ms=1,
        decided_ms=None,
    )
    assert wire.decode(wire.encode(memory), Memory) == memory
    assert wire.decode(wire.encode(proposal), Proposal) == proposal
