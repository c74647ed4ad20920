"""A store with something in every book, and seeded ways to damage its file."""

from __future__ import annotations

import os
import random
from pathlib import Path

from forkwood.domain.settings import Settings
from forkwood.runtime import Runtime
from forkwood.store.opening import open_store
from forkwood.store.pages import PAGE_BYTES
from tests.runtime.doors import NOON, answered, door, script

LONG = 3
"""Every so many messages one is longer than a page."""


def opened(home: Path) -> Runtime:
    """A door over the store in HOME, with a model that always answers. No name is given twice."""
    model = script(home.parent, {"text": "an answer"})
    runtime = door(open_store(home, now_ms=NOON), Settings(home=str(home), model=model))
    runtime.house.chance = os.urandom
    return runtime


def words(number: int) -> str:
    """What message NUMBER says: its own word stands on every page that holds a part of it."""
    return f"word{number:04}x " * (700 if number % LONG == 0 else 40)


def seeded(home: Path, messages: int) -> None:
    """Three conversations with MESSAGES: asked and answered, edited with what followed, forked, hidden, labelled,
    attached to; a run that called a tool and one that failed."""
    runtime = opened(home)
    runtime.new(title="a first one")
    note = home.parent / "note.bin"
    note.write_bytes(random.Random(1).randbytes(3 * PAGE_BYTES))
    for number in range(messages):
        replying = script(home.parent, {"text": words(1_000 + number)}, name=f"says{number}.json")
        started = runtime.send(words(number), models=[replying], attach=[note] if number == 3 else [])
        answered(runtime, started)
    _branch(runtime, home, messages)
    runtime.close()


def _branch(runtime: Runtime, home: Path, messages: int) -> None:
    path = runtime.path()
    runtime.label(path[2].node.id, "here")
    runtime.edit(path[4].node.id, words(messages + 1), keep=True)
    runtime.hide(path[6].node.id)
    runtime.edit(path[8].node.id, words(messages + 2), run=False)
    runtime.switch(path[-1].node.id)
    runtime.fork(path[-3].node.id)
    answered(runtime, runtime.send(words(messages + 3)))
    runtime.new(title="a third one")
    call = {"name": "current_time", "arguments": {}}
    calling = script(
        home.parent, {"text": words(2_000), "tool_calls": [call]}, {"text": words(2_001)}, name="calls.json"
    )
    answered(runtime, runtime.send(words(messages + 4), models=[calling]))
    failing = script(home.parent, {"text": "x", "fail": {"status": 400, "times": 9}}, name="fails.json")
    answered(runtime, runtime.send(words(messages + 5), models=[failing]))
    runtime.set("tags", "one two")


def damaged(whole: bytes, seed: int) -> bytes:
    """WHOLE with the damage of SEED: each seed does one kind of it."""
    chance, content = random.Random(seed), bytearray(whole)
    pages = len(content) // PAGE_BYTES
    match seed % 8:
        case 0:  # bits
            for _ in range(chance.choice([1, 3, 30, 300])):
                content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        case 1:  # the end is missing
            del content[chance.randrange(PAGE_BYTES, len(content)) :]
        case 2 | 3:  # whole pages of zeroes or of noise
            for _ in range(chance.choice([1, 2, 5])):
                start = chance.randrange(pages) * PAGE_BYTES
                content[start : start + PAGE_BYTES] = chance.choice([bytes(PAGE_BYTES), chance.randbytes(PAGE_BYTES)])
        case 4:  # a stretch of noise, over the border of a page
            start = chance.randrange(len(content) - 600)
            content[start : start + 600] = chance.randbytes(600)
        case 5:  # the beginning, where the tables are told
            for _ in range(chance.choice([1, 5, 50])):
                content[chance.randrange(6 * PAGE_BYTES)] = chance.randrange(256)
        case 6:  # text that is none
            for _ in range(chance.choice([1, 10])):
                letters = [at for at in range(chance.randrange(len(content) - 9_000), len(content)) if content[at] > 64]
                content[letters[chance.randrange(min(len(letters), 500))]] = chance.choice(b"\xe5\xff\x80\x00")
        case _:  # a page in another one's place
            one, other = (chance.randrange(1, pages) * PAGE_BYTES for _ in range(2))
            content[one : one + PAGE_BYTES] = content[other : other + PAGE_BYTES]
    return bytes(content)


def untouched(whole: bytes, content: bytes, number: int) -> bool:
    """Whether every page that holds a part of message NUMBER is as it was."""
    word = f"word{number:04}x".encode()
    starts = [at for at in range(0, len(whole), PAGE_BYTES) if word in whole[at : at + PAGE_BYTES + len(word)]]
    ends = [min(at + 2 * PAGE_BYTES, len(whole)) for at in starts]
    return all(whole[at:end] == content[at:end] for at, end in zip(starts, ends, strict=True))
