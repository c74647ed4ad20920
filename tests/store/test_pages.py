"""Rows read off their pages without SQLite are the rows SQLite reads, and nonsense is never more than unreadable."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forkwood.store.pages import PAGE_BYTES, Garbled, Pages, Row, Value, index_rows, table_rows
from tests.store.seeds import fill, opened

VALUES: list[list[Value]] = [
    [None, 0, 1, -1, 127, 128, -32768, 1 << 23, -(1 << 31), 1 << 40, -(1 << 62), 0.5, -1e300],
    ["", "a", "ä€𝄞\0", b"", b"\0\xff", "x" * 3_000, b"y" * 5_000, "z" * 40_000, None, 1, 2, 3, 4],
]


def made(path: Path, *, wal: bool = False) -> apsw.Connection:
    connection = apsw.Connection(str(path))
    connection.execute(f"PRAGMA journal_mode = {'wal' if wal else 'delete'}").fetchall()
    connection.execute("BEGIN")
    connection.execute(f"CREATE TABLE t ({', '.join(f'c{n}' for n in range(13))})")
    connection.execute("CREATE TABLE w (k TEXT PRIMARY KEY, v) WITHOUT ROWID")
    for rowid, values in ((1, VALUES[0]), (-5, VALUES[1]), (1 << 62, VALUES[0])):
        connection.execute(
            f"INSERT INTO t (rowid, {', '.join(f'c{n}' for n in range(13))}) VALUES (?{',?' * 13})", (rowid, *values)
        )
    connection.executemany("INSERT INTO w VALUES (?, ?)", [(f"key {n:05}", "v" * (n % 3_000)) for n in range(2_000)])
    connection.execute("COMMIT")
    return connection


def of_t(pages: Pages) -> dict[int, list[object]]:
    return {row.rowid: list(row.values) for row in table_rows(pages) if row.values and len(row.values) == 13}


@pytest.mark.parametrize("wal", [False, True], ids=["file", "log"])
def test_every_kind_of_value_is_read_as_sqlite_reads_it(tmp_path: Path, wal: bool) -> None:
    path = tmp_path / "f.db"
    connection = made(path, wal=wal)
    pages = Pages(path, Path(f"{path}-wal"))
    assert of_t(pages) == {1: VALUES[0], -5: VALUES[1], 1 << 62: VALUES[0]}
    assert connection.execute("SELECT count(*) FROM t").fetchall() == [(3,)]
    pages.close()


def test_a_tree_without_rowids_is_walked_from_its_root(tmp_path: Path) -> None:
    path = tmp_path / "f.db"
    connection = made(path)
    root = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'w'").fetchall()[0][0]
    assert isinstance(root, int)
    pages = Pages(path, Path(f"{path}-wal"))
    found = sorted(tuple(row.values) for row in index_rows(pages, root) if row.values)
    assert found == [(f"key {n:05}", "v" * (n % 3_000)) for n in range(2_000)]
    pages.close()


def test_a_broken_page_costs_its_own_rows_alone(home: Path) -> None:
    store = opened(home)
    fill(store, 200, words="long enough to fill some pages " * 4)
    store.checkpoint()
    store.close()
    path = home / "forkwood.db"
    before = rows_of(path)
    broken = max((row.page for row in before if row.values and len(row.values) > 22 and row.rowid > 50), default=0)
    content = bytearray(path.read_bytes())
    content[(broken - 1) * PAGE_BYTES : broken * PAGE_BYTES] = b"\xa5" * PAGE_BYTES
    path.write_bytes(content)
    assert rows_of(path) == [row for row in before if row.page != broken]
    assert len(before) - len(rows_of(path)) in range(2, 40)


def rows_of(path: Path) -> list[Row]:
    pages = Pages(path, Path(f"{path}-wal"))
    try:
        return list(table_rows(pages))
    finally:
        pages.close()


def test_text_that_is_none_is_marked(tmp_path: Path) -> None:
    connection = made(tmp_path / "f.db")
    connection.execute("UPDATE t SET c1 = CAST(x'61e561' AS TEXT) WHERE rowid = 1")
    connection.close()
    pages = Pages(tmp_path / "f.db", tmp_path / "f.db-wal")
    values = of_t(pages)[1]
    assert [(value, type(value)) for value in values if isinstance(value, str)] == [("a\ufffda", Garbled)]
    pages.close()


def test_rows_of_a_doubtful_page_come_last(tmp_path: Path) -> None:
    path = tmp_path / "f.db"
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE t (c)")
    connection.executemany("INSERT INTO t VALUES (?)", [("x" * 900,) for _ in range(40)])
    connection.close()
    pages = Pages(path, Path(f"{path}-wal"))
    rows = [row for row in table_rows(pages) if row.values == ["x" * 900]]
    pages.close()
    first = rows[0].page
    content = bytearray(path.read_bytes())
    content[first * PAGE_BYTES - 903] ^= 0x40  # the number of the page's first row, behind its length
    path.write_bytes(content)
    pages = Pages(path, Path(f"{path}-wal"))
    order = [row.page for row in table_rows(pages) if row.values is None or row.values == ["x" * 900]]
    pages.close()
    assert order.index(first) >= 36


@given(st.lists(st.tuples(st.integers(0, 9 * PAGE_BYTES), st.binary(min_size=1, max_size=64)), max_size=12), st.data())
def test_nonsense_is_read_as_unreadable(
    tmp_path_factory: pytest.TempPathFactory, damage: list[tuple[int, bytes]], data: st.DataObject
) -> None:
    folder = tmp_path_factory.getbasetemp() / "pages"
    path, whole = folder / "f.db", folder / "whole.db"
    if not folder.exists():
        folder.mkdir()
        made(whole).close()
    content = bytearray(whole.read_bytes())
    for offset, noise in damage:
        content[offset : offset + len(noise)] = noise
    path.write_bytes(content[: data.draw(st.integers(0, len(content)))])
    pages = Pages(path, Path(f"{path}-wal"))
    for row in (*table_rows(pages), *index_rows(pages, 3)):
        assert row.values is None or isinstance(row.values, list)
    pages.close()
