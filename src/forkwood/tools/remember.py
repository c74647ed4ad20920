"""remember: a model proposes a fact to be remembered; it counts once the person has accepted it."""

from __future__ import annotations

from collections.abc import Callable

from forkwood.domain import limits
from forkwood.domain.ids import Id
from forkwood.domain.memory import Proposal, fact_name
from forkwood.domain.message import ToolCall
from forkwood.domain.tool import Occasion, ToolOutcome, ToolSealed
from forkwood.store import memories
from forkwood.store.db import Store
from forkwood.tools.shapes import spec, text, told

_NAME = text(
    "What the fact is about, in a few words; the same name again is a new version of that fact.",
    limits.memory_name_characters_max,
)
_VALUE = text(
    "The fact, in words that make sense without this conversation.",
    limits.memory_value_characters_max,
)
_DESCRIPTION = (
    "Propose a fact to be remembered for later conversations: a lasting preference, a name, a decision. The person "
    "sees the proposal and accepts or rejects it; until then it is not remembered. Never propose secrets, nor what "
    "matters only now."
)


class Remember:
    """A read for the policy: it changes nothing that counts before a person has said so. The same call proposes once,
    so that it can be tried again after a crash."""

    sealed = ToolSealed(
        spec=spec("remember", _DESCRIPTION, {"name": _NAME, "value": _VALUE}, required=("name", "value")),
        effect="read",
        after_crash="again",
    )

    def __init__(self, store: Store, clock: Callable[[], int], new_id: Callable[[], Id]) -> None:
        self._store = store
        self._clock = clock
        self._new_id = new_id

    async def use(self, call: ToolCall, at: Occasion) -> ToolOutcome:
        """Propose it. Raises LimitExceeded where too much waits, Refused for blanks: the model reads those."""
        assert isinstance(call.arguments, dict), "arguments are checked before a tool is used"
        name, value = fact_name(call.arguments["name"]), call.arguments["value"].strip()
        with self._store.write() as tx:
            known = memories.accepted_by_name(tx, name)
            if known is not None and known.value == value:
                return told(f"'{name}' is remembered so already.")
            memories.propose(tx, self._new_id(), _proposal(call, at, name, value), now_ms=self._clock())
        return told(f"'{name}' is proposed. It is remembered once the person accepts it.")

    async def inspect(self, call: ToolCall, at: Occasion) -> ToolOutcome | None:  # noqa: ARG002 - the protocol's
        """It is simply proposed again."""
        return None


def _proposal(call: ToolCall, at: Occasion, name: str, value: str) -> Proposal:
    return Proposal(
        name=name,
        value=value,
        conversation=at.conversation,
        run=at.run,
        node=at.node,
        call=call.call,
        via=at.door,
    )
