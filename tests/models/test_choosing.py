"""Rows and choices out of what was found."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from forkwood.domain.errors import ProviderFailed
from forkwood.domain.model import Price
from forkwood.models import catalog, choosing
from forkwood.models.catalog import Known
from forkwood.models.discover import Found
from forkwood.models.listing import Offer

NOW = datetime(2026, 11, 30, tzinfo=UTC)
KNOWN = catalog.providers({})
LOCAL = Known(name="ollama", url="http://127.0.0.1:1/v1", dialect="chat", kind="ollama", local=True)
FAILURE = ProviderFailed("unreachable", "it is down")


def found(known: Known, *offers: Offer) -> Found:
    return Found(provider=known, offers=offers)


def test_a_server_without_a_name_goes_by_its_address() -> None:
    there = catalog.at_url("http://127.0.0.1:1/v1", {})
    assert choosing.name(there, "m") == "http://127.0.0.1:1/v1#m"
    assert choosing.name(LOCAL, "m") == "ollama:m"


def test_what_a_server_says_comes_before_what_is_public() -> None:
    own = Price(input=1.0, output=2.0)
    assert choosing.traits(KNOWN["openai"], Offer(model="gpt-4o", context=5, price=own), NOW).price == own
    public = choosing.traits(KNOWN["openai"], Offer(model="gpt-4o"), NOW)
    assert (public.context, public.price and public.price.input, public.tools) == (128_000, 2.5, None)
    assert choosing.traits(LOCAL, Offer(model="gpt-4o"), NOW).price is None


def test_rows_are_sorted_and_leave_out_what_gives_no_replies() -> None:
    rows = choosing.rows(found(LOCAL, Offer(model="b"), Offer(model="e", replies=False), Offer(model="a")), NOW)
    assert [row.name for row in rows] == ["ollama:a", "ollama:b"]
    assert choosing.rows(Found(provider=LOCAL, failure=FAILURE), NOW) == []


def test_a_provider_without_a_list_has_a_row_that_stands_for_all() -> None:
    (asked_not,) = choosing.rows(Found(provider=KNOWN["openai"]), NOW)
    (failed,) = choosing.rows(Found(provider=KNOWN["openai"], failure=FAILURE), NOW)
    assert asked_not.name == failed.name == "openai:…"
    assert "any model" in (asked_not.note or "")
    assert failed.note == "it is down"
    assert choosing.standing_for_all([Found(provider=KNOWN["groq"], failure=FAILURE)]) is None
    assert choosing.standing_for_all([Found(provider=KNOWN["groq"])]) == "groq:…"


def test_notes_tell_failures_that_somebody_expected_otherwise() -> None:
    silent = Found(provider=LOCAL, failure=FAILURE, silent=True)
    loud = Found(provider=LOCAL, failure=FAILURE)
    assert choosing.notes([silent, loud, found(LOCAL), found(LOCAL, Offer(model="a"))]) == [
        "it is down",
        "ollama answers at http://127.0.0.1:1/v1 and has no models",
    ]


def test_a_loaded_model_of_the_first_server_that_has_any_is_taken() -> None:
    other = Known(name="vllm", url="http://127.0.0.1:2/v1", dialect="chat", kind="vllm", local=True)
    local = [
        Found(provider=LOCAL, failure=FAILURE),
        found(LOCAL, Offer(model="e", replies=False)),
        found(other, Offer(model="a"), Offer(model="b", loaded=True)),
    ]
    assert choosing.first(local, [found(KNOWN["openai"], Offer(model="gpt-4o"))], NOW) == "vllm:b"
    assert choosing.first(local[:2], [found(KNOWN["openai"], Offer(model="gpt-4o"))], NOW) == "openai:gpt-4o"
    assert choosing.first(local[:2], [Found(provider=KNOWN["openai"])], NOW) is None


@pytest.mark.parametrize(
    ("provider", "offered", "taken"),
    [
        ("openai", ["gpt-4o", "gpt-5", "gpt-5-mini", "whisper-1"], "openai:gpt-5"),
        ("openai", ["whisper-1", "gpt-4o"], "openai:gpt-4o"),
        ("anthropic", ["claude-opus-4-5", "claude-sonnet-4-5", "claude-sonnet-4-0"], "anthropic:claude-sonnet-4-5"),
        ("anthropic", ["claude-opus-4-5"], "anthropic:claude-opus-4-5"),
        ("google", ["gemini-2.5-pro", "gemini-2.5-flash", "gemini-2.5-flash-lite"], "google:gemini-2.5-flash"),
        ("mistral", ["mistral-large-2512", "mistral-medium-latest"], "mistral:mistral-medium-latest"),
        ("xai", ["grok-4-0709", "grok-4.7", "grok-3"], "xai:grok-4.7"),
        ("deepseek", ["deepseek-reasoner", "deepseek-chat"], "deepseek:deepseek-chat"),
        ("groq", ["whisper-large-v3", "llama-3.3-70b-versatile"], "groq:llama-3.3-70b-versatile"),
        ("groq", ["unheard-of"], "groq:unheard-of"),
    ],
)
def test_a_provider_is_taken_at_its_preferred_model(provider: str, offered: list[str], taken: str) -> None:
    offers = (Offer(model=model, created=float(number)) for number, model in enumerate(sorted(offered)))
    assert choosing.preferred(found(KNOWN[provider], *offers), NOW) == taken
