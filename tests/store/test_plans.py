"""The access paths of the tree use their indexes: none reads through all nodes, marks or events."""

from __future__ import annotations

import re

import pytest

from forkwood.store import (
    append,
    conversations,
    digests,
    entries,
    grafts,
    grants,
    interactions,
    marks,
    names,
    nodes,
    queue,
    runs,
    summaries,
    walk,
)
from forkwood.store.db import Store

SCAN = re.compile(
    r"^SCAN (?!up\b|down\b|seek\b|back\b|forth\b|found\b|place\b|bad\b|json_each\b|CONSTANT ROW|\d+ CONSTANT)"
)

SPOT = {"node": 1, "cut": 0}
QUERIES: dict[str, tuple[str, object]] = {
    "runs at work": (runs._ACTIVE_ROWS, ()),
    "how many wait": (queue._COUNT, (1,)),
    "a path": (walk.LIGHT, (1, 1)),
    "which summaries may fit": (summaries.KNOWN, (10,)),
    "the summary that fits": (summaries.NEWEST, (10, b"")),
    "a path's nodes alone": (walk.BARE, (1, 1)),
    "a path's entries": (entries._HANGING, (1, 1)),
    "a path's carried entries": (entries._CARRIED, (1, 1)),
    "a place above": (walk._PREFIX, {**SPOT, "size": 1}),
    "the last graft": (walk._GRAFT, SPOT),
    "a root": (walk._ROOTED, (1,)),
    "results behind a reply": (walk._RESULTS, (1,)),
    "the parent of a new row": (append._PARENT, (1,)),
    "whether a place is taken": (append._TAKEN, (1, 0)),
    "whether there is a first node": (append._FIRST_TAKEN, (1,)),
    "an equal graft": (grafts._EQUAL_HERE, (1, 0, 1, 1, 0)),
    "an equal first graft": (grafts._EQUAL_FIRST, (1, 0, 1, 1)),
    "who carries": (grafts._TAKERS, SPOT),
    "children": (entries._HERE, (1, 0)),
    "first nodes": (entries._FIRST, (1,)),
    "where more than one can stand": (entries._CROWDED, (1,)),
    "what hangs at many places": (entries._AT_ALL, ("[1]",)),
    "whether there is a notice": (entries._ANY_NOTICE, (1,)),
    "notices": (entries._NOTICES, (1, 2, 9)),
    "notices one by one": (entries._NOTICES_OF_EACH, ("[1]",)),
    "marks one by one": (marks.EACH.format(holds=marks.NOW), ("[1]",)),
    "marks one by one as of a log number": (marks.EACH.format(holds=marks.THEN), ("[1]", 1, 1)),
    "a conversation's nodes": (f"{nodes._ROW} WHERE n.conversation = ? ORDER BY n.seq", (1,)),
    "leaves": (f"SELECT n.seq{nodes._LEAVES} ORDER BY n.seq DESC", (1,)),
    "the newest below": (nodes._NEWEST_BELOW, SPOT),
    "the newest node": ("SELECT max(seq) FROM node WHERE conversation = ?", (1,)),
    "versions": (nodes._VERSIONS, (1,)),
    "a node's ending": (f"{names._NODES}substr(id, -2) = ? ORDER BY seq", (b"ab",)),
    "a node's id": (f"{names._NODES}id = ?", (bytes(16),)),
    "a conversation's ending": (f"{names._CONVERSATIONS}substr(id, -2) = ? ORDER BY seq", (b"ab",)),
    "the nearest digest": (digests._NEAREST, (1, 0)),
    "a label": ("SELECT node FROM label WHERE conversation = ? AND name = ?", (1, "x")),
    "an interaction": (interactions._ONE, ("i",)),
    "the interactions of a run": (interactions._OF_RUN, (b"r",)),
    "the reply of a call": (interactions._REPLY, (b"r", 1)),
    "a go-on": (interactions._GO_ON, (1, "m")),
    "an interaction's ending": (names._ASKED_SO, ("*beef",)),
    "a grant's ending": (f"{names._GRANTS}id = ?", (bytes(16),)),
    "the grants that hold for a run": (grants._HOLDING, ("r", "c")),
    "one conversation": (f"{conversations._ROW} WHERE c.seq = ?", (1,)),
}


@pytest.mark.parametrize("name", QUERIES)
def test_no_table_is_read_through(name: str) -> None:
    query, args = QUERIES[name]
    plan = _plan(query, args)
    assert plan and not [step for step in plan if SCAN.match(step)], plan


@pytest.mark.parametrize(
    ("name", "index"),
    [
        ("children", "node_child"),
        ("first nodes", "node_first"),
        ("where more than one can stand", "COVERING INDEX node_beside"),
        ("a node's ending", "node_ending"),
        ("a conversation's ending", "conversation_ending"),
        ("a conversation's nodes", "node_conversation"),
        ("leaves", "node_conversation"),
        ("the newest node", "node_conversation"),
        ("who carries", "node_source"),
        ("versions", "node_revises"),
        ("whether there is a notice", "event_notice"),
        ("notices", "event_notice"),
        ("notices one by one", "event_notice"),
        ("an interaction", "event_interaction"),
        ("an interaction's ending", "event_interaction"),
        ("the grants that hold for a run", "granted_now"),
        ("runs at work", "run_active"),
        ("how many wait", "queued_waiting"),
    ],
)
def test_an_access_path_uses_its_own_index(name: str, index: str) -> None:
    assert any(index in step for step in _plan(*QUERIES[name]))


def test_marks_in_a_range_are_read_from_that_range_alone() -> None:
    now, then = (marks.RANGE.format(holds=holds) for holds in (marks.NOW, marks.THEN))
    assert _plan(now, (1, 2, 9)) == ["SEARCH m USING INDEX mark_now (node>? AND node<?)"]
    assert _plan(then, (1, 2, 3, 3, 9)) == ["SEARCH m USING PRIMARY KEY (node>? AND node<?)"]


def test_the_list_of_conversations_reads_one_table() -> None:
    query = (
        f"{conversations._ROW} WHERE c.archived = ? AND c.hidden = 0 AND c.purged = 0 "
        "ORDER BY c.updated_ms DESC, c.seq DESC"
    )
    assert _plan(query, (0,)) == ["SCAN c", "USE TEMP B-TREE FOR ORDER BY"]


def _plan(query: str, args: object) -> list[str]:
    with Store.in_memory().read() as tx:
        return [row[3] for row in tx.rows(f"EXPLAIN QUERY PLAN {query}", args)]
