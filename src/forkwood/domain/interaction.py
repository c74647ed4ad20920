"""What waits for a person: an approval, a question or a doubt, as every door shows it, and who may answer it how."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Struct

from forkwood.domain import limits
from forkwood.domain.cutting import shortened
from forkwood.domain.errors import LimitExceeded, Misused
from forkwood.domain.ids import Id, ending
from forkwood.domain.message import By, Via
from forkwood.domain.text import first_line, storable
from forkwood.domain.visible import visible

Sort: TypeAlias = Literal["approval", "question", "doubt"]
Answer: TypeAlias = str | tuple[str, ...]
"""A word or text; to several questions a text each."""


class Question(Struct, frozen=True, kw_only=True):
    """One thing a model asks. OPTIONS are proposals: any text answers."""

    text: str
    options: tuple[str, ...] = ()


class CallShown(Struct, frozen=True, kw_only=True):
    """The call an interaction is about. SHOWN is what will run, with nothing in it that does not show; HASH binds the
    answer to tool, schema and arguments."""

    name: str
    arguments: dict[str, Any] | str
    shown: str
    hash: str | None


class Interaction(Struct, frozen=True, kw_only=True):
    """One interaction. ABOUT says what is asked; ANSWERS are the words that close it, none where any text does; GRANT
    is what the yes gave."""

    id: Id
    kind: Sort
    run: Id
    conversation: Id
    status: Literal["open", "answered", "expired", "withdrawn"]
    call: CallShown | None
    questions: tuple[Question, ...] | None
    about: str
    answers: tuple[str, ...]
    answer: Answer | None = None
    grant: Id | None = None
    by: By | None = None
    via: Via | None = None
    answered_ms: int | None = None
    expires_ms: int | None = None


PEOPLE: frozenset[Via] = frozenset({"cli", "tui", "web", "api"})
"""The doors that people come through: behind the others stand programs and models, which answer nothing."""

QUESTION_CHARACTERS = 80
"""How much of a question is named in a hint."""
ALLOW_OR_DENY = ("allow", "deny")
HOW_IT_WENT = ("retry", "done", "failed")
ON_OR_NOT = ("go-on", "stop")


def answers_to(sort: Sort, call: str | None) -> tuple[str, ...]:
    """The words that close an interaction of SORT about CALL; none where any text does."""
    match sort:
        case "approval":
            return ALLOW_OR_DENY
        case "question":
            return ()
        case "doubt":
            return ON_OR_NOT if call is None else HOW_IT_WENT


def checked(asked: Interaction, words: Sequence[str]) -> Answer:
    """The answer to ASKED that WORDS give: one of its words; of a question a text each, of a single one all of WORDS.

    Raises Misused for any other and for what is no Unicode, LimitExceeded for too long a text.
    """
    if any(storable(word) != word for word in words):
        raise Misused(
            "the answer is not valid Unicode: it holds half of a pair", hint="say it without", interaction=asked.id
        )
    if asked.kind == "question":
        return _texts(asked, words)
    if len(words) == 1 and words[0] in asked.answers:
        return words[0]
    given, fits = shortened(" ".join(words), limits.quoted_characters_max), " or ".join(asked.answers)
    raise Misused(
        f"'{visible(given)}' is no answer to this {asked.kind}: say {fits}",
        hint=" or ".join(f"forkwood answer {ending(asked.id)} {word}" for word in asked.answers),
        interaction=asked.id,
        answers=list(asked.answers),
    )


def _texts(asked: Interaction, words: Sequence[str]) -> Answer:
    count = len(asked.questions or ())
    texts = tuple(words) if count > 1 else (" ".join(words),)
    size = sum(len(text.encode()) for text in texts)
    if size > limits.answer_bytes_max:
        raise LimitExceeded(
            "the answer's bytes",
            limit="answer_bytes_max",
            bound=limits.answer_bytes_max,
            got=size,
            hint="say it in fewer words; a long text goes along as a file with the next message: --attach FILE",
        )
    if len(texts) == max(count, 1) and all(text.strip() for text in texts):
        return texts[0] if len(texts) == 1 else texts
    answered = len([text for text in texts if text.strip()])
    raise Misused(
        f"{answered} of {max(count, 1)} questions are answered: each wants a text",
        hint=_each_in_quotes(asked),
        interaction=asked.id,
    )


def _each_in_quotes(asked: Interaction) -> str:
    """The command that answers each question, and the questions it answers in their order."""
    questions = [visible(first_line(question.text, QUESTION_CHARACTERS)) for question in asked.questions or ()]
    named = "; ".join(f"{number}. {text}" for number, text in enumerate(questions, start=1))
    return with_texts(asked) + (f" answers {named}" if named else "")


def with_texts(asked: Interaction) -> str:
    """The command that answers with a text for each question, as it is typed."""
    count = len(asked.questions or ())
    texts = [f'"TEXT {number}"' for number in range(1, count + 1)] if count > 1 else ['"TEXT"']
    return f"forkwood answer {ending(asked.id)} {' '.join(texts)}"


def answer_words(answer: Answer | None) -> str:
    """An answer as one text; empty where there is none."""
    return " / ".join((answer,) if isinstance(answer, str) else answer or ())


def shown(name: str, arguments: Mapping[str, Any] | str) -> str:
    """Exactly what will run: the tool and its arguments as JSON, where a character that hides stands as `\\u202e`."""
    if isinstance(arguments, str):
        return visible(f"{name} {arguments}" if arguments else name)
    return visible(f"{name} {msgspec.json.format(msgspec.json.encode(arguments), indent=2).decode()}")


def questions_in(name: str, arguments: Mapping[str, Any] | str) -> tuple[Question, ...]:
    """What a call of a tool that people answer asks; where it spells no question, its tool and words are one."""
    try:
        found = msgspec.convert(arguments, _Asked).questions
    except msgspec.ValidationError:
        found = ()
    return found or (Question(text=shown(name, arguments)),)


class _Asked(Struct, frozen=True):
    questions: tuple[Question, ...]


def approval_words(name: str, effect: str) -> str:
    """What an approval asks, and what a yes would cover that is remembered."""
    return (
        f"May {visible(name)} ({effect}) run with these arguments? A yes that is remembered, for this run or this "
        f"conversation, covers every further call of {visible(name)} there, whatever its arguments."
    )


def doubt_words(name: str) -> str:
    """What a doubt about a call asks."""
    return (
        f"{visible(name)} had begun when its process died, and nobody knows how it went. Look, then say: retry (it "
        "runs once more), done (the model is told that it was done) or failed (that it failed)."
    )


CUT_WORDS = (
    "The server has probably cut off the beginning of the prompt: it counted far fewer tokens than it was sent. Say "
    "go-on (this reply counts, and it is not asked again for this model here) or stop. More room helps: 'forkwood set "
    "context N' asks an Ollama server for it; else the server's own setting does: OLLAMA_CONTEXT_LENGTH of Ollama, "
    "--ctx-size of llama.cpp, Context Length of the loaded model in LM Studio."
)
"""What a doubt about a prompt asks, and the settings to change."""
