"""A model behind HTTP: one dialect, one sender, one reply. It never tries again by itself."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from forkwood.domain.errors import ProviderFailed
from forkwood.domain.model import Binding, Delta, Reply, Traits, Try
from forkwood.domain.prompt import Prompt
from forkwood.domain.settings import Parameters, Timeouts
from forkwood.models import anthropic, chat, google, http, ollama, parameters, responses, sending
from forkwood.models.failures import Peer
from forkwood.models.frames import Decoder
from forkwood.models.quirks import Quirks
from forkwood.models.reading import Reading


class Spoken(Struct, frozen=True, kw_only=True):
    """A wire dialect as a value: how a prompt is spelled, where it goes, who asks, and how the stream is read."""

    encode: Callable[[Prompt, Mapping[str, bytes], str, Quirks], bytes]
    path: Callable[[str], str]
    headers: Callable[[str | None], dict[str, str]]
    lacks: Callable[[Quirks], frozenset[str]]
    decoder: Callable[..., Decoder[Any]]
    accept: str = "text/event-stream"


DIALECTS: dict[str, Spoken] = {
    "chat": Spoken(
        encode=chat.encode,
        path=chat.path,
        headers=chat.headers,
        lacks=chat.lacks,
        decoder=chat.ChatDecoder,
    ),
    "responses": Spoken(
        encode=responses.encode,
        path=responses.path,
        headers=responses.headers,
        lacks=responses.lacks,
        decoder=responses.ResponsesDecoder,
    ),
    "anthropic": Spoken(
        encode=anthropic.encode,
        path=anthropic.path,
        headers=anthropic.headers,
        lacks=anthropic.lacks,
        decoder=anthropic.AnthropicDecoder,
    ),
    "google": Spoken(
        encode=google.encode,
        path=google.path,
        headers=google.headers,
        lacks=google.lacks,
        decoder=google.GoogleDecoder,
    ),
    "ollama": Spoken(
        encode=ollama.encode,
        path=ollama.path,
        headers=ollama.headers,
        lacks=ollama.lacks,
        decoder=ollama.OllamaDecoder,
        accept="application/x-ndjson",
    ),
}


class RemoteModel:
    """Implements the protocol of `domain/model.py` for a model behind HTTP.

    `binding.origin` is the address the dialect's path is put behind (`https://api.openai.com/v1`), `resolve` gives the
    secret a credential reference stands for, and `masked` names further secrets that no error may echo:
    replies are masked where they come in.
    """

    def __init__(
        self,
        *,
        name: str,
        binding: Binding,
        traits: Traits,
        quirks: Quirks,
        timeouts: Timeouts,
        resolve: Callable[[str], str],
        masked: tuple[str, ...] = (),
        now: Callable[[], float] = time.time,
    ) -> None:
        self.name = name
        self.binding = binding
        self.traits = traits
        self._spoken = DIALECTS[binding.dialect]
        self._quirks = quirks
        self._lacks = self._spoken.lacks(quirks)
        self._timeouts = timeouts
        self._resolve = resolve
        self._masked = masked
        self._now = now
        self._key = 0

    @property
    def keys_left(self) -> int:
        """How many further credentials a refused call could be tried with."""
        return max(0, len(self.binding.credentials) - self._key - 1)

    def next_key(self) -> bool:
        """Go over to the next credential; False when there is none."""
        if not self.keys_left:
            return False
        self._key += 1
        return True

    def encode(self, prompt: Prompt, images: Mapping[str, bytes]) -> bytes:
        """The exact request body, a pure function of its arguments.

        Raises ProviderFailed("capability") for images or tools where the model is known to take none, and for a
        parameter it cannot be held to.
        """
        parameters.refuse_promises(self.name, prompt.parameters, self._lacks)
        if self.traits.images is False and any(sending.images_of(message.parts) for message in prompt.messages):
            self._cannot("sees no images, and this path holds one", "choose a model that sees, or drop the message")
        if self.traits.tools is False and prompt.tools:
            self._cannot("cannot call tools, and some are switched on", "choose a model that can, or switch them off")
        return self._spoken.encode(self._with_context(prompt), images, self.binding.model, self._quirks)

    def unsent(self, wanted: Parameters) -> tuple[str, ...]:
        """What a person should know of WANTED parameters that this model is not sent."""
        return parameters.wishes_left_out(self.name, wanted, self._lacks)

    async def stream(self, request: bytes, attempt: Try) -> AsyncIterator[Delta | Reply]:  # noqa: ARG002 (the protocol's)
        """Send REQUEST; the deltas as they come, then one Reply. Closing the iterator closes the connection at once.

        Raises ProviderFailed only before the first delta; later failures end in a partial Reply.
        """
        key = self._resolve(self.binding.credentials[self._key]) if self.binding.credentials else None
        peer = Peer(provider=self.binding.provider, secrets=(*((key,) if key else ()), *self._masked))
        decoder = self._spoken.decoder(model=self.binding.model, peer=peer, quirks=self._quirks)
        async with http.opened(self._outgoing(request, key), self._timeouts, peer, self._now) as incoming:
            reading = Reading(incoming, decoder, peer)
            while (deltas := await reading.more()) is not None:
                for delta in deltas:
                    yield delta
        yield reading.reply()

    def _with_context(self, prompt: Prompt) -> Prompt:
        """PROMPT with the context this model is known to have, where the person set none."""
        if prompt.parameters.context is not None or self.traits.context is None:
            return prompt
        with_context = msgspec.structs.replace(prompt.parameters, context=self.traits.context)
        return msgspec.structs.replace(prompt, parameters=with_context)

    def _outgoing(self, request: bytes, key: str | None) -> http.Outgoing:
        origin = self.binding.origin.rstrip("/")
        return http.Outgoing(
            url=origin + self._spoken.path(self.binding.model),
            body=request,
            headers={"accept": self._spoken.accept, **self._quirks.extra_headers},
            credential=http.Credential(origin=http.origin_of(origin), headers=self._spoken.headers(key)),
        )

    def _cannot(self, what: str, hint: str) -> None:
        raise ProviderFailed("capability", f"{self.name} {what}", hint=hint, model=self.name)
