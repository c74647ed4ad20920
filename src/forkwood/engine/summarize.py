"""Making a summary: before a turn whose prompt would pass its budget, or because a person wants one.

It is no turn and nothing is said by it: what comes is not shown as a reply, and becomes a row beside the tree. Each is
made of originals, or of the one before and all since; the newest exchange is never in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from msgspec import Struct
from msgspec.structs import replace

from forkwood.domain import budget, joins, limits
from forkwood.domain.budget import Budget
from forkwood.domain.errors import LimitExceeded
from forkwood.domain.ids import Id
from forkwood.domain.manifest import Manifest
from forkwood.domain.memory import Memory
from forkwood.domain.message import text_of
from forkwood.domain.model import Model, Reply, cost_of
from forkwood.domain.prompt import Prompt, Said
from forkwood.domain.run_event import SummaryFailed, SummaryMade
from forkwood.domain.summary import INTRODUCTION, Summary, cuts, first_kept_within, last_asked_within
from forkwood.domain.summing import asking_for_summary
from forkwood.domain.tree import Spot
from forkwood.store import blobs, conversations, counted, memories, places, summaries
from forkwood.store.db import Tx

HELP = (
    "'forkwood drop NODE', 'forkwood hide NODE' and 'forkwood set tools -NAME' make the prompt shorter, 'forkwood set "
    "context N' gives it more room, --model M asks one with a longer context, and 'forkwood summarize --model M' has "
    "another make the summary"
)

_SHARE = 12
"""Of the room for a prompt a summary is asked to take one part in so many: the included model can say as much."""
_AROUND = ceil(budget.tokens_of(INTRODUCTION)) + 2 * budget.TOKENS_PER_MESSAGE
"""What stands around a summary in a prompt."""
ANOTHER = "another model may do better: 'forkwood summarize --model M'"


class Sources(Struct, frozen=True, kw_only=True):
    """What a summary is made from: all that is SAID on a path, the summary that stands for its beginning already
    (BEFORE), and how much room there is. RATIO corrects estimates; ROOM is None where nobody knows the context."""

    said: Sequence[Said]
    before: Summary | None
    manifest: Manifest
    files: joins.Files
    memories: Sequence[Memory]
    room: Budget | None
    ratio: float

    @property
    def covered(self) -> int:
        """How many messages the summary before stands for."""
        return 0 if self.before is None else len(self.before.covers)

    def tokens(self, prompt: Prompt) -> int:
        """The tokens of PROMPT, estimated and corrected."""
        return ceil(budget.estimate(prompt) * self.ratio)

    def kept(self, at: int) -> int:
        """The tokens of a turn's prompt that keeps what is said from AT on, without any summary."""
        system = [one for one in self.said[:at] if one.role == "system"]
        said = [*system, *self.said[at:]]
        return self.tokens(joins.build(said, self.manifest, files=self.files, memories=self.memories))

    def asking(self, at: int, tokens_max: int) -> Prompt:
        """The prompt that asks for a summary of what is said up to AT."""
        return asking_for_summary(self.said[:at], self.before, self.manifest, self.files, tokens_max=tokens_max)


class Wanted(Struct, frozen=True, kw_only=True):
    """A summary to be asked for: of all that is SAID here, at most about TOKENS_MAX long, by REQUEST."""

    said: Sequence[Said]
    request: bytes
    tokens_max: int
    ratio: float
    manifest: Manifest


class Summed(Struct, frozen=True, kw_only=True):
    """What came of it: TEXT, and what it took."""

    text: str
    event: SummaryMade


def sources(tx: Tx, spot: Spot, manifest: Manifest, conversation: int, *, newest_only: bool = False) -> Sources:
    """What a summary of the path at SPOT is made from, under MANIFEST. NEWEST_ONLY: it is to stand for all but the
    newest exchange, and one that stands for as much already is not what it is made from."""
    said = places.said(tx, spot)
    ends = cuts(said)
    older = said[: ends[-1]] if newest_only and ends else said
    return Sources(
        said=said,
        before=summaries.best(tx, older),
        manifest=manifest,
        files={blob: blobs.get(tx, blob) for blob in joins.wanted(said, manifest)},
        memories=memories.of_ids(tx, manifest.memories),
        room=budget.budget_of(manifest),
        ratio=budget.correction(counted.newest(tx, conversation, manifest.model)),
    )


def wanted_for_room(found: Sources, model: Model, estimate: int) -> Wanted:
    """The summary that brings a prompt of ESTIMATE tokens (corrected) within its budget, or nearer to it where the
    model cannot be asked about so much at once. Raises LimitExceeded where none can, before anything is sent."""
    assert found.room is not None, "only a prompt with a budget passes it"
    room, ends = found.room.tokens, cuts(found.said, found.covered)
    if not ends:
        raise too_long("the newest exchange alone, with the system prompt and the tools,", found.room, estimate)
    newest = found.kept(ends[-1])
    tokens_max = min(_longest(found), (room - newest - _AROUND) // 2)
    if tokens_max < limits.summary_tokens_min:
        least = newest + _AROUND + 2 * limits.summary_tokens_min
        raise too_long("the newest exchange, with the system prompt, the tools and a summary,", found.room, least)
    end = first_kept_within(ends, found.kept, room // 2)
    return _wanted(found, model, ends[: ends.index(end) + 1], tokens_max)


def wanted_for_person(found: Sources, model: Model) -> Wanted | None:
    """A summary of all but the newest exchange; None where there is nothing before that. Raises LimitExceeded where
    MODEL cannot be asked about so much at once."""
    ends = cuts(found.said)[-1:]
    if not ends:
        return None
    return _wanted(found, model, ends, _longest(found))


def _longest(found: Sources) -> int:
    """How long a summary may be asked to be: a share of the room, and what its model may say at once with some left."""
    room, said_at_once = found.room, found.manifest.parameters.max_output
    bounds = [limits.summary_tokens_max]
    bounds += [] if room is None else [room.tokens // _SHARE]
    bounds += [] if said_at_once is None else [said_at_once // 2]
    return max(limits.summary_tokens_min, min(bounds))


def _wanted(found: Sources, model: Model, ends: Sequence[int], tokens_max: int) -> Wanted:
    """The request for the last of ENDS up to which MODEL can be asked. Raises LimitExceeded where it can to none."""

    def asked(at: int) -> int:
        return found.tokens(found.asking(at, tokens_max))

    end: int | None = ends[-1]
    if found.room is not None:
        end = last_asked_within(ends, asked, found.room.tokens)
        if end is None:
            raise too_long("what is to be summarised,", found.room, asked(ends[0]))
    assert end is not None
    request = model.encode(found.asking(end, tokens_max), {})
    return Wanted(
        said=found.said[:end],
        request=request,
        tokens_max=tokens_max,
        ratio=found.ratio,
        manifest=found.manifest,
    )


def too_long(what: str, room: Budget, got: int) -> LimitExceeded:
    """The error that says what does not fit: the estimate, the budget, the context, and what helps."""
    return LimitExceeded(
        f"{what} in tokens as estimated, for a context of {room.context:,} with room for a reply",
        limit="context",
        bound=room.tokens,
        got=got,
        hint=HELP,
        context=room.context,
    )


def judged(reply: Reply, wanted: Wanted, new_id: Id) -> Summed | SummaryFailed:
    """What came, masked already, as the summary that was WANTED; or why it cannot be taken for one."""
    text = text_of(reply.parts).strip()
    usage, cost = reply.usage, None
    if usage is not None:
        cost = cost_of(usage, wanted.manifest.traits.price)
    fault = _fault(reply, text, wanted)
    if fault is not None:
        return replace(fault, usage=usage, cost=cost)
    made = SummaryMade(summary=new_id, covers=len(wanted.said), model=wanted.manifest.model, usage=usage, cost=cost)
    return Summed(text=text, event=made)


def _fault(reply: Reply, text: str, wanted: Wanted) -> SummaryFailed | None:
    """A summary that breaks off has lost what it does not say; one that is too long makes no room."""
    if reply.partial is not None:
        what = reply.error or f"it is not whole: {reply.partial}"
        return SummaryFailed(reason=reply.partial, message=f"the summary cannot be used: {what}", hint=ANOTHER)
    if not text:
        return SummaryFailed(reason="empty", message="the model gave no summary", hint=ANOTHER)
    tokens = ceil(budget.tokens_of(text) * wanted.ratio)
    if tokens > 2 * wanted.tokens_max:
        words = f"the summary has about {tokens:,} tokens, where {wanted.tokens_max:,} were asked for"
        return SummaryFailed(reason="too_long", message=words, hint=ANOTHER)
    return None


def keep(tx: Tx, conversation: int, summed: Summed, wanted: Wanted, *, now_ms: int) -> Summary:
    """Add the row, and count what it took for the conversation. Its event is for the caller to write."""
    event = summed.event
    conversations.count_reply(tx, conversation, event.usage, event.cost, now_ms, turns=0)
    return summaries.add(tx, conversation, wanted.said, summed.text, id=event.summary, now_ms=now_ms)
