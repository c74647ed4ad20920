"""Conversations: the one row each has, its head, its settings and labels, and which one is current."""

from __future__ import annotations

from typing import Any, cast

import msgspec

from forkwood import wire
from forkwood.domain.conversation import (
    Conversation,
    ConversationSettings,
    ConversationUsage,
    ForkedFrom,
    TitledBy,
)
from forkwood.domain.errors import NotFound, StoreUnusable
from forkwood.domain.ids import Id
from forkwood.domain.model import Usage
from forkwood.domain.settings import Parameters
from forkwood.domain.tree import ROOT, Spot
from forkwood.store import nodes, walk
from forkwood.store.db import Tx

_ROW = """SELECT c.id, c.title, c.titled_by, c.head_id, c.head_cut, c.model, c.system, c.approvals, c.tools_off,
  c.params, c.profile, c.turns, c.input, c.output, c.cost, c.created_ms, c.updated_ms, c.forked_conversation,
  c.forked_node, c.tags, c.folder, c.pinned, c.archived, c.hidden, c.purged FROM conversation c"""

_HEAD = """SELECT c.head_node, c.head_cut, c.head_cut BETWEEN 0 AND n.own - 1
  FROM conversation c LEFT JOIN node n ON n.seq = c.head_node WHERE c.seq = ?"""
_REACHED = """WITH RECURSIVE down (seq) AS (
  SELECT seq FROM node WHERE conversation = ? AND at_node IS NULL
  UNION ALL SELECT n.seq FROM down JOIN node n ON n.at_node = down.seq
) SELECT seq FROM down ORDER BY seq DESC"""

_AS_JSON = ("tools_off", "params", "tags")
_AS_BOOL = ("pinned", "archived", "hidden")
_AS_IS = ("title", "model", "system", "approvals", "profile", "folder")
SETTING_KEYS = (*_AS_IS, *_AS_JSON, *_AS_BOOL)
"""The settings of a conversation; the parameters of a model call stand in `params`."""


def create(
    tx: Tx,
    id: Id,
    now_ms: int,
    *,
    title: str,
    titled_by: TitledBy,
    settings: ConversationSettings,
    forked_from: tuple[Id, Id] | None = None,
) -> int:
    """A new conversation with an empty path; its seq. FORKED_FROM is (conversation, node)."""
    conversation, node = (bytes.fromhex(name) for name in forked_from) if forked_from else (None, None)
    return tx.insert(
        """INSERT INTO conversation (id, title, titled_by, model, system, approvals, tools_off, params, profile, tags,
           folder, created_ms, updated_ms, forked_conversation, forked_node) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)""",
        (
            bytes.fromhex(id),
            title,
            titled_by,
            settings.model,
            settings.system,
            settings.approvals,
            wire.text(settings.tools_off),
            wire.text(settings.params),
            settings.profile,
            wire.text(settings.tags),
            settings.folder,
            now_ms,
            now_ms,
            conversation,
            node,
        ),
    )


def row(tx: Tx, seq: int) -> Conversation:
    """The conversation. Raises NotFound."""
    found = tx.one(f"{_ROW} WHERE c.seq = ?", (seq,))
    if found is None:
        raise NotFound(f"there is no conversation number {seq}", hint="forkwood ls lists them")
    return _conversation(found)


def title_of(tx: Tx, id: Id) -> str:
    """The title of a conversation, purged or not: a husk has none."""
    found: str | None = tx.value("SELECT title FROM conversation WHERE id = ?", (bytes.fromhex(id),))
    return found or ""


def fork_titles(tx: Tx) -> frozenset[str]:
    """The titles that say of themselves that they are a fork's."""
    return frozenset(title for (title,) in tx.rows("SELECT title FROM conversation WHERE title GLOB '* (fork*)'"))


def listed(tx: Tx, *, archived: bool = False) -> list[Conversation]:
    """The conversations that are archived or are not, newest first; none from the trash."""
    rows = tx.rows(
        f"{_ROW} WHERE c.archived = ? AND c.hidden = 0 AND c.purged = 0 ORDER BY c.updated_ms DESC, c.seq DESC",
        (archived,),
    )
    return [_conversation(found) for found in rows]


def trashed(tx: Tx) -> list[Conversation]:
    """The conversations in the trash, newest first."""
    rows = tx.rows(f"{_ROW} WHERE c.hidden = 1 AND c.purged = 0 ORDER BY c.updated_ms DESC, c.seq DESC")
    return [_conversation(found) for found in rows]


def head(tx: Tx, seq: int) -> Spot:
    """Where the head stands: constant, whatever the path's length. Raises StoreUnusable where that is no place."""
    found = tx.one(_HEAD, (seq,))
    if found is None:
        raise NotFound(f"there is no conversation number {seq}", hint="forkwood ls lists them")
    node, cut, is_place = found
    if node is None:
        return ROOT
    if not is_place:
        raise walk.broken(Spot(node, cut))
    return Spot(node, cut)


def settled_head(tx: Tx, seq: int) -> tuple[Spot, bool]:
    """The head; where it cannot reach a root, the newest leaf that can, and True: a repair to be told."""
    try:
        at = head(tx, seq)
    except StoreUnusable as error:
        if not walk.is_broken(error):
            raise
    else:
        if walk.is_whole(tx, at):
            return at, False
    for (node,) in tx.rows(_REACHED, (seq,)):
        if walk.is_whole(tx, Spot(node)):
            return Spot(node), True
    return ROOT, True


def move_head(tx: Tx, seq: int, spot: Spot, now_ms: int) -> None:
    """Put the head at a place of the conversation."""
    tx.run(
        "UPDATE conversation SET head_node = ?, head_cut = ?, updated_ms = max(updated_ms, ?) WHERE seq = ?",
        (spot.node or None, spot.cut, now_ms, seq),
    )


def touch(tx: Tx, seq: int, now_ms: int) -> None:
    """Something happened in the conversation: it is newer now."""
    tx.run("UPDATE conversation SET updated_ms = max(updated_ms, ?) WHERE seq = ?", (now_ms, seq))


def count_reply(tx: Tx, seq: int, usage: Usage | None, cost: float | None, now_ms: int, *, turns: int = 1) -> None:
    """Add one reply to what the conversation took, TURNS 0 where it was to a question of ours and no turn.

    A cost nobody knows leaves the sum as it is.
    """
    used = usage or Usage()
    tx.run(
        """UPDATE conversation SET turns = turns + ?, input = input + ?, output = output + ?,
           cost = iif(? IS NULL, cost, ifnull(cost, 0) + ?), updated_ms = max(updated_ms, ?) WHERE seq = ?""",
        (turns, used.input, used.output, cost, cost, now_ms, seq),
    )


def setting(tx: Tx, seq: int, key: str) -> Any:
    """The value of a setting as JSON has it: what an event's before and after hold."""
    assert key in SETTING_KEYS, key
    value = tx.value(f"SELECT {key} FROM conversation WHERE seq = ?", (seq,))
    return wire.decode(value, object) if key in _AS_JSON else bool(value) if key in _AS_BOOL else value


def settings(tx: Tx, seq: int) -> dict[str, Any]:
    """All settings of the conversation, as JSON has them."""
    return {key: setting(tx, seq, key) for key in SETTING_KEYS}


def forked_settings(tx: Tx, seq: int) -> ConversationSettings:
    """What a fork takes along: model, system, approvals, parameters, profile, tags and tool switches."""
    source = row(tx, seq)
    return ConversationSettings(
        model=source.model,
        system=source.system,
        approvals=source.approvals,
        tools_off=source.tools_off,
        params=source.params,
        profile=source.profile,
        tags=source.tags,
    )


def write_setting(tx: Tx, seq: int, key: str, value: Any, *, titled_by: TitledBy = "user") -> None:
    """Change a setting. TITLED_BY is written with a title: one that a person gave is never replaced by another."""
    assert key in SETTING_KEYS, key
    stored = wire.text(value) if key in _AS_JSON else value
    tx.run(f"UPDATE conversation SET {key} = ? WHERE seq = ?", (stored, seq))
    if key == "title":
        tx.run("UPDATE conversation SET titled_by = ? WHERE seq = ?", (titled_by, seq))


def current(tx: Tx) -> int | None:
    """The conversation that commands mean when they name none, in the trash or not; None where there is none."""
    return cast(
        "int | None",
        tx.value("SELECT c.seq FROM current JOIN conversation c ON c.seq = current.conversation WHERE c.purged = 0"),
    )


def make_current(tx: Tx, seq: int) -> None:
    """Commands that name no conversation mean this one from now on."""
    tx.run(
        "INSERT INTO current (one, conversation) VALUES (1, ?) ON CONFLICT DO UPDATE SET conversation = ?", (seq, seq)
    )


def labels(tx: Tx, seq: int) -> dict[str, int]:
    """The labels of the conversation by name, and the seqs of their nodes."""
    return dict(tx.rows("SELECT name, node FROM label WHERE conversation = ? ORDER BY name", (seq,)))


def label_of(tx: Tx, seq: int, name: str) -> int | None:
    """The node that has the label, or None."""
    return cast("int | None", tx.value("SELECT node FROM label WHERE conversation = ? AND name = ?", (seq, name)))


def write_label(tx: Tx, seq: int, name: str, node: int | None) -> None:
    """Give a label to a node, or to none."""
    if node is None:
        tx.run("DELETE FROM label WHERE conversation = ? AND name = ?", (seq, name))
    else:
        tx.run(
            "INSERT INTO label (conversation, name, node) VALUES (?,?,?) ON CONFLICT DO UPDATE SET node = ?",
            (seq, name, node, node),
        )


def _conversation(found: tuple[Any, ...]) -> Conversation:
    (id, title, titled_by, head_id, head_cut, model, system, approvals, tools_off, params, profile, turns, input_tokens,
     output_tokens, cost, created_ms, updated_ms, from_conversation, from_node, tags, folder, pinned, archived, hidden,
     purged) = found  # fmt: skip
    return Conversation(
        id=id.hex(),
        title=title,
        titled_by=titled_by,
        head=None if head_id is None else nodes.place_text(head_id, head_cut),
        model=model,
        system=system,
        approvals=approvals,
        tools_off=_names(tools_off),
        params=wire.decode(params, Parameters),
        profile=profile,
        usage=ConversationUsage(turns=turns, input=input_tokens, output=output_tokens, cost=cost),
        project=None,
        created_ms=created_ms,
        updated_ms=updated_ms,
        forked_from=_source(from_conversation, from_node),
        tags=_names(tags),
        folder=folder,
        pinned=bool(pinned),
        archived=bool(archived),
        hidden=bool(hidden),
        purged=bool(purged),
    )


_names = msgspec.json.Decoder(tuple[str, ...]).decode


def _source(conversation: bytes | None, node: bytes | None) -> ForkedFrom | None:
    if conversation is None or node is None:
        return None
    return ForkedFrom(conversation=conversation.hex(), node=node.hex())
