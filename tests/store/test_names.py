"""Names: whole ids, endings of four digits or more, `#seq`; what fits several is listed, never guessed."""

from __future__ import annotations

import pytest

from forkwood.domain.conversation import ConversationSettings
from forkwood.domain.errors import NotFound
from forkwood.domain.message import Text
from forkwood.domain.tree import ROOT
from forkwood.store import append, conversations, names
from tests.store.trees import ME, NOW, Tree, growing

ONE = "0190a2b4c6d87000800000000000abcd"
TWO = "0190a2b4c6d870008000000000011bcd"
THREE = "0190a2b4c6d870008000000000012bcd"


def named(tree: Tree, conversation: int, name: str) -> int:
    parts = (Text(text="x"),)
    return append.add_message(
        tree.tx, id=name, conversation=conversation, at=ROOT, role="user", parts=parts, origin=ME, now_ms=NOW
    )


@pytest.mark.parametrize(
    ("name", "found"),
    [
        (ONE, 0),
        (ONE.upper(), 0),
        ("0190a2b4-c6d8-7000-8000-00000000abcd", 0),
        ("abcd", 0),
        ("ABCD", 0),
        ("11bcd", 1),
        ("2bcd", 2),
        ("000000012bcd", 2),
        ("#1", 0),
        ("#3", 2),
        ("#4", None),
        ("#0", None),
        ("#", None),
        ("#-1", None),
        ("#1e3", None),
        ("#99999999999999999999999", None),
        ("bcd", None),
        ("xyzw", None),
        ("", None),
        (ONE + "0", None),
        ("ffff", None),
    ],
)
def test_a_node_is_named(name: str, found: int | None) -> None:
    with growing() as tree:
        talk = tree.conversation()
        seqs = [named(tree, talk, id) for id in (ONE, TWO, THREE)]
        if found is None:
            with pytest.raises(NotFound):
                names.node(tree.tx, name)
        else:
            assert names.node(tree.tx, name) == seqs[found]


def test_an_ending_that_fits_several_lists_them() -> None:
    with growing() as tree:
        talk = tree.conversation()
        ids = [f"0190a2b4c6d8700080000000{number:04x}beef" for number in range(25)]
        seqs = [named(tree, talk, id) for id in ids]
        with pytest.raises(NotFound) as refused:
            names.node(tree.tx, "beef")
        assert refused.value.facts["candidates"] == ids[: names.CANDIDATES_SHOWN]
        assert "25 nodes" in refused.value.message and ids[0] in refused.value.message
        assert names.node(tree.tx, "0003beef") == seqs[3]


def test_a_name_of_either_kind_means_one_thing_or_says_which() -> None:
    with growing() as tree:
        talk = tree.conversation()
        ending = conversations.row(tree.tx, talk).id[-8:]
        named(tree, talk, ONE)
        assert (names.whole(tree.tx, ending), names.whole(tree.tx, ONE[-4:]), names.whole(tree.tx, "#1")) == (
            talk,
            None,
            None,
        )
        twin = f"{ONE[:20]}9999{ending}"
        named(tree, talk, twin)
        with pytest.raises(NotFound, match="fits 2 nodes or conversations") as refused:
            names.whole(tree.tx, ending)
        whole = conversations.row(tree.tx, talk).id
        assert refused.value.facts["candidates"] == [whole, twin]
        assert names.whole(tree.tx, whole) == talk
        with pytest.raises(NotFound, match="no node or conversation is named"):
            names.whole(tree.tx, "0123456789")


def test_a_conversation_is_named_unless_it_was_purged() -> None:
    with growing() as tree:
        seqs = [
            conversations.create(tree.tx, id, NOW, title="t", titled_by="rule", settings=ConversationSettings())
            for id in (ONE, TWO, THREE)
        ]
        assert [names.conversation(tree.tx, name) for name in (ONE, "11bcd", "2bcd")] == seqs
        with pytest.raises(NotFound) as refused:
            names.conversation(tree.tx, "bcd0")
        assert "candidates" not in refused.value.facts
        assert names.husks(tree.tx, ONE) == []
        tree.tx.run("UPDATE conversation SET purged = 1 WHERE seq = ?", (seqs[0],))
        assert names.husks(tree.tx, ONE) == [seqs[0]]
        with pytest.raises(NotFound):
            names.conversation(tree.tx, ONE)
