"""The catalog: known providers as data, settings over them, and no usual key for an unusual address."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from forkwood.domain.settings import Provider
from forkwood.models import catalog, keys, names
from forkwood.models.catalog import Known
from forkwood.models.quirks import Quirks

KEYS = {
    "openai": ("env:OPENAI_API_KEY",),
    "anthropic": ("env:ANTHROPIC_API_KEY",),
    "google": ("env:GEMINI_API_KEY", "env:GOOGLE_API_KEY"),
    "openrouter": ("env:OPENROUTER_API_KEY",),
    "groq": ("env:GROQ_API_KEY",),
    "mistral": ("env:MISTRAL_API_KEY",),
    "deepseek": ("env:DEEPSEEK_API_KEY",),
    "xai": ("env:XAI_API_KEY",),
}
PORTS = {"ollama": "11434", "llamacpp": "8080/v1", "lmstudio": "1234/v1", "vllm": "8000/v1"}


def test_every_provider_is_there_with_its_keys_or_its_port() -> None:
    known = catalog.providers({})
    assert {name: entry.keys for name, entry in known.items() if not entry.local} == KEYS
    assert {name: entry.url for name, entry in known.items() if entry.local} == {
        name: f"http://127.0.0.1:{port}" for name, port in PORTS.items()
    }


@pytest.mark.parametrize("known", (*catalog.CLOUD, *catalog.LOCAL), ids=lambda known: known.name)
def test_every_entry_is_well_formed(known: Known) -> None:
    assert names.provider_name(known.name) == known.name
    assert names.url_of(known.url) == known.url
    assert names.is_loopback(known.url) is known.local
    assert known.local or known.url.startswith("https://")
    for reference in known.keys:
        assert keys.parse(reference).holder == "env"


def test_dialects_are_the_native_ones_and_chat_for_all_others() -> None:
    dialects = {name: entry.dialect for name, entry in catalog.providers({}).items()}
    native = {name: dialects.pop(name) for name in ("openai", "anthropic", "google", "ollama")}
    assert native == {"openai": "responses", "anthropic": "anthropic", "google": "google", "ollama": "ollama"}
    assert set(dialects.values()) == {"chat"}


def test_settings_put_their_keys_first_and_change_the_dialect() -> None:
    known = catalog.providers({"openai": Provider(dialect="chat", keys=("keyring:openai", "env:OPENAI_API_KEY"))})
    assert known["openai"].keys == ("keyring:openai", "env:OPENAI_API_KEY")
    assert known["openai"].dialect == "chat"
    assert known["openai"].quirks.output_limit_field == "max_completion_tokens"


@pytest.mark.parametrize(
    "url", ["http://nas:11434", "http://nas:11434/", "http://nas:11434/v1", "http://NAS:11434/v1/"]
)
def test_an_ollama_is_found_at_its_root_however_its_address_is_written(url: str) -> None:
    moved = catalog.providers({"ollama": Provider(url=url), "nas": Provider(url=url, dialect="ollama")})
    for name in ("ollama", "nas"):
        assert (moved[name].url, moved[name].dialect, moved[name].kind) == ("http://nas:11434", "ollama", "ollama")
    assert catalog.providers({"nas": Provider(url="http://nas:11434/v1")})["nas"].dialect == "chat"


def test_an_ollama_may_be_spoken_to_as_a_compatible_server() -> None:
    usual = catalog.providers({"ollama": Provider(dialect="chat")})["ollama"]
    assert (usual.name, usual.url, usual.dialect) == ("ollama", "http://127.0.0.1:11434/v1", "chat")
    moved = catalog.providers({"ollama": Provider(url="http://nas:9/v1", dialect="chat")})["ollama"]
    assert (moved.url, moved.dialect) == ("http://nas:9/v1", "chat")


def test_the_compatible_routes_of_an_ollama_have_its_keys_too() -> None:
    settings = {"ollama": Provider(url="http://nas:11434", keys=("env:GATE",))}
    there = catalog.at_url("http://nas:11434/v1", settings)
    assert (there.dialect, there.url, there.keys) == ("chat", "http://nas:11434/v1", ("env:GATE",))


def test_an_address_without_routes_goes_by_itself_in_either_dialect() -> None:
    bare = catalog.at_url("http://127.0.0.1:5000", {})
    own = catalog.native(bare)
    assert (own.name, own.url, own.dialect) == ("http://127.0.0.1:5000", "http://127.0.0.1:5000", "ollama")
    assert catalog.native(own) == own
    back = catalog.compatible(own)
    assert (back.name, back.url, back.dialect) == ("http://127.0.0.1:5000/v1", "http://127.0.0.1:5000/v1", "chat")
    assert catalog.compatible(back) == back
    assert catalog.of_kind(own, "llamacpp").url == "http://127.0.0.1:5000/v1"


def test_an_unusual_address_gets_no_usual_key() -> None:
    moved = catalog.providers({"openai": Provider(url="https://proxy.example/v1/")})["openai"]
    assert (moved.url, moved.keys, moved.local) == ("https://proxy.example/v1", (), False)
    keyed = catalog.providers({"openai": Provider(url="https://proxy.example/v1", keys=("env:PROXY_KEY",))})["openai"]
    assert keyed.keys == ("env:PROXY_KEY",)
    same = catalog.providers({"openai": Provider(url="https://api.openai.com/v1")})["openai"]
    assert same.keys == ("env:OPENAI_API_KEY",)


def test_settings_add_providers() -> None:
    added = {
        "work": Provider(url="https://models.example/v1", keys=("env:W",)),
        "claude": Provider(url="https://models.example/anthropic/v1", dialect="anthropic"),
        "lost": Provider(keys=("env:L",)),
    }
    known = catalog.providers(added)
    assert known["work"] == Known(
        name="work", url="https://models.example/v1", dialect="chat", kind="openai", keys=("env:W",)
    )
    assert (known["claude"].dialect, known["claude"].kind) == ("anthropic", "anthropic")
    assert "lost" not in known
    assert catalog.without_address(added) == ("lost",)


def test_an_address_has_the_keys_of_the_provider_that_is_known_there() -> None:
    settings = {"work": Provider(url="https://models.example/v1", keys=("env:W",))}
    assert catalog.at_url("https://models.example/v1", settings).keys == ("env:W",)
    assert catalog.at_url("https://models.example/v2", settings).keys == ()
    openai = catalog.at_url("https://api.openai.com/v1", {})
    assert (openai.name, openai.dialect, openai.keys) == ("https://api.openai.com/v1", "chat", ("env:OPENAI_API_KEY",))
    assert catalog.at_url("http://127.0.0.1:5000/v1", {}).local


def test_a_server_that_has_shown_its_kind_gets_that_kinds_quirks() -> None:
    plain = catalog.at_url("http://127.0.0.1:5000/v1", {})
    like = next(known for known in catalog.LOCAL if known.name == "llamacpp")
    assert catalog.of_kind(plain, "llamacpp").quirks == like.quirks != Quirks()
    own = catalog.at_url("https://api.mistral.ai/v1", {})
    assert catalog.of_kind(own, "llamacpp").quirks == own.quirks


@pytest.mark.parametrize(
    ("model", "style"),
    [
        ("claude-3-7-sonnet-20250219", "budget"),
        ("claude-sonnet-4-20250514", "budget"),
        ("claude-opus-4-1-20250805", "budget"),
        ("claude-haiku-4-5", "budget"),
        ("claude-opus-4-6", "level"),
        ("claude-sonnet-4-6-20260217", "level"),
        ("claude-opus-5-4", "level"),
        ("claude-of-next-year", "level"),
        ("some-other-model", "budget"),
    ],
)
def test_a_claude_takes_a_budget_or_a_level_by_its_name_wherever_it_is_reached(model: str, style: str) -> None:
    known = catalog.providers({"proxy": Provider(url="https://proxy.example/v1", dialect="anthropic")})
    for name, spelled in (("anthropic", model), ("proxy", f"anthropic/{model.title()}")):
        assert catalog.quirks_of(known[name], spelled).effort_style == style


@pytest.mark.parametrize(
    ("model", "style"),
    [
        ("gemini-2.5-flash", "budget"),
        ("models/gemini-2.0-flash", "budget"),
        ("gemma-3-27b-it", "budget"),
        ("gemini-3-pro-preview", "level"),
        ("gemini-3.5-flash", "level"),
        ("gemini-flash-latest", "level"),
    ],
)
def test_a_gemini_of_the_third_line_takes_levels_and_wants_its_calls_signed(model: str, style: str) -> None:
    quirks = catalog.quirks_of(catalog.providers({})["google"], model)
    assert (quirks.effort_style, quirks.signed_calls) == (style, style == "level")


@pytest.mark.parametrize(
    ("model", "encrypted"),
    [
        ("gpt-4o", False), ("gpt-4.1-mini", False), ("gpt-5-chat-latest", False), ("ft:gpt-4o-mini:me::x", False),
        ("gpt-5", True), ("gpt-5.4-mini", True), ("o3", True), ("gpt-9", True),
    ],
)  # fmt: skip
def test_reasoning_is_asked_back_of_models_that_reason(model: str, encrypted: bool) -> None:
    quirks = catalog.quirks_of(catalog.providers({})["openai"], model)
    assert (quirks.encrypted_reasoning, quirks.output_limit_field) == (encrypted, "max_completion_tokens")


@pytest.mark.parametrize(
    ("model", "field"),
    [
        ("grok-3", None), ("grok-3-fast", None), ("grok-4-0709", None), ("grok-4-1-fast-reasoning", None),
        ("grok-4.20-0309-reasoning", None), ("grok-code-fast-1", None), ("grok-3-mini", "reasoning_effort"),
        ("grok-4.3", "reasoning_effort"), ("grok-4.20-multi-agent", "reasoning_effort"), ("grok-5", "reasoning_effort"),
    ],
)  # fmt: skip
def test_effort_goes_to_the_groks_that_take_one(model: str, field: str | None) -> None:
    assert catalog.quirks_of(catalog.providers({})["xai"], model).effort_field == field


def test_what_a_person_says_of_a_server_comes_over_what_is_known_of_it() -> None:
    said = Provider(think_tags="opened", thoughts=False, extra_body={"top_k": 40}, extra_headers={"X-Title": "t"})
    url = "http://127.0.0.1:5000/v1"
    known = catalog.providers({"mistral": said, "box": msgspec.structs.replace(said, url=url)})
    mine: dict[str, Any] = {
        "think_tags": "opened",
        "thoughts": False,
        "extra_body": {"top_k": 40},
        "extra_headers": {"x-title": "t"},
    }
    assert catalog.quirks_of(known["mistral"], "m") == msgspec.structs.replace(
        catalog.quirks_of(catalog.providers({})["mistral"], "m"), **mine
    )
    assert catalog.quirks_of(known["box"], "m") == Quirks(**mine)
    like = catalog.quirks_of(catalog.of_kind(known["box"], "llamacpp"), "m")
    assert (like.think_tags, like.effort_field) == ("opened", "chat_template_kwargs.reasoning_effort")
    assert catalog.quirks_of(catalog.at_url(url, {"box": msgspec.structs.replace(said, url=url)}), "m") == Quirks(
        **mine
    )


def test_every_quirk_has_an_owner() -> None:
    plain = msgspec.structs.asdict(Quirks())
    entries = (*catalog.CLOUD, *catalog.LOCAL)
    owned = [quirks for entry in entries for quirks in (entry.quirks, *(some.quirks for some in entry.some))]
    by_catalog = {
        name for quirks in owned for name, value in msgspec.structs.asdict(quirks).items() if value != plain[name]
    }
    by_settings = plain.keys() & {field.name for field in msgspec.structs.fields(Provider)}
    assert plain.keys() == by_catalog | by_settings
