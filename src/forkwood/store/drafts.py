"""Drafts: what has come of a reply in flight. Mutable rows, gone once the reply is kept; in no log, search, export."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from forkwood import wire
from forkwood.domain.ids import Id
from forkwood.domain.message import Part, Text, Thinking
from forkwood.domain.model import Delta
from forkwood.store.db import Tx

_deltas = msgspec.json.Decoder(tuple[Delta, ...]).decode


def append(tx: Tx, run: Id, turn: int, n: int, deltas: Sequence[Delta]) -> None:
    """Write scrap number N (from 0) of the draft for TURN."""
    tx.run(
        "INSERT INTO draft (run, turn, n, deltas) VALUES (?, ?, ?, ?)", (bytes.fromhex(run), turn, n, wire.text(deltas))
    )


def since(tx: Tx, run: Id, turn: int, n: int) -> list[tuple[int, int, tuple[Delta, ...]]]:
    """The scraps behind number N of TURN, and those of later turns: (turn, n, deltas), oldest first."""
    rows = tx.rows(
        "SELECT turn, n, deltas FROM draft WHERE run = ? AND (turn, n) > (?, ?) ORDER BY turn, n",
        (bytes.fromhex(run), turn, n),
    )
    return [(found, number, _deltas(text)) for found, number, text in rows]


def parts(tx: Tx, run: Id) -> tuple[Part, ...]:
    """What the draft of a run holds, as the parts of a reply."""
    return assembled(delta for _, _, deltas in since(tx, run, 0, -1) for delta in deltas)


def clear(tx: Tx, run: Id) -> None:
    """The reply is kept, or what came of it is: the draft goes."""
    tx.run("DELETE FROM draft WHERE run = ?", (bytes.fromhex(run),))


def assembled(deltas: Iterable[Delta]) -> tuple[Part, ...]:
    """Words and thoughts as far as they came, in the order of their parts. A call that is not whole is no call."""
    texts: dict[int, list[str]] = {}
    kinds: dict[int, type[Text | Thinking]] = {}
    for delta in deltas:
        if delta.kind != "tool_call":
            kinds[delta.index] = Text if delta.kind == "text" else Thinking
            texts.setdefault(delta.index, []).append(delta.text)
    found = ((kinds[index], "".join(texts[index])) for index in sorted(texts))
    return tuple(kind(text=text) for kind, text in found if text)


def merged(deltas: Iterable[Delta]) -> list[Delta]:
    """DELTAS with neighbours of one part as one: the same reply in fewer rows."""
    found: list[Delta] = []
    texts: list[str] = []
    for delta in deltas:
        if found and (found[-1].index, found[-1].kind) == (delta.index, delta.kind):
            texts.append(delta.text)
            continue
        if len(texts) > 1:
            found[-1] = msgspec.structs.replace(found[-1], text="".join(texts))
        found.append(delta)
        texts = [delta.text]
    if len(texts) > 1:
        found[-1] = msgspec.structs.replace(found[-1], text="".join(texts))
    return found
