"""A store with a row in every book, for doctor, salvage and the published schema to work on."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from forkwood.domain.act import MarkChanged, NodesHidden
from forkwood.domain.message import Attachment, Origin, Part, Role, Text, ToolCall, ToolResult
from forkwood.domain.model import Usage
from forkwood.domain.run_event import (
    CallAsked,
    CallSettled,
    Recipe,
    ReplyKept,
    ResultsKept,
    RunDriven,
    RunEnded,
    RunSealed,
    TurnStarted,
)
from forkwood.domain.tree import ROOT, Spot
from forkwood.store import append, blobs, conversations, digests, grafts, log, marks, nodes, receipts, runs
from forkwood.store.db import Tx
from tests.store.seeds import ME, NOW, add_conversation, add_message, fill, opened, some_id

BY_ME = Origin(by="user", via="cli")
MANIFEST = '{"model":"scripted:x","version":1}'
RUN = some_id(7_000)


def rich(home: Path, messages: int = 60) -> None:
    """Two conversations: a long straight path with a mark; a graft of it with a label, an attachment, and a run that
    called a tool."""
    store = opened(home)
    path = fill(store, messages, words="a message long enough for a page to hold only few of them " * 8)
    with store.write() as tx:
        second = add_conversation(tx, 2)
        graft = _graft(tx, second, Spot(path[9]))
        conversations.write_label(tx, second, "here", graft)
        conversations.make_current(tx, second)
        _hide(tx, path[3])
        receipts.give(tx, "cli", "k", "send", "f" * 64, b'{"a":1}', NOW)
        tip = _run(tx, second, _attach(tx, second, graft))
        add_message(tx, second, tip, "after the run")
        digests.path_digest(tx, Spot(path[20]))
        digests.path_digest(tx, Spot(graft, 2))
    store.close()


def _graft(tx: Tx, conversation: int, source: Spot) -> int:
    made = grafts.add_graft(
        tx, id=some_id(900), conversation=conversation, at=ROOT, source=source, count=5, origin=BY_ME, now_ms=NOW
    )
    return made[0]


def _hide(tx: Tx, node: int) -> None:
    hidden = MarkChanged(nodes=(nodes.row(tx, node).id,), hidden=True)
    marks.hide(tx, [node], log.write(tx, NodesHidden(effects=(hidden,)), who=ME, now_ms=NOW, conversation=1))


def _attach(tx: Tx, conversation: int, at: int) -> int:
    content = bytes(range(256)) * 40
    blob = blobs.put(tx, content)
    part = Attachment(blob=blob, media="file", name="n", mime="text/plain", size=len(content))
    return _say(tx, 901, conversation, at, role="user", parts=(Text(text="see this"), part), origin=BY_ME)


def _say(
    tx: Tx, number: int, conversation: int, at: int, *, role: Role, parts: tuple[Part, ...], origin: Origin
) -> int:
    return append.add_message(
        tx,
        id=some_id(number),
        conversation=conversation,
        at=Spot(at),
        role=role,
        parts=parts,
        origin=origin,
        now_ms=NOW,
    )


def _run(tx: Tx, conversation: int, at: int) -> int:
    """A run of two turns, the first with a call; the node it ends with."""
    sealed = sha256(MANIFEST.encode()).hexdigest()
    tx.run("INSERT INTO manifest (digest, body) VALUES (?, ?)", (sealed, MANIFEST))
    runs.open(tx, id=RUN, conversation=conversation, place=Spot(at), model="scripted:x", leads=True, who=ME, now_ms=NOW)
    by_model = Origin(by="model", via="cli", run=RUN, model="scripted:x")
    call = CallAsked(call="c1", name="current_time", effect="read", verdict="allow", after_crash="again")
    asked = ToolCall(call="c1", name="current_time", arguments={})
    reply = _say(tx, 902, conversation, at, role="assistant", parts=(Text(text="one moment"), asked), origin=by_model)
    result = ToolResult(call="c1", name="current_time", outcome="ok", parts=(Text(text="noon"),))
    results = append.add_results(tx, id=some_id(903), at=Spot(reply), parts=(result,), origin=by_model, now_ms=NOW)
    last = _say(tx, 904, conversation, results, role="assistant", parts=(Text(text="it is noon"),), origin=by_model)
    for node, event in (
        (None, RunDriven(driver="d", number=1)),
        (None, RunSealed(manifest=sealed)),
        (None, _turn(1, at, sealed, tx)),
        (reply, _kept(1, (call,))),
        (None, CallSettled(call="c1", outcome="ok", parts=(Text(text="noon"),))),
        (results, ResultsKept(turn=1)),
        (None, _turn(2, results, sealed, tx)),
        (last, _kept(2, ())),
        (None, RunEnded(status="done")),
    ):
        log.write(tx, event, who=ME, now_ms=NOW, conversation=conversation, run=RUN, node=node)
    for _ in range(2):
        conversations.count_reply(tx, conversation, Usage(input=10, output=5), 0.25, NOW)
    runs.repair(tx, RUN, NOW)
    return last


def _turn(turn: int, at: int, manifest: str, tx: Tx) -> TurnStarted:
    recipe = Recipe(
        place=nodes.spot_text(tx, Spot(at)),
        log=log.newest(tx),
        manifest=manifest,
        summary=None,
        first_entry=None,
        tools_withdrawn=False,
        form=1,
        prompt_digest="0" * 64,
        request_digest="0" * 64,
    )
    return TurnStarted(turn=turn, recipe=recipe)


def _kept(turn: int, calls: tuple[CallAsked, ...]) -> ReplyKept:
    used = Usage(input=10, output=5)
    return ReplyKept(turn=turn, usage=used, cost=0.25, finish="stop", partial=None, calls=calls)
