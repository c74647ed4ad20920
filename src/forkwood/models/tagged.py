"""What the decoders share whose models may write their thinking into the text, between tags."""

from __future__ import annotations

from typing import TypeVar

from forkwood.domain.message import PartialReason
from forkwood.domain.model import Delta, Reply
from forkwood.models.failures import Peer
from forkwood.models.frames import Decoder
from forkwood.models.quirks import Quirks
from forkwood.models.thinktags import ThinkTags

T = TypeVar("T")


class TaggedDecoder(Decoder[T]):
    """A Decoder that tells thinking from answer by tags, as the quirks of its server say, until they are settled."""

    def __init__(self, *, model: str, peer: Peer, quirks: Quirks) -> None:
        super().__init__(model=model, peer=peer)
        self._tags = None if quirks.think_tags == "none" else ThinkTags(opened=quirks.think_tags == "opened")

    def rest(self) -> list[Delta]:
        """What was held back until the stream ended: what might have become a tag is text after all."""
        self._settle_tags()
        return super().rest()

    def finish(self, cut: PartialReason = "cut", error: str | None = None) -> Reply:
        """The reply; see Decoder."""
        self._settle_tags()
        return super().finish(cut, error)

    def _text(self, text: str) -> None:
        if self._tags is None or self._tags.plain:
            self.said.add("text", text)
            return
        for kind, piece in self._tags.feed(text):
            self.said.add(kind, piece)

    def _settle_tags(self) -> None:
        """From here on a tag in the text is a word like any other."""
        tags, self._tags = self._tags, None
        for kind, piece in tags.rest() if tags else ():
            self.said.add(kind, piece)
