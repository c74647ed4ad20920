"""Every promise, pain and corpus row that the house answers for has a test with its number, or a line in a decision."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from functools import cache

from tests.tidy import ROOT, files, functions

DECISIONS = tuple(sorted((ROOT / "docs/decisions").glob("*-promises-*.md")))
WANTED = {
    "windie": range(1, 98),
    "panelot": range(1, 88),
    "pain": (1, 2, *range(4, 14), *range(15, 19), 20, 21, 35, 37, 38, 40),
    "s": (1, 2, *range(4, 10), 11, 12, 14, 15, 17, 19, 20),
    "d": (1, 2, 3, 4, 6, 7, 8, 9, 10, 12),
}
NAME = re.compile(r"test(?:_(windie|panelot|pain)((?:_\d+)+)|((?:_[sd]\d+)+))(?:_|$)")
LINE = re.compile(r"^- (windie|panelot) ([\d, ]+): \w", re.MULTILINE)


def named_by(test: str) -> set[tuple[str, int]]:
    """What the name of a test says it holds: `test_windie_42_43_…`, `test_pain_7_…`, `test_s6_s7_…`."""
    found = NAME.match(test)
    if found is None:
        return set()
    kind, numbers, rows = found.groups()
    if kind:
        return {(kind, int(number)) for number in numbers.strip("_").split("_")}
    return {(row[0], int(row[1:])) for row in rows.strip("_").split("_")}


def asserts(function: ast.AST) -> bool:
    """Whether a test can fail: it asserts, or waits for an error, or leaves that to a function called so."""
    for node in ast.walk(function):
        match node:
            case ast.Assert() | ast.Call(func=ast.Attribute(attr="raises")):
                return True
            case ast.Call(func=ast.Name(id=name)) if name.startswith("assert_"):
                return True
    return False


@cache
def held_by_tests() -> frozenset[tuple[str, int]]:
    """What the tests of the house hold by name."""
    found = (function for module in files("tests/**/test_*.py") for function in functions(module.tree))
    return frozenset(one for function in found if asserts(function) for one in named_by(function.name))


def decided() -> set[tuple[str, int]]:
    """What the decisions have a line for."""
    return {one for path in DECISIONS for one in lines_of(path.read_text("utf-8"))}


def lines_of(text: str) -> set[tuple[str, int]]:
    """What TEXT has a line for."""
    return {(kind, int(number)) for kind, numbers in LINE.findall(text) for number in numbers.split(",")}


def spelled(found: Iterable[tuple[str, int]]) -> list[str]:
    return [f"{kind} {number}" for kind, number in sorted(found)]


def test_every_promise_pain_and_row_is_named() -> None:
    wanted = {(kind, number) for kind, numbers in WANTED.items() for number in numbers}
    assert spelled(wanted - held_by_tests() - decided()) == []


def test_what_the_decision_differs_in_is_tried_by_a_test_too() -> None:
    lines = decided()
    assert len(lines) > 60
    assert spelled(lines - held_by_tests()) == []
    assert spelled(one for one in lines if one[1] not in WANTED[one[0]]) == []


def test_names_and_lines_are_read_as_they_are_meant() -> None:
    assert named_by("test_windie_42_43_44_dropping") == {("windie", 42), ("windie", 43), ("windie", 44)}
    assert named_by("test_s6_s7_what_came") == {("s", 6), ("s", 7)}
    assert named_by("test_d10") == {("d", 10)}
    assert named_by("test_pain_7_forty_of_8") == {("pain", 7)}
    assert named_by("test_a_day_d10") == named_by("test_seven") == named_by("test_s_1") == set()
    assert lines_of("- windie 3, 14: so\n- panelot 5: \nwindie 6: x") == {("windie", 3), ("windie", 14)}


def test_a_test_that_asserts_nothing_holds_nothing() -> None:
    assert not asserts(ast.parse("def test_d1():\n    run()"))
    assert asserts(ast.parse("def test_d1():\n    with pytest.raises(X): run()"))
    assert asserts(ast.parse("def test_d1():\n    assert_found(home, case)"))
