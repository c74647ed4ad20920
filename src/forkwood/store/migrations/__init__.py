"""The schemas of the store, oldest first: each `NNNN_name.sql` beside this file leads from one version to the next."""

from __future__ import annotations

from functools import cache

import apsw
from msgspec import Struct

APPLICATION_ID = 0x466B776D
SCHEMA_VERSION = 2
"""The version this program writes: the number of the last file (a test holds the two together)."""

OLDEST_VERSION = 1
"""The oldest version that can still be migrated. Version 0 says nothing about itself and is refused."""


class Migration(Struct, frozen=True, kw_only=True):
    """The statements that lead from `version - 1` to `version`."""

    version: int
    name: str
    sql: str


@cache
def shipped() -> tuple[Migration, ...]:
    """The migrations of this program, in order, without a gap."""
    from importlib.resources import files  # only a store that is made or migrated needs them

    found = sorted(
        (parse(file.name, file.read_text("utf-8")) for file in files(__name__).iterdir() if file.name.endswith(".sql")),
        key=lambda migration: migration.version,
    )
    assert [migration.version for migration in found] == list(range(1, len(found) + 1)), "a migration is missing"
    return tuple(found)


def parse(file_name: str, sql: str) -> Migration:
    """The migration in a file called `NNNN_name.sql`."""
    number, _, name = file_name.removesuffix(".sql").partition("_")
    assert number.isdigit() and name, f"{file_name}: a migration is called NNNN_name.sql"
    return Migration(version=int(number), name=name, sql=sql)


def build(connection: apsw.Connection) -> None:
    """Fill an empty database with the newest schema, and sign it."""
    for migration in shipped():
        run_script(connection, migration.sql)
    run_script(connection, f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {SCHEMA_VERSION}")


def run_script(connection: apsw.Connection, sql: str) -> None:
    """Every statement of SQL. One that gives rows would hold up those behind it until its rows are read."""
    connection.execute(sql).fetchall()
