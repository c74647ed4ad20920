"""In a chat a person is asked in place: each thing that waits is shown, and what they type is its answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

from forkwood.domain.errors import Conflict, Misused
from forkwood.domain.interaction import Interaction, Question
from forkwood.surfaces.cli import failures
from forkwood.surfaces.cli.screen_text import visible_line
from forkwood.surfaces.cli.show_asked import what_is_asked
from forkwood.surfaces.cli.terminal import Terminal

if TYPE_CHECKING:
    from forkwood.runtime import Runtime

Read: TypeAlias = Callable[[str], str | None]
"""Shows a prompt and gives what a person types; None where they leave it."""

APPROVAL = {
    "y": ("allow", None),
    "n": ("deny", None),
    "r": ("allow", "run"),
    "c": ("allow", "conversation"),
    "allow": ("allow", None),
    "deny": ("deny", None),
}
CHOICES = "y: allow, n: deny, r: allow for this run, c: allow for this conversation"
LEFT_OPEN = "It stays open: forkwood pending shows it, forkwood answer answers it."


class Given(Struct, frozen=True):
    """What a person typed, as an answer: its words, and what a yes is remembered for."""

    words: tuple[str, ...]
    remember: str | None = None


def ask_all(runtime: Runtime, conversation: str, terminal: Terminal, read: Read) -> bool:
    """Ask for everything that waits in CONVERSATION; False where the person left something open, also with a Ctrl-C
    that came between two prompts."""
    try:
        while waiting := runtime.pending(conversation):
            if not _ask(runtime, waiting[0], terminal, read):
                return False
    except KeyboardInterrupt:
        return False
    return True


def tell_open(runtime: Runtime, conversation: str, terminal: Terminal) -> None:
    """Where something waits in CONVERSATION: that it does, and how it is answered."""
    if runtime.pending(conversation):
        terminal.note(terminal.hint(LEFT_OPEN))


def _ask(runtime: Runtime, asked: Interaction, terminal: Terminal, read: Read) -> bool:
    terminal.note(f"{asked.kind}:\n{what_is_asked(asked, terminal)}")
    given = typed(asked, terminal, read)
    if given is None:
        return False
    try:
        runtime.answer(asked.id, given.words, remember=given.remember)
    except Conflict as error:  # somebody else was quicker, or it is too late: what waits now is asked
        failures.tell(error, terminal, as_json=False)
    return True


def typed(asked: Interaction, terminal: Terminal, read: Read) -> Given | None:
    """The answer to ASKED as a person types it; None where they leave it open."""
    if asked.kind == "question":
        return _texts(asked.questions or (), read)
    choices = CHOICES if asked.kind == "approval" else ", ".join(asked.answers)
    while (line := read(f"{choices}? ")) is not None:
        word = line.strip().lower()
        if asked.kind == "approval" and word in APPROVAL:
            said, remember = APPROVAL[word]
            return Given((said,), remember)
        if asked.kind == "doubt" and word in asked.answers:
            return Given((word,))
        if word:
            failures.tell(Misused(f"'{visible_line(line)}' is no answer to this"), terminal, as_json=False)
    return None


def _texts(questions: Sequence[Question], read: Read) -> Given | None:
    texts: list[str] = []
    for question in questions:
        text = _text(question, read)
        if text is None:
            return None
        texts.append(text)
    return Given(tuple(texts))


def _text(question: Question, read: Read) -> str | None:
    """What is typed, or the proposal whose number it is."""
    numbers = "  ".join(f"{number}: {visible_line(text)}" for number, text in enumerate(question.options, start=1))
    while (line := read(f"{numbers}  or any text? " if numbers else f"{visible_line(question.text)} ")) is not None:
        text = line.strip()
        if text.isdecimal() and 0 < int(text) <= len(question.options):
            return question.options[int(text) - 1]
        if text:
            return text
    return None
