"""Eight processes at one store: none fails, nothing is lost or there twice; who waits in vain is told for whom."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.crash.lives import Life, Theatre

VOICES = range(8)
VERBS = 500
ROUNDS = 25
QUICK = {"text": "A reply."}


@pytest.fixture(scope="module")
def theatre() -> Iterator[Theatre]:
    with Theatre() as opened:
        yield opened


@pytest.fixture
def life(theatre: Theatre, tmp_path: Path) -> Life:
    made = Life(theatre, tmp_path / "life", (QUICK,))
    assert made.run("new", "--model", made.model, "--title", "first").code == 0
    return made


def everything_said(life: Life, conversation: str) -> list[str]:
    nodes = life.books.tree(conversation=conversation)
    return [node.text for node in nodes if node.role == "user"]


def test_eight_processes_of_verbs_lose_nothing_and_double_nothing(life: Life) -> None:
    here = life.books.conversation().id
    begun = [life.begin("chorus", str(voice), str(VERBS), here) for voice in VOICES]
    ends = [life.end(one) for one in begun]
    assert [(said.code, said.err, len(said.lines)) for said in ends] == [(0, "", VERBS)] * len(VOICES)
    told = [line for said in ends for line in said.lines]
    said_to_have_been_said = {line["words"] for line in told if line["verb"] == "send"}
    assert sorted(everything_said(life, here)) == sorted(said_to_have_been_said), "each once"
    assert len(life.books.path(conversation=here)) == len(said_to_have_been_said), "each wrote on after the one before"
    made = {line["words"] for line in told if line["verb"] == "new"}
    assert sorted(one.title for one in life.books.listed() if one.id != here) == sorted(made)
    assert_answered_alike(told)
    assert set(life.books.labels(conversation=here)) == {f"label {voice}" for voice in VOICES}
    acts = Counter(event.kind for event in life.log())
    assert (acts["message.sent"], acts["setting.changed"]) == (len(said_to_have_been_said), len(VOICES) * (VERBS // 5))
    life.check()


def assert_answered_alike(told: list[Any]) -> None:
    """Of what two did by one key, both were told the same."""
    ids: dict[str, set[str]] = {}
    for line in told:
        if line["words"]:
            ids.setdefault(line["words"], set()).add(line["id"])
    assert [words for words, named in ids.items() if len(named) != 1] == []
    assert len({name for named in ids.values() for name in named}) == len(ids)


def commands(number: int) -> Iterator[tuple[str, ...]]:
    """What eight people type at once: two the same by one key, others alone, and one who only looks."""
    yield from [("send", f"both {number}", "--key", f"both {number}")] * 2
    yield from [("send", f"one {number}", "--model", "MODEL", "--key", f"one {number}")]
    yield ("send", f"two {number}")
    yield from [("new", "--title", f"both {number}", "--model", "MODEL", "--key", f"new {number}")] * 2
    yield ("set", "title", f"title {number}")
    yield ("path",)


def test_eight_people_at_one_conversation_lose_nothing_and_double_nothing(life: Life) -> None:
    here = life.books.conversation().id
    for number in range(ROUNDS):
        given = [in_place(command, here, life.model) for command in commands(number)]
        ends = [life.end(one) for one in [life.begin(*command) for command in given]]
        assert [said.code for said in ends] == [0] * len(ends), ends
        assert not any("forkwood: " in said.err for said in ends)
    for run in reversed(life.books.runs()):
        if run.status in {"queued", "running"}:
            assert life.run("resume", run.id).code == 0
    wanted = sorted(f"{who} {number}" for who in ("both", "one", "two") for number in range(ROUNDS))
    assert sorted(everything_said(life, here)) == wanted, "each once"
    assert life.books.queue(here) == []
    assert set(life.statuses()) == {"done"}
    titles = sorted(one.title for one in life.books.listed() if one.id != here)
    assert titles == sorted(f"both {number}" for number in range(ROUNDS))
    life.check()


def in_place(command: tuple[str, ...], conversation: str, model: str) -> tuple[str, ...]:
    named = tuple(model if word == "MODEL" else word for word in command)
    return named if command[0] == "new" else (named[0], "-c", conversation, *named[1:])


def test_who_waits_in_vain_for_another_writer_is_told_for_whom_and_has_done_nothing(life: Life) -> None:
    command = ("send", "Hi", "--no-run", "--key", "k")
    with life.books.house.store.write():
        said = life.run(*command, busy_ms=50)
    error = said.lines[-1]["error"]
    assert (said.code, error["kind"], error["reason"]) == (7, "store", "locked")
    assert "(waited 0.05 s)" in error["message"] and str(life.folder / "home" / "forkwood.db") in error["message"]
    assert "process" in error["message"]
    assert life.log_of("message.sent") == []
    assert life.run(*command).code == 0
    assert len(life.log_of("message.sent")) == 1


def test_who_waits_for_another_writer_goes_on_when_that_one_is_done(life: Life) -> None:
    with life.books.house.store.write():
        begun = life.begin("send", "Hi", "--no-run")
    assert life.end(begun).code == 0
    assert everything_said(life, life.books.conversation().id) == ["Hi"]
