"""Who is to reply: found before the act, for a model may have to be looked for, and chosen within it."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from forkwood.domain import limits
from forkwood.domain.errors import Conflict, LimitExceeded
from forkwood.runtime.acts import OpenAct
from forkwood.runtime.house import House
from forkwood.store import conversations


class Replying(Struct, frozen=True, kw_only=True):
    """The models NAMED for one message, each known, scripts there; else DEFAULT, looked for where the conversation has
    none."""

    named: tuple[str, ...] = ()
    default: str | None = None


def found(house: House, conversation: int, models: Sequence[str]) -> Replying:
    """Who is to reply in a conversation where MODELS were named. Not inside a transaction: servers may be asked.

    Raises LimitExceeded, Misused, NotFound for a provider nobody knows or a script that is not there, ProviderFailed
    where nothing can be reached.
    """
    if len(models) > limits.models_of_one_message_max:
        raise LimitExceeded(
            "models for one message",
            limit="models_of_one_message_max",
            bound=limits.models_of_one_message_max,
            got=len(models),
        )
    if models:
        return Replying(named=tuple(house.model_to_ask(model) for model in models))
    with house.store.read() as tx:
        own = conversations.row(tx, conversation).model
    return Replying(default=house.known_model(own) if own else house.default_model().name)


def chosen(act: OpenAct, replying: Replying | None) -> tuple[str, ...]:
    """The models that reply, as the conversation is now. Raises Conflict where it is another than REPLYING fits."""
    if replying is None:
        raise Conflict("what was named became another message meanwhile", hint="send the command again")
    own = conversations.row(act.tx, act.conversation).model
    return replying.named or ((own or replying.default or ""),)
