"""Tool calls are kept apart by id, by index, and by how they begin."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

from forkwood.domain import limits
from forkwood.domain.errors import LimitExceeded
from forkwood.models.calls import CallsApart, Fragment
from forkwood.models.failures import Peer
from forkwood.models.reply import Assembly


class Case(Struct, frozen=True):
    name: str
    fragments: tuple[tuple[str, int | None, str, str], ...]
    calls: tuple[tuple[str, str, Any], ...]


CASES = (
    Case("one", (("a", 0, "f", ""), ("", 0, "", '{"x"'), ("", 0, "", ":1}")), (("a", "f", {"x": 1}),)),
    Case(
        "interleaved by index",
        (("a", 0, "f", ""), ("b", 1, "g", ""), ("", 0, "", '{"x":1}'), ("", 1, "", '{"y":2}')),
        (("a", "f", {"x": 1}), ("b", "g", {"y": 2})),
    ),
    Case(
        "new id on a known index",
        (("a", 0, "f", '{"x":'), ("b", 0, "g", "{}"), ("a", 0, "", "1}")),
        (("a", "f", {"x": 1}), ("b", "g", {})),
    ),
    Case(
        "ids and no index",
        (("a", None, "f", ""), ("b", None, "f", ""), ("", None, "", "{}")),
        (("a", "f", ""), ("b", "f", {})),
    ),
    Case(
        "no ids, one index, whole",
        (("", 0, "f", '{"x":1}'), ("", 0, "f", '{"x":2}')),
        (("call_1", "f", {"x": 1}), ("call_2", "f", {"x": 2})),
    ),
    Case(
        "no ids, one index, other names",
        (("", 0, "f", '{"x":1'), ("", 0, "g", "{}")),
        (("call_1", "f", '{"x":1'), ("call_2", "g", {})),
    ),
    Case(
        "no ids, no index",
        (("", None, "f", ""), ("", None, "", "{}"), ("", None, "g", "{}")),
        (("call_1", "f", {}), ("call_2", "g", {})),
    ),
    Case("a name repeated", (("a", 0, "f", '{"x"'), ("a", 0, "f", ":"), ("", 0, "f", "1}")), (("a", "f", {"x": 1}),)),
    Case(
        "a name in pieces",
        (("a", 0, "get_", ""), ("", 0, "weather", ""), ("", 0, "", "{}")),
        (("a", "get_weather", {}),),
    ),
    Case("another name once arguments came", (("a", 0, "f", '{"x"'), ("a", 0, "g", ":1}")), (("a", "f", {"x": 1}),)),
    Case("an id that comes late", (("", 0, "f", ""), ("a", 0, "", "{}")), (("a", "f", {}),)),
    Case(
        "one id for all",
        (("x", 0, "f", ""), ("x", 1, "g", ""), ("x", 0, "", "{}"), ("x", 1, "", '{"y":2}')),
        (("x", "f", {}), ("x_2", "g", {"y": 2})),
    ),
    Case("no start", (("", 0, "", "{}"),), (("call_1", "unnamed", {}),)),
)


def assembled(*fragments: tuple[str, int | None, str, str]) -> Assembly:
    said = Assembly(peer=Peer(provider="p"), dialect="chat", family="m")
    calls = CallsApart(said)
    for identity, index, name, arguments in fragments:
        calls.add(Fragment(id=identity, index=index, name=name, arguments=arguments, position=0))
    said.ended = True
    return said


def found(*fragments: tuple[str, int | None, str, str]) -> tuple[tuple[str, str, Any], ...]:
    reply = assembled(*fragments).finish("cut", None)
    return tuple((part.call, part.name, part.arguments) for part in reply.parts)  # type: ignore[union-attr]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_calls_apart(case: Case) -> None:
    assert found(*case.fragments) == case.calls


def test_two_calls_of_one_frame_are_two_even_without_id_index_and_arguments() -> None:
    said = assembled()
    calls = CallsApart(said)
    for position, name in enumerate("fg"):
        calls.add(Fragment(id="", index=None, name=name, arguments="", position=position))
    assert [part.name for part in said.finish("cut", None).parts] == ["f", "g"]  # type: ignore[union-attr]


@given(st.data())
def test_any_interleaving_by_id_or_index_keeps_arguments_apart(data: st.DataObject) -> None:
    pieces = {call: list(f'{{"n":{call},"s":"{"x" * call}"}}') for call in range(4)}
    by_id = data.draw(st.booleans())
    fragments = [(str(call), None if by_id else call, f"f{call}", "") for call in pieces]
    order = data.draw(st.permutations([call for call, text in pieces.items() for _ in text]))
    for call in order:
        identity = str(call) if by_id else ""
        fragments.append((identity, None if by_id else call, "", pieces[call].pop(0)))
    assert found(*fragments) == tuple((str(call), f"f{call}", {"n": call, "s": "x" * call}) for call in range(4))


def test_a_reply_has_a_bound_of_calls() -> None:
    most = limits.tool_calls_max
    assert len(found(*((str(one), None, "f", "{}") for one in range(most)))) == most
    with pytest.raises(LimitExceeded) as caught:
        assembled(*((str(one), None, "f", "{}") for one in range(most + 1)))
    assert caught.value.facts["limit"] == "tool_calls_max"


def test_two_calls_with_empty_objects_and_nothing_else_to_tell_them_apart_are_two() -> None:
    said = assembled()
    calls = CallsApart(said)
    for _ in range(2):
        calls.add(Fragment(id="", index=None, name="f", arguments="{}", presumed=True, position=0))
    assert [part.arguments for part in said.finish("cut", None).parts] == [{}, {}]  # type: ignore[union-attr]
