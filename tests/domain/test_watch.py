"""Lines of a watch: one JSON shape each, told apart by `type`."""

from __future__ import annotations

import pytest

from forkwood import wire
from forkwood.domain.model import Usage
from forkwood.domain.watch import DeltaSeen, EventSeen, Result, Seen

RUN = "1" * 32
LINES: list[tuple[Seen, dict[str, object]]] = [
    (
        DeltaSeen(run=RUN, part="text", index=0, text="Hi"),
        {"type": "delta", "run": RUN, "part": "text", "index": 0, "text": "Hi"},
    ),
    (
        EventSeen(
            seq=1, at_ms=2, kind="run.ended", conversation=None, run=RUN, node=None, by="system", via="cli", payload={}
        ),
        {
            "type": "event", "seq": 1, "at_ms": 2, "kind": "run.ended", "conversation": None, "run": RUN, "node": None,
            "by": "system", "via": "cli", "payload": {},
        },
    ),
    (
        Result(run=RUN, status="done", node=None, text="", usage=Usage(), error=None),
        {
            "type": "result", "run": RUN, "status": "done", "node": None, "text": "", "error": None,
            "usage": {"input": 0, "output": 0, "cache_read": 0, "cache_write": 0, "reasoning": 0},
        },
    ),
]  # fmt: skip


@pytest.mark.parametrize(("line", "shape"), LINES)
def test_each_line_has_its_shape(line: Seen, shape: dict[str, object]) -> None:
    assert wire.decode(wire.encode(line), dict) == shape
    assert wire.decode(wire.encode(line), type(line)) == line
