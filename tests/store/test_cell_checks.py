"""Text that is none, and cells that do not hold what they are read as, are named by their row."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import Struct

from forkwood.store import cell_checks
from tests.store.breaking import broken
from tests.store.richness import rich
from tests.store.seeds import opened


class Case(Struct, frozen=True):
    breaks: str
    says: str


GARBLED = [
    Case("UPDATE conversation SET title = CAST(x'61e561' AS TEXT) WHERE seq = 2", "the title of row 2 of conversation"),
    Case("UPDATE node SET parts = CAST(x'5b22e5225d' AS TEXT) WHERE seq = 9", "the parts of row 9 of node"),
    Case("UPDATE event SET payload = CAST(x'7b22e5223a317d' AS TEXT) WHERE seq = 5", "the payload of row 5 of event"),
    Case("UPDATE receipt SET key = CAST(x'e5' AS TEXT)", "the key of a row of receipt"),
]
WRONG = [
    Case("UPDATE conversation SET tags = '5', params = '[1]' WHERE seq = 2", "unreadable params, tags"),
    Case("UPDATE node SET via = 'song' WHERE seq = 5", "unreadable via"),
    Case("UPDATE run SET error = '5'", "unreadable error"),
    Case("UPDATE event SET at_ms = -1 WHERE seq = 5", "event 5: unreadable at_ms"),
]


@pytest.mark.parametrize("case", GARBLED, ids=lambda case: case.says)
def test_text_that_is_none_is_named(home: Path, case: Case) -> None:
    rich(home)
    with opened(home).read() as tx:
        assert list(cell_checks.garbled(tx)) == []
    broken(home, case.breaks)
    with opened(home).read() as tx:
        assert list(cell_checks.garbled(tx)) == [f"{case.says} is no text: bytes of it have changed"]


@pytest.mark.parametrize("case", WRONG, ids=lambda case: case.says)
def test_a_cell_that_no_verb_can_read_is_named(home: Path, case: Case) -> None:
    rich(home)
    with opened(home).read() as tx:
        assert list(cell_checks.values(tx)) == []
    broken(home, case.breaks)
    with opened(home).read() as tx:
        (found,) = cell_checks.values(tx)
    assert found.message.endswith(case.says)
