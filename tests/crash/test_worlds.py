"""The run machine in thousands of worlds: killed at every commit and every effect, restarted from its log, compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forkwood.domain.plan import plan, status_of
from forkwood.domain.run_event import (
    CallAsked,
    CallSettled,
    CallStarted,
    CancelAsked,
    InteractionClosed,
    InteractionOpened,
    ReplyKept,
    ResultsKept,
    RunDriven,
    RunEvent,
)
from tests.crash.worlds import Script, World, call, play, states

READ_EDIT_TEST = Script([(call("a", "read", "allow"), call("b", "write")), (call("c", "execute"),), ()])
ASKED_TOGETHER = Script([(call("b", "write"), call("c", "execute"), call("d", "execute", "allow")), ()])
QUESTIONS = Script([(call("q", "read", "question"), call("p", "read", "question"), call("c", "execute")), ()])
REFUSED = Script([(call("x", "write", "deny"), call("c", "execute", "allow")), (call("x2", "execute", "deny"),), ()])
BROKEN_OFF = Script([(call("b", "write", "allow"),), (call("c", "execute", "allow"),)], partial="cut")
SCRIPTS = {
    "read, edit, test": READ_EDIT_TEST,
    "asked together": ASKED_TOGETHER,
    "questions": QUESTIONS,
    "refused": REFUSED,
    "broken off": BROKEN_OFF,
}
FUSES = range(1, 24)
DOUBT_ANSWERS = ("retry", "done", "failed")


def answering(yes: Sequence[bool], doubt: str = "retry") -> Callable[[InteractionOpened], str]:
    """A person who says yes and no in this pattern, and DOUBT where something is in doubt."""
    turn = iter(range(1000))

    def answers(opened: InteractionOpened) -> str:
        match opened.sort:
            case "approval":
                return "allow" if yes[next(turn) % len(yes)] else "deny"
            case "question":
                return "blue"
            case "doubt":
                return doubt

    return answers


def check(world: World) -> None:
    """What holds in every world, however often it was killed."""
    check_calls(world)
    check_effects(world)
    check_interactions(world)
    for state in islice(states(world), 1, None):
        waits = plan(state) is None and state.ended is None
        assert waits == (status_of(state) == "waiting"), "waiting is having nothing to do"
        assert state.open_interactions or not waits, "waiting always has open interactions"


def check_calls(world: World) -> None:
    asked = [one.call for event in world.log if isinstance(event, ReplyKept) for one in event.calls]
    settled = [event.call for event in world.log if isinstance(event, CallSettled)]
    assert sorted(asked) == sorted(settled), "every call is settled, and once"
    rounds = [event.turn for event in world.log if isinstance(event, ReplyKept) and event.calls]
    assert [event.turn for event in world.log if isinstance(event, ResultsKept)] == rounds, "each round is kept once"
    turns = [event.turn for event in world.log if isinstance(event, ReplyKept)]
    assert turns == list(range(1, len(turns) + 1)), "each turn has one reply"


def check_effects(world: World) -> None:
    answered = {event.interaction: event.answer for event in world.log if isinstance(event, InteractionClosed)}
    opened = [event for event in world.log if isinstance(event, InteractionOpened)]
    retries = [one.call for one in opened if one.sort == "doubt" and answered.get(one.interaction) == "retry"]
    yes = {one.call for one in opened if one.sort == "approval" and answered.get(one.interaction) == "allow"}
    for name, asked in world.script.calls().items():
        times = world.effects.count(name)
        if asked.effect == "execute":
            assert times <= 1 + retries.count(name), "what cannot be repeated ran twice"
        if asked.effect == "write":
            assert times <= 1, "the journal decides, not a second try"
        assert not times or asked.verdict == "allow" or name in yes, "ran without a yes"
        assert not times or not asked.question, "a person is not run"
    ran = [name for name in dict.fromkeys(world.effects) if name in world.script.calls()]
    assert ran == [name for name in world.script.calls() if name in ran], "calls run in their order"


def check_interactions(world: World) -> None:
    opened = [event.interaction for event in world.log if isinstance(event, InteractionOpened)]
    closed = [event.interaction for event in world.log if isinstance(event, InteractionClosed)]
    assert sorted(opened) == sorted(closed), "nothing is left open, and the first answer counts"
    approvals = [event.call for event in world.log if isinstance(event, InteractionOpened) and event.sort == "approval"]
    assert len(approvals) == len(set(approvals)), "nobody is asked the same twice"


def outcomes(world: World) -> dict[str, str]:
    return {event.call: event.outcome for event in world.log if isinstance(event, CallSettled)}


@pytest.mark.parametrize("name", SCRIPTS)
@pytest.mark.parametrize("yes", list(product([True, False], repeat=2)))
def test_killed_three_times_anywhere_it_ends_as_if_nothing_had_happened(name: str, yes: tuple[bool, bool]) -> None:
    script = SCRIPTS[name]
    untouched = play(World(script), (), answering(yes))
    for fuses in product(FUSES, FUSES[::2], (3,)):
        world = play(World(script), fuses, answering(yes))
        check(world)
        assert world.ended == untouched.ended
        assert outcomes(world) == outcomes(untouched)


@pytest.mark.parametrize("doubt", DOUBT_ANSWERS)
@pytest.mark.parametrize("fuse", FUSES)
def test_what_is_in_doubt_is_asked_not_guessed(fuse: int, doubt: str) -> None:
    script = Script([(call("c", "execute", "allow"),), ()])
    world = play(World(script), (fuse,), answering([True], doubt))
    check(world)
    asked = [event for event in world.log if isinstance(event, InteractionOpened)]
    began = [at for at, event in enumerate(world.log) if isinstance(event, CallStarted)]
    died_in_it = any(isinstance(event, RunDriven) for event in world.log[began[0] : began[0] + 2])
    assert [one.sort for one in asked] == ["doubt"] * died_in_it
    assert outcomes(world)["c"] == ("error" if died_in_it and doubt == "failed" else "ok")


@pytest.mark.parametrize("name", SCRIPTS)
@pytest.mark.parametrize("cancel_at", range(1, 16))
def test_cancelled_anywhere_and_killed_twice_nothing_dangles(name: str, cancel_at: int) -> None:
    for fuses in product((0, *FUSES[::2]), (0, *FUSES[::3])):
        killed = tuple(fuse for fuse in fuses if fuse)
        world = play(World(SCRIPTS[name], cancel_at), killed, answering([True, False]))
        check(world)
        asked = next((at for at, event in enumerate(world.log) if isinstance(event, CancelAsked)), None)
        assert world.ended is not None
        if asked is None or any(_is_final(world, event) for event in world.log[:asked]):
            assert world.ended.status in {"done", "failed"}
        else:
            assert world.ended.status == "cancelled"
            assert not [event for event in world.log[asked:] if isinstance(event, CallStarted)], "nothing new begins"


def _is_final(world: World, event: RunEvent) -> bool:
    return isinstance(event, ReplyKept) and event.turn == len(world.script.turns)


def scripts() -> st.SearchStrategy[Script]:
    kinds = st.tuples(
        st.sampled_from(["read", "write", "execute"]), st.sampled_from(["allow", "ask", "deny", "question"])
    )
    turns = st.lists(st.lists(kinds, min_size=1, max_size=3), max_size=3)
    return turns.map(lambda drawn: Script([*_named(drawn), ()]))


def _named(drawn: list[list[tuple[str, str]]]) -> Iterator[tuple[CallAsked, ...]]:
    for turn, calls in enumerate(drawn):
        yield tuple(call(f"{turn}.{at}", *kind) for at, kind in enumerate(calls))  # type: ignore[arg-type]


@given(
    scripts(),
    st.lists(st.integers(1, 40), max_size=5),
    st.lists(st.booleans(), min_size=1, max_size=4),
    st.sampled_from(DOUBT_ANSWERS),
    st.none() | st.integers(1, 30),
)
def test_any_script_any_kills_any_person(
    script: Script, fuses: list[int], yes: list[bool], doubt: str, cancel_at: int | None
) -> None:
    world = play(World(script, cancel_at), fuses, answering(yes, doubt))
    check(world)
    assert world.ended is not None and world.ended.status in {"done", "cancelled"}
