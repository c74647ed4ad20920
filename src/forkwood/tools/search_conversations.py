"""search_conversations: where something was said, over all branches of all conversations of this store."""

from __future__ import annotations

from contextlib import AbstractContextManager, closing, nullcontext
from datetime import UTC, datetime

from forkwood.domain import limits
from forkwood.domain.hit import Hit
from forkwood.domain.ids import Id, ending
from forkwood.domain.message import ToolCall
from forkwood.domain.tool import Occasion, ToolOutcome, ToolSealed
from forkwood.store import conversations, names, nodes, search
from forkwood.store.db import Store, Tx
from forkwood.tools.shapes import spec, text, told

_USUAL_HITS = 10
_WORDS = text(
    'Words that all stand in the message, in any order; "words in quotes" stand next to each other. No operators.',
    limits.search_word_characters_max,
)
_LIMIT = {
    "type": "integer",
    "description": f"How many messages at most; {_USUAL_HITS} where it is left out.",
    "minimum": 1,
    "maximum": limits.model_search_hits_max,
}
_DESCRIPTION = (
    "Search what was said in all earlier conversations with this person, in every branch. Gives for each message the "
    "conversation's title, who said it, when, and the piece around the words. Use it when the person refers to "
    "something that is not in this conversation. Words are taken literally: try other words when nothing is found."
)


class SearchConversations:
    """A read that asks the first time: other conversations were not meant for whoever serves this model."""

    sealed = ToolSealed(
        spec=spec("search_conversations", _DESCRIPTION, {"words": _WORDS, "limit": _LIMIT}, required=("words",)),
        effect="read",
        after_crash="again",
        asks_first=True,
    )

    def __init__(self, store: Store) -> None:
        self._store = store

    async def use(self, call: ToolCall, at: Occasion) -> ToolOutcome:
        """The hits, best first, a paragraph each; none is of the run that asks.

        A search may read every message: it is done in a thread, over a connection of its own, and stops on cancelling.
        Raises Misused and LimitExceeded for words that cannot be asked.
        """
        import asyncio

        assert isinstance(call.arguments, dict), "arguments are checked before a tool is used"
        limit = int(call.arguments.get("limit", _USUAL_HITS))
        reader = self._store.beside()
        ending = nullcontext() if reader is self._store else closing(reader)
        searching = asyncio.to_thread(_searched, reader, ending, call.arguments["words"], limit, at.run)
        try:
            return await asyncio.shield(searching)
        except asyncio.CancelledError:
            reader.interrupt()
            raise

    async def inspect(self, call: ToolCall, at: Occasion) -> ToolOutcome | None:  # noqa: ARG002 - the protocol's
        """Reading leaves nothing."""
        return None


def _searched(store: Store, ending: AbstractContextManager[object], words: str, limit: int, asking: Id) -> ToolOutcome:
    with ending, store.read() as tx:
        found = search.find(tx, words, limit=limit, besides=asking)
        paragraphs = [_paragraph(tx, hit) for hit in found.hits]
    if not paragraphs:
        return told("No message holds all of these words. Fewer words, or other ones, may find it.")
    return told("\n\n".join([*paragraphs, *([found.note] if found.note else [])]))


def _paragraph(tx: Tx, hit: Hit) -> str:
    title = conversations.title_of(tx, hit.conversation) or "(untitled)"
    node = nodes.row(tx, names.node(tx, hit.node))
    is_time = 0 <= node.created_ms <= limits.time_ms_max  # damage can have made it another
    day = datetime.fromtimestamp(node.created_ms // 1000, UTC).date() if is_time else "at no known time"
    hidden = ", hidden by the person" if hit.hidden else ""
    return f"{title} / {hit.from_tool or hit.role}, {day}, {ending(hit.node)}{hidden}:\n{hit.snippet}"
