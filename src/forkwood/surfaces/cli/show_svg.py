"""A conversation's tree as a picture: SVG that any browser opens, drawn to the right, one lane a branch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from msgspec import Struct

from forkwood.domain.ids import Id, ending
from forkwood.domain.tree import Node
from forkwood.surfaces.cli.screen_text import cropped
from forkwood.surfaces.cli.tree_rows import node_of, rows_of
from forkwood.surfaces.cli.words import one_line

STEP = 34
LANE = 26
MARGIN = 24
TITLE_WIDTH = 400
STYLE = (
    "path{fill:none;stroke:#999;stroke-width:1.5}circle{fill:#fff;stroke:#222;stroke-width:2}"
    ".assistant{fill:#222}.graft{stroke-dasharray:2 2}.hidden{opacity:.35}.partial{fill:#aaa}"
    ".head{stroke:#0a7d8c;stroke-width:4}"
)


class Dot(Struct, frozen=True, kw_only=True, gc=False):
    """Where a node is drawn, and where what it hangs at is (None: at the beginning)."""

    node: Node
    x: int
    y: int
    origin: tuple[int, int] | None


def draw_svg(nodes: Sequence[Node], head: str | None) -> str:
    """NODES, by age, as one SVG document. A node's words are its tooltip."""
    dots = list(_laid_out(nodes, head))
    width = MARGIN * 2 + max((dot.x for dot in dots), default=0)
    height = MARGIN * 2 + max((dot.y for dot in dots), default=0)
    lines = "".join(_line(dot, dot.origin) for dot in dots if dot.origin is not None)
    marks = "".join(_mark(dot, head) for dot in dots)
    size = f'width="{width}" height="{height}" viewBox="{-MARGIN} {-MARGIN} {width} {height}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}><style>{STYLE}</style>{lines}{marks}</svg>\n'


def _laid_out(nodes: Sequence[Node], head: str | None) -> Iterator[Dot]:
    """A row that opens a branch opens a lane; every other node stays in the lane of what it hangs at."""
    at: dict[Id | None, tuple[int, int]] = {}
    lanes = 0
    for row in rows_of(nodes, head):
        origin = at.get(node_of(row.node.at))
        lanes += row.opens
        x = origin[0] + STEP if origin else 0
        y = lanes * LANE if row.opens else (origin[1] if origin else 0)
        at[row.node.id] = (x, y)
        yield Dot(node=row.node, x=x, y=y, origin=origin)


def _line(dot: Dot, origin: tuple[int, int]) -> str:
    x, y = origin
    middle = x + STEP // 2
    return f'<path d="M{x} {y}C{middle} {y} {middle} {dot.y} {dot.x} {dot.y}"/>'


def _mark(dot: Dot, head: str | None) -> str:
    node = dot.node
    states = (("hidden", node.hidden), ("partial", node.partial), ("head", node_of(head) == node.id))
    names = " ".join([node.role or node.kind, *(name for name, holds in states if holds)])
    words = f"carries {node.count}" if node.kind == "graft" else cropped(one_line(node), TITLE_WIDTH)
    title = escape(f"{ending(node.id)} {words}", quote=False)
    return f'<circle class="{names}" cx="{dot.x}" cy="{dot.y}" r="7"><title>{title}</title></circle>'
