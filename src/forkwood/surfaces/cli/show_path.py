"""A path as a person reads it: who said what, how each message is named, and what else could stand in its place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from forkwood.domain.ids import ending
from forkwood.domain.tree import Entry, Node
from forkwood.surfaces.cli.glyphs import Pen
from forkwood.surfaces.cli.screen_text import cropped, indented, visible_line, wrapped
from forkwood.surfaces.cli.words import body, one_line, other_author, role_of

RESULT_LINES = 20
RESULT_CHARACTERS = 2_000
"""How much of the results of a turn a path shows."""


def draw_path(entries: Sequence[Entry], pen: Pen, *, head: str | None = None) -> str:
    """All ENTRIES, oldest first, a blank line between. HEAD: the place at which `@` is to be marked."""
    if not entries:
        return "Nothing is said here yet."
    drawn = [draw_entry(entry, pen) for entry in entries]
    if head is not None and _ends_at(entries[-1], head):
        heading, line_end, rest = drawn[-1].partition("\n")
        drawn[-1] = f"{heading}  {pen.inks.mark(pen.glyphs.head)}{line_end}{rest}"
    return "\n\n".join(drawn)


def draw_last(entries: Sequence[Entry], pen: Pen, *, lines: int = 2) -> str:
    """The last ENTRIES, each in one line: enough to know where one stands."""
    if not entries:
        return "Nothing is said here yet."
    return "\n".join(_in_one_line(entry.node, pen) for entry in entries[-lines:])


def _in_one_line(node: Node, pen: Pen) -> str:
    heading = f"{role_of(node):<6}{ending(node.id)}  "
    return f"  {pen.inks.dim(heading)}{cropped(one_line(node), max(20, pen.width - len(heading) - 2))}"


def draw_entry(entry: Entry, pen: Pen) -> str:
    """One message under its heading, its notices below it."""
    heading = f"{pen.inks.bold(role_of(entry.node))}  {' '.join(_marks(entry, pen))}"
    notices = (pen.inks.alarm(f"{pen.glyphs.notice} {visible_line(notice.text)}") for notice in entry.notices)
    texts = (wrapped(_said(entry.node), pen.wraps), *notices)
    return "\n".join((heading, *(indented(text) for text in texts if text)))


def _said(node: Node) -> str:
    """What a message says; of results of tools as much as one reads in passing, for one look may bring a whole file."""
    whole = body(node)
    lines = whole.split("\n")
    if node.role != "tool" or (len(lines) <= RESULT_LINES and len(whole) <= RESULT_CHARACTERS):
        return whole
    shown = "\n".join(lines[:RESULT_LINES])[:RESULT_CHARACTERS].rstrip()
    return f"{shown} …\n[the rest: forkwood show {ending(node.id)}]"


def draw_node(node: Node, pen: Pen) -> str:
    """One node by itself: a version in a history, a message that was shown or found."""
    heading = f"{pen.inks.bold(role_of(node))}  {' '.join(node_marks(node, pen))}"
    return f"{heading}\n{indented(wrapped(body(node, thinking=True), pen.wraps))}"


def node_marks(node: Node, pen: Pen) -> list[str]:
    """What is particular about a node, each a word or two."""
    marks = [ending(node.id), pen.inks.dim(f"#{node.seq}")]
    if node.origin.model:
        marks.append(pen.inks.dim(visible_line(node.origin.model)))
    if author := other_author(node):
        marks.append(pen.inks.mark(f"{pen.glyphs.by_other} {author}"))
    if node.revises:
        marks.append(pen.inks.dim(f"replaces {ending(node.revises)}"))
    if node.partial:
        marks.append(
            pen.inks.alarm(
                f"{pen.glyphs.partial} partial" + (f" ({node.partial_reason})" if node.partial_reason else "")
            )
        )
    if node.hidden:
        marks.append(pen.inks.dim("hidden"))
    return marks


def _marks(entry: Entry, pen: Pen) -> Iterable[str]:
    yield from node_marks(entry.node, pen)
    if entry.siblings.count > 1:
        yield pen.inks.mark(pen.glyphs.version.format(entry.siblings.index, entry.siblings.count))
    if entry.graft:
        yield pen.inks.dim(f"{pen.glyphs.graft} carried {ending(entry.graft)}")


def _ends_at(entry: Entry, head: str) -> bool:
    """Whether the place HEAD is the one behind ENTRY: the node itself, or the graft it was met through."""
    return head.partition("~")[0] in {entry.node.id, entry.graft}
