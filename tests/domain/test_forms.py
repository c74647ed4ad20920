"""A credential is found in every form, in any cut, and ordinary text is left as it is."""

from __future__ import annotations

import html
import re
from itertools import pairwise
from urllib.parse import quote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from forkwood.domain import limits
from forkwood.domain.forms import FORM_CHARACTERS_MIN, betrays, forms_of, looked, spans
from forkwood.domain.masking import MASK, masked_text, settled
from tests.domain.spelled import SECRET, SPELLINGS, gives_away

OTHER = "pässwörd mit Leer%41 & <zeichen"
HEARD_LATE = {"base32", "base32 of a user", "backwards"}
"""Of these the first two characters are not held back (tests/engine/test_mask.py has what is shown then)."""
AT_ONCE = sorted(SPELLINGS.keys() - HEARD_LATE)
LETTERS = st.text(f"{SECRET} \n\\u0073%&#;<>x=", max_size=40)


def streamed(text: str, cuts: set[int], *secrets: str) -> str:
    """TEXT as it is shown when it comes in these pieces."""
    shown, held = "", ""
    for start, end in pairwise([0, *sorted(cut for cut in cuts if 0 < cut < len(text)), len(text)]):
        ready, held = settled(held + text[start:end], secrets)
        shown += ready
    return shown + masked_text(held, secrets)


@pytest.mark.parametrize("name", SPELLINGS)
def test_it_is_found_however_it_is_spelled(name: str) -> None:
    spelled = SPELLINGS[name](SECRET)
    assert gives_away(spelled, SECRET), "the judge knows it"
    left = masked_text(f"Is it {spelled}, my friend?", (SECRET,))
    assert MASK in left
    assert left.startswith("Is it ")
    assert left.endswith(", my friend?")
    assert not gives_away(left, SECRET)


@pytest.mark.parametrize("name", AT_ONCE)
def test_it_is_found_in_single_characters_too(name: str) -> None:
    text = f"Is it {SPELLINGS[name](SECRET)}, my friend?"
    assert streamed(text, set(range(len(text))), SECRET) == masked_text(text, (SECRET,))


@pytest.mark.parametrize("name", [name for name in SPELLINGS if name not in {"x escapes", "braced escapes"}])
def test_what_stands_around_stays_where_it_touches(name: str) -> None:
    left = masked_text(f"({SPELLINGS[name](SECRET)})", (SECRET,))
    assert (left[0], left[-1]) == ("(", ")")


@pytest.mark.parametrize(
    "spelled",
    [OTHER, OTHER.upper(), OTHER.replace(" ", ""), quote(OTHER), quote(quote(OTHER)), html.escape(OTHER)],
)
def test_a_password_of_any_characters_is_found(spelled: str) -> None:
    assert masked_text(f"a{spelled}b", (OTHER,)) == f"a{MASK}b"


@given(before=LETTERS, after=LETTERS, name=st.sampled_from(AT_ONCE), cuts=st.sets(st.integers(0, 400)))
def test_in_any_cut_it_is_as_in_one_piece(before: str, after: str, name: str, cuts: set[int]) -> None:
    text = f"{before} {SPELLINGS[name](SECRET)} {after}"
    shown = streamed(text, cuts, SECRET)
    assert shown == masked_text(text, (SECRET,))
    assert SECRET not in shown
    assert MASK in shown


@given(text=st.text(), cuts=st.sets(st.integers(0, 100)))
@example(text="50% & more < that\\", cuts={2, 3, 4, 12})
@example(text="sk-Very, sk-Very_secre and \\u0073k-Very <b>not</b>", cuts=set(range(50)))
@example(text="İstanbul s\u0130k \u212a", cuts={1, 2})
def test_ordinary_text_stays_as_it_is(text: str, cuts: set[int]) -> None:
    assert masked_text(text, (SECRET, OTHER)) == text
    assert streamed(text, cuts, SECRET, OTHER) == text


@given(LETTERS)
def test_letters_of_a_secret_are_none(text: str) -> None:
    if not gives_away(text, SECRET):
        assert masked_text(text, (SECRET,)) == text


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("the answer was it", ""),
        ("the answer was s", "s"),
        ("ask-very", "sk-very"),
        ("s k -", "s k -"),
        ("sk-x", ""),
        ("the answer was s).", "s)."),
        ("the value+1 of x-sec", "sec"),
        ("the value+1 of x-se", ""),
        ("50%", "%"),
        ("a \\u00", "\\u00"),
        ("sk-<b class", "sk-<b class"),
        ("a <b cla=", ""),
        ("s" + " " * limits.secret_gap_characters_max, "s" + " " * limits.secret_gap_characters_max),
        ("s" + " " * (limits.secret_gap_characters_max + 1), ""),
    ],
)
def test_only_what_may_still_become_one_is_held_back(text: str, held: str) -> None:
    assert settled(text, (SECRET,)) == (text.removesuffix(held), held)


def test_of_two_that_begin_alike_the_longer_one_is_waited_for() -> None:
    known = forms_of((SECRET, SECRET[:14]))
    assert looked(SECRET[:14], known) == ([], 0)
    assert looked(f"{SECRET[:14]}!x", known) == ([(0, 14)], 16)
    assert spans(SECRET, known) == [(0, len(SECRET))]


HALVES = [(at, at + 12) for at in range(13)]
"""All halves of the 24 letters of SECRET."""


@pytest.mark.parametrize(("start", "end"), HALVES)
def test_half_of_one_is_masked_wherever_it_stands(start: int, end: int) -> None:
    letters = re.sub(r"[\W_]", "", SECRET)
    half = letters[start:end]
    assert masked_text(f"it is: 0{half}0, no?", (SECRET,)) == f"it is: 0{MASK}0, no?"
    assert masked_text(f"it is: 0{half[1:]}0, no?", (SECRET,)) == f"it is: 0{half[1:]}0, no?"


@pytest.mark.parametrize("name", SPELLINGS)
@pytest.mark.parametrize("cut", [slice(17), slice(1, 18), slice(5, 22), slice(10, None)])
def test_most_of_one_is_masked_however_it_is_spelled(name: str, cut: slice) -> None:
    spelled = SPELLINGS[name](SECRET[cut])
    left = masked_text(f"Is it {spelled}, my friend?", (SECRET,))
    assert gives_away(spelled, SECRET), "the judge knows it"
    assert MASK in left
    assert not gives_away(left, SECRET)


@pytest.mark.parametrize("length", range(12, 40))
def test_of_two_halves_one_is_masked_at_least(length: int) -> None:
    key = "Zq9xAbCdEfGh1234567890PoIuYtReWqL0pMnB5v"[:length]
    for at in range(length):
        halves = (key[:at], key[at:])
        told = [half for half in halves if masked_text(half, (key,)) == half]
        assert all(len(half) < max(FORM_CHARACTERS_MIN, (length + 1) // 2) for half in told), at
        assert length < 2 * FORM_CHARACTERS_MIN - 1 or len(told) < 2, at


@pytest.mark.parametrize("cut", [slice(1, None), slice(2, None), slice(-1), slice(-5), slice(1, -1), slice(8, -8)])
def test_what_lacks_a_little_of_one_is_one(cut: slice) -> None:
    key = "Zq9xAbCdEfGh1234567890PoIuYtReWq"
    assert masked_text(f"hi {key[cut]}! Say no more.", (key,)) == f"hi {MASK}! Say no more."
    assert masked_text(f"hi {key[cut]}{key}! Say no more.", (key,)) == f"hi {MASK}{MASK}! Say no more."


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("sk-no-key-required", "There is no key required."),
        ("ollama-local-key", "Run Ollama locally; key files follow."),
        ("correct-horse-battery-staple", "The horse: Battery, staple."),
        ("NOT_NEEDED_AT_ALL", "It is not needed at"),
    ],
)
def test_a_value_of_words_is_found_whole_or_nearly(key: str, text: str) -> None:
    assert masked_text(text, (key,)) == text
    for said in (key, key.replace("-", " ").title(), key[:-1], key[1:]):
        assert masked_text(f"a {said}.", (key,)) == f"a {MASK}."


def test_a_value_of_signs_is_found_as_it_is() -> None:
    key = "!@#$%^&*()_+=ab"
    assert masked_text(f"a {key} b", (key, SECRET)) == f"a {MASK} b"
    assert masked_text(f"a {SECRET} b ! @ # $ % ^ & * ()", (key, SECRET)) == f"a {MASK} b {MASK}"
    assert masked_text("a !@#$%^& b", (key, SECRET)) == "a !@#$%^& b"


def test_half_of_one_gives_it_away() -> None:
    known = forms_of((SECRET,))
    assert not betrays(SECRET[: len(SECRET) // 2 - 1], known)
    assert betrays(SECRET[: len(SECRET) // 2], known)
    assert betrays("<b>".join(SECRET[:20]), known)
    assert not betrays("", known)


def test_what_reads_as_little_is_not_looked_for() -> None:
    assert all(word.isalnum() for word in forms_of(("-  -  -  -  -  -",)).words), "its base64 is"
    assert min(map(len, forms_of(("<password1234>", SECRET)).words)) >= FORM_CHARACTERS_MIN
    assert masked_text("a - - - - - - b", ("-  -  -  -  -  -",)) == "a - - - - - - b"


@pytest.mark.parametrize("letter", ["-", "x"])
def test_a_secret_of_one_letter_ends_somewhere(letter: str) -> None:
    """A row of dashes that is somebody's password does not hold a stream for ever."""
    shown = held = ""
    for _ in range(100):
        ready, held = settled(f"{held}{letter * 10}", (letter * 12,))
        shown += ready
        assert len(held) < 24
    assert letter not in shown
    assert masked_text(letter * 1000, (letter * 12,)) == MASK


def test_what_is_held_back_is_bounded_by_the_longest_form() -> None:
    longest = limits.secret_spelling_characters_max * forms_of((SECRET,)).longest
    gap = " " * limits.secret_gap_characters_max
    gaps = f"s{gap}k{gap}-{gap}V"
    assert settled(gaps, (SECRET,))[1] == gaps
    text = gap.join(SECRET[:-1])
    assert len(text) > longest
    assert len(settled(text, (SECRET,))[1]) <= longest
