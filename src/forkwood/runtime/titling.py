"""A better title than the first line: asked of the model that answered, where a person switched that on."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing

from forkwood.domain import limits
from forkwood.domain.act import Who
from forkwood.domain.errors import ForkwoodError
from forkwood.domain.event import ConversationTitled
from forkwood.domain.ids import Id
from forkwood.domain.message import Text, text_of
from forkwood.domain.model import Model, Reply, Try
from forkwood.domain.prompt import Prompt, PromptMessage, Said
from forkwood.domain.settings import Parameters
from forkwood.domain.text import first_line
from forkwood.runtime.house import House
from forkwood.store import conversations, log, names, nodes, places, runs

ASKING = "Give this conversation a title of at most six words. Answer with the title alone, without quotes."
_MESSAGES_SHOWN = 2
_CHARACTERS_SHOWN = 2_000
_TOKENS_MAX = 64


async def retitle(house: House, wanted: Sequence[Id]) -> None:
    """Title the conversations of these runs anew where a rule made their titles. A failure leaves them as they are."""
    with house.store.read() as tx:
        here = {runs.details(tx, run).conversation: runs.row(tx, run) for run in wanted}
        due = {seq: run for seq, run in here.items() if conversations.row(tx, seq).titled_by == "rule"}
    for seq, run in due.items():
        if run.status != "done":
            continue
        try:
            shown = _shown(house, seq)
            title = await _asked(await house.open_model(run.model), _prompt(shown, run.model))
        except ForkwoodError:
            continue
        if title:
            _keep(house, seq, title, tuple(one.node for one in shown))


def _shown(house: House, seq: int) -> list[Said]:
    with house.store.read() as tx:
        return places.said(tx, conversations.head(tx, seq))[:_MESSAGES_SHOWN]


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


async def _asked(model: Model, prompt: Prompt) -> str:
    async with aclosing(model.stream(model.encode(prompt, {}), Try(turn=0, number=1))) as items:  # type: ignore[type-var]
        async for item in items:
            if isinstance(item, Reply):
                return first_line(text_of(item.parts), limits.rule_title_characters_max).strip("\"' .")
    return ""


def _keep(house: House, seq: int, title: str, made_of: tuple[Id, ...]) -> None:
    with house.store.write() as tx:
        row = conversations.row(tx, seq)
        if row.titled_by != "rule" or any(nodes.row(tx, names.node(tx, one)).purged for one in made_of):
            return
        conversations.write_setting(tx, seq, "title", title, titled_by="model")
        log.write(
            tx,
            ConversationTitled(before=row.title, after=title, nodes=made_of),
            who=Who(by="model", via=house.who.via),
            now_ms=house.clock(),
            conversation=seq,
        )
