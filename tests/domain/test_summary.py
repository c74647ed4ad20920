"""A summary stands for the beginning of a path where that is what it was made of, and nowhere else."""

from __future__ import annotations

from forkwood.domain.message import Text, text_of
from forkwood.domain.prompt import Said
from forkwood.domain.summary import INTRODUCTION, Summary, fitting, prefix_digests, with_summary


def path(*words: str) -> list[Said]:
    roles = ("user", "assistant")
    return [Said(f"n{number}", roles[number % 2], (Text(text=word),)) for number, word in enumerate(words)]  # type: ignore[arg-type]


def made_of(said: list[Said], text: str = "sum") -> Summary:
    *_, digest = prefix_digests(said)
    return Summary(id=text, digest=digest, covers=tuple(one.node for one in said), text=text)


WHOLE = path("q1", "a1", "q2", "a2", "q3")


def test_the_longest_beginning_that_fits_is_taken() -> None:
    short, long = made_of(WHOLE[:2], "short"), made_of(WHOLE[:4], "long")
    assert fitting(WHOLE, [long, short]) == long
    assert fitting(WHOLE[:4], [long, short]) == short, "never all of it"
    assert fitting(WHOLE, []) is None


def test_an_edit_a_hide_or_a_carry_makes_it_fit_or_not_by_itself() -> None:
    summary = made_of(WHOLE[:4])
    edited = [WHOLE[0], Said("n9", "assistant", (Text(text="a1'"),)), *WHOLE[2:]]
    assert fitting(edited, [summary]) is None
    assert fitting([WHOLE[0], *WHOLE[2:]], [summary]) is None
    same_words_elsewhere = [Said(f"x{one.node}", one.role, one.parts) for one in WHOLE]
    assert fitting(same_words_elsewhere, [summary]) == summary


def test_the_rest_of_the_path_follows_the_summary() -> None:
    said = with_summary(WHOLE, made_of(WHOLE[:4], "they talked"))
    assert [one.node for one in said] == ["they talked", "n4"]
    assert text_of(said[0].parts) == f"{INTRODUCTION}\n\nthey talked"
    assert said[0].role == "user"


def test_each_beginning_has_its_own_digest() -> None:
    digests = list(prefix_digests(WHOLE))
    assert len(set(digests)) == len(WHOLE)
    assert digests[:3] == list(prefix_digests(WHOLE[:3]))
