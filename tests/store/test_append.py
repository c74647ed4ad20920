"""Appending: one row, its rules told in words, its limits at their bounds, and the triggers that hold them below."""

from __future__ import annotations

from collections.abc import Callable

import apsw
import pytest

from forkwood.domain import limits
from forkwood.domain.errors import ForkwoodError, LimitExceeded, Misused, NotFound, Refused
from forkwood.domain.message import Attachment, Part, Text, Thinking, ToolCall, ToolResult
from forkwood.domain.tree import ROOT, Spot
from forkwood.store import append, blobs, nodes, walk
from tests.store.trees import ME, NOW, Tree, growing

RESULT = ToolResult(call="1", name="look", outcome="ok", parts=(Text(text="saw"),))
CALL = ToolCall(call="1", name="look", arguments={})


def test_a_message_is_one_row_with_its_path_known() -> None:
    with growing() as tree:
        talk = tree.conversation()
        first = tree.say(talk, ROOT, "q")
        before = tree.rows()
        second = tree.say(talk, first, "a", "assistant")
        assert tree.rows() == before + 1
        node = nodes.row(tree.tx, second.node)
        assert (node.length, node.at, node.role, node.text) == (2, nodes.spot_text(tree.tx, first), "assistant", "a")
        assert tree.tx.value("SELECT count(*) FROM search WHERE search MATCH 'q'") == 1


@pytest.mark.parametrize(
    ("role", "parts", "error"),
    [
        ("user", (), Misused),
        ("tool", (RESULT,), Refused),
        ("user", (RESULT,), Refused),
        ("assistant", (Text(text="x"), RESULT), Refused),
        ("user", (CALL,), Refused),
        ("system", (Thinking(text="hm"),), Refused),
    ],
)
def test_parts_that_a_role_cannot_say_are_refused(
    role: str, parts: tuple[Part, ...], error: type[ForkwoodError]
) -> None:
    with growing() as tree:
        talk = tree.conversation()
        with pytest.raises(error):
            tree.add(talk, ROOT, parts, role)  # type: ignore[arg-type]
        assert tree.rows() == 0


def test_a_message_may_have_as_many_bytes_as_the_limit_and_no_more() -> None:
    with growing() as tree:
        talk = tree.conversation()
        fits = "é" * (limits.message_bytes_max // 2)
        assert walk.size(tree.tx, tree.say(talk, ROOT, fits)) == 1
        for parts in ((Text(text=fits + "x"),), (Text(text=fits), Text(text="x"))):
            with pytest.raises(LimitExceeded) as refused:
                tree.add(talk, ROOT, parts)
            assert refused.value.facts["limit"] == "message_bytes_max"
            assert refused.value.facts["got"] == limits.message_bytes_max + 1


def test_a_message_may_have_as_many_parts_as_the_limit() -> None:
    with growing() as tree:
        talk = tree.conversation()
        tree.add(talk, ROOT, [Text(text="x")] * limits.parts_max)
        with pytest.raises(LimitExceeded):
            tree.add(talk, ROOT, [Text(text="x")] * (limits.parts_max + 1))


def test_a_path_may_be_as_long_as_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "path_entries_max", 6)
    with growing() as tree:
        talk = tree.conversation()
        six = tree.line(talk, "abcdef")[-1]
        with pytest.raises(LimitExceeded) as refused:
            tree.say(talk, six, "g")
        assert refused.value.facts == {"limit": "path_entries_max", "bound": 6, "got": 7}
        other = tree.conversation()
        three = tree.line(other, "xyz")[-1]
        assert walk.size(tree.tx, tree.graft(other, three, six, 3)) == 6
        with pytest.raises(LimitExceeded):
            tree.graft(other, three, six, 4)


def test_a_place_without_its_node_and_one_of_another_conversation_are_refused() -> None:
    with growing() as tree:
        talk, other = tree.conversation(), tree.conversation()
        foreign = tree.say(other, ROOT, "x")
        with pytest.raises(NotFound):
            tree.say(talk, Spot(4_711), "x")
        with pytest.raises(Refused) as refused:
            tree.say(talk, foreign, "x")
        assert refused.value.facts["node"] == foreign.node


WRONG_RESULTS: list[Callable[[Tree, Spot, Spot], Spot]] = [
    lambda tree, asked, reply: tree.results(asked, "1"),
    lambda tree, asked, reply: tree.results(reply, "1"),
    lambda tree, asked, reply: tree.results(reply, "2", "1"),
    lambda tree, asked, reply: tree.results(reply),
    lambda tree, asked, reply: tree.results(reply, "1", "2", "3"),
    lambda tree, asked, reply: tree.results(ROOT, "1", "2"),
]


@pytest.mark.parametrize("give", WRONG_RESULTS)
def test_results_answer_the_calls_of_their_reply_in_order_and_write_nothing_else(
    give: Callable[[Tree, Spot, Spot], Spot],
) -> None:
    with growing() as tree:
        talk = tree.conversation()
        asked = tree.say(talk, ROOT, "q")
        reply = tree.call(talk, asked, "1", "2")
        before = tree.rows()
        with pytest.raises(Refused):
            give(tree, asked, reply)
        assert tree.rows() == before


def test_results_come_once() -> None:
    with growing() as tree:
        talk = tree.conversation()
        reply = tree.call(talk, tree.say(talk, ROOT, "q"), "1", "2")
        results = tree.results(reply, "1", "2")
        assert nodes.row(tree.tx, results.node).role == "tool"
        with pytest.raises(Refused):
            tree.results(reply, "1", "2")


def test_a_message_sent_between_a_reply_and_its_results_hangs_behind_them() -> None:
    with growing() as tree:
        talk = tree.conversation()
        reply = tree.call(talk, tree.say(talk, ROOT, "q"), "1")
        results = tree.results(reply, "1")
        assert nodes.hangs_at(tree.tx, tree.say(talk, reply, "thanks").node) == results


def test_attachments_of_a_message_and_inside_results_are_known_by_node() -> None:
    with growing() as tree:
        talk = tree.conversation()
        hashes = [blobs.put(tree.tx, content) for content in (b"one", b"two")]
        one, two = (
            Attachment(blob=name, media="file", name="f", mime="text/plain", size=3, source="user") for name in hashes
        )
        said = tree.add(talk, ROOT, (Text(text="see"), one, one))
        reply = tree.call(talk, said, "1")
        result = ToolResult(call="1", name="look", outcome="ok", parts=(two,))
        shown = append.add_results(tree.tx, id=tree.id(), at=reply, parts=(result,), origin=ME, now_ms=NOW)
        assert tree.tx.rows("SELECT node, blob FROM attachment ORDER BY node") == [
            (said.node, hashes[0]),
            (shown, hashes[1]),
        ]


def test_text_with_nul_and_any_unicode_stays_as_it_is() -> None:
    with growing() as tree:
        talk = tree.conversation()
        words = "a\0b \u2028 \U0001f600 \r\n end"
        assert nodes.row(tree.tx, tree.say(talk, ROOT, words).node).text == words


COLUMNS = "id, conversation, at_node, at_cut, role, parts, own, length, hops, beside, by, via, created_ms"
SAID = """'[{"kind":"text","text":"x"}]'"""


@pytest.mark.parametrize(
    "row",
    [
        f"randomblob(16), 2, 1, 0, 'user', {SAID}, 1, 2, 2, 0, 'user', 'cli', 0",
        f"randomblob(16), 1, 1, 1, 'user', {SAID}, 1, 2, 2, 0, 'user', 'cli', 0",
        f"randomblob(16), 1, 1, 0, 'user', {SAID}, 1, 3, 2, 0, 'user', 'cli', 0",
        f"randomblob(16), 1, 9, 0, 'user', {SAID}, 1, 2, 2, 0, 'user', 'cli', 0",
        f"randomblob(16), 1, NULL, 0, 'user', {SAID}, 1, 2, 2, 0, 'user', 'cli', 0",
        f"randomblob(16), 1, 1, 0, 'tool', {SAID}, 1, 2, 2, 0, 'tool', 'cli', 0",
        f"randomblob(16), 1, 1, 0, NULL, {SAID}, 1, 2, 2, 0, 'user', 'cli', 0",
        f"randomblob(15), 1, 1, 0, 'user', {SAID}, 1, 2, 2, 0, 'user', 'cli', 0",
        "randomblob(16), 1, 1, 0, 'user', 'no json', 1, 2, 2, 0, 'user', 'cli', 0",
    ],
)
def test_the_schema_itself_refuses_a_row_that_breaks_the_tree(row: str) -> None:
    with growing() as tree:
        tree.say(tree.conversation(), ROOT, "x")
        tree.conversation()
        with pytest.raises(apsw.ConstraintError):
            tree.tx.run(f"INSERT INTO node ({COLUMNS}) VALUES ({row})")


@pytest.mark.parametrize("change", ["UPDATE node SET parts = '[]'", "DELETE FROM node"])
def test_nodes_are_for_ever(change: str) -> None:
    with growing() as tree:
        tree.say(tree.conversation(), ROOT, "x")
        with pytest.raises(apsw.ConstraintError):
            tree.tx.run(change)


@pytest.mark.parametrize("column", ["at_node", "source_node", "revises", "jump_node", "graft_node"])
def test_not_even_a_purge_can_make_a_cycle(column: str) -> None:
    with growing() as tree:
        talk = tree.conversation()
        here = tree.line(talk, "ab")
        tree.tx.run("INSERT INTO purging VALUES (1)")
        for target in (here[0].node, here[1].node):
            with pytest.raises(apsw.ConstraintError):
                tree.tx.run(f"UPDATE node SET {column} = ? WHERE seq = ?", (target, here[0].node))
