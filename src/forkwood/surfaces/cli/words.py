"""Small phrases that several drawings use: names of nodes, who said a thing, ages, counts, amounts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, assert_never

from forkwood.domain.ids import ending
from forkwood.domain.message import Attachment, By, Part, Role, Text, Thinking, ToolCall, ToolResult, is_whole
from forkwood.domain.tree import Node
from forkwood.surfaces.cli.screen_text import visible, visible_line

if TYPE_CHECKING:
    from forkwood.domain.response import Affects

USUAL_AUTHORS: dict[Role, frozenset[By]] = {
    "user": frozenset({"user"}),
    "assistant": frozenset({"model"}),
    "tool": frozenset({"tool"}),
    "system": frozenset({"system", "user"}),
}
UNITS = ((86_400_000 * 365, "y"), (86_400_000 * 30, "mo"), (86_400_000, "d"), (3_600_000, "h"), (60_000, "min"))


def short(place: str | None) -> str:
    """A place or id as people see it: the ending of its id, with its cut."""
    if place is None:
        return "the beginning"
    name, tilde, cut = place.partition("~")
    return ending(name) + tilde + cut


def role_of(node: Node) -> str:
    """The role in a person's words."""
    return {"user": "you", "assistant": "reply", "tool": "tool", "system": "system"}.get(node.role or "", "carried")


def other_author(node: Node) -> str:
    """Who made a message that its role's usual author did not: `by you`; empty where nobody is surprised."""
    if node.role is None or node.origin.by in USUAL_AUTHORS[node.role]:
        return ""
    who = "you" if node.origin.by == "user" else f"the {node.origin.by}"
    return f"by {who}" if node.origin.via == "cli" else f"by {who} via {node.origin.via}"


def ago(then_ms: int, now_ms: int) -> str:
    """How long ago, in one number: `3 min`, `2 d`."""
    past = max(0, now_ms - then_ms)
    return next((f"{past // size} {unit} ago" for size, unit in UNITS if past >= size), "just now")


def count_of(number: int, noun: str) -> str:
    """`1 branch`, `2 branches`, `1,200 messages`."""
    plural = noun + ("es" if noun.endswith(("ch", "s", "sh", "x")) else "s")
    plural = noun[:-1] + "ies" if noun.endswith("y") else plural
    return f"{number:,} {noun if number == 1 else plural}"


def bytes_of(size: int) -> str:
    """An amount of bytes in the unit that keeps it readable."""
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= factor:
            return f"{size / factor:.1f} {unit}"
    return f"{size} bytes"


def dollars(cost: float | None) -> str:
    """A cost in US dollars, with as many digits as say something; empty where it is unknown."""
    if cost is None:
        return ""
    return f"${cost:.2f}" if cost >= 1 else f"${cost:.6f}".rstrip("0").rstrip(".")


def part_words(part: Part) -> str:
    """One part as text for the screen: words as they are, everything else as one line that says what it is."""
    match part:
        case Text():
            return visible(part.text)
        case Thinking():
            return f"[thinking] {visible(part.text)}" if part.text else "[thinking, kept by the provider]"
        case ToolCall():
            return f"[calls {visible_line(part.name)}] {arguments_words(part)}"
        case ToolResult():
            inner = "\n".join(part_words(piece) for piece in part.parts)
            return f"[result of {visible_line(part.name)}: {part.outcome}] {inner}"
        case Attachment():
            if is_whole(part):
                return f"[kept whole: {bytes_of(part.size)}, blob {part.blob[:12]}]"
            return f"[{part.media} {visible_line(part.name)}, {part.mime}, {bytes_of(part.size)}]"
        case _:
            assert_never(part)


def arguments_words(call: ToolCall) -> str:
    """What a call gives its tool, as JSON on one line; text that was no JSON as it is."""
    given = call.arguments
    return visible_line(given if isinstance(given, str) else json.dumps(given, ensure_ascii=False))


def body(node: Node, *, thinking: bool = False) -> str:
    """What a node says, part by part; of a purged one that it said something. THINKING: with what its model thought."""
    if node.purged:
        return "[purged]"
    said = (part_words(part) for part in node.parts if thinking or not isinstance(part, Thinking))
    return "\n".join(said).rstrip("\n")


def one_line(node: Node) -> str:
    """A node's words as one line."""
    return visible_line(node.text) or visible_line(body(node, thinking=True))


def reach_words(affects: Affects) -> str:
    """How far a change reaches, and what to do where less was meant."""
    inside = f" in {count_of(len(affects.conversations), 'conversation')}" if len(affects.conversations) > 1 else ""
    touched = f"This touches {count_of(affects.branches, 'branch')}{inside}."
    return f"{touched}\n{as_sentence(visible(affects.note))}" if affects.note else touched


def as_sentence(text: str) -> str:
    """TEXT with a capital and a full stop, where it has none: it stands by itself."""
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")
