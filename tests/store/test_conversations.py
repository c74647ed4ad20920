"""Conversations: one row each, listed from one table, heads that are repaired, settings that are read as written."""

from __future__ import annotations

from typing import Any

import pytest

from forkwood.domain.conversation import ConversationSettings, ConversationUsage, ForkedFrom
from forkwood.domain.errors import NotFound, StoreUnusable
from forkwood.domain.model import Usage
from forkwood.domain.settings import Parameters
from forkwood.domain.tree import ROOT, Spot
from forkwood.store import conversations, nodes
from tests.store.trees import NOW, growing

FULL = ConversationSettings(
    model="scripted:x",
    system="Be brief.",
    approvals="allow-edits",
    tools_off=("ask_user",),
    params=Parameters(temperature=0.5, seed=7),
    profile="terse",
    tags=("a", "b"),
    folder="work",
)


def test_a_conversation_is_read_as_it_was_created() -> None:
    with growing() as tree:
        origin = (tree.id(), tree.id())
        name = tree.id()
        seq = conversations.create(tree.tx, name, NOW, title="t", titled_by="user", settings=FULL, forked_from=origin)
        made = conversations.row(tree.tx, seq)
        for key in ("model", "system", "approvals", "tools_off", "params", "profile", "tags", "folder"):
            assert getattr(made, key) == getattr(FULL, key)
        assert (made.id, made.title, made.titled_by, made.head) == (name, "t", "user", None)
        assert made.forked_from == ForkedFrom(conversation=origin[0], node=origin[1])
        assert made.usage == ConversationUsage()
        assert (made.created_ms, made.updated_ms, made.project) == (NOW, NOW, None)
        assert not (made.pinned or made.archived or made.hidden or made.purged)
        with pytest.raises(NotFound):
            conversations.row(tree.tx, seq + 1)
        with pytest.raises(NotFound):
            conversations.head(tree.tx, seq + 1)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("title", "new"),
        ("model", "ollama:x"),
        ("model", None),
        ("system", None),
        ("approvals", "allow-all"),
        ("tools_off", ["recall"]),
        ("params", {"temperature": 0.1}),
        ("profile", "p"),
        ("pinned", True),
        ("archived", True),
        ("hidden", True),
        ("tags", ["x"]),
        ("folder", "f"),
    ],
)
def test_a_setting_is_read_as_it_was_written_and_can_be_put_back(key: str, value: Any) -> None:
    with growing() as tree:
        seq = conversations.create(tree.tx, tree.id(), NOW, title="t", titled_by="rule", settings=FULL)
        before = conversations.settings(tree.tx, seq)
        assert before[key] == conversations.setting(tree.tx, seq, key) != value
        conversations.write_setting(tree.tx, seq, key, value)
        assert conversations.settings(tree.tx, seq) == {**before, key: value}
        conversations.write_setting(tree.tx, seq, key, before[key])
        assert conversations.settings(tree.tx, seq) == before


def test_who_gave_a_title_is_kept_with_it() -> None:
    with growing() as tree:
        talk = tree.conversation()
        conversations.write_setting(tree.tx, talk, "title", "by me")
        assert conversations.row(tree.tx, talk).titled_by == "user"
        conversations.write_setting(tree.tx, talk, "title", "by it", titled_by="model")
        assert conversations.row(tree.tx, talk).titled_by == "model"
        conversations.write_setting(tree.tx, talk, "model", "x")
        assert conversations.row(tree.tx, talk).titled_by == "model"


def test_a_fork_takes_its_settings_but_not_its_place_on_the_shelf() -> None:
    with growing() as tree:
        seq = conversations.create(tree.tx, tree.id(), NOW, title="t", titled_by="rule", settings=FULL)
        taken = conversations.forked_settings(tree.tx, seq)
        assert (taken.model, taken.system, taken.approvals) == ("scripted:x", "Be brief.", "allow-edits")
        assert (taken.tools_off, taken.params, taken.tags) == (FULL.tools_off, FULL.params, FULL.tags)
        assert taken.folder is None


def test_the_list_is_newest_first_without_trash_and_archive() -> None:
    with growing() as tree:
        one, two, three, four = (tree.conversation() for _ in range(4))
        conversations.touch(tree.tx, one, NOW + 10)
        conversations.write_setting(tree.tx, two, "hidden", True)
        conversations.write_setting(tree.tx, three, "archived", True)
        ids = {seq: conversations.row(tree.tx, seq).id for seq in (one, two, three, four)}
        assert [row.id for row in conversations.listed(tree.tx)] == [ids[one], ids[four]]
        assert [row.id for row in conversations.listed(tree.tx, archived=True)] == [ids[three]]
        assert [row.id for row in conversations.trashed(tree.tx)] == [ids[two]]
        tree.tx.run("UPDATE conversation SET purged = 1")
        assert conversations.listed(tree.tx) == conversations.trashed(tree.tx) == []


def test_every_append_makes_the_conversation_newer_and_never_older() -> None:
    with growing() as tree:
        talk = tree.conversation()
        tree.say(talk, ROOT, "x")
        newer = conversations.row(tree.tx, talk).updated_ms
        assert newer > NOW
        conversations.touch(tree.tx, talk, NOW - 5)
        assert conversations.row(tree.tx, talk).updated_ms == newer


def test_usage_adds_up_and_an_unknown_cost_stays_unknown() -> None:
    with growing() as tree:
        talk = tree.conversation()
        conversations.count_reply(tree.tx, talk, Usage(input=10, output=2), None, NOW)
        conversations.count_reply(tree.tx, talk, None, None, NOW)
        assert conversations.row(tree.tx, talk).usage == ConversationUsage(turns=2, input=10, output=2, cost=None)
        conversations.count_reply(tree.tx, talk, Usage(input=1, output=1), 0.25, NOW)
        conversations.count_reply(tree.tx, talk, Usage(), None, NOW)
        assert conversations.row(tree.tx, talk).usage == ConversationUsage(turns=4, input=11, output=3, cost=0.25)


def test_the_current_conversation_stays_current_in_the_trash_but_not_purged() -> None:
    with growing() as tree:
        assert conversations.current(tree.tx) is None
        one, two = tree.conversation(), tree.conversation()
        conversations.make_current(tree.tx, one)
        conversations.make_current(tree.tx, two)
        assert conversations.current(tree.tx) == two
        conversations.write_setting(tree.tx, two, "hidden", True)
        assert conversations.current(tree.tx) == two
        tree.tx.run("UPDATE conversation SET purged = 1 WHERE seq = ?", (two,))
        assert conversations.current(tree.tx) is None


def test_labels_belong_to_one_conversation_and_move() -> None:
    with growing() as tree:
        one, two = tree.conversation(), tree.conversation()
        a, b = (spot.node for spot in tree.line(one, "ab"))
        conversations.write_label(tree.tx, one, "here", a)
        conversations.write_label(tree.tx, one, "there", b)
        conversations.write_label(tree.tx, one, "here", b)
        assert conversations.labels(tree.tx, one) == {"here": b, "there": b}
        assert conversations.label_of(tree.tx, two, "here") is None
        conversations.write_label(tree.tx, one, "here", None)
        assert conversations.labels(tree.tx, one) == {"there": b}


def test_a_head_moves_to_any_place_and_back_to_none() -> None:
    with growing() as tree:
        talk = tree.conversation()
        kept = tree.keep(talk, tree.line(talk, "abcd")[-1], 0, "A")
        for spot in (kept, Spot(kept.node, 2), ROOT):
            conversations.move_head(tree.tx, talk, spot, NOW)
            assert conversations.head(tree.tx, talk) == spot
            assert conversations.row(tree.tx, talk).head == nodes.spot_text(tree.tx, spot)
            assert conversations.settled_head(tree.tx, talk) == (spot, False)


def test_a_head_whose_node_is_gone_is_told_and_falls_back() -> None:
    with growing(damaged=True) as tree:
        talk, other = tree.conversation(), tree.conversation()
        here = tree.line(talk, "abc")
        carried = tree.graft(talk, here[0], tree.line(other, "xy")[-1], 2)
        conversations.move_head(tree.tx, talk, carried, NOW)
        tree.tx.run("DELETE FROM node WHERE conversation = ?", (other,))
        assert conversations.head(tree.tx, talk) == carried
        assert conversations.settled_head(tree.tx, talk) == (here[-1], True), "nothing below can be read"
        tree.tx.run("DELETE FROM node WHERE seq = ?", (carried.node,))
        with pytest.raises(StoreUnusable, match="is broken"):
            conversations.head(tree.tx, talk)
        assert conversations.settled_head(tree.tx, talk) == (here[-1], True)


def test_a_head_that_cannot_reach_a_root_falls_back_to_the_newest_leaf_that_can() -> None:
    with growing(damaged=True) as tree:
        talk = tree.conversation()
        here = tree.line(talk, "abcd")
        other = tree.line(talk, "xy", here[0])
        lost = tree.line(talk, "pq", other[0])
        conversations.move_head(tree.tx, talk, here[-1], NOW)
        tree.tx.run("DELETE FROM node WHERE seq IN (?, ?)", (here[1].node, lost[0].node))
        assert conversations.settled_head(tree.tx, talk) == (other[-1], True)
        tree.tx.run("DELETE FROM node WHERE seq = ?", (here[0].node,))
        assert conversations.settled_head(tree.tx, talk) == (ROOT, True)
