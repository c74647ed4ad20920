"""Purge in the store: the marker lets it through in its own transaction alone, and only what is condemned goes."""

from __future__ import annotations

import pytest

from forkwood.store import purge
from tests.runtime.doors import door, said


def test_the_books_are_closed_again_when_a_purge_is_done() -> None:
    runtime = door()
    runtime.new(title="t")
    said(runtime, "q1", "a1")
    with runtime.house.store.write() as tx:
        purge.destroy(tx, purge.condemned(tx, [1], []))
        assert tx.value("SELECT count(*) FROM purging") == 0
        assert tx.rows("SELECT parts, purged FROM node ORDER BY seq")[0] == ("[]", 1)
    with pytest.raises(Exception, match="nodes never change"), runtime.house.store.write() as tx:
        tx.run("UPDATE node SET parts = '[]'")


def test_what_others_carry_is_known_through_nested_carries() -> None:
    runtime = door()
    runtime.new(title="here")
    ids = said(runtime, "q1", "a1", "q2", "a2")
    runtime.drop(ids[1])
    runtime.fork(ids[3], title="there")
    with runtime.house.store.read() as tx:
        assert purge.carried_outside(tx, [1, 2, 3, 4], [1]) == {1, 3, 4}
        assert purge.carried_outside(tx, [1, 2, 3, 4], [1, 2]) == set()


def test_a_conversation_that_is_about_to_be_purged_is_closed() -> None:
    runtime = door()
    runtime.new(title="t")
    with runtime.house.store.write() as tx:
        assert not purge.closing(tx, 1)
        purge.close(tx, 1)
        assert purge.closing(tx, 1)


def test_a_short_first_line_goes_as_a_title_and_is_not_hunted_for_inside_others() -> None:
    runtime = door()
    runtime.new()
    said(runtime, "ok")
    runtime.fork("@")
    runtime.new(title="oklahoma")
    runtime.new()
    said(runtime, "oklahoma too")
    with runtime.house.store.write() as tx:
        purge.destroy(tx, purge.condemned(tx, [1], []))
    assert [row.title for row in runtime.listed()] == ["oklahoma too", "oklahoma", "", ""]
