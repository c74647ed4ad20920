"""The embedded model: SmolLM2, spoken to as one more compatible server, in a child process that a cancel can kill."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from pathlib import Path

from forkwood.domain import limits
from forkwood.domain.errors import ProviderFailed
from forkwood.domain.model import Binding, Delta, Reply, Traits, Try
from forkwood.domain.prompt import Prompt
from forkwood.domain.settings import Parameters, Timeouts
from forkwood.models.embedded_server import MODEL, EmbeddedServer, Serving, missing, shared, weights_in
from forkwood.models.quirks import Quirks
from forkwood.models.remote import RemoteModel

PROVIDER = "embedded"
NAME = f"{PROVIDER}:{MODEL}"
TRAITS = Traits(context=limits.embedded_context_tokens_max, tools=False, images=False, thinking=False)
BINDING = Binding(provider=PROVIDER, dialect="chat", origin=f"{PROVIDER}:", model=MODEL)
"""The child's port and key are another each time and stand in no manifest."""
QUIRKS = Quirks(effort_field=None, think_tags="none")
LOST = frozenset({"transport", "timeout", "unreachable"})
"""Failures after which the child is not asked again."""
BROKEN_OFF = frozenset({"cut", "stalled"})
"""Ends of a reply after which it is not asked again either."""


class EmbeddedModel:
    """Implements the protocol of `domain/model.py` with a child process, started when first needed and then kept."""

    def __init__(self, server: EmbeddedServer, timeouts: Timeouts) -> None:
        self.name = NAME
        self.binding = BINDING
        self.traits = TRAITS
        self.keys_left = 0
        self._server = server
        self._timeouts = timeouts

    @classmethod
    def open(cls, home: Path, timeouts: Timeouts) -> EmbeddedModel:
        """The embedded model of this process. Raises ProviderFailed("unreachable") where a part of it is missing."""
        failed = missing(home)
        weights = weights_in(home)
        if failed or weights is None:
            raise failed or ProviderFailed("unreachable", "The weights of the embedded model are gone")
        return cls(shared(weights), timeouts)

    def encode(self, prompt: Prompt, images: Mapping[str, bytes]) -> bytes:
        """The request body, as the chat dialect spells it. Raises ProviderFailed("capability") for tools and images."""
        return self._speaking(Serving(url=BINDING.origin, key="")).encode(prompt, images)

    def unsent(self, wanted: Parameters) -> tuple[str, ...]:
        """What a person should know of WANTED parameters that it is not sent."""
        return self._speaking(Serving(url=BINDING.origin, key="")).unsent(wanted)

    async def stream(self, request: bytes, attempt: Try) -> AsyncIterator[Delta | Reply]:
        """Send REQUEST; the deltas as they come, then one Reply.

        Raises ProviderFailed only before the first delta. Cancelled before that, the child is killed: it is reading the
        prompt then and would listen to nobody until the end of it. One that breaks off is killed too, and its end
        awaited: a dying process closes its sockets before it counts as dead, and the next call would be sent to it.
        """
        async with self._server.turns():
            begun = False
            try:
                model = self._speaking(await self._server.serving())
                async with aclosing(model.stream(request, attempt)) as items:  # type: ignore[type-var]  # a generator
                    async for item in items:
                        begun = True
                        if isinstance(item, Reply) and item.partial in BROKEN_OFF:
                            self._server.kill()
                        yield item
            except asyncio.CancelledError:
                if not begun:
                    self._server.kill()
                raise
            except ProviderFailed as failed:
                if failed.reason in LOST:
                    self._server.kill()
                raise _ended() if failed.reason == "unreachable" else failed from None

    def next_key(self) -> bool:
        """The child has one key of its own."""
        return False

    def _speaking(self, serving: Serving) -> RemoteModel:
        return RemoteModel(
            name=self.name,
            binding=Binding(
                provider=PROVIDER, dialect="chat", origin=serving.url, model=MODEL, credentials=("of the child",)
            ),
            traits=self.traits,
            quirks=QUIRKS,
            timeouts=self._timeouts,
            resolve=lambda _: serving.key,
        )


def _ended() -> ProviderFailed:
    """The child took no connection though it had served: it has died, and the next try starts another."""
    return ProviderFailed(
        "unavailable", "The process of the embedded model has ended", hint="send it again", provider=PROVIDER
    )
