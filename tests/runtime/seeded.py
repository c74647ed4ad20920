"""A marker in every book of a home, and the question whether a byte of it is left: what tests of purges need."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NoReturn

import pytest

from forkwood.domain.errors import ProviderFailed
from forkwood.domain.event import NoticeGiven
from forkwood.domain.model import Delta, Reply
from forkwood.domain.settings import Settings
from forkwood.models import scripted
from forkwood.runtime import Runtime
from forkwood.runtime.upkeep import examine
from forkwood.store import aside, backups, conversations, drafts, log, places, summaries
from forkwood.store.opening import open_store
from tests.runtime.doors import NOON, answered, door, script

MARKER = "Xyzzy the seeded marker qzjx"
BYTES = (
    MARKER.encode(),
    MARKER.encode("utf-16-le"),
    MARKER.lower().encode(),
    b"xyzzy",
    b"Xyzzy",
    b"qzjx",
    b"qzjx".hex().encode(),
)


def opened(home: Path, **settings: object) -> Runtime:
    """A door over the store in HOME."""
    return door(
        open_store(home, now_ms=NOON),
        Settings(home=str(home), model="scripted:/nowhere.json", **settings),  # type: ignore[arg-type]
    )


def seeded_bytes(runtime: Runtime) -> list[str]:
    """The files of the home that hold a byte of the marker, in any spelling."""
    home = Path(runtime.house.settings.home)
    files = [path for path in sorted(home.rglob("*")) if path.is_file()]
    assert files
    return [path.name for path in files if any(spelled in path.read_bytes() for spelled in BYTES)]


def problems(runtime: Runtime) -> list[str]:
    """What doctor says is not as it should be."""
    return [problem.message for problem in examine(runtime.house.settings, "cli").problems]


def assert_gone(runtime: Runtime) -> None:
    """No byte of the marker is in the home, and its store is sound."""
    assert seeded_bytes(runtime) == []
    assert problems(runtime) == []


def quoting(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on a scripted failure quotes the marker, as providers quote the prompt."""

    def fails(fail: scripted.ScriptedFailure | None, _number: int) -> int | None:
        if fail is None or fail.after_chars:
            return fail.after_chars if fail else None
        raise ProviderFailed("invalid_request", f"cannot read '{MARKER}'", hint=f"leave out {MARKER}", said=MARKER)

    def breaks(reply: scripted.ScriptedReply, parts: tuple[object, ...], room: int) -> object:
        return Reply(parts=parts[:1], partial="error", error=f"stumbled over '{MARKER}'")  # type: ignore[arg-type]

    monkeypatch.setattr(scripted, "room_before_failure", fails)
    monkeypatch.setattr(scripted, "_broken", breaks)


def fail_quoting(runtime: Runtime, folder: Path, monkeypatch: pytest.MonkeyPatch, **more: int) -> str:
    """A run that fails with an error which quotes the marker; its id. AFTER_CHARS: in mid-stream."""
    with monkeypatch.context() as patched:
        quoting(patched)
        failing = script(
            folder, {"text": "so far", "fail": {"status": 400, "times": 9, **more}}, name=f"failing{len(more)}.json"
        )
        started = runtime.send("what now?", models=[failing])
        result = answered(runtime, started)
    assert result.status == "failed"
    assert MARKER in str(result.error)
    return started.runs[0]


def summarise(runtime: Runtime, entries: int) -> None:
    """Keep a summary with the marker for the beginning of the current path."""
    with runtime.house.store.write() as tx:
        here = conversations.current(tx)
        assert here is not None
        beginning = places.said(tx, conversations.head(tx, here))[:entries]
        summaries.add(tx, here, beginning, f"They spoke of {MARKER}.", id=runtime.house.new_id(), now_ms=NOON)


def draft(runtime: Runtime, run: str) -> None:
    """What a driver that was killed leaves of a reply."""
    with runtime.house.store.write() as tx:
        drafts.append(tx, run, 1, 0, [Delta(index=0, kind="text", text=f"a draft of {MARKER}")])


def seed_messages(runtime: Runtime, folder: Path) -> list[str]:
    """Messages, a file, versions, labels, marks and notices with the marker, each with a receipt; their ids."""
    note = folder / f"{MARKER}.txt"
    note.write_text(MARKER * 400)
    first = runtime.send(f"{MARKER} first", attach=[note], run=False, key=f"{MARKER} receipt 1").node.id
    playing = script(folder, {"text": f"I know {MARKER}"}, name="playing.json")
    started = runtime.send(MARKER, models=[playing], key=f"{MARKER} receipt 2")
    reply = answered(runtime, started).node
    assert reply is not None
    runtime.edit(first, f"{MARKER} again", run=False, key=f"{MARKER} receipt 3")
    runtime.switch(reply, key=f"{MARKER} receipt 4")
    runtime.label(reply, f"{MARKER} label", key=f"{MARKER} receipt 5")
    runtime.undo(key=f"{MARKER} receipt 6")
    runtime.redo(key=f"{MARKER} receipt 7")
    runtime.hide(first, key=f"{MARKER} receipt 8")
    runtime.unhide(first, key=f"{MARKER} receipt 9")
    with runtime.house.store.write() as tx:
        here = {"conversation": 1, "who": runtime.house.who, "now_ms": NOON}
        log.write(tx, NoticeGiven(what="repair", text=f"found {MARKER}"), node=1, **here)  # type: ignore[arg-type]
    return [first, started.node.id, reply]


def seed_settings(runtime: Runtime) -> None:
    """Settings of the conversation with the marker, those that stand and those that were replaced."""
    runtime.set("system", f"Never say {MARKER}.", key=f"{MARKER} receipt 19")
    runtime.set("title", f"on {MARKER}", key=f"{MARKER} receipt 20")
    runtime.set("title", f"more on {MARKER}", key=f"{MARKER} receipt 21")
    runtime.set("tags", MARKER, key=f"{MARKER} receipt 22")
    runtime.set("folder", MARKER, key=f"{MARKER} receipt 23")
    runtime.undo(key=f"{MARKER} receipt 24")


def seed_memory(runtime: Runtime, folder: Path) -> str:
    """A fact with the marker that a model proposed and a person accepted, and a run elsewhere whose prompt held it and
    which failed quoting it; the reply that proposed it."""
    fact = {"name": f"{MARKER} name", "value": f"{MARKER} value"}
    call = {"name": "remember", "arguments": fact, "call": f"call of {MARKER}"}
    model = script(folder, {"tool_calls": [call]}, {"text": "Noted."}, name="remembering.json")
    answered(runtime, runtime.send("remember that", models=[model], key=f"{MARKER} receipt 30"))
    (memory,) = runtime.memory(state="proposed")
    runtime.memory_decide(memory.id, "accept", key=f"{MARKER} receipt 31")
    assert memory.node is not None
    return memory.node


def seed_files(runtime: Runtime) -> None:
    """Copies of the store, whole and begun, and what was set aside by a salvage."""
    home = Path(runtime.house.settings.home)
    with runtime.house.store.read() as tx:
        copy = backups.make(tx.connection, home, version=tx.connection.pragma("user_version"), now_ms=NOON)
    copy.with_suffix(".part-4242").write_bytes(copy.read_bytes())
    (home / "salvage-1.jsonl").write_text(json.dumps({"text": MARKER}))
    set_aside(runtime, home / "salvage-2.jsonl")
    (home / "forkwood.db.corrupt-1").write_text(MARKER)


BOOKS = (
    "node", "event", "conversation", "run", "label", "mark", "summary", "receipt", "draft", "blob", "manifest",
    "memory",
)  # fmt: skip


def set_aside(runtime: Runtime, path: Path) -> None:
    """A side file as if a salvage had found no place for any row of the store, and could not read some more."""
    with aside.opened(path) as side, runtime.house.store.read() as tx:
        for table in BOOKS:
            cursor = tx.connection.execute(f"SELECT * FROM {table}")
            for row in cursor:
                names = (column[0] for column in cursor.get_description())
                side.row(table, dict(zip(names, row, strict=True)), "for a test")
        side.row("?", [None, *tx.rows("SELECT id, parts FROM node ORDER BY seq LIMIT 1")[0]], "it fits no table")
        side.missing("node", 900, 902)
        side.page(7)


def never(*_: object) -> NoReturn:
    """What must not be called, or dies where it is."""
    raise KeyboardInterrupt
