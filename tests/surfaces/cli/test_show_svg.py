"""The tree as a picture."""

from __future__ import annotations

import re
from xml.etree import ElementTree as Xml

from forkwood.surfaces.cli.show_svg import LANE, STEP, draw_svg
from tests.surfaces.cli.made import graft, message, name

NODES = [
    message(1, None, "a < b & c"),
    message(2, 1, "one", "assistant"),
    message(3, 1, "two", "assistant", hidden=True),
    graft(4, 3, 2, 1),
]


def positions(svg: str) -> dict[str, tuple[int, int]]:
    """Where each dot is drawn, by the ending of its node."""
    dots = re.findall(r'cx="(\d+)" cy="(\d+)" r="7"><title>(\S+)', svg)
    return {ending: (int(x), int(y)) for x, y, ending in dots}


def test_it_is_xml_whatever_was_said() -> None:
    root = Xml.fromstring(draw_svg([*NODES, message(5, 4, "\0 ]]> <script>")], name(4)))
    titles = [title.text for title in root.iter("{http://www.w3.org/2000/svg}title")]
    assert "00000001 a < b & c" in titles
    assert "00000005 \\x00 ]]> <script>" in titles


def test_the_line_to_the_head_is_straight_and_branches_have_lanes() -> None:
    assert positions(draw_svg(NODES, name(4))) == {
        "00000001": (0, 0),
        "00000002": (STEP, LANE),
        "00000003": (STEP, 0),
        "00000004": (2 * STEP, 0),
    }


def test_states_are_classes_and_every_child_has_its_line() -> None:
    svg = draw_svg(NODES, name(4))
    assert 'class="assistant hidden"' in svg
    assert 'class="graft head"' in svg
    assert svg.count("<path") == 3


def test_an_empty_tree_is_an_empty_picture() -> None:
    assert Xml.fromstring(draw_svg([], None)).get("width") == "48"
