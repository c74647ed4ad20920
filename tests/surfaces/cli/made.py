"""Values that drawings are drawn from, made short: nodes of one conversation, entries, places."""

from __future__ import annotations

from typing import Any

from forkwood.domain.ids import make_id
from forkwood.domain.message import Origin, Text
from forkwood.domain.tree import Entry, Node, Siblings

BY_ROLE = {"user": "user", "assistant": "model", "tool": "tool", "system": "system"}


def name(number: int) -> str:
    """The id of node NUMBER: its ending is that number in eight digits."""
    return make_id(0, b"\0" * 6 + int(str(number), 16).to_bytes(4))


def message(seq: int, at: int | str | None, text: str = "", role: str = "user", **fields: Any) -> Node:
    """Message SEQ at node AT."""
    said: dict[str, Any] = {"parts": (Text(text=text),), "text": text}
    return _node(seq, at, kind="message", role=role, **{**said, **fields})


def graft(seq: int, at: int | str | None, source: int, count: int, **fields: Any) -> Node:
    """Graft SEQ at node AT: the last COUNT entries of the path of SOURCE."""
    return _node(seq, at, kind="graft", role=None, parts=(), text="", source=name(source), count=count, **fields)


def entry(node: Node, index: int = 1, count: int = 1, **fields: Any) -> Entry:
    """NODE as entry INDEX of COUNT siblings."""
    siblings = Siblings(index=index, count=count, ids=tuple(name(900 + number) for number in range(count)))
    return Entry(node=node, graft=fields.pop("graft", None), at=node.at, siblings=siblings, **fields)


def _node(seq: int, at: int | str | None, **fields: Any) -> Node:
    role = fields["role"]
    usual: dict[str, Any] = {
        "conversation": name(99),
        "source": None,
        "count": None,
        "origin": Origin(by=BY_ROLE.get(role, "user"), via="cli"),  # type: ignore[arg-type]
        "revises": None,
        "hidden": False,
        "partial": False,
        "partial_reason": None,
        "purged": False,
        "length": seq,
        "created_ms": seq,
    }
    place = name(at) if isinstance(at, int) else at
    return Node(id=name(seq), seq=seq, at=place, **{**usual, **fields})
