"""The catalog: known providers as data, settings over them, and no usual key for an unusual address."""

from __future__ import annotations

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
        assert keys.parse(reference).place == "env"


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
