"""Which lines of a side file go with what is purged: by whose they are, else by what is named in them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from forkwood.store import purge, side_rows
from forkwood.store.db import Store
from forkwood.store.purge import Condemned
from tests.store.seeds import add_conversation, add_message, some_id

GONE, OTHER = some_id(1), some_id(2)
GONE_RUN, OTHER_RUN, READER = some_id(50), some_id(51), some_id(52)
WHAT = Condemned(
    nodes=frozenset({1}),
    conversations=frozenset({7}),
    runs=frozenset({bytes.fromhex(GONE_RUN)}),
    readers=frozenset({bytes.fromhex(READER)}),
    around=frozenset({1}),
    titles=frozenset({"a purged title"}),
    ids=frozenset({GONE}),
    begun=frozenset({8}),
)
NODE = {"seq": 90, "id": some_id(90), "conversation": 1, "revises": None, "role": "user", "at_node": 2, "run": None}
EVENT = {"kind": "x", "conversation": 1, "node": None, "run": None, "payload": "{}"}
UNREADABLE = {**EVENT, "kind": "run.ended", "payload": '\ufffd{"error":null}'}
CONVERSATION = {"seq": 1, "title": "t", "titled_by": "rule"}
RUN = {"id": OTHER_RUN, "conversation": 1, "error": '{"message":"x"}'}
SUMMARY = {"conversation": 1, "covers": json.dumps([OTHER])}
RECEIPT = {"client": "c", "key": "k", "response": None}
LABELLED = {"conversation": 1, "node": 2}
QUEUED = {"id": some_id(60), "conversation": 1, "behind": some_id(61), "node": None, "parts": "[]"}


class Case(Struct, frozen=True):
    """A row, and whether it stays; `left`: what of it is different then."""

    name: str
    table: str
    row: Any
    stays: bool
    left: dict[str, Any] = {}


CASES = [
    Case("another's message", "node", NODE, True),
    Case("the message itself", "node", {**NODE, "seq": 1}, False),
    Case("of the conversation", "node", {**NODE, "conversation": 7}, False),
    Case("a version of it", "node", {**NODE, "revises": 1}, False),
    Case("its results", "node", {**NODE, "role": "tool", "at_node": 1}, False),
    Case("a reply to it", "node", {**NODE, "role": "assistant", "at_node": 1}, True),
    Case("another's event", "event", EVENT, True),
    Case("an event about it", "event", {**EVENT, "node": 1}, False),
    Case("of its conversation", "event", {**EVENT, "conversation": 7}, False),
    Case("of its run", "event", {**EVENT, "run": GONE_RUN}, False),
    Case("of another run", "event", {**EVENT, "run": OTHER_RUN, "payload": '{"error":{"message":"x"}}'}, True),
    Case(
        "of a run that read it",
        "event",
        {**EVENT, "run": READER, "payload": '{"message":"x"}'},
        True,
        {"payload": '{"message":""}'},
    ),
    Case(
        "its title",
        "event",
        {**EVENT, "payload": '{"settings":{"title":"a purged title"}}'},
        True,
        {"payload": '{"settings":{"title":""}}'},
    ),
    Case("one that cannot be read, where it was read", "event", UNREADABLE, True, {"payload": ""}),
    Case("one that cannot be read", "event", {**UNREADABLE, "conversation": 3}, True),
    Case("of no conversation", "event", {**UNREADABLE, "conversation": None}, True, {"payload": ""}),
    Case("of a run that read it", "event", {**UNREADABLE, "conversation": 3, "run": READER}, True, {"payload": ""}),
    Case("that told a title", "event", {**UNREADABLE, "conversation": 3, "kind": "message.sent"}, True,
         {"payload": ""}),
    Case("of a garbled kind", "event", {**UNREADABLE, "conversation": 3, "kind": "run.nded"}, True,
         {"payload": ""}),
    Case("about it", "event", {**UNREADABLE, "node": 1}, False),
    Case("that is no object", "event", {**UNREADABLE, "payload": "[]"}, True, {"payload": ""}),
    Case("nested for ever", "event", {**UNREADABLE, "payload": "[" * 5_000}, True, {"payload": ""}),
    Case("of another sort", "event", {**EVENT, "payload": 5}, False),
    Case("whose place is another sort", "node", {**NODE, "at_node": [1]}, False),
    Case("another's conversation", "conversation", CONVERSATION, True),
    Case("the conversation", "conversation", {**CONVERSATION, "seq": 7}, False),
    Case("titled by it", "conversation", {**CONVERSATION, "title": "a purged title"}, True, {"title": ""}),
    Case("garbled", "conversation", {**CONVERSATION, "title": "\ufffd purged title"}, True, {"title": ""}),
    Case("that begins with it", "conversation", {**CONVERSATION, "seq": 8}, True, {"title": ""}),
    Case("titled by a person", "conversation", {**CONVERSATION, "seq": 8, "titled_by": "user"}, True),
    Case("another's run", "run", RUN, True),
    Case("the run", "run", {**RUN, "id": GONE_RUN}, False),
    Case("a run there", "run", {**RUN, "conversation": 7}, False),
    Case("a run that read it", "run", {**RUN, "id": READER}, True, {"error": None}),
    Case("another's summary", "summary", SUMMARY, True),
    Case("a summary of it", "summary", {**SUMMARY, "covers": json.dumps([OTHER, GONE])}, False),
    Case("a summary there", "summary", {**SUMMARY, "conversation": 7}, False),
    Case("a message that waits behind a lost run", "queued", QUEUED, True),
    Case("one that waits there", "queued", {**QUEUED, "conversation": 7}, False),
    Case("one of that name", "queued", {**QUEUED, "id": GONE}, False),
    Case("one that became it", "queued", {**QUEUED, "node": 1}, False),
    Case("a receipt", "receipt", RECEIPT, True),
    Case(
        "a receipt of it",
        "receipt",
        {**RECEIPT, "response": json.dumps({"node": GONE, "text": "x"})},
        True,
        {
            "response": json.dumps({"node": GONE, "text": ""}, separators=(",", ":")),
            "key": "purged:8254c329a92850f6d539dd376f4816ee2764517da5e0235514af433164480d7a",
        },
    ),
    Case("a receipt that cannot be read", "receipt", {**RECEIPT, "response": "\ufffd{}"}, True,
         {"response": "", "key": "purged:8254c329a92850f6d539dd376f4816ee2764517da5e0235514af433164480d7a"}),
    Case("another's label", "label", LABELLED, True),
    Case("its label", "label", {**LABELLED, "node": 1}, False),
    Case("a label there", "label", {**LABELLED, "conversation": 7}, False),
    Case("another's memory", "memory", {"conversation": 1, "node": 2, "value": "x"}, True),
    Case("its memory", "memory", {"conversation": 1, "node": 1, "value": "x"}, False),
    Case("a memory there", "memory", {"conversation": 7, "node": 2, "value": "x"}, False),
    Case("a person's own memory", "memory", {"conversation": None, "node": None, "value": "x"}, True),
    Case("a mark", "mark", {"node": 1, "since": 3}, True),
    Case("bytes of nobody", "blob", {"hash": "a" * 64, "bytes": "00"}, False),
    Case("a draft of nobody", "draft", {"run": OTHER_RUN, "deltas": "[]"}, False),
    Case("what fits no table", "?", ["words"], False),
    Case("what fits no table and names another", "?", [OTHER, "words"], True),
    Case("what fits no table and names both", "?", [OTHER, GONE], False),
    Case("a table of later", "interaction", {"conversation": 1}, False),
    Case("without a column", "node", {"seq": 5}, False),
]  # fmt: skip


@pytest.fixture
def store() -> Store:
    store = Store.in_memory()
    with store.write() as tx:
        add_message(tx, add_conversation(tx), None, "one")
        add_message(tx, 1, 1, "two")
    return store


def left_of(store: Store, side: Path, *lines: bytes) -> list[bytes]:
    side.write_bytes(b"".join(lines))
    with store.read() as tx:
        return list(side_rows.remaining(tx, side, WHAT))


def line_of(table: str, row: Any) -> bytes:
    return json.dumps({"table": table, "why": "w", "row": row}, separators=(",", ":")).encode() + b"\n"


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.table}: {case.name}")
def test_a_row(store: Store, tmp_path: Path, case: Case) -> None:
    line = line_of(case.table, case.row)
    found = left_of(store, tmp_path / "side", line)
    assert found == ([line_of(case.table, {**case.row, **case.left}) if case.left else line] if case.stays else [])
    with store.read() as tx:
        counted = side_rows.split(tx, tmp_path / "side", WHAT)
    assert (counted.lines, counted.left) == (1, int(case.stays))
    assert counted.changed == int(found != [line])


@pytest.mark.parametrize(
    ("line", "stays"),
    [
        (b'{"table":"node","why":"unreadable","first":1,"last":2}\n', True),
        (b'{"page":7,"why":"unreadable"}\n', True),
        (b'{"text":"words"}\n', False),
        (b'{"table":"node","why":"w","row":{"se', False),
        (b"\xff\xfe\n", False),
        (b"[]\n", False),
    ],
)
def test_a_line_without_a_row(store: Store, tmp_path: Path, line: bytes, stays: bool) -> None:
    assert left_of(store, tmp_path / "side", line) == ([line] if stays else [])


def test_bytes_stay_while_a_row_that_stays_names_them(store: Store, tmp_path: Path) -> None:
    digest = "b" * 64
    blob = line_of("blob", {"hash": digest, "bytes": "00"})
    theirs = line_of("node", {**NODE, "parts": json.dumps([{"blob": digest}])})
    ours = line_of("node", {**NODE, "seq": 1, "parts": json.dumps([{"blob": digest}])})
    told = line_of("receipt", {**RECEIPT, "response": json.dumps({"node": GONE, "parts": [{"blob": digest}]})})
    assert left_of(store, tmp_path / "side", blob, theirs) == [blob, theirs]
    assert left_of(store, tmp_path / "side", blob, ours) == []
    assert blob not in left_of(store, tmp_path / "side", blob, told)


def test_a_draft_stays_while_its_run_is_known(store: Store, tmp_path: Path) -> None:
    draft, run = line_of("draft", {"run": OTHER_RUN, "deltas": "[]"}), line_of("run", RUN)
    assert left_of(store, tmp_path / "side", draft, run) == [draft, run]


def test_versions_of_versions_and_what_was_revised_go_too(store: Store, tmp_path: Path) -> None:
    rows = [
        {**NODE, "seq": 30, "revises": 20},
        {**NODE, "seq": 20, "revises": 1},
        {**NODE, "seq": 40, "revises": None, "run": GONE_RUN},
    ]
    assert left_of(store, tmp_path / "side", *(line_of("node", row) for row in rows)) == [line_of("node", rows[2])]
    named = line_of("?", [some_id(90), OTHER])
    assert left_of(store, tmp_path / "side", named) == [named]
    assert left_of(store, tmp_path / "side", named, line_of("node", {**NODE, "revises": 1})) == []


def test_the_store_knows_whose_a_name_is(store: Store, tmp_path: Path) -> None:
    with store.read() as tx:
        conversation = tx.value("SELECT lower(hex(id)) FROM conversation")
    for name in (conversation, OTHER):
        line = line_of("?", [name, "words"])
        assert left_of(store, tmp_path / "side", line) == [line]


def test_what_may_be_the_rest_of_a_lost_message_is_not_taken_by_the_purge_of_another(
    store: Store, tmp_path: Path
) -> None:
    with store.write() as tx:
        purge.destroy(tx, purge.condemned(tx, [2], []))  # as a salvage leaves one whose words are lost
    line = line_of("?", [OTHER, "words"])
    assert left_of(store, tmp_path / "side", line) == [line]
