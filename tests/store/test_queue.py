"""The queue as the store keeps it: order, bounds, what is in it and what is not, and what a purge leaves."""

from __future__ import annotations

from pathlib import Path

import pytest

from forkwood.domain import limits
from forkwood.domain.act import QueuedChanged
from forkwood.domain.errors import LimitExceeded, NotFound
from forkwood.domain.ids import Id
from forkwood.domain.message import Attachment, Part, Text
from forkwood.domain.queued import QueueEdited
from forkwood.domain.tree import Spot
from forkwood.store import blobs, conversations, log, purge, queue, runs
from forkwood.store.db import Store, Tx
from tests.store.seeds import ME, NOW, add_conversation, add_message, opened, some_id


@pytest.fixture
def store() -> Store:
    return Store.in_memory()


def run_in(tx: Tx, conversation: int, number: int = 900) -> Id:
    at = add_message(tx, conversation, None, "q")
    run = some_id(number)
    runs.open(tx, id=run, conversation=conversation, place=Spot(at), model="m", leads=True, who=ME, now_ms=NOW)
    return run


def add(tx: Tx, conversation: int, run: Id, number: int, *parts: Part, steers: bool = False) -> Id:
    name = some_id(number)
    words = parts or (Text(text=f"w{number}"),)
    queue.add(
        tx, id=name, conversation=conversation, behind=run, steers=steers, parts=words, models=("m",), who=ME,
        now_ms=NOW,
    )  # fmt: skip
    return name


def texts(tx: Tx, conversation: int) -> list[str]:
    return [one.text for one in queue.listed(tx, conversation)]


def test_they_stand_in_the_order_they_were_accepted_steers_first(store: Store) -> None:
    with store.write() as tx:
        here, there = add_conversation(tx, 1), add_conversation(tx, 2)
        run, other = run_in(tx, here, 900), run_in(tx, there, 901)
        for number in (10, 11):
            add(tx, here, run, number)
        add(tx, here, run, 12, steers=True)
        add(tx, there, other, 13)
        assert (texts(tx, here), texts(tx, there)) == (["w12", "w10", "w11"], ["w13"])
        found = queue.row(tx, some_id(12))
        assert (found.behind, found.steers, found.state, found.models, found.by, found.via) == (
            run, True, "waiting", ("m",), "user", "cli",
        )  # fmt: skip


def test_a_steer_that_came_too_late_is_at_the_front_from_then_on(store: Store) -> None:
    with store.write() as tx:
        here = add_conversation(tx)
        run = run_in(tx, here)
        names = [add(tx, here, run, number, steers=number in {12, 13}) for number in (10, 11, 12, 13)]
        assert queue.behind(tx, run) == [names[2], names[3], names[0], names[1]]
        assert queue.behind(tx, run) == [names[2], names[3], names[0], names[1]], "and stays there"
        assert not any(one.steers for one in queue.listed(tx, here))


def test_so_many_wait_in_a_conversation_and_not_one_more(store: Store) -> None:
    with store.write() as tx:
        here, there = add_conversation(tx, 1), add_conversation(tx, 2)
        run = run_in(tx, here)
        for number in range(limits.queue_max):
            add(tx, here, run, number, steers=number == 3)
        with pytest.raises(LimitExceeded) as refused:
            add(tx, here, run, 500)
        assert refused.value.facts == {"limit": "queue_max", "bound": limits.queue_max, "got": limits.queue_max + 1}
        add(tx, there, run_in(tx, there, 901), 501)
        queue.hold(tx, [some_id(0)], behind=run, conversation=here, who=ME, now_ms=NOW)
        with pytest.raises(LimitExceeded):
            add(tx, here, run, 502)
        queue.remove(tx, some_id(0))
        add(tx, here, run, 503)


def test_what_was_sent_says_its_words_as_a_node_alone(store: Store) -> None:
    with store.write() as tx:
        here = add_conversation(tx)
        run = run_in(tx, here)
        name = add(tx, here, run, 10)
        node = add_message(tx, here, None, "w10")
        queue.sent(tx, name, node, ["r1", "r2"])
        found = queue.row(tx, name)
        assert (found.state, found.node, found.runs, found.parts) == ("sent", some_id(2), ("r1", "r2"), ())
        assert (queue.listed(tx, here), queue.started_by(tx, run)) == ([], ["r1", "r2"])


def test_they_move_with_an_event_that_says_where_to(store: Store) -> None:
    with store.write() as tx:
        here = add_conversation(tx)
        run, next_run = run_in(tx, here, 900), run_in(tx, here, 901)
        names = [add(tx, here, run, number) for number in (10, 11)]
        queue.stand_behind(tx, names, next_run, conversation=here, who=ME, now_ms=NOW)
        assert queue.behind(tx, run) == [] and queue.behind(tx, next_run) == names
        queue.run_over(tx, next_run, conversation=here, who=ME, now_ms=NOW)
        assert [one.id for one in queue.held(tx, here)] == names
        queue.run_over(tx, next_run, conversation=here, who=ME, now_ms=NOW)
        moves = [event for event in log.events(tx, after=0, limit=99) if event.kind == "queue.moved"]
        assert [(one.payload["state"], one.payload["behind"]) for one in moves] == [
            ("waiting", next_run), ("held", next_run),
        ], "nothing to move is nothing to tell"  # fmt: skip


def test_what_was_removed_can_come_back_where_it_stood(store: Store) -> None:
    with store.write() as tx:
        here = add_conversation(tx)
        run = run_in(tx, here)
        names = [add(tx, here, run, number) for number in (10, 11)]
        queue.remove(tx, names[0])
        assert texts(tx, here) == ["w11"]
        assert queue.row(tx, names[0]).text == "w10", "its words are kept"
        queue.put_back(tx, names[0], waits=False)
        assert (texts(tx, here), queue.row(tx, names[0]).state) == (["w10", "w11"], "held")
        queue.write_parts(tx, names[0], (Text(text="other"),))
        assert texts(tx, here) == ["other", "w11"]
        with pytest.raises(NotFound, match="no queued message"):
            queue.row(tx, some_id(77))


def test_a_run_that_was_never_begun_holds_its_queue_when_it_is_cancelled(store: Store) -> None:
    with store.write() as tx:
        here = add_conversation(tx)
        run = run_in(tx, here)
        name = add(tx, here, run, 10)
        runs.ask_to_cancel(tx, run, who=ME, now_ms=NOW)
        assert (runs.row(tx, run).status, queue.row(tx, name).state) == ("cancelled", "held")


def test_a_purge_takes_words_and_bytes_of_what_waits_there_and_of_nothing_else(home: Path) -> None:
    store, marker = opened(home), "zq-marker-4711"
    with store.write() as tx:
        here, there = add_conversation(tx, 1), add_conversation(tx, 2)
        for at, conversation in enumerate((here, there)):
            run = run_in(tx, conversation, 900 + at)
            blob = blobs.put(tx, f"bytes {at} {marker if at == 0 else ''}".encode())
            part = attached(blob)
            add(tx, conversation, run, 10 + at, Text(text=marker if at == 0 else "stays"), part)
            runs.ask_to_cancel(tx, run, who=ME, now_ms=NOW)
        purge.destroy(tx, purge.condemned(tx, [], [here]))
        left = [queue.row(tx, some_id(10 + at)) for at in (0, 1)]
        assert [(one.state, one.text, len(one.parts)) for one in left] == [("removed", "", 0), ("held", "stays", 2)]
        assert tx.value("SELECT count(*) FROM blob") == 1, "what waits elsewhere keeps its bytes"
    store.vacuum()
    store.checkpoint()
    store.close()
    assert not [file for file in home.rglob("*") if file.is_file() and marker.encode() in file.read_bytes()]


def test_the_words_that_a_queued_message_had_before_go_with_its_node(store: Store) -> None:

    with store.write() as tx:
        here = add_conversation(tx)
        name = add(tx, here, run_in(tx, here), 10)
        changed = QueuedChanged(queued=name, before=(Text(text="marker"),), after=(Text(text="w"),))
        log.write(tx, QueueEdited(effects=(changed,), queued=name), who=ME, now_ms=NOW, conversation=here)
        node = add_message(tx, here, None, "w")
        queue.sent(tx, name, node, [])
        purge.destroy(tx, purge.condemned(tx, [node], []))
        assert tx.value("SELECT count(*) FROM event WHERE instr(payload, 'marker')") == 0
        assert conversations.row(tx, here).title == "a title"


def attached(blob: str) -> Part:

    return Attachment(blob=blob, media="file", name="f", mime="text/plain", size=1)
