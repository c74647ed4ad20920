"""Appending to the tree: every act that says something is one row here, a message, the results of a turn or a graft.

Beside its place a node keeps two pointers up its path, so that neither reading nor checking it has to walk: a *jump*
(the skew-binary scheme: any place above is found in a logarithmic number of looks), and the nearest graft.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from forkwood import wire
from forkwood.domain import limits
from forkwood.domain.errors import LimitExceeded, Misused, NotFound, Refused
from forkwood.domain.ids import Id
from forkwood.domain.message import (
    Attachment,
    Origin,
    Part,
    PartialReason,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    calls_of,
)
from forkwood.domain.tree import ROOT, Spot
from forkwood.store import search, walk
from forkwood.store.db import Tx

_PARENT = """SELECT p.conversation, p.own, p.length, p.source_node IS NOT NULL, p.hops, p.jump_node, p.jump_cut,
    p.graft_node, p.graft_cut, j.hops, j.jump_node, j.jump_cut, jj.hops
  FROM node p LEFT JOIN node j ON j.seq = p.jump_node LEFT JOIN node jj ON jj.seq = j.jump_node WHERE p.seq = ?"""

_INSERT = """INSERT INTO node (id, conversation, at_node, at_cut, role, parts, source_node, source_cut, first, own,
    length, hops, beside, jump_node, jump_cut, graft_node, graft_cut, by, via, run, model, revises, partial, created_ms)
  VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"""

_TAKEN = "SELECT EXISTS (SELECT 1 FROM node WHERE at_node = ? AND at_cut = ?)"
_FIRST_TAKEN = """SELECT EXISTS (SELECT 1 FROM node n WHERE n.conversation = c.seq AND n.at_node IS NULL)
  FROM conversation c WHERE c.seq = ?"""


class Content(Struct, frozen=True, kw_only=True):
    """What a row says: a message's role and parts, or a graft's source and first message; who said it, and when."""

    id: Id
    origin: Origin
    now_ms: int
    role: Role | None = None
    parts: str | None = None
    source: Spot = ROOT
    first: int | None = None
    own: int = 1
    revises: int = 0
    partial: PartialReason | None = None


class Pointers(Struct, frozen=True):
    """What a new row keeps of the path above it."""

    size: int = 0
    hops: int = 0
    beside: bool = False
    jump: Spot = ROOT
    graft: Spot = ROOT


def add_message(
    tx: Tx,
    *,
    id: Id,
    conversation: int,
    at: Spot,
    role: Role,
    parts: tuple[Part, ...],
    origin: Origin,
    now_ms: int,
    revises: int = 0,
    partial: PartialReason | None = None,
) -> int:
    """Append a message at a place (read as the place after the results, where it lies before them); its seq.

    Raises Misused without parts, Refused for parts the role cannot say or a place of another conversation, NotFound for
    a place without its node, LimitExceeded for too many or too large parts and too long a path.
    """
    _check_parts(role, parts)
    content = Content(
        id=id,
        origin=origin,
        now_ms=now_ms,
        role=role,
        parts=wire.text(parts),
        revises=revises,
        partial=partial,
    )
    seq = insert(tx, conversation, walk.behind_results(tx, at), content)
    _index(tx, seq, parts)
    return seq


def add_results(tx: Tx, *, id: Id, at: Spot, parts: tuple[ToolResult, ...], origin: Origin, now_ms: int) -> int:
    """Append the results of a turn's calls, in their order, right after the reply at AT that made them; the node's seq.

    Raises Refused for results without their calls, or a second time.
    """
    reply = tx.one("SELECT conversation, parts FROM node WHERE seq = ? AND role = 'assistant'", (at.node,))
    called = (
        [] if reply is None or at.cut else [part.call for part in calls_of(wire.decode(reply[1], tuple[Part, ...]))]
    )
    if reply is None or not called or called != [getattr(part, "call", None) for part in parts]:
        raise Refused(
            "results must answer the calls of the reply they stand behind, each once and in its order",
            hint="only a run appends results",
            calls=called,
        )
    if tx.value("SELECT 1 FROM node WHERE at_node = ? AND at_cut = 0 AND role = 'tool'", (at.node,)):
        raise Refused("the calls of this reply have their results already", hint="forkwood show NODE")
    _check_size(parts)
    content = Content(id=id, origin=origin, now_ms=now_ms, role="tool", parts=wire.text(parts))
    seq = insert(tx, reply[0], at, content)
    _index(tx, seq, parts)
    return seq


def insert(tx: Tx, conversation: int, at: Spot, content: Content) -> int:
    """The one INSERT of the tree. Raises as `add_message` does for its place."""
    above = pointers(tx, conversation, at)
    length = above.size + content.own
    if length > limits.path_entries_max:
        raise LimitExceeded(
            "the messages of this path",
            limit="path_entries_max",
            bound=limits.path_entries_max,
            got=length,
            hint="go on in a new conversation, or from an earlier message with --at",
        )
    source = _pair(content.source) if content.source.node else (None, None)
    origin = content.origin
    seq = tx.insert(
        _INSERT,
        (
            bytes.fromhex(content.id), conversation, *_pair(at), content.role, content.parts, *source, content.first,
            content.own, length, above.hops + 1, above.beside, *_pair(above.jump), *_pair(above.graft),
            origin.by, origin.via, bytes.fromhex(origin.run) if origin.run else None, origin.model,
            content.revises or None, content.partial, content.now_ms,
        ),
    )  # fmt: skip
    tx.run("UPDATE conversation SET updated_ms = max(updated_ms, ?) WHERE seq = ?", (content.now_ms, conversation))
    return seq


def pointers(tx: Tx, conversation: int, at: Spot) -> Pointers:
    """What a row that hangs at AT in CONVERSATION keeps. Raises NotFound, Refused."""
    if at.node == 0:
        taken = tx.value(_FIRST_TAKEN, (conversation,))
        if taken is None:
            raise NotFound(f"there is no conversation number {conversation}", hint="forkwood ls lists them")
        return Pointers(beside=bool(taken))
    row = tx.one(_PARENT, (at.node,))
    if row is None:
        raise NotFound(f"there is no node #{at.node}", hint="forkwood tree lists the nodes of a conversation")
    home, own, length, is_graft, hops, jump_node, _, graft_node, graft_cut, *further = row
    if home != conversation:
        raise Refused(
            f"node #{at.node} belongs to another conversation: a message hangs at one of its own",
            hint="forkwood graft carries a message over; -c names the other conversation",
            node=at.node,
        )
    assert 0 <= at.cut < own, "a place has one spelling"
    jump_hops, next_node, next_cut, next_hops = further
    if jump_node is not None and jump_hops is None:
        raise walk.broken(at)
    leap = jump_node is not None and hops - jump_hops == jump_hops - (next_hops or 0)
    return Pointers(
        size=length - at.cut,
        hops=hops,
        beside=at.cut > 0 or bool(tx.value(_TAKEN, (at.node, at.cut))),
        jump=_spot(next_node, next_cut) if leap else at,
        graft=at if is_graft else _spot(graft_node, graft_cut),
    )


def _spot(node: int | None, cut: int | None) -> Spot:
    return Spot(node, cut or 0) if node else ROOT


def _pair(spot: Spot) -> tuple[int | None, int]:
    return spot.node or None, spot.cut


def _check_parts(role: Role, parts: tuple[Part, ...]) -> None:
    if role == "tool" or any(isinstance(part, ToolResult) for part in parts):
        raise Refused("results of tools are appended by their run, never by hand", hint="send a user message instead")
    if not parts:
        raise Misused("a message without parts says nothing", hint="give it a text or an attachment")
    if role != "assistant" and any(isinstance(part, ToolCall | Thinking) for part in parts):
        raise Refused(f"a {role} message holds no calls and no thinking: those are a reply's", role=role)
    _check_size(parts)


def _check_size(parts: Sequence[Part]) -> None:
    if len(parts) > limits.parts_max:
        raise LimitExceeded("the parts of a message", limit="parts_max", bound=limits.parts_max, got=len(parts))
    got = sum(_text_bytes(part) for part in parts)
    if got > limits.message_bytes_max:
        raise LimitExceeded(
            "the bytes of a message's text",
            limit="message_bytes_max",
            bound=limits.message_bytes_max,
            got=got,
            hint="attach a long text as a file: --attach FILE",
        )


def _text_bytes(part: Part) -> int:
    match part:
        case Text(text=text) | Thinking(text=text):
            return len(text.encode())
        case ToolCall(arguments=arguments):
            return len(wire.encode(arguments))
        case ToolResult(parts=inner):
            return sum(_text_bytes(piece) for piece in inner)
        case Attachment():
            return 0


def _index(tx: Tx, seq: int, parts: Sequence[Part]) -> None:
    inner = [piece for part in parts if isinstance(part, ToolResult) for piece in part.parts]
    for part in (*parts, *inner):
        if isinstance(part, Attachment):
            tx.run("INSERT OR IGNORE INTO attachment (node, blob) VALUES (?, ?)", (seq, part.blob))
    search.add(tx, seq, parts)
