"""Lists of models as servers spell them, read as offers. Pure; whatever is missing or odd in a list is unknown."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import msgspec
from msgspec import Struct

from forkwood.domain import limits
from forkwood.domain.model import Price


class Offer(Struct, frozen=True, kw_only=True):
    """One model a server offers. `created` is in Unix seconds; `replies` is False for what only embeds or draws."""

    model: str
    context: int | None = None
    tools: bool | None = None
    images: bool | None = None
    thinking: bool | None = None
    price: Price | None = None
    loaded: bool | None = None
    created: float | None = None
    replies: bool = True


def openai(value: Any) -> tuple[Offer, ...]:
    """Offers of `/v1/models`: the plain list of OpenAI, and what vLLM, llama.cpp, OpenRouter, Groq and Mistral add."""
    return _bounded(_openai(item) for item in _items(_at(value, "data")))


def anthropic(value: Any) -> tuple[Offer, ...]:
    """Offers of Anthropic's `/v1/models`."""
    return _bounded(
        Offer(
            model=_name(item.get("id")),
            context=_count(item.get("max_input_tokens")),
            created=_date(item.get("created_at")),
            tools=True,
            images=_flag(_at(item, "capabilities", "image_input", "supported")),
            thinking=_flag(_at(item, "capabilities", "thinking", "supported")),
        )
        for item in _items(_at(value, "data"))
    )


def google(value: Any) -> tuple[Offer, ...]:
    """Offers of Google's `/v1beta/models`."""
    return _bounded(
        Offer(
            model=_name(item.get("name")).removeprefix("models/"),
            context=_count(item.get("inputTokenLimit")),
            thinking=_flag(item.get("thinking")),
            replies="generateContent" in _words(item.get("supportedGenerationMethods")),
        )
        for item in _items(_at(value, "models"))
    )


def ollama(tags: Any) -> tuple[Offer, ...]:
    """Offers of Ollama's `/api/tags`."""
    return _bounded(Offer(model=_name(item.get("model") or item.get("name"))) for item in _items(_at(tags, "models")))


def ollama_shown(offer: Offer, shown: Any) -> Offer:
    """OFFER with what `/api/show` says of it. The context is the one the model is set to, for that is where it cuts."""
    able = _words(_at(shown, "capabilities"))
    return msgspec.structs.replace(
        offer,
        context=_ollama_set(shown) or _ollama_most(shown),
        tools="tools" in able if able else None,
        images="vision" in able if able else None,
        thinking="thinking" in able if able else None,
        replies="completion" in able or not able,
    )


def ollama_loaded(offers: tuple[Offer, ...], running: Any) -> tuple[Offer, ...]:
    """OFFERS with what `/api/ps` says: which are loaded, and with how much context: the compatible route keeps it."""
    loaded = {_name(item.get("model") or item.get("name")): item for item in _items(_at(running, "models"))}
    return tuple(
        msgspec.structs.replace(
            offer,
            loaded=offer.model in loaded,
            context=_count(_at(loaded.get(offer.model), "context_length")) or offer.context,
        )
        for offer in offers
    )


def ollama_asked(offer: Offer, shown: Any) -> Offer:
    """OFFER, told already, with the context it is asked for on Ollama's own route, whatever it is loaded with.

    That is what `/api/show` says the model is set to, else all it can have, within limits.local_context_tokens_max
    where this machine must hold it.
    """
    most = _ollama_most(shown)
    if most is not None and not _at(shown, "remote_host"):
        most = min(most, limits.local_context_tokens_max)
    return msgspec.structs.replace(offer, context=_ollama_set(shown) or most or offer.context)


def llamacpp(offers: tuple[Offer, ...], properties: Any) -> tuple[Offer, ...]:
    """OFFERS of a llama.cpp server with its `/props`, which tell of the one model that is loaded."""
    context = _count(_at(properties, "default_generation_settings", "n_ctx"))
    able = _at(properties, "chat_template_caps")
    alone = len(offers) == 1
    return tuple(
        msgspec.structs.replace(
            offer,
            context=context or offer.context,
            tools=_flag(_at(able, "supports_tools")),
            images=_flag(_at(properties, "modalities", "vision")),
            loaded=True,
        )
        if alone
        else offer
        for offer in offers
    )


def is_llamacpp(value: Any, properties: Any) -> bool:
    """Whether VALUE, a list of `/v1/models`, comes from llama.cpp, or PROPERTIES, which it may keep to itself, do."""
    return _owned_by(value, "llamacpp") or bool(_table(_at(properties, "default_generation_settings")))


def lmstudio(value: Any) -> tuple[Offer, ...]:
    """Offers of LM Studio's `/api/v0/models`."""
    return _bounded(
        Offer(
            model=_name(item.get("id")),
            context=_count(item.get("loaded_context_length")) or _count(item.get("max_context_length")),
            tools="tool_use" in _words(item["capabilities"]) if "capabilities" in item else None,
            images=item["type"] == "vlm" if "type" in item else None,
            loaded=item["state"] == "loaded" if "state" in item else None,
            replies=item.get("type") != "embeddings",
        )
        for item in _items(_at(value, "data"))
    )


def is_list(value: Any) -> bool:
    """Whether VALUE is a list as `/v1/models` gives it, be it empty."""
    return isinstance(_at(value, "data"), list)


def is_vllm(value: Any) -> bool:
    """Whether VALUE, a list of `/v1/models`, comes from vLLM."""
    return _owned_by(value, "vllm")


def _owned_by(value: Any, owner: str) -> bool:
    return any(item.get("owned_by") == owner for item in _items(_at(value, "data")))


def _openai(item: dict[str, Any]) -> Offer:
    sees = _words(_at(item, "architecture", "input_modalities"))
    says = _words(_at(item, "architecture", "output_modalities"))
    takes = _words(item.get("supported_parameters"))
    counts = ("max_model_len", "context_length", "context_window", "max_context_length")
    found = (_count(item.get(key)) for key in counts)
    chats = _flag(_at(item, "capabilities", "completion_chat"))
    return Offer(
        model=_name(item.get("id")),
        context=next((count for count in found if count), None) or _count(_at(item, "meta", "n_ctx")),
        tools="tools" in takes if takes else _flag(_at(item, "capabilities", "function_calling")),
        images="image" in sees if sees else _flag(_at(item, "capabilities", "vision")),
        thinking="reasoning" in takes if takes else None,
        price=_price(item.get("pricing")),
        created=_seconds(item.get("created")),
        replies=chats is not False and ("text" in says or not says),
    )


def _ollama_set(shown: Any) -> int | None:
    """The context a person gave a model in its own file."""
    return _count(_parameter(_at(shown, "parameters"), "num_ctx"))


def _ollama_most(shown: Any) -> int | None:
    """The longest context a model was made for."""
    facts = _table(_at(shown, "model_info"))
    return _count(next((facts[key] for key in facts if key.endswith(".context_length")), None))


def _price(value: Any) -> Price | None:
    """A price in dollars per token, as OpenRouter writes it."""
    into, out = _dollars(_at(value, "prompt")), _dollars(_at(value, "completion"))
    if into is None or out is None:
        return None
    read, write = _dollars(_at(value, "input_cache_read")), _dollars(_at(value, "input_cache_write"))
    return Price(input=into, output=out, cache_read=read, cache_write=write)


def _dollars(value: Any) -> float | None:
    try:
        amount = float(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return round(amount * 1_000_000, 9) if amount is not None and 0 <= amount < 1 else None


def _bounded(offers: Iterator[Offer]) -> tuple[Offer, ...]:
    """The OFFERS that have a name, each once, as many as are listed."""
    found = {offer.model: offer for offer in offers if offer.model}
    return tuple(found.values())[: limits.models_listed_max]


def _items(value: Any) -> Iterator[dict[str, Any]]:
    return (item for item in value if isinstance(item, dict)) if isinstance(value, list) else iter(())


def _at(value: Any, *keys: str) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _words(value: Any) -> frozenset[str]:
    return frozenset(word for word in value if isinstance(word, str)) if isinstance(value, list) else frozenset()


def _name(value: Any) -> str:
    """VALUE as the name of a model, or nothing where no command could name it."""
    usable = isinstance(value, str) and value.isprintable() and len(value) <= limits.model_name_characters_max // 2
    return value.strip() if usable else ""


def _flag(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 1 << 40 else None


def _seconds(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _date(value: Any) -> float | None:
    try:
        return datetime.fromisoformat(value).timestamp() if isinstance(value, str) else None
    except (ValueError, OverflowError):
        return None


def _parameter(text: Any, name: str) -> int | None:
    """The whole number that NAME has among the lines of TEXT, as Ollama shows a model's parameters."""
    lines = (line.split() for line in text.split("\n")) if isinstance(text, str) else ()
    return next(
        (int(words[1]) for words in lines if len(words) == 2 and words[0] == name and words[1].isdecimal()), None
    )
