"""A credential is found in every form, in any cut, and ordinary text is left as it is."""

from __future__ import annotations

import html
from itertools import pairwise
from urllib.parse import quote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from forkwood.domain import forms
from forkwood.domain.forms import FORM_CHARACTERS_MIN, GAP_CHARACTERS_MAX, betrays, forms_of, looked, spans
from forkwood.domain.masking import MASK, masked_text, settled
from tests.domain.spelled import SECRET, SPELLINGS, gives_away

OTHER = "pässwörd mit Leer%41 & <zeichen"
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


@pytest.mark.parametrize("name", SPELLINGS)
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


@given(before=LETTERS, after=LETTERS, name=st.sampled_from(sorted(SPELLINGS)), cuts=st.sets(st.integers(0, 400)))
def test_in_any_cut_it_is_as_in_one_piece(before: str, after: str, name: str, cuts: set[int]) -> None:
    text = f"{before} {SPELLINGS[name](SECRET)} {after}"
    shown = streamed(text, cuts, SECRET)
    assert shown == masked_text(text, (SECRET,))
    assert SECRET not in shown
    assert MASK in shown


@given(text=st.text(), cuts=st.sets(st.integers(0, 100)))
@example(text="50% & more < that\\", cuts={2, 3, 4, 12})
@example(text="sk-Very, sk-Very_secret and \\u0073k-Very <b>not</b>", cuts=set(range(50)))
@example(text="İstanbul s\u0130k \u212a", cuts={1, 2})
def test_ordinary_text_stays_as_it_is(text: str, cuts: set[int]) -> None:
    assert masked_text(text, (SECRET, OTHER)) == text
    assert streamed(text, cuts, SECRET, OTHER) == text


@given(LETTERS)
def test_letters_of_a_secret_are_none(text: str) -> None:
    if not gives_away(text, SECRET):
        assert masked_text(text, (SECRET,)) == text


@given(text=st.text("aAß\u0130 \n<b>\\\\x41u0041%4125C3BC&#65;amp\u200b"), plain=st.sampled_from((0, 1, 2)))
def test_a_reading_knows_where_it_stands(text: str, plain: int) -> None:
    pattern = (forms._PLAIN, forms._UNDONE, forms._BARE)[plain]
    mapped = forms.read_mapped(text, pattern)
    assert mapped.words == forms._read(text, pattern)
    places = [mapped.span(at, at + 1) for at in range(len(mapped.words))]
    assert places == sorted(places)
    for (start, end), letter in zip(places, mapped.words, strict=True):
        assert forms._read(text[start:end], pattern).count(letter) >= 1


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("the answer was it", ""),
        ("the answer was s", "s"),
        ("ask-very", "sk-very"),
        ("s k -", "s k -"),
        ("sk-x", ""),
        ("50%", "%"),
        ("a \\u00", "\\u00"),
        ("sk-<b class", "sk-<b class"),
        ("a <b class=", ""),
        ("s" + " " * GAP_CHARACTERS_MAX, "s" + " " * GAP_CHARACTERS_MAX),
        ("s" + " " * (GAP_CHARACTERS_MAX + 1), ""),
    ],
)
def test_only_what_may_still_become_one_is_held_back(text: str, held: str) -> None:
    assert settled(text, (SECRET,)) == (text.removesuffix(held), held)


def test_of_two_that_begin_alike_the_longer_one_is_waited_for() -> None:
    known = forms_of((SECRET, SECRET[:14]))
    assert looked(SECRET[:14], known) == ([], 0)
    assert looked(f"{SECRET[:14]}!", known) == ([(0, 14)], 15)
    assert spans(SECRET, known) == [(0, len(SECRET))]


def test_half_of_one_gives_it_away() -> None:
    known = forms_of((SECRET,))
    assert not betrays(SECRET[: len(SECRET) // 2 - 1], known)
    assert betrays(SECRET[: len(SECRET) // 2], known)
    assert betrays("<b>".join(SECRET[:20]), known)
    assert not betrays("", known)


def test_what_reads_as_little_is_not_looked_for() -> None:
    assert forms_of(("-  -  -  -  -  -",)).words[-1].isalnum(), "its base64 is"
    assert min(map(len, forms_of(("<password1234>", SECRET)).words)) >= FORM_CHARACTERS_MIN
    assert masked_text("a - - - - - - b", ("-  -  -  -  -  -",)) == "a - - - - - - b"


def test_a_secret_of_one_letter_ends_somewhere() -> None:
    """A row of dashes that is somebody's password does not hold a stream for ever."""
    shown, held = settled("-" * 1000, ("-" * 12,))
    assert len(held) < 12
    assert shown == MASK * 83


def test_what_is_held_back_is_bounded_by_the_longest_form() -> None:
    longest = forms.SPELLING_CHARACTERS_MAX * len(forms_of((SECRET,)).words[0])
    gaps = f"s{' ' * GAP_CHARACTERS_MAX}k{' ' * GAP_CHARACTERS_MAX}-{' ' * GAP_CHARACTERS_MAX}V"
    assert settled(gaps, (SECRET,))[1] == gaps
    text = (" " * GAP_CHARACTERS_MAX).join(SECRET[:-1])
    assert len(text) > longest
    assert len(settled(text, (SECRET,))[1]) <= longest
