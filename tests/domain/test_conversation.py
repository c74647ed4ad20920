"""The shape of a conversation on the wire: what CONTRACT promises, by name."""

from __future__ import annotations

from forkwood import wire
from forkwood.domain.conversation import Conversation, ConversationUsage, ForkedFrom
from forkwood.domain.settings import Parameters


def test_a_conversation_has_the_promised_fields() -> None:
    made = Conversation(
        id="a" * 32,
        title="t",
        titled_by="rule",
        head=None,
        model=None,
        system=None,
        approvals="ask",
        tools_off=(),
        params=Parameters(seed=1),
        profile=None,
        usage=ConversationUsage(),
        project=None,
        created_ms=1,
        updated_ms=2,
        forked_from=ForkedFrom(conversation="b" * 32, node="c" * 32),
        tags=("x",),
        folder=None,
        pinned=False,
        archived=False,
        hidden=False,
        purged=False,
    )
    shown = wire.decode(wire.encode(made), dict)
    promised = (
        "id title head model system approvals tools_off params profile usage project created_ms updated_ms "
        "forked_from tags folder pinned archived hidden"
    )
    assert set(promised.split()) <= set(shown)
    assert shown["usage"] == {"turns": 0, "input": 0, "output": 0, "cost": None}
    assert shown["forked_from"] == {"conversation": "b" * 32, "node": "c" * 32}
    assert shown["params"] == {"seed": 1}
    assert wire.decode(wire.encode(made), Conversation) == made
