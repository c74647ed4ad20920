"""Stores to measure: a home of its own, conversations of any depth, filled fast and then used through the one door."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.floors import sentences
from forkwood.config import load_settings
from forkwood.domain.act import MessageSent, Who
from forkwood.domain.ids import Id, make_id
from forkwood.domain.message import Origin, Role, Text
from forkwood.domain.tool import Tool
from forkwood.domain.tree import ROOT, Spot
from forkwood.runtime import Runtime
from forkwood.store import append, conversations, log, names
from forkwood.store.db import Tx

ROLES: tuple[Role, Role] = ("user", "assistant")


@contextmanager
def world(tools: Mapping[str, Tool] | None = None) -> Iterator[tuple[Runtime, Path]]:
    """A runtime over a new store, and its home; gone afterwards. TOOLS stand in for the program's own."""
    with TemporaryDirectory(prefix="forkwood-bench-") as folder:
        home = Path(folder) / "home"
        environ = {"FORKWOOD_HOME": str(home), "FORKWOOD_LOCAL_SERVERS": ""}
        with Runtime.open(load_settings(environ), environ, via="cli", tools=tools) as runtime:
            yield runtime, home


def straight(runtime: Runtime, messages: int, *, seed: int = 1, tails: dict[int, str] | None = None) -> list[Id]:
    """A new current conversation with a straight path of MESSAGES; the ids of its nodes. TAILS end some texts."""
    conversation = runtime.new(model="scripted:none.json").id
    made: list[Id] = []
    with runtime.house.store.write() as tx:
        seq, at = names.conversation(tx, conversation), ROOT
        for number, text in enumerate(islice(sentences(seed), messages)):
            made.append(new_id())
            at = Spot(_said(tx, made[-1], seq, at, text + (tails or {}).get(number, "")))
        conversations.move_head(tx, seq, at, now_ms())
    return made


def stand(runtime: Runtime, conversation: Id, node: Id) -> None:
    """Put the head where NODE was appended, whatever has been carried since."""
    with runtime.house.store.write() as tx:
        spot = Spot(names.node(tx, node))
        conversations.move_head(tx, names.conversation(tx, conversation), spot, now_ms())


def _said(tx: Tx, id: Id, conversation: int, at: Spot, text: str) -> int:
    role, who = ROLES[at.node % 2], Who(by="user", via="cli")
    node = append.add_message(
        tx, id=id, conversation=conversation, at=at, role=role, parts=(Text(text=text),),
        origin=Origin(by="user", via="cli"), now_ms=now_ms(),
    )  # fmt: skip
    log.write(tx, MessageSent(effects=()), who=who, now_ms=now_ms(), conversation=conversation, node=node)
    return node


def new_id() -> Id:
    """An id made now."""
    return make_id(now_ms(), os.urandom(10))


def now_ms() -> int:
    """Now, in Unix milliseconds."""
    return time.time_ns() // 1_000_000
