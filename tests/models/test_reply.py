"""A reply is assembled whole: parts in order, bounds kept, odd characters told, secrets masked."""

from __future__ import annotations

import math
from json import loads
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forkwood.domain import limits
from forkwood.domain.errors import LimitExceeded
from forkwood.domain.message import Text, Thinking, ToolCall
from forkwood.models.failures import Peer
from forkwood.models.reply import Assembly, object_of, repeats_a_name, spelled, whole
from tests.models.recorded import said

KEY = "k3y-0123456789"


def assembly(*secrets: str) -> Assembly:
    return Assembly(peer=Peer(provider="p", secrets=secrets), dialect="chat", family="m")


def test_parts_stand_in_the_order_in_which_they_began() -> None:
    building = assembly()
    building.add("thinking", "a")
    building.add("text", "b")
    building.add("text", "")
    call = building.open("tool_call")
    building.add("text", "c")
    building.say(call, "{}")
    call.name, call.call = "f", "x"
    building.flush()
    deltas = building.take()
    building.ended = True
    reply = building.finish("cut", None)
    assert reply.parts == (
        Thinking(text="a"),
        Text(text="b"),
        ToolCall(call="x", name="f", arguments={}),
        Text(text="c"),
    )
    assert [delta.index for delta in deltas] == [0, 1, 3, 2, 2]


def test_the_deltas_of_a_call_say_its_name_first() -> None:
    building = assembly()
    call = building.open("tool_call")
    call.name = "f"
    building.say(call, '{"x"')
    building.say(call, ":1}")
    assert said(building.take()) == [("tool_call", 'f {"x":1}')]


@pytest.mark.parametrize(
    ("partial", "cut", "ended"), [(None, "cut", True), ("length", "cut", True), (None, "stalled", False)]
)
def test_why_the_stream_ended_counts_only_where_the_reply_had_not(partial: Any, cut: Any, ended: bool) -> None:
    building = assembly()
    building.add("text", "a")
    building.ended, building.partial = ended, partial
    assert building.finish(cut, "why").partial == (partial if ended else cut)
    assert building.finish(cut, "why").error == (None if ended else "why")


@given(text=st.text(max_size=30), cuts=st.sets(st.integers(0, 60)))
def test_surrogate_halves_in_any_cut_become_the_characters_they_are(text: str, cuts: set[int]) -> None:
    units = text.encode("utf-16-le")
    halves = [units[at : at + 2].decode("utf-16-le", "surrogatepass") for at in range(0, len(units), 2)]
    building = assembly()
    piece = ""
    for at, half in enumerate(halves):
        piece += half
        if at in cuts:
            building.add("text", piece)
            piece = ""
    building.add("text", piece)
    building.ended = True
    reply = building.finish("cut", None)
    assert reply.parts == ((Text(text=text),) if text else ())
    assert not any("surrogate" in notice for notice in reply.notices)


@given(st.text(st.sampled_from("a\ud83c\udf0d\0é"), max_size=12))
def test_no_half_character_survives(text: str) -> None:
    building = assembly()
    for character in text:
        building.add("text", character)
    building.flush()
    spoken = "".join(delta.text for delta in building.take())
    reply = building.finish("cut", None)
    assert spoken.encode().decode() == "".join(part.text for part in reply.parts if isinstance(part, Text))
    assert any("NUL" in notice for notice in reply.notices) == ("\0" in text)


def test_odd_characters_are_told_once() -> None:
    building = assembly()
    building.add("text", "a\ud83c\0b\udf0d\0")
    notices = building.finish("cut", None).notices
    assert notices == (
        "Half a character (a lone surrogate) in the reply is spelled out as \\ud…",
        "The reply holds NUL characters: 2",
    )


def test_a_reply_has_a_bound_of_bytes_and_keeps_what_came_up_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "reply_bytes_max", 10)
    building = assembly()
    building.add("text", "äääää")
    building.take()
    with pytest.raises(LimitExceeded) as caught:
        building.add("text", "b")
    assert (caught.value.facts["limit"], building.full) == ("reply_bytes_max", True)
    monkeypatch.setattr(limits, "reply_bytes_max", 13)
    building = assembly()
    with pytest.raises(LimitExceeded):
        building.add("text", "äääääää")
    assert building.finish("length", "full").parts == (Text(text="ää" * 3),)


def test_a_reply_has_a_bound_of_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "parts_max", 2)
    building = assembly()
    building.open("text")
    building.open("text")
    with pytest.raises(LimitExceeded) as caught:
        building.open("text")
    assert caught.value.facts["limit"] == "parts_max"


def test_replay_values_have_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "replay_bytes_max", 11)
    for value, kept in (({"s": "abc"}, True), ({"s": "abcd"}, False)):
        building = assembly()
        slot = building.open("thinking")
        slot.replay = value
        reply = building.finish("cut", None)
        (part,) = reply.parts
        assert isinstance(part, Thinking)
        assert (part.replay is not None) == kept
        assert any("11 bytes" in notice for notice in reply.notices) != kept


def nested(depth: int) -> str:
    return '{"x":' + "[" * (depth - 1) + "]" * (depth - 1) + "}"


@pytest.mark.parametrize(
    "value",
    [{"x": math.inf}, {"x": [math.nan]}, {"x": "\ud83d"}, loads(nested(limits.value_depth_max + 1))],
    ids=["infinite", "no number", "half a character", "too deep"],
)
def test_a_signature_that_cannot_be_kept_as_it_came_is_not_sent_back(value: Any) -> None:
    building = assembly()
    building.open("thinking").replay = value
    reply = building.finish("cut", None)
    assert reply.parts == (Thinking(text=""),)
    assert reply.notices[0].startswith("The thinking is signed with what cannot be kept as it came")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"x": "é\ud83d"}, '{"x":"é\\\\ud83d"}'),
        ({"x": math.inf, "y": [math.nan]}, '{"x":Infinity,"y":[NaN]}'),
        ({"x": 10**30}, '{"x":1000000000000000000000000000000}'),
        ([], "[]"),
    ],
)
def test_a_value_in_place_of_text_is_spelled(value: Any, text: str) -> None:
    assert spelled(value) == text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"x":1}', {"x": 1}),
        (' {"x":1}\n', {"x": 1}),
        ("[]", None),
        ("", None),
        ('{"x":NaN}', None),
        ('{"x":"\\ud83d","y":NaN}', None),
        ('{"x":1e999}', None),
        ('{"x":"\\ud83d","y":-1e999}', None),
        ('{"x":"\\ud83d","y":1e3}', {"x": "\ud83d", "y": 1000.0}),
        ('{"x":1000000000000000000000000000000}', {"x": 10**30}),
        (nested(limits.value_depth_max), loads(nested(limits.value_depth_max))),
        (nested(limits.value_depth_max + 1), None),
        ('{"x":"\\ud83d"}', {"x": "\ud83d"}),
        ("{" * 100_000, None),
    ],
)
def test_only_one_json_object_is_an_object(text: str, value: Any) -> None:
    assert object_of(text) == value


@pytest.mark.parametrize(
    ("text", "repeats"),
    [
        ('{"a":1,"b":{"a":2}}', False),
        ('{"a":1,"a":1}', True),
        ('{"a":1,"\\u0061":2}', True),
        ('{"a":[{"b":1,"b":2}]}', True),
        ('{"a":1,"a":2,"b":' + "9" * 5_000 + "}", False),
        ("{half", False),
    ],
)
def test_arguments_that_give_a_name_twice_stay_text(text: str, repeats: bool) -> None:
    assert repeats_a_name(text) == repeats
    building = assembly()
    building.say(building.open("tool_call"), text)
    (part,) = building.finish("cut", None).parts
    assert isinstance(part, ToolCall) and (not repeats or part.arguments == text)


def test_half_a_character_in_arguments_is_spelled_out_and_told() -> None:
    building = assembly()
    building.say(building.open("tool_call"), '{"x":"\\ud83d"}')
    reply = building.finish("cut", None)
    (part,) = reply.parts
    assert isinstance(part, ToolCall) and part.arguments == {"x": "\\ud83d"}
    assert any("surrogate" in notice for notice in reply.notices)


@pytest.mark.parametrize(
    ("value", "count"),
    [
        (5, 5),
        (5.9, 5),
        (-1, 0),
        ("5", 5),
        ("x", 0),
        ("9" * 16, 0),
        (limits.usage_tokens_max, limits.usage_tokens_max),
        (limits.usage_tokens_max + 1, 0),
        (str(limits.usage_tokens_max), limits.usage_tokens_max),
        (None, 0),
        (True, 0),
        (float("nan"), 0),
        (1e300, 0),
        (float("-inf"), 0),
    ],
)
def test_counts_are_whole_numbers(value: Any, count: int) -> None:
    assert whole(value) == count


def test_a_notice_is_given_once() -> None:
    building = assembly()
    building.notice("odd")
    building.notice("odd")
    assert building.notices == ("odd",)


def test_an_empty_reply_says_so() -> None:
    building = assembly()
    building.ended = True
    assert building.finish("cut", None).notices == ("The model gave an empty reply",)
