"""Each way a tree can be wrong is found; heads and digests are mended, messages never touched."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.store.breaking import Case, assert_found, case

CASES = [
    case("cut too deep", "UPDATE node SET at_cut = 7 WHERE seq = 30", kinds="place, pointer"),
    case("place in another conversation", "UPDATE node SET conversation = 1 WHERE seq = 66", kinds="place, head"),
    case("length", "UPDATE node SET length = 99 WHERE seq = 60", kinds="length"),
    case("length of a first node", "UPDATE node SET length = 2, own = 1 WHERE seq = 1", kinds="length"),
    case("graft begins elsewhere", "UPDATE node SET first = 7 WHERE seq = 61", kinds="place"),
    case("graft of too much", "UPDATE node SET source_node = 2 WHERE seq = 61", kinds="place, digest"),
    case("jump", "UPDATE node SET jump_node = 2 WHERE seq = 20", kinds="pointer"),
    case("not alone", "UPDATE node SET at_node = 20, length = 21, hops = 21, jump_node = 20 WHERE seq = 60",
         kinds="pointer"),
    case("hops", "UPDATE node SET hops = 3 WHERE seq = 60", kinds="pointer"),
    case("parts of no kind", """UPDATE node SET parts = '[{"kind":"song"}]' WHERE seq = 60""", kinds="parts, search"),
    case("husk never purged", "UPDATE node SET parts = '[]' WHERE seq = 60", kinds="parts, search"),
    case("husk that still speaks", "UPDATE node SET purged = 1 WHERE seq = 60", kinds="parts, search"),
    case("other results", "UPDATE node SET parts = replace(parts, 'c1', 'c2') WHERE role = 'tool'", kinds="tool group"),
    case("head elsewhere", "UPDATE conversation SET head_node = 5 WHERE seq = 2", kinds="head", mended=True),
    case("head nowhere", "UPDATE conversation SET head_node = 9999 WHERE seq = 2", kinds="dangling, head", mended=True),
    case("head cut too deep", "UPDATE conversation SET head_cut = 3 WHERE seq = 1", kinds="head", mended=True),
    case("digest", "UPDATE digest SET path = zeroblob(32)", kinds="digest", mended=True),
    case("digest of no place", "UPDATE digest SET node = 9999 WHERE cut = 2", kinds="digest", mended=True),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_wrong_tree_is_found(home: Path, case: Case) -> None:
    assert_found(home, case)
