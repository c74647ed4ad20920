"""The list of migrations: without a gap, up to the version this program writes."""

from __future__ import annotations

import apsw
import pytest

from forkwood.store.migrations import (
    APPLICATION_ID,
    OLDEST_VERSION,
    SCHEMA_VERSION,
    Migration,
    build,
    parse,
    run_script,
    shipped,
)


def test_the_shipped_migrations_lead_to_the_version_of_this_program() -> None:
    assert shipped()[-1].version == SCHEMA_VERSION
    assert OLDEST_VERSION <= SCHEMA_VERSION
    assert parse("0012_more_than_one_word.sql", "x") == Migration(version=12, name="more_than_one_word", sql="x")
    with pytest.raises(AssertionError):
        parse("notes.sql", "x")


def test_a_database_that_is_built_is_signed() -> None:
    connection = apsw.Connection(":memory:")
    build(connection)
    assert connection.pragma("application_id") == APPLICATION_ID
    assert connection.pragma("user_version") == SCHEMA_VERSION


def test_statements_behind_one_that_gives_rows_are_run_too() -> None:
    connection = apsw.Connection(":memory:")
    run_script(connection, "SELECT 1; CREATE TABLE x (y)")
    assert connection.table_exists("main", "x")
