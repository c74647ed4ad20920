"""Lists of models: each server's own shape is read, and no junk in them hurts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forkwood.domain import limits
from forkwood.domain.model import Price
from forkwood.models import listing
from forkwood.models.listing import Offer

OPENAI: list[tuple[str, dict[str, Any], Offer]] = [
    (
        "plain",
        {"id": "gpt", "object": "model", "created": 1_700_000_000, "owned_by": "openai"},
        Offer(model="gpt", created=1_700_000_000.0),
    ),
    ("vllm", {"id": "q", "owned_by": "vllm", "max_model_len": 32_768}, Offer(model="q", context=32_768)),
    ("llama.cpp", {"id": "q", "meta": {"n_ctx": 4_096, "n_ctx_train": 8_192}}, Offer(model="q", context=4_096)),
    ("groq", {"id": "q", "context_window": 131_072}, Offer(model="q", context=131_072)),
    (
        "mistral",
        {
            "id": "m",
            "max_context_length": 128_000,
            "capabilities": {"completion_chat": True, "function_calling": True, "vision": False},
        },
        Offer(model="m", context=128_000, tools=True, images=False),
    ),
    (
        "mistral embeds",
        {"id": "e", "capabilities": {"completion_chat": False}},
        Offer(model="e", replies=False),
    ),
    (
        "openrouter",
        {
            "id": "a/b",
            "context_length": 200_000,
            "architecture": {"input_modalities": ["text", "image"], "output_modalities": ["text"]},
            "supported_parameters": ["tools", "seed"],
            "pricing": {"prompt": "0.000003", "completion": "0.000015", "input_cache_read": "0.0000003"},
        },
        Offer(
            model="a/b",
            context=200_000,
            tools=True,
            images=True,
            thinking=False,
            price=Price(input=3.0, output=15.0, cache_read=0.3),
        ),
    ),
    (
        "openrouter draws",
        {"id": "d", "architecture": {"output_modalities": ["image"]}, "pricing": {"prompt": "-1", "completion": "-1"}},
        Offer(model="d", replies=False),
    ),
]


@pytest.mark.parametrize(("item", "offer"), [case[1:] for case in OPENAI], ids=[case[0] for case in OPENAI])
def test_every_compatible_server_is_read(item: dict[str, Any], offer: Offer) -> None:
    assert listing.openai({"object": "list", "data": [item]}) == (offer,)


def test_anthropic_is_read() -> None:
    answer = {"data": [{"id": "claude-x", "created_at": "1970-01-01T00:01:40Z", "max_input_tokens": 200_000}]}
    assert listing.anthropic(answer) == (Offer(model="claude-x", created=100.0, context=200_000, tools=True),)


def test_google_is_read() -> None:
    answer = {
        "models": [
            {
                "name": "models/gemini-x",
                "inputTokenLimit": 1_048_576,
                "thinking": True,
                "supportedGenerationMethods": ["generateContent", "countTokens"],
            },
            {"name": "models/embed", "supportedGenerationMethods": ["embedContent"]},
        ]
    }
    assert listing.google(answer) == (
        Offer(model="gemini-x", context=1_048_576, thinking=True),
        Offer(model="embed", replies=False),
    )


def test_ollama_is_read_from_three_answers() -> None:
    tags = {"models": [{"name": "qwen3:8b", "model": "qwen3:8b"}, {"name": "embed:latest"}]}
    first, second = listing.ollama(tags)
    shown = {
        "capabilities": ["completion", "tools", "thinking"],
        "model_info": {"general.architecture": "qwen3", "qwen3.context_length": 40_960},
        "parameters": 'stop    "<|im_end|>"\ntemperature 0.6',
    }
    told = listing.ollama_shown(first, shown)
    assert told == Offer(model="qwen3:8b", context=40_960, tools=True, images=False, thinking=True)
    assert listing.ollama_shown(first, {**shown, "parameters": "num_ctx   8192"}).context == 8_192
    assert not listing.ollama_shown(second, {"capabilities": ["embedding"]}).replies
    running = {"models": [{"name": "qwen3:8b", "model": "qwen3:8b", "context_length": 4_096}]}
    loaded = listing.ollama_loaded((told, second), running)
    assert [(offer.loaded, offer.context) for offer in loaded] == [(True, 4_096), (False, None)]


MOST = limits.local_context_tokens_max


@pytest.mark.parametrize(
    ("shown", "context"),
    [
        ({"model_info": {"a.context_length": 131_072}}, MOST),
        ({"model_info": {"a.context_length": MOST + 1}}, MOST),
        ({"model_info": {"a.context_length": MOST - 1}}, MOST - 1),
        ({"model_info": {"a.context_length": 131_072}, "parameters": "num_ctx 65536"}, 65_536),
        ({"model_info": {"a.context_length": 131_072}, "parameters": "num_ctx 2048"}, 2_048),
        ({"model_info": {"a.context_length": 131_072}, "remote_host": "https://ollama.com:443"}, 131_072),
        ({}, 4_096),
        (None, 4_096),
    ],
)
def test_what_an_ollama_is_asked_for_is_what_its_model_is_set_to_else_what_fits(shown: Any, context: int) -> None:
    loaded = Offer(model="m", context=4_096, loaded=True, tools=True)
    assert listing.ollama_asked(loaded, shown) == Offer(model="m", context=context, loaded=True, tools=True)


def test_llamacpp_is_read_from_its_properties() -> None:
    properties = {
        "default_generation_settings": {"n_ctx": 16_384},
        "modalities": {"vision": True, "audio": False},
        "chat_template_caps": {"supports_tools": False},
    }
    offers = listing.openai({"data": [{"id": "q"}]})
    assert listing.is_llamacpp({}, properties)
    assert listing.is_llamacpp({"data": [{"id": "q", "owned_by": "llamacpp"}]}, None)
    assert not listing.is_llamacpp({"data": [{"id": "q"}]}, {"error": "no"})
    assert listing.llamacpp(offers, properties) == (
        Offer(model="q", context=16_384, tools=False, images=True, loaded=True),
    )
    several = listing.openai({"data": [{"id": "q"}, {"id": "r"}]})
    assert listing.llamacpp(several, properties) == several


def test_lmstudio_is_read() -> None:
    item = {"id": "q", "type": "vlm", "state": "not-loaded", "max_context_length": 32_768, "capabilities": ["tool_use"]}
    loaded = {"id": "r", "type": "llm", "state": "loaded", "max_context_length": 32_768, "loaded_context_length": 4_096}
    embeds = {"id": "e", "type": "embeddings"}
    assert listing.lmstudio({"data": [item, loaded, embeds]}) == (
        Offer(model="q", context=32_768, tools=True, images=True, loaded=False),
        Offer(model="r", context=4_096, images=False, loaded=True),
        Offer(model="e", images=False, replies=False),
    )


def test_vllm_is_known_by_who_owns_its_models() -> None:
    assert listing.is_vllm({"data": [{"id": "q", "owned_by": "vllm"}]})
    assert not listing.is_vllm({"data": [{"id": "q", "owned_by": "me"}]})


def test_a_list_may_be_empty() -> None:
    assert listing.is_list({"data": []})
    assert not listing.is_list({"error": "no"})


def test_names_no_command_could_give_are_left_out_and_others_listed_once() -> None:
    odd = [{"id": name} for name in ("", "a\nb", "\ud83d", 3, None, "x" * 10_000)]
    assert listing.openai({"data": [*odd, {"id": "good"}, {"id": "good"}, "junk"]}) == (Offer(model="good"),)


def test_as_many_are_listed_as_the_limit_allows() -> None:
    many = {"data": [{"id": f"m{number}"} for number in range(limits.models_listed_max + 1)]}
    assert len(listing.openai(many)) == limits.models_listed_max


KEYS = (
    "data models id name capabilities type state meta architecture pricing prompt completion created created_at"
    " context_length parameters model_info a.context_length"
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS.split()), inner, max_size=4),
    max_leaves=20,
)
READERS: list[Callable[[Any], Any]] = [
    listing.openai,
    listing.anthropic,
    listing.google,
    listing.ollama,
    listing.lmstudio,
    listing.is_vllm,
    listing.is_list,
    lambda value: listing.is_llamacpp(value, value),
    lambda value: listing.ollama_shown(Offer(model="m"), value),
    lambda value: listing.ollama_asked(Offer(model="m"), value),
    lambda value: listing.ollama_loaded((Offer(model="m"),), value),
    lambda value: listing.llamacpp((Offer(model="m"),), value),
]


@pytest.mark.parametrize("reader", READERS)
@given(value=JSON)
def test_no_answer_hurts_a_reader(reader: Callable[[Any], Any], value: Any) -> None:
    reader(value)
    reader({"data": [value], "models": [value]})
