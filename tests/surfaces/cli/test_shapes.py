"""Every shape that `--json` gives, against a golden file that is kept for ever.

A shape may gain a field: its file is then written anew with WRITE_GOLDEN=1, and the difference read before it is kept.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from tests.surfaces.cli.desks import given, run_cli, succeed
from tests.surfaces.cli.scripts import scripted

GOLDEN = Path(__file__).parents[2] / "wire"
NAMES = re.compile(r"\b(?:[0-9a-f]{64}|[0-9a-f]{32})\b")
MOVING = re.compile(r"_ms$|_bytes$|^bytes$|^version$|^score$")
"""Keys whose numbers differ from one time or machine to another."""

PROSE = frozenset({"reason", "about", "note", "message", "hint", "description"})
"""Keys whose words are for people or models, and may be said better."""

World: TypeAlias = dict[str, str]


class Plain:
    """Replaces what differs each time: ids and digests by their order, times and sizes by 0, prose by a word."""

    def __init__(self, folder: Path) -> None:
        self.folder = str(folder)
        self.names: dict[str, str] = {}

    def value(self, value: Any, key: str = "") -> Any:
        match value:
            case dict():
                return {self.text(name): self.value(inner, name) for name, inner in value.items()}
            case list():
                return [self.value(inner, key) for inner in value]
            case str() if value and key in PROSE:
                return "words"
            case str():
                return self.text(value)
            case int() | float() if MOVING.search(key) and not isinstance(value, bool):
                return 0
            case _:
                return value

    def text(self, text: str) -> str:
        return NAMES.sub(self._name, text.replace(self.folder, "FOLDER"))

    def _name(self, found: re.Match[str]) -> str:
        sort = "digest" if len(found[0]) == 64 else "id"
        return self.names.setdefault(found[0], f"{sort}-{len(self.names) + 1}")


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A conversation with a reply, a retry, an edit that kept what followed, a hidden message and a failed run."""
    model = scripted(tmp_path, {"text": "A reply.", "thinking": "Hm.", "chunk": 4, "usage": {"input": 7, "output": 3}})
    here = given(["new", "--model", model, "--title", "Shapes", "--system", "Be plain."])["id"]
    succeed("send", "One")
    succeed("send", "Two")
    reply = given(["show", "@"])["id"]
    succeed("retry", "@")
    first = given(["path"])[0]["node"]["id"]
    succeed("edit", "@~3", "Uno", "--keep")
    succeed("hide", reply)
    return {"conversation": here, "reply": reply, "first": first, "model": model, "folder": str(tmp_path)}


def last_of(kind: str) -> Callable[[World], Any]:
    """The last line of that kind of a send."""

    def lines(_: World) -> Any:
        return [line for line in succeed("send", "Three", "--json").lines if line["type"] == kind][-1]

    return lines


def without_limits(why: Any) -> Any:
    """WHY without the bounds that were sealed, for they may be chosen anew, and with one tool: there may be others."""
    assert why["manifest"].pop("limits")["fenced_text_bytes_max"] > 0
    why["manifest"]["tools"] = [tool for tool in why["manifest"]["tools"] if tool["spec"]["name"] == "current_time"]
    why["prompt"]["tools"] = [tool for tool in why["prompt"]["tools"] if tool["name"] == "current_time"]
    return why


def stopped_at_a_call(world: World) -> Any:
    """What waits after a reply that calls a tool which asks first."""
    call = {"name": "search_conversations", "arguments": {"words": "x"}, "call": "c"}
    asking = scripted(Path(world["folder"]), {"tool_calls": [call]}, {"text": "So."}, file="asking.json")
    assert run_cli("send", "Look", "--model", asking).code == 5
    return given(["pending"])


def granted(world: World) -> Any:
    """The grants that hold after a yes was remembered."""
    succeed("answer", stopped_at_a_call(world)[0]["id"], "allow", "--remember", "conversation", "--no-run")
    return given(["grants"])


def waiting(world: World) -> Any:
    """What waits behind a run that stopped at a call."""
    stopped_at_a_call(world)
    succeed("send", "Later", "--model", world["model"])
    succeed("send", "Look left", "--steer")
    return given(["queue"])


SHAPES: dict[str, Callable[[World], Any]] = {
    "conversation": lambda world: given(["use", world["conversation"]]),
    "conversation_forked": lambda _: given(["fork", "@"]),
    "conversations": lambda _: given(["ls"]),
    "node_message": lambda _: given(["tree"])[1],
    "node_graft": lambda _: next(node for node in given(["tree"]) if node["kind"] == "graft"),
    "node_shown": lambda world: given(["show", world["first"]]),
    "node_sent": lambda _: given(["send", "Three", "--no-run"]),
    "entries": lambda _: given(["path"]),
    "branches": lambda _: given(["branches"]),
    "versions": lambda world: given(["history", world["first"]]),
    "why": lambda world: without_limits(given(["why", world["reply"]])),
    "event": lambda _: succeed("log", "--json").lines[1],
    "event_undone": lambda _: given(["undo"]),
    "hits": lambda _: given(["search", "reply", "--limit", "1"]),
    "runs": lambda _: given(["runs"])[:1],
    "run_cancelled": lambda _: given(["cancel", given(["runs"])[0]["id"]]),
    "moved": lambda _: given(["drop", "@"]),
    "touched": lambda world: given(["unhide", world["reply"]]),
    "trash": lambda _: given(["trash"]),
    "purged": lambda world: given(["purge", world["reply"], "--yes"]),
    "delta": last_of("delta"),
    "event_seen": last_of("event"),
    "result": last_of("result"),
    "models": lambda _: given(["models"]),
    "model_used": lambda world: given(["models", "use", world["model"]]),
    "report": lambda _: given(["doctor"]),
    "stats": lambda _: {name: value for name, value in given(["stats"]).items() if name != "tables"},
    "profiles": lambda _: [succeed("config", "set", "profiles.p.model", "a:b"), given(["profiles"])][1],
    "interactions": stopped_at_a_call,
    "interaction_answered": lambda world: given(["answer", stopped_at_a_call(world)[0]["id"], "allow", "--no-run"]),
    "grants": granted,
    "queue": waiting,
    "summarized": lambda _: given(["summarize"]),
    "memories": lambda _: [succeed("memory", "--add", "tea", "green"), given(["memory"])][1],
    "error_not_found": lambda _: run_cli("show", "zzzz", "--json").value,
    "error_usage": lambda _: run_cli("switch", "--json").value,
    "error_limit": lambda _: run_cli("set", "title", "x" * 201, "--json").value,
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_shape_is_what_it_always_was(world: World, tmp_path: Path, shape: str) -> None:
    found = Plain(tmp_path).value(SHAPES[shape](world))
    path = GOLDEN / f"{shape}.json"
    if os.environ.get("WRITE_GOLDEN"):
        path.write_text(json.dumps(found, indent=2, ensure_ascii=False) + "\n", "utf-8")
    assert found == json.loads(path.read_text("utf-8"))


def test_every_golden_file_is_of_a_shape() -> None:
    assert {path.stem for path in GOLDEN.glob("*.json")} == set(SHAPES)
