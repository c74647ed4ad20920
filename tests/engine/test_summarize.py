"""Which summary is asked for, and what is taken for one: at the limits, from values alone."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from forkwood.domain import budget, limits
from forkwood.domain.errors import LimitExceeded
from forkwood.domain.message import Role, Text, ToolCall, ToolResult
from forkwood.domain.model import Price, Reply, Traits, Usage
from forkwood.domain.prompt import Said
from forkwood.domain.run_event import SummaryFailed
from forkwood.domain.settings import Parameters
from forkwood.domain.summary import Summary, with_summary
from forkwood.engine.summarize import (
    Sources,
    Summed,
    Wanted,
    judged,
    wanted_for_person,
    wanted_for_room,
)
from tests.domain.paths import manifest
from tests.engine.stage import FakeModel


def sources(said: list[Said], context: int | None, before: Summary | None = None, ratio: float = 1.0) -> Sources:
    sealed = manifest(traits=Traits(context=context), parameters=Parameters(), tools=(), system=None)
    return Sources(
        said=said,
        before=before,
        manifest=sealed,
        files={},
        memories=(),
        room=budget.budget_of(sealed),
        ratio=ratio,
    )


def talk(*tokens: int) -> list[Said]:
    """Messages of so many tokens, user and assistant in turn."""
    roles: tuple[Role, Role] = ("user", "assistant")
    return [Said(f"{at:032x}", roles[at % 2], (Text(text="word" * size),)) for at, size in enumerate(tokens)]


def covers(wanted: Wanted | None) -> int | None:
    return None if wanted is None else len(wanted.said)


@pytest.mark.parametrize(
    ("said", "covered"),
    [
        (talk(500, 500, 500, 500, 10), 2),
        (talk(100, 100, 1_300, 1_300, 10), 4),
        (talk(100, 100, 100, 100, 2_900), 4),
        (talk(1_000, 700, 500, 400, 50), 2),
    ],
)
def test_as_much_stays_as_takes_half_and_never_less_than_the_newest_exchange(said: list[Said], covered: int) -> None:
    """A context of 4,000 leaves 3,000 for a prompt, and half of that is 1,500."""
    assert covers(wanted_for_room(sources(said, 4_000), FakeModel(), 3_100)) == covered


def test_estimates_are_corrected_wherever_they_count() -> None:
    said = talk(500, 500, 500, 500, 10)
    assert covers(wanted_for_room(sources(said, 4_000, ratio=2.0), FakeModel(), 4_200)) == 2
    with pytest.raises(LimitExceeded):
        wanted_for_room(sources(said, 4_000, ratio=3.5), FakeModel(), 7_000)


@pytest.mark.parametrize(("newest", "is_room"), [(2_943, True), (2_944, False), (4_000, False)])
def test_the_newest_exchange_must_leave_room_for_a_summary(newest: int, is_room: bool) -> None:
    """For `summary_tokens_min` twice over: a summary may be twice as long as it is asked to be."""
    found = sources(talk(100, 100, newest), 4_000)
    if is_room:
        assert wanted_for_room(found, FakeModel(), 3_100).tokens_max >= limits.summary_tokens_min
        return
    with pytest.raises(LimitExceeded, match="the newest exchange, with") as caught:
        wanted_for_room(found, FakeModel(), 3_100)
    assert (caught.value.facts["bound"], caught.value.facts["context"]) == (3_000, 4_000)
    assert caught.value.facts["got"] > 3_000


def test_where_only_the_newest_exchange_is_left_there_is_nothing_to_summarise() -> None:
    said = talk(100, 100, 3_100, 100)
    before = Summary(id="5" * 32, digest=b"", covers=tuple(one.node for one in said[:2]), text="sum")
    with pytest.raises(LimitExceeded, match="the newest exchange alone"):
        wanted_for_room(sources(said, 4_000, before), FakeModel(), 3_250)


def test_what_cannot_be_asked_about_at_once_is_told() -> None:
    with pytest.raises(LimitExceeded, match="what is to be summarised"):
        wanted_for_room(sources(talk(3_000, 3_000, 10), 4_000), FakeModel(), 6_010)


@pytest.mark.parametrize(
    ("context", "max_output", "longest"),
    [
        (None, None, limits.summary_tokens_max),
        (1_000_000, None, limits.summary_tokens_max),
        (3_200, None, 200),
        (None, 100, 50),
        (None, 2 * limits.summary_tokens_min - 2, limits.summary_tokens_min),
        (limits.embedded_context_tokens_max, None, limits.embedded_output_tokens_max),
    ],
)
def test_a_summary_takes_a_share_of_the_room(context: int | None, max_output: int | None, longest: int) -> None:
    found = sources(talk(1, 1, 1, 1), context)
    parameters = Parameters(max_output=max_output)
    wanted = wanted_for_person(replace(found, manifest=replace(found.manifest, parameters=parameters)), FakeModel())
    assert wanted is not None and wanted.tokens_max == longest


def test_a_person_gets_all_but_the_newest_exchange() -> None:
    assert covers(wanted_for_person(sources(talk(1, 1, 1, 1, 1, 1), None), FakeModel())) == 4
    assert wanted_for_person(sources(talk(1, 1), None), FakeModel()) is None
    assert wanted_for_person(sources([], None), FakeModel()) is None


def wanted(tokens_max: int = 10) -> Wanted:
    sealed = manifest(traits=Traits(price=Price(input=1_000_000, output=1_000_000)))
    return Wanted(said=talk(1, 1), request=b"", tokens_max=tokens_max, ratio=1.0, manifest=sealed)


def test_what_came_is_the_summary_with_what_it_took() -> None:
    came = judged(Reply(parts=(Text(text=" They met. \n"),), usage=Usage(input=3, output=2)), wanted(), "9" * 32)
    assert isinstance(came, Summed)
    assert (came.text, came.event.covers, came.event.cost) == ("They met.", 2, 5.0)
    assert (came.event.summary, came.event.model) == ("9" * 32, "anthropic:claude-x")


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Reply(parts=()), "empty"),
        (Reply(parts=(Text(text=" \n"),)), "empty"),
        (Reply(parts=(Text(text="They"),), partial="length"), "length"),
        (Reply(parts=(Text(text="They"),), partial="cut", error="the line broke"), "cut"),
        (Reply(parts=(Text(text="word" * 21),)), "too_long"),
        (Reply(parts=(Text(text="word" * 20),)), None),
    ],
)
def test_what_is_no_summary_is_not_taken_for_one(reply: Reply, reason: str | None) -> None:
    came = judged(reply, wanted(tokens_max=10), "9" * 32)
    assert (came.reason if isinstance(came, SummaryFailed) else None) == reason


def tool_group(at: int, size: int) -> list[Said]:
    call = ToolCall(call="a", name="look", arguments={})
    found = ToolResult(call="a", name="look", outcome="ok", parts=(Text(text="word" * size),))
    return [Said(f"{at:032x}", "assistant", (call,)), Said(f"{at + 1:032x}", "tool", (found,))]


SIZES = st.integers(1, 400)
EXCHANGES = st.lists(st.tuples(SIZES, st.lists(SIZES, max_size=2), SIZES), min_size=1, max_size=12)


@given(EXCHANGES, st.integers(256, 6_000), st.integers(0, 2))
def test_after_a_summary_the_prompt_fits_or_is_nearer_to_it_and_no_group_is_torn(
    exchanges: list[Any], context: int, grown: int
) -> None:
    """The longest text that is taken for a summary stands there: the next prompt fits, where all could be asked about
    at once. Whatever could not comes with the next one."""
    said: list[Said] = []
    for asked, results, answered in exchanges:
        said.append(Said(f"{len(said):032x}", "user", (Text(text="word" * asked),)))
        for size in results:
            said += tool_group(len(said), size)
        said.append(Said(f"{len(said):032x}", "assistant", (Text(text="word" * answered),)))
    found = sources(said, context)
    assert found.room is not None
    whole = found.kept(0)
    if whole <= found.room.tokens:
        return
    try:
        wanted = wanted_for_room(found, FakeModel(), whole)
    except LimitExceeded:
        return
    at = len(wanted.said)
    assert said[at].role == "user" and 0 < at < len(said)
    text = "word" * (wanted.tokens_max * grown)
    summary = Summary(id="e" * 32, digest=b"", covers=tuple(one.node for one in wanted.said), text=text)
    after = replace(found, said=with_summary(said, summary))
    reached_all = found.kept(at) <= found.room.tokens // 2 or not any(one.role == "user" for one in said[at + 1 :])
    assert not reached_all or after.kept(0) <= found.room.tokens
