"""A better title than the first line: asked of the model that answered, where a person switched that on.

It is no turn: nothing is said by it. What it costs is counted, and that it failed is told beside the reply.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from msgspec.structs import asdict

from forkwood.domain import limits
from forkwood.domain.act import Who
from forkwood.domain.errors import ForkwoodError
from forkwood.domain.event import ConversationTitled, NoticeGiven
from forkwood.domain.ids import Id
from forkwood.domain.masking import echoable, masked_text
from forkwood.domain.message import Text, text_of
from forkwood.domain.model import Model, Reply, Try, cost_of
from forkwood.domain.prompt import Prompt, PromptMessage, Said
from forkwood.domain.scrub import GONE
from forkwood.domain.settings import Parameters
from forkwood.domain.text import first_line
from forkwood.domain.watch import EventSeen
from forkwood.engine.leaving import heard
from forkwood.runtime.house import House
from forkwood.store import conversations, log, names, nodes, places, runs
from forkwood.store.db import Tx

ASKING = "Give this conversation a title of at most six words. Answer with the title alone, without quotes."
_MESSAGES_SHOWN = 2
_CHARACTERS_SHOWN = 2_000
_TOKENS_MAX = 64


async def retitle(house: House, run: Id) -> EventSeen | None:
    """Title the conversation of a run that is done anew, where a rule made its title; the event of it.

    A failure leaves the title as it is, and is told beside the run's reply.
    """
    with house.store.read() as tx:
        row, seq, reply = runs.row(tx, run), runs.details(tx, run).conversation, runs.last_reply(tx, run)
        if row.status != "done" or reply is None or conversations.row(tx, seq).titled_by != "rule":
            return None
        said = places.said(tx, conversations.head(tx, seq))[:_MESSAGES_SHOWN]
    try:
        async with asyncio.timeout(limits.title_seconds):
            model = await house.open_model(row.model)
            request = model.encode(_prompt(said, row.model), {})
            answer = await heard(model.stream(request, Try(turn=0, number=1)))
    except TimeoutError:
        event = _tell(house, seq, reply, f"{row.model} gave no title within {limits.title_seconds:g} seconds", said)
    except ForkwoodError as error:
        event = _tell(house, seq, reply, f"{row.model} gave no title: {error.message}", said)
    else:
        event = _keep(house, seq, answer, model, tuple(one.node for one in said))
    return event


def _prompt(said: Sequence[Said], model: str) -> Prompt:
    shown = "\n\n".join(f"{one.role}: {text_of(one.parts)[:_CHARACTERS_SHOWN]}" for one in said)
    return Prompt(
        form=1,
        model=model.partition(":")[2] or model,
        system=None,
        messages=(PromptMessage("user", (Text(text=f"{shown}\n\n{ASKING}"),), ()),),
        tools=(),
        parameters=Parameters(max_output=_TOKENS_MAX),
    )


def _keep(house: House, seq: int, answer: Reply, model: Model, made_of: tuple[Id, ...]) -> EventSeen:
    """Count what the title took, and give it where it still is wanted: a person may have given one meanwhile."""
    words = masked_text(text_of(answer.parts), echoable(house.secrets().values()))
    title = first_line(words, limits.rule_title_characters_max).strip("\"' .")
    cost = None if answer.usage is None else cost_of(answer.usage, model.traits.price)
    with house.store.write() as tx:
        row, now_ms = conversations.row(tx, seq), house.clock()
        if not title or row.titled_by != "rule" or _is_purged(tx, made_of):
            title = row.title
        else:
            conversations.write_setting(tx, seq, "title", title, titled_by="model")
        conversations.count_reply(tx, seq, answer.usage, cost, now_ms, turns=0)
        return _written(
            tx,
            ConversationTitled(before=row.title, after=title, nodes=made_of, usage=answer.usage, cost=cost),
            who=Who(by="model", via=house.who.via),
            now_ms=now_ms,
            conversation=seq,
        )


def _is_purged(tx: Tx, made_of: tuple[Id, ...]) -> bool:
    return any(nodes.row(tx, names.node(tx, one)).purged for one in made_of)


def _tell(house: House, seq: int, reply: int, words: str, said: Sequence[Said]) -> EventSeen:
    """A failure can quote what it was SAID: where that was purged meanwhile, it is not told."""
    text = masked_text(words, echoable(house.secrets().values()))
    with house.store.write() as tx:
        return _written(
            tx,
            NoticeGiven(what="reply", text=GONE if _is_purged(tx, tuple(one.node for one in said)) else text),
            who=Who(by="system", via=house.who.via),
            now_ms=house.clock(),
            conversation=seq,
            node=reply,
        )


def _written(tx: Tx, payload: ConversationTitled | NoticeGiven, **fields: Any) -> EventSeen:
    event = log.event(tx, log.write(tx, payload, **fields))
    assert event is not None
    return EventSeen(**asdict(event))
