"""One voice of many that write to one store at once: `sing` does so many verbs and says what came of each."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

from forkwood.runtime import Runtime

Verb = tuple[str, dict[str, Any]]


def verbs(voice: int, count: int) -> Iterator[Verb]:
    """COUNT verbs of a voice. Voices 2n and 2n + 1 share a part: some verbs are the same by the same key, at once."""
    pair = voice // 2
    for number in range(count):
        match number % 5:
            case 0:
                yield "send", {"text": f"both {pair} {number}", "run": False, "key": f"send {pair} {number}"}
            case 1:
                yield "send", {"text": f"alone {voice} {number}", "run": False}
            case 2:
                yield "label", {"node": "@", "name": f"label {voice}"}
            case 3:
                yield "new", {"title": f"both {pair} {number}", "key": f"new {pair} {number}"}
            case _:
                yield "set", {"setting": "title", "value": f"{voice} {number}"}


def sing(runtime: Runtime, voice: int, count: int, conversation: str) -> None:
    """Do them in CONVERSATION, and say of each what was made: verb, words, id."""
    for verb, given in verbs(voice, count):
        here = {} if verb == "new" else {"conversation": conversation}
        made = getattr(runtime, verb)(**given, **here)
        found = made.node.id if verb == "send" else made.id if verb == "new" else None
        words = given.get("text") or given.get("title")
        sys.stdout.write(json.dumps({"verb": verb, "words": words, "id": found}) + "\n")
        sys.stdout.flush()
