"""A conversation's tree drawn in a terminal: one line a node, a rail for each branch, grafts as links."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from forkwood.domain.ids import Id, ending
from forkwood.domain.tree import Node
from forkwood.surfaces.cli.glyphs import Glyphs, Pen
from forkwood.surfaces.cli.screen_text import cropped, visible_line
from forkwood.surfaces.cli.tree_rows import Fold, Row, cut_of, folded, node_of, rows_of
from forkwood.surfaces.cli.words import count_of, one_line, other_author, role_of

RAILS_MAX = 16
"""Deeper than this the rails are counted, not drawn: a line must keep room for its words."""
WORDS_WIDTH_MIN = 12
FIRST_WORDS_WIDTH = 24
ELLIPSIS = "…"


class Marked(Struct, frozen=True, kw_only=True):
    """What stands beside the nodes: where the head is, which nodes are labelled, at which a run is at work."""

    head: str | None = None
    labels: Mapping[Id, Sequence[str]] = {}
    working: frozenset[Id] = frozenset()
    carried: Mapping[Id, tuple[str, str]] = {}
    """The first and last words of what a graft carries, where they are known."""
    left: Mapping[Id, Id] = {}
    """At which node a run stands that nobody drives, and which."""


def draw_tree(nodes: Sequence[Node], marked: Marked, pen: Pen, *, fold: bool = False) -> str:
    """NODES, by age, as lines of at most WIDTH columns; with FOLD straight runs stand as one line each."""
    if not nodes:
        return "Nothing is said here yet."
    known = {node.id for node in nodes}
    rows = rows_of(nodes, marked.head)
    kept = {node_of(marked.head) or "", *marked.labels, *marked.working}
    shown = folded(rows, kept) if fold else rows
    return "\n".join(
        _rails(row.depth, pen.glyphs) + pen.inks.dim(f"{pen.glyphs.fold} {count_of(row.count, 'message')}")
        if isinstance(row, Fold)
        else _line(row, marked, known, pen)
        for row in shown
    )


def _line(row: Row, marked: Marked, known: set[Id], pen: Pen) -> str:
    node, glyphs, inks = row.node, pen.glyphs, pen.inks
    left = _left(row, glyphs)
    mark = mark_of(node, glyphs)
    name = ending(node.id)
    beside = "  ".join(_beside(node, marked, glyphs))
    room = pen.width - len(left) - len(mark) - len(name) - len(beside) - (5 if beside else 3)
    said = cropped(_said(node, known, marked), max(room, WORDS_WIDTH_MIN))
    if node.hidden:
        return left + inks.dim(f"{mark} {name}  {said}  {beside}")
    here = inks.mark if node_of(marked.head) == node.id else inks.bold
    return (left + f"{here(mark)} {inks.dim(name)}  {said}" + (f"  {inks.mark(beside)}" if beside else "")).rstrip()


def mark_of(node: Node, glyphs: Glyphs) -> str:
    """The sign of a node: ring for you, disc for a reply, half a disc for a partial one."""
    if node.kind == "graft":
        return glyphs.graft
    if node.partial:
        return glyphs.partial
    signs = {"user": glyphs.user, "assistant": glyphs.reply, "tool": glyphs.tool, "system": glyphs.system}
    return signs[node.role or "system"]


def _left(row: Row, glyphs: Glyphs) -> str:
    return _rails(row.depth - 1, glyphs) + glyphs.branch if row.opens else _rails(row.depth, glyphs)


def _rails(depth: int, glyphs: Glyphs) -> str:
    if depth > RAILS_MAX:
        return f"{glyphs.trunk}{depth}{glyphs.trunk} "
    return f"{glyphs.trunk} " * depth


def _said(node: Node, known: set[Id], marked: Marked) -> str:
    if node.kind == "message":
        return one_line(node)
    source = node_of(node.source) or ""
    home = "" if source in known else " of another conversation"
    first, last = marked.carried.get(node.id, ("", ""))
    beginning = first if first == last else f"{cropped(first, FIRST_WORDS_WIDTH)} {ELLIPSIS} {last}"
    words = f": {beginning}" if first else ""
    return f"carries {count_of(node.count or 0, 'message')} up to {ending(source)}{home}{words}"


def _beside(node: Node, marked: Marked, glyphs: Glyphs) -> list[str]:
    """What is particular about a node, in words."""
    found = [f"[{visible_line(label)}]" for label in marked.labels.get(node.id, ())]
    if cut := cut_of(node.at):
        found.append(f"without the last {count_of(cut, 'message')} of {ending(node_of(node.at) or '')}")
    if node.kind == "message" and node.role in {"tool", "system"}:
        found.append(role_of(node))
    if author := other_author(node) if node.kind == "message" else "":
        found.append(f"{glyphs.by_other} {author}")
    if node.revises:
        found.append(f"replaces {ending(node.revises)}")
    found += [word for word, holds in (("partial", node.partial), ("hidden", node.hidden)) if holds]
    if run := marked.left.get(node.id):
        found.append(f"left at work, resume {ending(run)}")
    elif node.id in marked.working:
        found.append("working …")
    if node_of(marked.head) == node.id:
        cut = cut_of(marked.head)
        found.append(f"{glyphs.head}~{cut}" if cut else glyphs.head)
    return found
