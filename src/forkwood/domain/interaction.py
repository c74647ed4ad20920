"""What waits for a person: an approval, a question or a doubt, as every door shows it."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from msgspec import Struct

from forkwood.domain.ids import Id
from forkwood.domain.message import By, Via

Sort: TypeAlias = Literal["approval", "question", "doubt"]


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
    """One interaction. ABOUT says what is asked; ANSWERS are the words that close it, none where any text does."""

    id: Id
    kind: Sort
    run: Id
    conversation: Id
    status: Literal["open", "answered", "expired", "withdrawn"]
    call: CallShown | None
    questions: tuple[Question, ...] | None
    about: str
    answers: tuple[str, ...]
    answer: str | tuple[str, ...] | None = None
    by: By | None = None
    via: Via | None = None
    answered_ms: int | None = None
    expires_ms: int | None = None
