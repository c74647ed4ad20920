"""What goes on the wire is valid for every server, and the same for the same prompt."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from forkwood.domain.errors import ProviderFailed
from forkwood.domain.message import Attachment, Text
from forkwood.models import sending
from forkwood.models.quirks import Quirks
from forkwood.models.remote import DIALECTS
from tests.models.prompts import IMAGES, MODELS, PICTURE, assistant, call, cases, prompt, request, result, user


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_same_prompt_gives_the_same_bytes(dialect: str) -> None:
    for name, asked in cases(dialect).items():
        again = msgspec.json.decode(msgspec.json.encode(asked), type=type(asked))
        assert request(dialect, again) == request(dialect, asked), name


@pytest.mark.parametrize("dialect", DIALECTS)
def test_tool_schemas_go_verbatim(dialect: str) -> None:
    (tool,) = cases(dialect)["tools"].tools
    assert msgspec.json.encode(tool.schema) in request(dialect, cases(dialect)["tools"])


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_picture_that_cannot_be_sent_is_told(dialect: str) -> None:
    note = Attachment(blob="b10b", media="file", name="a.pdf", mime="application/pdf", size=1)
    gone = msgspec.structs.replace(PICTURE, blob="gone")
    for attachment in (note, gone):
        with pytest.raises(ProviderFailed) as caught:
            DIALECTS[dialect].encode(prompt(user(attachment)), IMAGES, MODELS[dialect], Quirks())
        assert (caught.value.reason, caught.value.facts["name"]) == ("capability", attachment.name)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_name_or_id_some_model_made_up_blocks_no_later_turn(dialect: str) -> None:
    odd = msgspec.structs.replace(call("weird id/ü"), name="functions.weather:0 ü")
    sent = json.dumps(json.loads(request(dialect, prompt(user("a"), assistant(odd), user(result("weird id/ü"))))))
    assert "weird id" not in sent and "functions.weather:0" not in sent
    assert sent.count(sending.call_id("weird id/ü")) == 2


@pytest.mark.parametrize(
    ("text", "plain"),
    [("get_weather-2", "get_weather-2"), ("a" * 64, "a" * 64), ("", "unnamed")],
)
def test_a_good_name_stays(text: str, plain: str) -> None:
    assert sending.name(text) == plain


def test_names_made_plain_stay_different_and_short() -> None:
    names = {sending.name(text) for text in ("a.b", "a:b", "a_b", "a" * 65, "a" * 66)}
    assert len(names) == 5
    assert max(map(len, names)) == sending.NAME_CHARACTERS_MAX


@pytest.mark.parametrize(
    ("arguments", "sent"),
    [({"x": 1}, {"x": 1}), ("", {}), (" ", {}), ("null", {"unparsed": "null"}), ('{"x"', {"unparsed": '{"x"'})],
)
def test_arguments_are_an_object_for_every_server(arguments: Any, sent: Any) -> None:
    assert sending.arguments(call(arguments=arguments)) == sent


def test_a_result_without_words_says_how_it_ended() -> None:
    assert sending.result_text(result("c", "interrupted", Text(text=" "))) == "interrupted"


def test_fields_are_put_and_merged_in_depth_without_touching_what_is_shared() -> None:
    body: dict[str, Any] = {"a": {"b": 1}}
    extra = {"a": {"c": 2}, "d": {"e": 3}}
    sending.put(body, "a.x.y", 5)
    sending.merge(body, extra)
    assert body == {"a": {"b": 1, "x": {"y": 5}, "c": 2}, "d": {"e": 3}}
    assert extra == {"a": {"c": 2}, "d": {"e": 3}}
