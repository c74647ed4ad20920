"""The two folds: what each covers and what it passes over, and the bytes they have had from the beginning."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import pytest

from forkwood.domain.digest import START, Digests, fold

TEXT = {"kind": "text", "text": "one\r\ntwo"}
CALL = {"kind": "tool_call", "call": "1", "name": "look", "arguments": {"b": 1, "a": 2}}
RESULT = {"kind": "tool_result", "call": "1", "name": "look", "outcome": "ok", "parts": [{"kind": "text", "text": "x"}]}


def of(role: str, *parts: dict[str, Any]) -> Digests:
    return fold(Digests(), role, list(parts))


@pytest.mark.parametrize(
    ("other", "same_path", "same_match"),
    [
        (of("user", TEXT), True, True),
        (of("user", {"text": "one\r\ntwo", "kind": "text"}), True, True),
        (of("user", {**TEXT, "text": "one\ntwo"}), False, True),
        (of("user", {**TEXT, "text": "one\rtwo"}), False, True),
        (of("user", {**TEXT, "text": "one two"}), False, False),
        (of("assistant", TEXT), False, False),
        (of("user", {"kind": "thinking", "text": "hm", "replay": None}, TEXT), False, True),
        (of("user", TEXT, CALL), False, False),
        (of("user", TEXT, {"kind": "text", "text": "more"}), False, False),
        (fold(Digests(), "user", None), False, False),
    ],
)
def test_what_each_digest_covers(other: Digests, same_path: bool, same_match: bool) -> None:
    this = of("user", TEXT)
    assert (other.path == this.path, other.match == this.match) == (same_path, same_match)


def test_the_match_covers_names_and_arguments_of_calls_and_words_of_results_but_no_call_ids() -> None:
    called = of("assistant", CALL)
    assert of("assistant", {**CALL, "call": "other", "arguments": {"a": 2, "b": 1}}).match == called.match
    assert of("assistant", {**CALL, "name": "peek"}).match != called.match
    assert of("assistant", {**CALL, "arguments": {"a": 3}}).match != called.match
    given = of("tool", RESULT)
    assert of("tool", {**RESULT, "call": "other", "outcome": "error"}).match == given.match
    assert of("tool", {**RESULT, "parts": [{"kind": "text", "text": "y"}]}).match != given.match


def test_order_and_beginning_count() -> None:
    one = fold(of("user", TEXT), "assistant", [CALL])
    two = fold(of("assistant", CALL), "user", [TEXT])
    assert one != two and Digests() == Digests(START, START)


def test_the_bytes_that_are_folded_never_change() -> None:
    now = fold(fold(fold(of("user", TEXT), "assistant", [CALL]), "tool", [RESULT]), "user", None)
    path, match = START, START
    for spelled in PATH:
        path = sha256(path + spelled).digest()
    for spelled in MATCH:
        match = sha256(match + spelled).digest()
    assert now == Digests(path, match)


PATH = (
    b'["user",[{"kind":"text","text":"one\\r\\ntwo"}]]',
    b'["assistant",[{"arguments":{"a":2,"b":1},"call":"1","kind":"tool_call","name":"look"}]]',
    b'["tool",[{"call":"1","kind":"tool_result","name":"look","outcome":"ok","parts":[{"kind":"text","text":"x"}]}]]',
    b'["user",null]',
)
MATCH = (
    b'["user","one\\ntwo",[]]',
    b'["assistant","",[["look",{"a":2,"b":1}]]]',
    b'["tool","x",[]]',
    b'["user",null]',
)
