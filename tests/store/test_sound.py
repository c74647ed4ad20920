"""What a cell must hold, and what stands for one that does not."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import pytest
from msgspec import Struct

from forkwood.domain import limits
from forkwood.store import sound

DIGEST = sha256(b"abc").hexdigest()


class Case(Struct, frozen=True):
    table: str
    row: dict[str, Any]
    wrong: list[str]
    mended: dict[str, Any] | None = None


def event(**cells: Any) -> dict[str, Any]:
    return {"kind": "message.sent", "act": 1, "payload": '{"effects":[]}', "by": "user", "via": "cli", **cells}


NAME = (1_700_000_000_000).to_bytes(6, "big") + bytes(10)
CASES = [
    Case("conversation", {"tags": "[]", "params": "{}", "created_ms": 0}, []),
    Case("conversation", {"tags": "5", "params": "[1]"}, ["tags", "params"], {"tags": "[]", "params": "{}"}),
    Case("conversation", {"created_ms": limits.time_ms_max}, []),
    Case("conversation", {"id": NAME, "created_ms": limits.time_ms_max + 1}, ["created_ms"],
         {"id": NAME, "created_ms": 1_700_000_000_000}),
    Case("conversation", {"created_ms": -1}, ["created_ms"], {"created_ms": 0}),
    Case("conversation", {"seq": limits.seq_max}, []),
    Case("conversation", {"seq": limits.seq_max + 1}, ["seq"]),
    Case("node", {"conversation": 1 << 60}, ["conversation"], {"conversation": limits.seq_max}),
    Case("node", {"parts": None, "partial": None, "via": "cli"}, []),
    Case("node", {"parts": '[{"kind":"song"}]'}, ["parts"]),
    Case("node", {"via": "cmi"}, ["via"], {"via": "import"}),
    Case("node", {"partial": "cuu"}, ["partial"], {"partial": None}),
    Case("event", event(), []),
    Case("event", event(kind="song"), ["payload"]),
    Case("event", event(payload='{"effects":5}'), ["payload"]),
    Case("event", event(act=0), ["payload"]),
    Case("event", event(via="cmi"), ["via"]),
    Case("event", event(at_ms=-1), ["at_ms"], event(at_ms=0)),
    Case("manifest", {"digest": DIGEST, "body": "abc"}, []),
    Case("manifest", {"digest": DIGEST, "body": "null"}, []),
    Case("manifest", {"digest": DIGEST, "body": "abd"}, ["digest"]),
    Case("blob", {"hash": DIGEST, "size": 3, "bytes": b"abc"}, []),
    Case("blob", {"hash": DIGEST, "size": 4, "bytes": b"abc"}, ["hash"]),
    Case("blob", {"hash": DIGEST, "size": 3, "bytes": b"abd"}, ["hash"]),
    Case("label", {"name": "x"}, []),
    Case("receipt", {"key": "k", "response": None, "created_ms": 1}, []),
    Case("receipt", {"key": "k", "response": '"\\ud800"', "created_ms": 1}, ["response"]),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.table} {case.row}")
def test_what_is_wrong_with_a_row_and_what_can_stay_of_it(case: Case) -> None:
    wrong = sound.faults(case.table, case.row)
    assert wrong == case.wrong
    if wrong:
        assert sound.mended(case.table, case.row, wrong) == case.mended


def test_a_node_that_cannot_be_read_leaves_its_place() -> None:
    row = {"seq": 7, "id": NAME, "role": "user", "at_node": 5, "at_cut": 2, "length": 6, "conversation": 1}
    husk = sound.emptied({**row, "created_ms": -1, "parts": "nonsense"})
    assert (husk["at_node"], husk["at_cut"], husk["length"], husk["parts"], husk["purged"]) == (5, 2, 6, "[]", 1)
    assert (husk["created_ms"], husk["by"]) == (1_700_000_000_000, "user")
    assert sound.emptied({**row, "role": "assistant", "created_ms": 5})["by"] == "model"
    nowhere = sound.emptied({**row, "at_node": 7, "created_ms": 5})
    assert (nowhere["at_node"], nowhere["at_cut"], nowhere["created_ms"]) == (None, 0, 5)
