"""docs/schema.md is the schema: every table, column, event kind and field, and queries that run on any SQLite."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from forkwood.domain.act import Effect
from forkwood.domain.event import PAYLOADS
from forkwood.domain.message import Part
from forkwood.domain.run_event import Recipe
from forkwood.domain.tree import Spot
from forkwood.store import walk
from forkwood.store.migrations import APPLICATION_ID, SCHEMA_VERSION
from tests.store.richness import rich
from tests.store.seeds import opened

PAGE = (Path(__file__).parents[1] / "docs" / "schema.md").read_text("utf-8")
QUERIES = dict(re.findall(r"^([^\n]+):\n```sql\n(.*?)```", PAGE, re.MULTILINE | re.DOTALL))


@pytest.fixture
def plain(home: Path) -> Iterator[sqlite3.Connection]:
    """A rich store, opened by the SQLite of Python's own library."""
    rich(home)
    connection = sqlite3.connect(f"file:{home / 'forkwood.db'}?mode=ro", uri=True)
    yield connection
    connection.close()


def section(title: str) -> str:
    return PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def test_the_file_says_what_the_page_says(plain: sqlite3.Connection) -> None:
    assert plain.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
    assert f"is {APPLICATION_ID} (`{APPLICATION_ID:#x}`), `PRAGMA user_version` is {SCHEMA_VERSION}." in PAGE


def test_every_table_and_column_is_on_the_page(plain: sqlite3.Connection) -> None:
    told = {
        name: re.findall(r"^\| `(\w+)` \| \S", body, re.MULTILINE)
        for name, body in re.findall(r"^### `(\w+)`\n(.*?)(?=^###? |\Z)", section("Tables"), re.MULTILINE | re.DOTALL)
    }
    rows = plain.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
        " AND name NOT LIKE 'search\\_%' ESCAPE '\\'"
    )
    real = {name: [column[1] for column in plain.execute(f"PRAGMA table_info({name})")] for (name,) in rows.fetchall()}
    assert told == real


def test_every_kind_and_field_of_an_event_is_on_the_page() -> None:
    told = {
        kind: re.findall(r"`(\w+)`", fields)
        for kind, fields in re.findall(r"^\| `([\w.]+)` \|(.*?)\| \S", section("Events"), re.MULTILINE)
    }
    assert told == {kind: list(payload.__struct_fields__) for kind, payload in PAYLOADS.items()}


@pytest.mark.parametrize("shape", [*get_args(Effect), *get_args(Part)], ids=lambda shape: str(shape.__name__))
def test_every_effect_and_part_is_on_the_page(shape: type) -> None:
    fields = ", ".join(shape.__struct_fields__)  # type: ignore[attr-defined]
    tag = shape.__struct_config__.tag  # type: ignore[attr-defined]
    assert f"`{tag}` {{{fields}}}" in re.sub(r"\s+", " ", PAGE)


def test_the_recipe_is_on_the_page() -> None:
    assert f"A `recipe` is {{{', '.join(Recipe.__struct_fields__)}}}" in re.sub(r"\s+", " ", PAGE)


def named(plain: sqlite3.Connection) -> dict[str, str]:
    wanted = {
        "node": "SELECT id FROM node WHERE seq = 66",
        "reply": "SELECT id FROM node WHERE seq = 65",
        "carried": "SELECT f.id FROM node g JOIN node f ON f.seq = g.first",
        "conversation": "SELECT id FROM conversation WHERE seq = 2",
    }
    endings = {name: plain.execute(sql).fetchone()[0].hex()[-8:] for name, sql in wanted.items()}
    return {**endings, "words": "noon"}


def test_the_page_has_its_queries() -> None:
    assert len(QUERIES) == PAGE.count("```sql") == 10


@pytest.mark.parametrize("title", QUERIES)
def test_every_query_of_the_page_answers(plain: sqlite3.Connection, title: str) -> None:
    assert plain.execute(QUERIES[title], named(plain)).fetchall()


def test_the_path_by_hand_is_the_path(plain: sqlite3.Connection, home: Path) -> None:
    sql = next(sql for title, sql in QUERIES.items() if title.startswith("The path of a node"))
    store = opened(home)
    with store.read() as tx:
        for seq, name in plain.execute("SELECT seq, id FROM node ORDER BY seq").fetchall():
            by_hand = [row[0] for row in plain.execute(sql, {"node": name.hex()})]
            assert by_hand == [row[0] for row in walk.messages(tx, Spot(seq))]
    store.close()


def test_usage_by_hand_is_the_usage(plain: sqlite3.Connection) -> None:
    sql = next(sql for title, sql in QUERIES.items() if title.startswith("Usage"))
    assert plain.execute(sql).fetchall() == [("2026-02", "scripted:x", 2, 20, 10, 0.5)]
