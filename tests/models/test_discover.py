"""Discovery against real sockets: every kind is known by its answers, and no server's trouble is another's."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from forkwood.domain import limits
from forkwood.domain.errors import Misused
from forkwood.domain.masking import MASK
from forkwood.domain.settings import Provider, Settings
from forkwood.models import catalog, discover
from forkwood.models.catalog import Known
from forkwood.models.discover import Asked, Found
from forkwood.models.keys import Keys
from forkwood.models.listing import Offer
from tests.models import fake_servers as fake
from tests.models.fake_servers import FakeServer, serving

PATIENT = 30.0
ENOUGH = 4.0
"""Seconds for those who answer, also on a busy machine, where somebody else will let the time run out."""


async def ask(*urls: str, seconds: float = PATIENT) -> tuple[Found, ...]:
    asked = discover.servers(Settings(home="/h"), {discover.LOCAL_SERVERS: ",".join(urls)})
    return await discover.ask_all(asked, Keys({}), seconds)


async def all_of(stack: AsyncExitStack, *routes: dict[str, fake.Answer]) -> list[FakeServer]:
    return [await stack.enter_async_context(serving(table)) for table in routes]


@pytest.fixture
def nobody() -> Iterator[str]:
    """An address where nothing listens, and nothing else will while the test lasts."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{held.getsockname()[1]}"


async def test_every_kind_of_server_is_known_by_what_it_answers() -> None:
    async with AsyncExitStack() as stack:
        tables = (fake.OLLAMA, fake.LLAMACPP, fake.LMSTUDIO, fake.VLLM, fake.PLAIN)
        servers = await all_of(stack, *tables)
        found = await ask(*(server.url for server in servers))
    plain = f"{servers[-1].url}/v1"
    assert [said.provider.name for said in found] == ["ollama", "llamacpp", "lmstudio", "vllm", plain]
    assert [said.provider.kind for said in found] == ["ollama", "llamacpp", "lmstudio", "vllm", "openai"]
    assert [said.provider.url for said in found] == [
        servers[0].url,
        *(f"{server.url}/v1" for server in servers[1:]),
    ]
    assert [said.provider.dialect for said in found] == ["ollama", "chat", "chat", "chat", "chat"]
    assert found[0].offers == (
        Offer(model="qwen3:8b", context=32_768, tools=True, images=False, thinking=False, loaded=False),
        Offer(model="llava:7b", context=4_096, tools=False, images=True, thinking=False, loaded=True),
        Offer(model="embed:latest", tools=False, images=False, thinking=False, loaded=False, replies=False),
    )
    assert found[1].offers == (Offer(model="local.gguf", context=16_384, tools=True, loaded=True),)
    assert found[2].offers[0] == Offer(model="gemma", context=8_192, tools=False, images=True, loaded=True)
    assert found[3].offers == (Offer(model="Qwen/Q", context=32_768),)
    assert found[4].offers == (Offer(model="m"),)


async def test_a_second_server_of_a_kind_goes_by_its_address() -> None:
    async with serving(fake.VLLM) as first, serving(fake.VLLM) as second:
        found = await ask(first.url, f"{second.url}/v1/")
    assert [said.provider.name for said in found] == ["vllm", f"{second.url}/v1"]


async def test_a_second_ollama_goes_by_its_address_and_is_found_there_again() -> None:
    async with serving(fake.OLLAMA) as first, serving(fake.OLLAMA) as second:
        found = await ask(first.url, second.url)
        again = [Asked(provider=catalog.at_url(second.url, {})), Asked(provider=catalog.at_url(f"{second.url}/v1", {}))]
        own, compatible = await discover.ask_all(again, Keys({}), PATIENT)
    assert [said.provider.name for said in found] == ["ollama", second.url]
    assert (own.provider.name, own.provider.url, own.provider.dialect) == (second.url, second.url, "ollama")
    assert own.offers == found[1].offers
    assert (compatible.provider.url, compatible.provider.dialect) == (f"{second.url}/v1", "chat")
    assert [offer.context for offer in compatible.offers] == [40_960, 4_096, None]


async def test_an_ollama_that_settings_name_is_asked_on_its_own_routes_with_its_key() -> None:
    async with serving(fake.OLLAMA) as server:
        settings = {"nas": Provider(url=f"{server.url}/v1", dialect="ollama", keys=("env:GATE",))}
        asked = [Asked(provider=catalog.providers(settings)["nas"])]
        (found,) = await discover.ask_all(asked, Keys({"GATE": "sk-seeded-1"}), PATIENT)
    assert (found.provider.name, found.provider.url, found.provider.dialect) == ("nas", server.url, "ollama")
    assert found.offers[0].context == limits.local_context_tokens_max
    assert {request.headers["authorization"] for request in server.requests} == {"Bearer sk-seeded-1"}


async def test_where_an_ollama_was_thought_to_be_another_server_is_a_compatible_one() -> None:
    for table, kind in ((fake.LLAMACPP, "llamacpp"), (fake.VLLM, "vllm"), (fake.PLAIN, "openai")):
        async with serving(table) as server:
            provider = catalog.providers({"ollama": Provider(url=server.url)})["ollama"]
            (found,) = await discover.ask_all([Asked(provider=provider)], Keys({}), PATIENT)
        assert (found.provider.name, found.provider.kind) == ("ollama", kind)
        assert (found.provider.url, found.provider.dialect) == (f"{server.url}/v1", "chat")


async def test_a_compatible_server_at_an_address_without_routes_stays_one() -> None:
    llamacpp = {**fake.LLAMACPP, "/models": fake.LLAMACPP["/v1/models"]}
    async with serving(llamacpp) as server:
        (found,) = await discover.ask_all([Asked(provider=catalog.at_url(server.url, {}))], Keys({}), PATIENT)
    assert (found.provider.url, found.provider.dialect, found.provider.kind) == (server.url, "chat", "llamacpp")


async def test_panelot_85_each_failure_is_told_in_its_place_and_holds_up_no_other(nobody: str) -> None:
    broken = {"/v1/models": fake.Answer(body=b'{"data": [', content_type="application/json")}
    refused = {"/v1/models": fake.of({"error": {"message": "Invalid API Key"}}, 401)}
    odd = {"/v1/models": fake.of({"hello": "world"})}
    page = {"/v1/models": fake.PAGE}
    async with AsyncExitStack() as stack:
        servers = await all_of(stack, broken, refused, odd, page, fake.PLAIN)
        found = await ask(*(server.url for server in servers), nobody)
    assert [said.failure and said.failure.reason for said in found] == [
        "protocol",
        "auth",
        "protocol",
        "protocol",
        None,
        "unreachable",
    ]
    assert found[4].offers == (Offer(model="m"),)
    assert not any(said.silent for said in found)


async def test_a_server_that_never_answers_is_left_when_time_is_up() -> None:
    async with serving({"/v1/models": fake.NEVER}) as stuck, serving(fake.PLAIN) as good:
        found = await ask(stuck.url, good.url, seconds=ENOUGH)
    assert found[0].failure is not None
    assert found[0].failure.reason == "timeout"
    assert found[1].offers == (Offer(model="m"),)


async def test_details_that_are_late_or_broken_are_unknown() -> None:
    routes = {**fake.OLLAMA, "/api/ps": fake.NEVER, "/api/show llava:7b": fake.PAGE}
    async with serving(routes) as server:
        (found,) = await ask(server.url, seconds=ENOUGH)
    assert [(offer.model, offer.context, offer.loaded) for offer in found.offers] == [
        ("qwen3:8b", 32_768, False),
        ("llava:7b", None, False),
        ("embed:latest", None, False),
    ]


async def test_as_many_models_are_asked_for_one_by_one_as_the_limit_allows() -> None:
    many = [{"model": f"m{number}"} for number in range(limits.details_asked_max + 1)]
    async with serving({**fake.OLLAMA, "/api/tags": fake.of({"models": many})}) as server:
        (found,) = await ask(server.url)
    assert len(found.offers) == limits.details_asked_max + 1
    assert sum(request.route == "/api/show" for request in server.requests) == limits.details_asked_max


async def test_one_wanted_model_alone_is_asked_for() -> None:
    async with serving(fake.OLLAMA) as server:
        asked = [Asked(provider=known(server, "ollama"), model="qwen3:8b")]
        (found,) = await discover.ask_all(asked, Keys({}), PATIENT)
    assert sum(request.route == "/api/show" for request in server.requests) == 1
    assert [offer.context for offer in found.offers] == [40_960, 4_096, None]


async def test_a_wanted_model_without_its_tag_is_asked_for() -> None:
    shown = fake.of({"model_info": {"phi.context_length": 16_384}})
    routes = {**fake.OLLAMA, "/api/tags": fake.of({"models": [{"model": "phi:latest"}]}), "/api/show phi:latest": shown}
    async with serving(routes) as server:
        asked = [Asked(provider=catalog.at_url(server.url, {}), model="phi")]
        (found,) = await discover.ask_all(asked, Keys({}), PATIENT)
    assert [offer.context for offer in found.offers] == [16_384]


def test_the_usual_ports_are_asked_and_may_be_silent() -> None:
    asked = discover.servers(Settings(home="/h"), {})
    assert [server.provider.url for server in asked] == [
        "http://127.0.0.1:11434",
        "http://127.0.0.1:8080/v1",
        "http://127.0.0.1:1234/v1",
        "http://127.0.0.1:8000/v1",
    ]
    assert all(server.usual and not server.named for server in asked)
    assert discover.servers(Settings(home="/h"), {discover.LOCAL_SERVERS: ""}) == ()


async def test_a_usual_port_where_something_else_listens_is_nothing_to_tell() -> None:
    async with serving({"/v1/models": fake.PAGE}) as other, serving(fake.LLAMACPP) as found_there:
        asked = [Asked(provider=known(server, "vllm"), named=False, usual=True) for server in (other, found_there)]
        first, second = await discover.ask_all(asked, Keys({}), PATIENT)
    assert first.silent
    assert (second.silent, second.provider.name) == (False, "llamacpp")


def known(server: FakeServer, name: str, keys: tuple[str, ...] = ()) -> Known:
    return Known(name=name, url=f"{server.url}/v1", dialect="chat", kind="openai", keys=keys, local=True)


def test_servers_that_settings_name_are_asked_by_their_name() -> None:
    settings = Settings(
        home="/h",
        providers={
            "ollama": Provider(url="http://127.0.0.1:9/v1"),
            "lan": Provider(url="http://192.168.0.9:8000/v1"),
            "paid": Provider(url="https://example.org/v1", keys=("env:K",)),
        },
    )
    asked = discover.servers(settings, {})
    assert [(server.provider.name, server.named) for server in asked] == [
        ("ollama", True),
        ("lan", True),
        ("llamacpp", False),
        ("lmstudio", False),
        ("vllm", False),
    ]
    assert len(discover.servers(settings, {discover.LOCAL_SERVERS: ""})) == 2
    with pytest.raises(Misused):
        discover.servers(settings, {discover.LOCAL_SERVERS: "nonsense"})


async def test_a_named_server_keeps_its_name_whatever_it_is() -> None:
    async with serving(fake.LLAMACPP) as server:
        asked = [Asked(provider=known(server, "ollama"))]
        (found,) = await discover.ask_all(asked, Keys({}), PATIENT)
    assert (found.provider.name, found.provider.kind) == ("ollama", "llamacpp")


async def test_a_key_goes_with_the_question_and_the_next_one_after_a_refusal(tmp_path: Path) -> None:
    async with serving(fake.PLAIN) as server:
        asked = [Asked(provider=known(server, "paid", ("env:ABSENT", "env:A_KEY")))]
        await discover.ask_all(asked, Keys({"A_KEY": "sk-seeded-1"}), PATIENT)
    assert {request.headers["authorization"] for request in server.requests} == {"Bearer sk-seeded-1"}
    async with serving({"/v1/models": fake.of({"error": {"message": "no: sk-seeded-1, sk-seeded-2"}}, 401)}) as server:
        asked = [Asked(provider=known(server, "paid", ("env:A_KEY", "env:B_KEY")))]
        (found,) = await discover.ask_all(asked, Keys({"A_KEY": "sk-seeded-1", "B_KEY": "sk-seeded-2"}), PATIENT)
    sent = [request.headers["authorization"] for request in server.requests]
    assert sent == ["Bearer sk-seeded-1", "Bearer sk-seeded-2"]
    assert found.failure is not None
    assert "sk-seeded-2" not in repr((found, found.failure.message, found.failure.facts))


@pytest.mark.parametrize(
    ("kind", "dialect", "routes", "header"),
    [
        ("anthropic", "anthropic", {"/models": fake.of({"data": [{"id": "claude"}]})}, "x-api-key"),
        ("google", "google", {"/models": fake.of({"models": [{"name": "models/claude"}]})}, "x-goog-api-key"),
        ("openai", "responses", {"/models": fake.of({"data": [{"id": "claude"}]})}, "authorization"),
    ],
)
async def test_providers_with_keys_are_asked_in_their_own_way(
    kind: str, dialect: str, routes: dict[str, fake.Answer], header: str
) -> None:
    async with serving(routes) as server:
        provider = Known(name="p", url=server.url, dialect=dialect, kind=kind, keys=("env:K",))  # type: ignore[arg-type]
        (found,) = await discover.ask_all([Asked(provider=provider)], Keys({"K": "sk-seeded-1"}), PATIENT)
    assert [offer.model for offer in found.offers] == ["claude"]
    assert "sk-seeded-1" in server.requests[0].headers[header]


async def test_a_model_that_is_called_as_a_key_is_listed_without_it() -> None:
    key, other = "sk-seeded-secret-1", "another-credential"
    names = ["m", f"x-{key}", key.upper(), f"y-{other}", f"{other}-y", "sk-seeded-secret", "seeded"]
    async with serving({"/v1/models": fake.of({"data": [{"id": name} for name in names]})}) as server:
        asked = [Asked(provider=known(server, "paid", ("env:K",)))]
        (found,) = await discover.ask_all(asked, Keys({"K": key, "MY_TOKEN": other}), PATIENT)
    assert [offer.model for offer in found.offers] == [
        "m", f"x-{MASK}", MASK, f"y-{MASK}", f"{MASK}-y", "seeded",
    ]  # fmt: skip
