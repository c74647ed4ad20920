"""What waits for a person, as a person reads it: exactly what will run or is asked, and the commands that answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from forkwood.domain.ids import Id, ending
from forkwood.domain.interaction import Interaction, answer_words, with_texts
from forkwood.domain.response import GrantHeld
from forkwood.surfaces.cli.screen_text import cropped, indented, visible, visible_line
from forkwood.surfaces.cli.terminal import Terminal
from forkwood.surfaces.cli.words import ago, count_of

TITLE_WIDTH = 40
INDENT = 2
UNITS = ((3_600_000, "hour"), (60_000, "minute"), (1_000, "second"))


class Whereabouts(Struct, frozen=True, kw_only=True):
    """Where a run stands that waits: the title of its conversation, and what a person said there last."""

    title: str
    said: str


def draw_pending(
    found: Sequence[Interaction], terminal: Terminal, whereabouts: Mapping[Id, Whereabouts] | None = None
) -> str:
    """All that waits, oldest first, each with the commands that answer it; and with WHEREABOUTS, by run, where."""
    known = whereabouts or {}
    return "\n\n".join(_draw(asked, terminal, known.get(asked.run)) for asked in found)


def _draw(asked: Interaction, terminal: Terminal, where: Whereabouts | None) -> str:
    name = terminal.pen.inks.bold(f"{asked.kind} {ending(asked.id)}")
    lines = [f"{name}  of run {ending(asked.run)}{_place(asked, where)}"]
    if where is not None and where.said:
        lines.append(indented(cropped(f"you: {visible_line(where.said)}", terminal.pen.width - INDENT)))
    lines.append(what_is_asked(asked, terminal))
    if asked.expires_ms is not None:
        lines.append(f"  No answer within {_left(asked.expires_ms - terminal.now_ms())} counts as a no.")
    return "\n".join([*lines, *(f"  {terminal.hint(command)}" for command in ways_to_answer(asked))])


def _place(asked: Interaction, where: Whereabouts | None) -> str:
    if where is None:
        return ""
    return f"  in {ending(asked.conversation)} {cropped(visible_line(where.title) or 'untitled', TITLE_WIDTH)}"


def what_is_asked(asked: Interaction, terminal: Terminal) -> str:
    """What will run or is asked, and what it means to say yes."""
    lines = [indented(visible(asked.call.shown))] if asked.call is not None and asked.kind != "question" else []
    for number, question in enumerate(asked.questions or (), start=1):
        lines.append(
            indented(visible(f"{number}. {question.text}" if len(asked.questions or ()) > 1 else question.text))
        )
        lines += [f"    - {visible_line(option)}" for option in question.options]
    lines += [indented(terminal.hint(asked.about))] if asked.about else []
    return "\n".join(lines)


def ways_to_answer(asked: Interaction) -> list[str]:
    """The commands that answer ASKED, as they are typed."""
    answer = f"forkwood answer {ending(asked.id)}"
    ways = [f"{answer} {word}" for word in asked.answers] or [with_texts(asked)]
    if asked.kind == "approval":
        ways[1:1] = [f"{answer} allow --remember {scope}" for scope in ("run", "conversation")]
    return ways


def answered_words(asked: Interaction) -> str:
    """What an answer came to."""
    kept = f" Remembered: forkwood grants --revoke {ending(asked.grant)} ends that." if asked.grant else ""
    return f"{asked.kind} {ending(asked.id)} is answered: {visible_line(answer_words(asked.answer))}.{kept}"


def draw_grants(found: Sequence[GrantHeld], now_ms: int) -> str:
    """The grants that hold, newest first."""
    return "\n".join(
        f"{ending(one.id)}  {visible_line(one.tool)}  every call in {one.scope} {ending(one.of)}, "
        f"given {ago(one.created_ms, now_ms)}"
        for one in found
    )


def _left(span_ms: int) -> str:
    for size, unit in UNITS:
        if span_ms >= size:
            return count_of(span_ms // size, unit)
    return "a second"
