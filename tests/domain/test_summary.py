"""A summary stands for the beginning of a path where that is what it was made of, and nowhere else."""

from __future__ import annotations

from typing import TypeAlias

from hypothesis import given
from hypothesis import strategies as st

from forkwood.domain.message import Role, Text, text_of
from forkwood.domain.prompt import Said
from forkwood.domain.summary import (
    INTRODUCTION,
    Mark,
    Summary,
    cuts,
    first_kept_within,
    fitting,
    last_asked_within,
    prefix_digests,
    with_summary,
)


def path(*words: str) -> list[Said]:
    roles = ("user", "assistant")
    return [Said(f"n{number}", roles[number % 2], (Text(text=word),)) for number, word in enumerate(words)]  # type: ignore[arg-type]


def made_of(said: list[Said], text: str = "sum") -> Summary:
    *_, digest = prefix_digests(said)
    return Summary(id=text, digest=digest, covers=tuple(one.node for one in said), text=text)


def mark(summary: Summary) -> Mark:
    return len(summary.covers), summary.digest


WHOLE = path("q1", "a1", "q2", "a2", "q3")


def test_the_longest_beginning_that_fits_is_taken() -> None:
    short, long = made_of(WHOLE[:2], "short"), made_of(WHOLE[:4], "long")
    assert fitting(WHOLE, [mark(long), mark(short)]) == mark(long)
    assert fitting(WHOLE[:4], [mark(long), mark(short)]) == mark(short), "never all of it"
    assert fitting(WHOLE, []) is None


def test_an_edit_a_hide_or_a_carry_makes_it_fit_or_not_by_itself() -> None:
    summary = made_of(WHOLE[:4])
    edited = [WHOLE[0], Said("n9", "assistant", (Text(text="a1'"),)), *WHOLE[2:]]
    assert fitting(edited, [mark(summary)]) is None
    assert fitting([WHOLE[0], *WHOLE[2:]], [mark(summary)]) is None
    same_words_elsewhere = [Said(f"x{one.node}", one.role, one.parts) for one in WHOLE]
    assert fitting(same_words_elsewhere, [mark(summary)]) == mark(summary)


def test_the_rest_of_the_path_follows_the_summary() -> None:
    said = with_summary(WHOLE, made_of(WHOLE[:4], "they talked"))
    assert [one.node for one in said] == ["they talked", "n4"]
    assert text_of(said[0].parts) == f"{INTRODUCTION}\n\nthey talked"
    assert said[0].role == "user"


def test_each_beginning_has_its_own_digest() -> None:
    digests = list(prefix_digests(WHOLE))
    assert len(set(digests)) == len(WHOLE)
    assert digests[:3] == list(prefix_digests(WHOLE[:3]))


def test_system_messages_are_never_summarised_and_stay_first() -> None:
    ruled = [
        Said("s1", "system", (Text(text="rules"),)),
        *WHOLE[:2],
        Said("s2", "system", (Text(text="more"),)),
        *WHOLE[2:],
    ]
    said = with_summary(ruled, made_of(ruled[:4], "they talked"))
    assert [one.node for one in said] == ["s1", "s2", "they talked", "n2", "n3", "n4"]
    assert cuts(ruled) == [4, 6]
    assert cuts(ruled[:2]) == [], "system messages alone are nothing to summarise"


def test_a_cut_is_at_a_users_message_and_never_before_the_first() -> None:
    assert cuts(WHOLE) == [2, 4]
    assert cuts(WHOLE, 2) == [4]
    assert cuts(WHOLE, 4) == [] == cuts([]) == cuts(WHOLE[:1]) == cuts(WHOLE[1:2])


Sizes: TypeAlias = list[tuple[Role, int]]
TURNS = st.lists(
    st.sampled_from([
        [("user", 1)], [("user", 5), ("assistant", 3)], [("user", 1), ("assistant", 1), ("tool", 9), ("assistant", 2)],
        [("user", 2), ("assistant", 1), ("tool", 4), ("assistant", 1), ("tool", 1)], [("assistant", 2)],
        [("system", 3)],
    ]),
    max_size=12,
)  # fmt: skip


@given(TURNS, st.integers(0, 12), st.integers(0, 60))
def test_no_group_is_torn_and_as_much_stays_as_fits(turns: list[Sizes], after: int, room: int) -> None:
    sizes = [one for turn in turns for one in turn]
    said = [Said(f"n{number}", role, (Text(text="x" * size),)) for number, (role, size) in enumerate(sizes)]
    places = cuts(said, after)
    for at in places:
        assert after < at < len(said) and said[at].role == "user"
        assert any(one.role != "system" for one in said[after:at])
    if not places:
        return

    def kept(at: int) -> int:
        return sum(size for _, size in sizes[at:])

    chosen = first_kept_within(places, kept, room)
    assert kept(chosen) <= room or chosen == places[-1]
    assert all(kept(at) > room for at in places if at < chosen)
    asked = last_asked_within(places, lambda at: sum(size for _, size in sizes[:at]), room)
    fits = [at for at in places if sum(size for _, size in sizes[:at]) <= room]
    assert asked == (fits[-1] if fits else None)
