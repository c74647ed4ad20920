"""Interactions: one JSON shape at every door, what each kind asks, and the words that answer it."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from forkwood import wire
from forkwood.domain import limits
from forkwood.domain.errors import LimitExceeded, Misused
from forkwood.domain.interaction import (
    CUT_WORDS,
    PEOPLE,
    CallShown,
    Interaction,
    Question,
    Sort,
    answer_words,
    answers_to,
    approval_words,
    checked,
    doubt_words,
    questions_in,
    shown,
)


def test_the_shape_of_the_contract() -> None:
    call = CallShown(name="look", arguments={}, shown="look {}", hash="h")
    waiting = Interaction(
        id="i",
        kind="approval",
        run="r",
        conversation="c",
        status="open",
        call=call,
        questions=None,
        about="a",
        answers=(),
    )
    assert list(wire.plain(waiting)) == [
        "id", "kind", "run", "conversation", "status", "call", "questions", "about", "answers", "answer", "grant", "by",
        "via", "answered_ms", "expires_ms",
    ]  # fmt: skip
    assert wire.plain(Question(text="Which?", options=("a",))) == {"text": "Which?", "options": ["a"]}


def test_an_answer_is_one_text() -> None:
    assert [answer_words(one) for one in (None, "allow", ("red", "blue"))] == ["", "allow", "red / blue"]


def asking(kind: Sort = "approval", call: str | None = "a", questions: int = 0) -> Interaction:
    return Interaction(
        id="0" * 24 + "12345678",
        kind=kind,
        run="r",
        conversation="c",
        status="open",
        call=None,
        questions=tuple(Question(text=f"{number}?") for number in range(questions)) or None,
        about="",
        answers=answers_to(kind, call),
    )


CHECKED: dict[str, tuple[Interaction, tuple[str, ...], str | tuple[str, ...] | type[Exception]]] = {
    "a yes": (asking(), ("allow",), "allow"),
    "a no": (asking(), ("deny",), "deny"),
    "no word of its own": (asking(), ("yes",), Misused),
    "another case is another word": (asking(), ("Allow",), Misused),
    "two words": (asking(), ("allow", "deny"), Misused),
    "none": (asking(), (), Misused),
    "how it went": (asking("doubt"), ("done",), "done"),
    "go-on is no answer to that": (asking("doubt"), ("go-on",), Misused),
    "of a prompt": (asking("doubt", None), ("go-on",), "go-on"),
    "retry is no answer to that": (asking("doubt", None), ("retry",), Misused),
    "a question takes any text": (asking("question", questions=1), ("allow",), "allow"),
    "one question, several words": (asking("question", questions=1), ("the", "blue one"), "the blue one"),
    "a text for each question": (asking("question", questions=2), ("a b", "c"), ("a b", "c")),
    "too few texts": (asking("question", questions=2), ("a",), Misused),
    "too many texts": (asking("question", questions=2), ("a", "b", "c"), Misused),
    "a blank is no answer": (asking("question", questions=2), ("a", " "), Misused),
    "nor is nothing": (asking("question", questions=1), (), Misused),
    "at the limit": (asking("question", questions=1), ("a" * limits.answer_bytes_max,), "a" * limits.answer_bytes_max),
    "over it": (asking("question", questions=1), ("ä" * (limits.answer_bytes_max // 2), "a"), LimitExceeded),
}


@pytest.mark.parametrize("name", CHECKED)
def test_answers_are_checked_by_their_kind(name: str) -> None:
    asked, words, answer = CHECKED[name]
    if isinstance(answer, type):
        with pytest.raises(answer):
            checked(asked, words)
    else:
        assert checked(asked, words) == answer


def test_what_is_refused_says_what_would_do() -> None:
    with pytest.raises(Misused) as refused:
        checked(asking(), ("y\u202ees",))
    assert refused.value.message == "'y\\u202ees' is no answer to this approval: say allow or deny"
    assert refused.value.hint == "forkwood answer 12345678 allow or forkwood answer 12345678 deny"


def test_each_question_that_wants_a_text_is_named_with_its_place() -> None:
    asked = replace(asking("question"), questions=(Question(text="Which tree?"), Question(text="Why\nit?")))
    with pytest.raises(Misused) as refused:
        checked(asked, ("the oak",))
    assert refused.value.message == "1 of 2 questions are answered: each wants a text"
    assert refused.value.hint == 'forkwood answer 12345678 "TEXT 1" "TEXT 2" answers 1. Which tree?; 2. Why'


def test_only_people_answer() -> None:
    assert {"cli", "tui", "web", "api"} == PEOPLE


def test_a_call_is_shown_as_json_with_nothing_hidden() -> None:
    spelled = 'run {\n  "text": "a\\nb \\u202e\\\\u202e"\n}'
    assert shown("run", {"text": "a\nb \u202e\\u202e"}) == spelled
    assert shown("look", {}) == "look {}"
    assert shown("look", "not\x07 JSON") == "look not\\u0007 JSON"


def test_questions_are_read_out_of_the_call() -> None:
    asks = {"questions": [{"text": "Which?", "options": ["a", "b"]}, {"text": "Why?"}]}
    assert questions_in("ask_user", asks) == (Question(text="Which?", options=("a", "b")), Question(text="Why?"))
    assert questions_in("ask_user", {"other": 1}) == (Question(text='ask_user {\n  "other": 1\n}'),)
    assert questions_in("ask_user", {"questions": []}) == (Question(text='ask_user {\n  "questions": []\n}'),)


def test_an_approval_says_what_a_grant_would_cover_and_a_doubt_what_to_do() -> None:
    assert "covers every further call of write there, whatever its arguments" in approval_words("write", "write")
    assert all(word in doubt_words("build") for word in ("nobody knows", *answers_to("doubt", "a")))
    for setting in ("go-on", "stop", "forkwood set context N", "Ollama", "llama.cpp", "LM Studio"):
        assert setting in CUT_WORDS
