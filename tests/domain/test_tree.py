"""Places are read as people spell them."""

from __future__ import annotations

import pytest

from forkwood.domain.errors import Misused
from forkwood.domain.tree import ROOT, Spot, is_node_ending, parse_place


@pytest.mark.parametrize(("text", "read"), [("ab12", ("ab12", 0)), ("ab12~3", ("ab12", 3)), ("here~0", ("here", 0))])
def test_a_place_is_read(text: str, read: tuple[str, int]) -> None:
    assert parse_place(text) == read


@pytest.mark.parametrize("text", ["ab12~", "ab12~x", "ab12~-1", "ab12~1.5", "ab12~1~2", "ab12~٣", "ab12~" + "9" * 10])
def test_what_is_no_place_says_what_is(text: str) -> None:
    with pytest.raises(Misused, match="is no place") as refused:
        parse_place(text)
    assert "~2" in refused.value.hint


def test_the_root_is_the_empty_path() -> None:
    assert Spot(0, 0) == ROOT


@pytest.mark.parametrize(("name", "is_one"), [("3f9a", True), ("3F9A", True), ("abc", False), ("bread", False)])
def test_what_could_be_an_id_is_known(name: str, is_one: bool) -> None:
    assert is_node_ending(name) is is_one
