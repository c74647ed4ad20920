"""The verb summarize: a summary of all but the newest exchange of a path, when a person wants one.

The transcript does not change, and nothing is said. What it took is counted, also where nothing came of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from forkwood.domain.errors import Conflict, ProviderFailed, Refused
from forkwood.domain.manifest import Manifest
from forkwood.domain.model import Model, Try
from forkwood.domain.response import Summarized
from forkwood.domain.run_event import SummaryFailed
from forkwood.domain.settings import Parameters
from forkwood.domain.tree import Spot
from forkwood.runtime import naming, replying
from forkwood.runtime.acts import Acting, OpenAct
from forkwood.runtime.house import ended
from forkwood.store import conversations, log, summaries

if TYPE_CHECKING:
    from forkwood.engine.summarize import Summed, Wanted


class Summarizing(Acting):
    """summarize."""

    def summarize(
        self,
        node: str | None = None,
        *,
        model: str | None = None,
        conversation: str | None = None,
        key: str | None = None,
    ) -> Summarized:
        """Have MODEL (None: the conversation's) summarise the path at NODE (None: the head) up to its newest exchange.

        Prompts of paths that begin so have it in place of what it covers. Raises Refused where nothing stands before
        the newest exchange, LimitExceeded where the model cannot be asked about so much, ProviderFailed where it fails
        or gives no summary, Conflict where what was summarised was purged meanwhile.
        """

        def prepare(here: int) -> Callable[[OpenAct], Summarized]:
            with self.house.store.read() as tx:
                spot = naming.place(tx, here, node or "@")
            answering = replying.found(self.house, here, [model] if model else [])
            name = answering.named[0] if answering.named else answering.default or ""
            wanted, came = ended(self._asked(here, spot, name))
            if isinstance(came, SummaryFailed):
                raise self._told(here, came)
            return lambda act: _kept(act, came, wanted)

        arguments = {"node": node, "model": model}
        return self._act_ready("summarize", arguments, Summarized, prepare, conversation=conversation, key=key)

    async def _asked(self, here: int, spot: Spot, name: str) -> tuple[Wanted, Summed | SummaryFailed]:
        """Ask the model of that NAME: what it was asked for, and what came, without any secret."""
        from forkwood.engine import leaving, summarize
        from forkwood.engine.mask import Mask

        model = await self.house.open_model(name)
        with self.house.store.read() as tx:
            manifest = self._manifest(model, conversations.row(tx, here).params)
            found = summarize.sources(tx, spot, manifest, here, newest_only=True)
        wanted = summarize.wanted_for_person(found, model)
        if wanted is None:
            raise Refused(
                "there is nothing before the newest exchange: a summary never stands for that",
                hint="prompts are as short as they can be here; forkwood summarize NODE takes another path",
            )
        mask = Mask(lambda: tuple(self.house.secrets().values()))
        mask.begin()
        reply = await leaving.heard(model.stream(wanted.request, Try(turn=0, number=1)))
        return wanted, summarize.judged(mask.reply(reply), wanted, self.house.new_id())

    def _manifest(self, model: Model, parameters: Parameters) -> Manifest:
        """What a summary is asked for under: nothing of a run but its model and parameters."""
        return Manifest(
            model=model.name,
            binding=model.binding,
            traits=model.traits,
            parameters=parameters,
            system=None,
            profile=None,
            door=self.house.who.via,
            client=self.house.settings.client,
        )

    def _told(self, here: int, came: SummaryFailed) -> ProviderFailed:
        """Count what a reply took that was no summary; the error that says so."""
        with self.house.store.write() as tx:
            now_ms = self.house.clock()
            conversations.count_reply(tx, here, came.usage, came.cost, now_ms, turns=0)
            log.write(tx, came, who=self.house.who, now_ms=now_ms, conversation=here)
        return ProviderFailed("protocol", came.message, hint=came.hint)


def _kept(act: OpenAct, summed: Summed, wanted: Wanted) -> Summarized:
    from forkwood.engine import summarize

    if summaries.says_purged(act.tx, [one.node for one in wanted.said]):
        raise Conflict("what was summarised was purged meanwhile", hint="forkwood summarize asks again")
    row = summarize.keep(act.tx, act.conversation, summed, wanted, now_ms=act.now_ms)
    event = summed.event
    log.write(act.tx, event, who=act.house.who, now_ms=act.now_ms, conversation=act.conversation)
    return Summarized(
        conversation=conversations.row(act.tx, act.conversation).id,
        summary=row.id,
        covers=row.covers,
        text=row.text,
        model=event.model,
        usage=event.usage,
        cost=event.cost,
    )
