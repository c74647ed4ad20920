"""A tree that lost nodes is whole again, and no message that is left is lost with them."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest
from msgspec import Struct

from forkwood.domain.tree import ROOT, Spot
from forkwood.store import aside, migrations, regrow, tree_checks, walk
from forkwood.store.db import Store, Tx
from forkwood.store.rescue import Found
from tests.store.seeds import ME, NOW
from tests.store.trees import Tree

CHECKS = (
    tree_checks.places,
    tree_checks.grafts,
    tree_checks.pointers,
    tree_checks.neighbours,
    tree_checks.parts,
    tree_checks.groups,
)


class Case(Struct, frozen=True):
    """What is done to the grown tree, and the paths that are left (`.` is a husk) at its ends by name."""

    name: str
    breaks: str
    paths: dict[str, str]


WHOLE = {"line": "abcdefgh", "edit": "abcX", "carry": "abcXefgh", "fork": "bcdefghZ", "tool": "abuTR!"}
FORK = "source_node = 8 AND at_node IS NULL"
CASES = [
    Case("nothing", "", {}),
    Case("one", "DELETE FROM node WHERE seq = 2", {"line": "a.cdefgh", "edit": "a.cX", "carry": "a.cXefgh",
         "fork": ".cdefghZ", "tool": "a.uTR!"}),
    Case("neighbours", "DELETE FROM node WHERE seq IN (4, 5, 6)", {"line": "abc...gh", "carry": "abcX..gh",
         "fork": "bc...ghZ"}),
    Case("the first", "DELETE FROM node WHERE seq = 1", {"line": ".bcdefgh", "edit": ".bcX", "carry": ".bcXefgh",
         "tool": ".buTR!"}),
    Case("a graft that was gone on from", f"DELETE FROM node WHERE {FORK}", {"fork": ".Z"}),
    Case("a source", "DELETE FROM node WHERE seq = 8", {"line": "abcdefg", "carry": "abcXefg.", "fork": "bcdefg.Z"}),
    Case("a reply with calls", "DELETE FROM node WHERE instr(parts, 'tool_call')", {"tool": "abu.R!"}),
    Case("results", "DELETE FROM node WHERE role = 'tool'", {"tool": "abuT.!"}),
    Case("results of other calls", "UPDATE node SET parts = replace(parts, 'c1', 'c2') WHERE role = 'tool'",
         {"tool": "abuT.!"}),
    Case("a place in another conversation", "UPDATE node SET at_node = 3 WHERE instr(parts, 'Z')", {"fork": "Z"}),
    Case("a cut past its node", "UPDATE node SET at_cut = 7 WHERE instr(parts, 'Z')", {"fork": "bZ"}),
    Case("lengths and pointers", "UPDATE node SET length = 50, hops = 7, jump_node = 1, jump_cut = 3, beside = 0", {}),
    Case("a wrong beginning", f"UPDATE node SET first = 4 WHERE {FORK}", {"fork": "defghZ"}),
    Case("a beginning elsewhere", f"UPDATE node SET first = 9 WHERE {FORK}", {"fork": ".Z"}),
]  # fmt: skip


def grown(tx: Tx) -> dict[str, Spot]:
    """Two conversations: a line, an edit in it with and without what followed, a fork of it, and a tool group."""
    tree = Tree(tx)
    here, there = tree.conversation(), tree.conversation()
    line = tree.line(here, "abcdefgh")
    edit = tree.say(here, line[2], "X")
    carry = tree.graft(here, edit, line[-1], 4)
    fork = tree.say(there, tree.graft(there, ROOT, line[-1], 7), "Z")
    asked = tree.call(here, tree.say(here, line[1], "u"), "c1")
    tool = tree.say(here, tree.results(asked, "c1"), "!")
    return {"line": line[-1], "edit": edit, "carry": carry, "fork": fork, "tool": tool}


def shown(tx: Tx, spot: Spot) -> str:
    letters = []
    for _, _, role, parts in walk.messages(tx, spot):
        kind = "." if parts == "[]" else "T" if "tool_call" in parts else "R" if role == "tool" else ""
        letters.append(kind or tx.value("SELECT ? ->> '$[0].text'", (parts,)))
    return "".join(letters)


def unguarded() -> Store:
    """A store that lets everything through."""
    connection = apsw.Connection(":memory:")
    migrations.build(connection)
    connection.execute("PRAGMA ignore_check_constraints = ON")
    return Store(connection)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_is_left_is_a_whole_tree(tmp_path: Path, case: Case) -> None:
    with unguarded().write() as tx:
        ends = grown(tx)
        assert {name: shown(tx, spot) for name, spot in ends.items()} == WHOLE
        for (trigger,) in tx.rows("SELECT name FROM sqlite_schema WHERE type = 'trigger'"):
            tx.run(f"DROP TRIGGER {trigger}")
        if case.breaks:
            tx.run(case.breaks)
        left = dict(tx.rows("SELECT seq, parts FROM node WHERE role IN ('user', 'assistant')"))
        with aside.opened(tmp_path / "side.jsonl") as side:
            regrow.regrow(tx, side, Found(), highest=max(left), now_ms=NOW, who=ME)
        assert [problem for check in CHECKS for problem in check(tx)] == []
        after = dict(tx.rows("SELECT seq, parts FROM node"))
        assert left == {seq: after[seq] for seq in left}
        if case.name == "a source":
            ends["line"] = Spot(7)
        assert {name: shown(tx, spot) for name, spot in ends.items()} == {**WHOLE, **case.paths}


def test_what_indexes_know_of_lost_nodes_counts_over_what_could_be(tmp_path: Path) -> None:
    with unguarded().write() as tx:
        tree = Tree(tx)
        here = tree.conversation()
        line = tree.line(here, "abcdef")
        tree.line(here, "uvw", line[1])
        for (trigger,) in tx.rows("SELECT name FROM sqlite_schema WHERE type = 'trigger'"):
            tx.run(f"DROP TRIGGER {trigger}")
        names = dict(tx.rows("SELECT seq, id FROM node WHERE seq IN (4, 5, 7, 8)"))
        tx.run("DELETE FROM node WHERE seq IN (4, 5, 7, 8)")
        known = Found(places={4: (3, 0), 5: (4, 0), 7: (2, 0), 8: (7, 0)}, names=names)
        with aside.opened(tmp_path / "side.jsonl") as side:
            regrow.regrow(tx, side, known, highest=9, now_ms=NOW, who=ME)
        assert (shown(tx, line[-1]), shown(tx, Spot(9))) == ("abc..f", "ab..w")
        assert dict(tx.rows("SELECT seq, id FROM node WHERE seq IN (4, 5, 7, 8)")) == names


def test_a_lost_end_of_a_path_that_an_index_knows_is_shown(tmp_path: Path) -> None:
    with unguarded().write() as tx:
        tree = Tree(tx)
        tree.line(tree.conversation(), "abcdef")
        for (trigger,) in tx.rows("SELECT name FROM sqlite_schema WHERE type = 'trigger'"):
            tx.run(f"DROP TRIGGER {trigger}")
        tx.run("DELETE FROM node WHERE seq > 4")
        known = Found(places={5: (4, 0), 6: (5, 0), 7: (99, 0), 9: (6, 0)}, names={})
        with aside.opened(tmp_path / "side.jsonl") as side:
            regrow.regrow(tx, side, known, highest=8, now_ms=NOW, who=ME)
        assert [problem for check in CHECKS for problem in check(tx)] == []
        assert shown(tx, Spot(6)) == "abcd.."
        assert tx.rows("SELECT seq, role FROM node WHERE seq > 4") == [(5, "user"), (6, "assistant")]


def test_what_cannot_be_told_is_not_guessed(tmp_path: Path) -> None:
    with unguarded().write() as tx:
        tree = Tree(tx)
        here = tree.conversation()
        line = tree.line(here, "abcdef")
        tree.line(here, "uvw", line[1])
        for (trigger,) in tx.rows("SELECT name FROM sqlite_schema WHERE type = 'trigger'"):
            tx.run(f"DROP TRIGGER {trigger}")
        tx.run("DELETE FROM node WHERE seq IN (4, 5, 7, 8)")
        with aside.opened(tmp_path / "side.jsonl") as side:
            regrow.regrow(tx, side, Found(), highest=9, now_ms=NOW, who=ME)
        assert [problem for check in CHECKS for problem in check(tx)] == []
        assert shown(tx, line[-1]).endswith(".f")
        assert "c" not in shown(tx, Spot(9)), "nothing of another branch is shown"
