"""Model names: every form is taken apart and spelled again; what has no form is refused with the forms."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forkwood.domain import limits
from forkwood.domain.errors import LimitExceeded, Misused
from forkwood.models import names
from forkwood.models.names import AtUrl, ModelName, Named, Scripted

FORMS: list[tuple[str, ModelName]] = [
    ("embedded:smollm2", Named(provider="embedded", model="smollm2")),
    ("ollama:qwen3:8b", Named(provider="ollama", model="qwen3:8b")),
    ("OpenAI:gpt-5", Named(provider="openai", model="gpt-5")),
    ("openrouter:meta/llama#x", Named(provider="openrouter", model="meta/llama#x")),
    (" ollama:a b ", Named(provider="ollama", model="a b")),
    ("qwen3", Named(provider=None, model="qwen3")),
    ("http://127.0.0.1:8080/v1#local", AtUrl(url="http://127.0.0.1:8080/v1", model="local")),
    ("HTTPS://Example.ORG/v1/#a/b#c", AtUrl(url="https://example.org/v1", model="a/b#c")),
    ("http://[::1]:99#m", AtUrl(url="http://[::1]:99", model="m")),
    ("scripted:demo.json", Scripted(path="demo.json")),
    ("scripted:C:\\demo.json", Scripted(path="C:\\demo.json")),
]


@pytest.mark.parametrize(("text", "name"), FORMS)
def test_every_form_is_taken_apart_and_spelled_again(text: str, name: ModelName) -> None:
    assert names.parse(text) == name
    assert names.parse(names.spell(name)) == name


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "openai:",
        ":gpt",
        "open ai:gpt",
        "a\nb:c",
        "ollama:a\x00",
        "http://",
        "http://host:99999/v1#m",
        "http://host:0/v1#m",
        "http://host/v1?key=1#m",
        "http://host:80/v1",
        "http://host:80/v1#",
    ],
)
def test_what_has_no_form_is_refused_with_the_way_that_works(text: str) -> None:
    with pytest.raises(Misused) as refused:
        names.parse(text)
    assert refused.value.hint


def test_a_password_in_an_address_is_refused_and_not_repeated() -> None:
    with pytest.raises(Misused) as refused:
        names.parse("https://me:hunter22@example.org/v1#m")
    assert "hunter22" not in repr((refused.value, refused.value.hint, refused.value.facts))


def test_a_name_may_be_as_long_as_its_limit_and_no_longer() -> None:
    longest = "ollama:" + "x" * (limits.model_name_characters_max - 7)
    assert names.spell(names.parse(longest)) == longest
    with pytest.raises(LimitExceeded) as refused:
        names.parse(longest + "x")
    assert refused.value.facts["limit"] == "model_name_characters_max"


def test_a_settled_name_means_the_same_from_anywhere() -> None:
    assert names.settled("scripted:demo.json", "/somewhere") == "scripted:/somewhere/demo.json"
    assert names.settled("scripted:/there/demo.json", "/somewhere") == "scripted:/there/demo.json"
    assert names.settled("Ollama:qwen3:8b", "/somewhere") == "ollama:qwen3:8b"


@pytest.mark.parametrize(
    ("url", "loopback"),
    [
        ("http://127.0.0.1:1", True),
        ("http://127.9.9.9", True),
        ("http://localhost:1/v1", True),
        ("http://[::1]:8000", True),
        ("http://127.0.0.1.example.org", False),
        ("http://localhost.example.org", False),
        ("https://example.org", False),
    ],
)
def test_loopback_is_told_from_names_that_only_look_so(url: str, loopback: bool) -> None:
    assert names.is_loopback(url) is loopback


@given(st.text(max_size=300))
def test_any_text_is_a_name_or_a_clear_refusal(text: str) -> None:
    try:
        found = names.parse(text)
    except (Misused, LimitExceeded):
        return
    assert names.parse(names.spell(found)) == found
