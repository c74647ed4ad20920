"""What can be reached, what is meant where nothing is named, and a Model for a name: with servers on real sockets."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from forkwood.domain import limits
from forkwood.domain.errors import ForkwoodError, Misused, NotFound, ProviderFailed
from forkwood.domain.message import Text
from forkwood.domain.model import Binding, Model, ModelListed, Price, Reply, Try
from forkwood.domain.prompt import Prompt, PromptMessage, ToolSpec
from forkwood.domain.settings import Parameters, Provider, Settings
from forkwood.models import catalog, embedded_server, registry
from forkwood.models.discover import LOCAL_SERVERS
from tests.models import fake_servers as fake
from tests.models.fake_servers import FakeServer, serving

SECRET = "sk-seeded-0123456789"
ANTHROPIC = {
    "/models": fake.of(
        {
            "data": [
                {"id": "claude-haiku-4-5", "created_at": "2026-01-03T00:00:00Z"},
                {"id": "claude-sonnet-4-0", "created_at": "2025-01-01T00:00:00Z"},
                {"id": "claude-sonnet-4-5", "created_at": "2026-01-01T00:00:00Z"},
                {"id": "claude-sonnet-99-unpriced", "created_at": "2027-01-01T00:00:00Z"},
            ]
        }
    )
}
CHAT = fake.Answer(
    body=b'data: {"choices":[{"delta":{"content":"Hi."},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
    content_type="text/event-stream",
)


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody here is silent, so that time is only ever short where the machine is busy."""
    monkeypatch.setattr(limits, "discovery_seconds", 30.0)
    monkeypatch.setattr(limits, "remote_listing_seconds", 30.0)


@pytest.fixture
def settings(home: Path) -> Settings:
    return Settings(home=str(home))


@pytest.fixture
def without_embedded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded_server, "find_spec", lambda name: None)


@pytest.fixture
def anthropic_there(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Lets the known provider `anthropic` live at another address, as if that were its usual one, far away."""

    def move(server: FakeServer) -> None:
        moved = [
            msgspec.structs.replace(known, url=server.url) if known.name == "anthropic" else known
            for known in catalog.CLOUD
        ]
        monkeypatch.setattr(catalog, "CLOUD", tuple(moved))

    return iter([move])


def at(*servers: FakeServer, **environ: str) -> dict[str, str]:
    return {LOCAL_SERVERS: ",".join(server.url for server in servers), **environ}


def by_name(rows: list[ModelListed]) -> dict[str, ModelListed]:
    return {row.name: row for row in rows}


def prompt(name: str, tools: tuple[ToolSpec, ...] = ()) -> Prompt:
    message = PromptMessage(role="user", parts=(Text(text="Hello"),), nodes=())
    return Prompt(form=1, model=name, system=None, messages=(message,), tools=tools, parameters=Parameters())


async def reply_of(model: Model) -> Reply:
    items = [item async for item in model.stream(model.encode(prompt(model.name), {}), Try(turn=0, number=1))]
    assert isinstance(items[-1], Reply)
    return items[-1]


async def test_local_models_come_with_what_their_servers_say(settings: Settings) -> None:
    async with serving(fake.OLLAMA) as ollama, serving(fake.VLLM) as vllm:
        rows = await registry.reachable(settings, at(ollama, vllm))
    assert [row.name for row in rows] == ["ollama:llava:7b", "ollama:qwen3:8b", "vllm:Qwen/Q", "embedded:smollm2"]
    assert rows[1] == ModelListed(
        name="ollama:qwen3:8b",
        provider="ollama",
        dialect="ollama",
        origin=ollama.url,
        context=32_768,
        tools=True,
        images=False,
        thinking=False,
        loaded=False,
    )
    assert [row.name for row in rows if row.default] == ["ollama:llava:7b"]
    assert (rows[-1].tools, rows[-1].context) == (False, 8_192)


async def test_failures_and_empty_servers_are_noted_and_cost_no_other_row(settings: Settings) -> None:
    broken = {"/v1/models": fake.of({"error": {"message": "boom"}}, 500)}
    empty = {"/v1/models": fake.of({"data": []})}
    async with serving(broken) as one, serving(empty) as two, serving(fake.PLAIN) as three:
        reached = await registry.survey(settings, at(one, two, three))
    assert [row.name for row in reached.models] == [f"{three.url}/v1#m", "embedded:smollm2"]
    assert len(reached.notes) == 2
    assert "boom" in reached.notes[0]
    assert reached.notes[1].endswith("has no models")


async def test_settings_that_lead_nowhere_are_noted(settings: Settings) -> None:
    wrong = Settings(home=settings.home, providers={"work": Provider(keys=("env:K",))})
    reached = await registry.survey(wrong, {LOCAL_SERVERS: "nonsense"})
    assert [row.name for row in reached.models] == ["embedded:smollm2"]
    assert ["providers.work.url" in note or LOCAL_SERVERS in note for note in reached.notes] == [True, True]


async def test_a_key_stands_for_all_models_of_its_provider_until_its_list_is_asked_for(
    settings: Settings, anthropic_there: Iterator[Any]
) -> None:
    async with serving(ANTHROPIC) as server:
        next(anthropic_there)(server)
        environ = at(ANTHROPIC_API_KEY=SECRET)
        rows = await registry.reachable(settings, environ)
        assert server.requests == []
        assert [(row.name, row.default) for row in rows] == [("anthropic:…", True), ("embedded:smollm2", False)]
        listed = by_name(await registry.reachable(settings, environ, remote=True))
    assert [name for name, row in listed.items() if row.default] == ["anthropic:claude-sonnet-4-5"]
    sonnet = listed["anthropic:claude-sonnet-4-5"]
    assert sonnet.price == Price(input=3.0, output=15.0, cache_read=0.3, cache_write=3.75)
    assert sonnet.context is not None
    assert listed["anthropic:claude-sonnet-99-unpriced"].price is None
    assert SECRET not in repr((rows, listed))


async def test_a_provider_that_does_not_give_its_list_keeps_its_row(
    settings: Settings, anthropic_there: Iterator[Any]
) -> None:
    refusing = {"/models": fake.of({"error": {"message": f"bad key {SECRET}"}}, 401)}
    async with serving(refusing) as server:
        next(anthropic_there)(server)
        reached = await registry.survey(settings, at(ANTHROPIC_API_KEY=SECRET), remote=True)
        chosen = await registry.default_model(settings, at(ANTHROPIC_API_KEY=SECRET))
    assert [(row.name, row.default) for row in reached.models] == [("anthropic:…", False), ("embedded:smollm2", True)]
    assert "401" in (reached.models[0].note or "")
    assert (chosen.name, len(chosen.notes)) == ("embedded:smollm2", 1)
    assert SECRET not in repr((reached, chosen))


async def test_the_model_that_is_set_is_the_default_listed_or_not(settings: Settings, tmp_path: Path) -> None:
    for name in ("openai:gpt-4o", "scripted:/x.json", "http://10.0.0.1/v1#m", "nobody:x"):
        chosen = Settings(home=settings.home, model=name)
        rows = await registry.reachable(chosen, at())
        assert [row.name for row in rows if row.default] == [name]
        assert (await registry.default_model(chosen, at())).name == name
    async with serving(fake.VLLM) as server:
        rows = await registry.reachable(Settings(home=settings.home, model="VLLM:Qwen/Q"), at(server))
    assert [(row.name, row.default) for row in rows] == [("vllm:Qwen/Q", True), ("embedded:smollm2", False)]


async def test_with_nothing_set_a_server_comes_before_a_key_and_a_key_before_the_embedded_model(
    settings: Settings, anthropic_there: Iterator[Any]
) -> None:
    async with serving(ANTHROPIC) as provider, serving(fake.LLAMACPP) as local:
        next(anthropic_there)(provider)
        key = {"ANTHROPIC_API_KEY": SECRET}
        assert (await registry.default_model(settings, at(local, **key))).name == "llamacpp:local.gguf"
        assert provider.requests == []
        assert (await registry.default_model(settings, at(**key))).name == "anthropic:claude-sonnet-4-5"
    assert (await registry.default_model(settings, at())).name == "embedded:smollm2"


async def test_where_there_is_nothing_at_all_the_ways_are_named(settings: Settings, without_embedded: None) -> None:
    with pytest.raises(ProviderFailed) as failed:
        await registry.default_model(settings, at())
    assert failed.value.reason == "unreachable"
    assert "models key" in failed.value.hint


async def test_a_local_model_is_opened_by_its_kind_and_replies(settings: Settings) -> None:
    async with serving({**fake.LLAMACPP, "/v1/chat/completions": CHAT}) as server:
        model = await registry.open_model("llamacpp:local.gguf", settings, at(server))
        reply = await reply_of(model)
    assert model.name == "llamacpp:local.gguf"
    assert model.binding == Binding(
        provider="llamacpp", dialect="chat", origin=f"{server.url}/v1", model="local.gguf", credentials=()
    )
    assert (model.traits.context, model.traits.tools) == (16_384, True)
    assert (reply.parts, reply.partial) == ((Text(text="Hi."),), None)
    assert "authorization" not in server.requests[-1].headers


async def test_an_ollama_is_spoken_to_on_its_own_route_with_the_context_that_is_shown(settings: Settings) -> None:
    said = fake.lines({"message": {"content": "Hi."}}, {"done": True, "done_reason": "stop"})
    async with serving(fake.OLLAMA) as first, serving({**fake.OLLAMA, "/api/chat": said}) as server:
        for name, servers in (("ollama:qwen3:8b", at(server)), (f"{server.url}#qwen3:8b", at(first, server))):
            model = await registry.open_model(name, settings, servers)
            assert (await reply_of(model)).parts == (Text(text="Hi."),)
            assert (model.name, model.binding.dialect, model.binding.origin) == (name, "ollama", server.url)
            rows = by_name(await registry.reachable(settings, servers))
            assert rows[name].context == model.traits.context == 32_768
            sent = json.loads(server.requests_to("/api/chat")[-1].body)
            assert sent["options"] == {"num_ctx": 32_768}


async def test_the_compatible_route_of_an_ollama_stays_what_a_person_named(settings: Settings) -> None:
    async with serving({**fake.OLLAMA, "/v1/chat/completions": CHAT}) as server:
        model = await registry.open_model(f"{server.url}/v1#qwen3:8b", settings, at())
        assert (await reply_of(model)).parts == (Text(text="Hi."),)
    assert (model.binding.dialect, model.binding.origin) == ("chat", f"{server.url}/v1")
    assert model.traits.context == 40_960
    assert "options" not in json.loads(server.requests[-1].body)


async def test_any_compatible_server_is_opened_by_its_address(settings: Settings) -> None:
    for routes in (fake.PLAIN, {}, {"/v1/models": fake.PAGE}):
        async with serving({**routes, "/v1/chat/completions": CHAT}) as server:
            model = await registry.open_model(f"{server.url}/v1#any", settings, at())
            assert (await reply_of(model)).parts == (Text(text="Hi."),)
        assert (model.name, model.binding.model) == (f"{server.url}/v1#any", "any")


async def test_an_address_that_settings_know_gets_its_keys(settings: Settings) -> None:
    async with serving({**fake.PLAIN, "/v1/chat/completions": CHAT}) as server:
        mine = Settings(home=settings.home, providers={"work": Provider(url=f"{server.url}/v1", keys=("env:W_KEY",))})
        for name in ("work:m", f"{server.url}/v1#m"):
            model = await registry.open_model(name, mine, at(W_KEY=SECRET))
            await reply_of(model)
            assert model.binding.credentials == ("env:W_KEY",)
            assert server.requests[-1].headers["authorization"] == f"Bearer {SECRET}"
            assert SECRET not in repr((model.binding, model, model.traits))


async def test_a_usual_key_goes_to_its_usual_address_alone(settings: Settings) -> None:
    async with serving({**fake.PLAIN, "/v1/chat/completions": CHAT}) as server:
        moved = Settings(home=settings.home, providers={"groq": Provider(url=f"{server.url}/v1")})
        model = await registry.open_model("groq:m", moved, at(GROQ_API_KEY=SECRET))
        await reply_of(model)
    assert model.binding.credentials == ()
    assert server.requests
    assert all(SECRET not in repr(request) for request in server.requests)


async def test_a_provider_with_a_key_is_opened_without_being_asked(settings: Settings) -> None:
    environ = at(GOOGLE_API_KEY=SECRET)
    model = await registry.open_model("google:gemini-2.5-pro", settings, environ)
    assert (model.binding.credentials, model.binding.dialect) == (("env:GOOGLE_API_KEY",), "google")
    assert model.traits.price is not None
    both = await registry.open_model("google:x", settings, {**environ, "GEMINI_API_KEY": "other"})
    assert both.binding.credentials == ("env:GEMINI_API_KEY", "env:GOOGLE_API_KEY")
    assert both.keys_left == 1
    openai = await registry.open_model("openai:gpt-4o", settings, at(OPENAI_API_KEY=SECRET))
    assert (openai.binding.dialect, openai.binding.origin) == ("responses", "https://api.openai.com/v1")
    assert openai.traits.context == 128_000


async def test_a_missing_key_is_told_with_the_ways_to_give_it(settings: Settings) -> None:
    with pytest.raises(ProviderFailed) as failed:
        await registry.open_model("google:gemini-2.5-pro", settings, at())
    assert failed.value.reason == "auth"
    assert failed.value.facts["keys"] == ["env:GEMINI_API_KEY", "env:GOOGLE_API_KEY"]
    assert "models key google" in failed.value.hint
    assert "GEMINI_API_KEY or GOOGLE_API_KEY" in failed.value.hint


async def test_windie_92_a_server_that_is_down_is_told(settings: Settings) -> None:
    async with serving(fake.PLAIN) as server:
        gone = server.url
    here = Settings(home=settings.home, providers={"ollama": Provider(url=f"{gone}/v1")})
    for name, chosen in ((f"{gone}/v1#m", settings), ("ollama:m", here), ("vllm:m", settings)):
        with pytest.raises(ProviderFailed) as failed:
            await registry.open_model(name, chosen, at())
        assert failed.value.reason == "unreachable"
        assert "`forkwood models`" in failed.value.hint


async def test_a_server_that_refuses_its_key_says_so(settings: Settings) -> None:
    async with serving({"/v1/models": fake.of({"error": {"message": "Invalid API Key"}}, 401)}) as server:
        with pytest.raises(ProviderFailed) as failed:
            await registry.open_model(f"{server.url}/v1#m", settings, at())
    assert failed.value.reason == "auth"


@pytest.mark.parametrize("name", ["ollama:absent", "nobody:qwen3:8b", "qwen3:8b", "qwen3", "embedded:huge"])
async def test_a_model_nobody_knows_is_told_with_what_can_be_reached(settings: Settings, name: str) -> None:
    async with serving(fake.OLLAMA) as server:
        with pytest.raises(NotFound) as refused:
            await registry.open_model(name, settings, at(server))
    assert set(refused.value.facts["candidates"]) == {"ollama:llava:7b", "ollama:qwen3:8b", "embedded:smollm2"}
    assert "ollama:qwen3:8b" in refused.value.hint
    if "qwen" in name:
        assert refused.value.facts["candidates"][0] == "ollama:qwen3:8b"


async def test_a_tag_may_be_left_out(settings: Settings) -> None:
    tags = fake.of({"models": [{"model": "phi:latest"}]})
    async with serving({**fake.OLLAMA, "/api/tags": tags}) as server:
        assert (await registry.open_model("ollama:phi", settings, at(server))).binding.model == "phi:latest"


async def test_a_model_that_calls_no_tools_says_so_before_it_starts(settings: Settings) -> None:
    tool = ToolSpec(name="current_time", description="", schema={"type": "object"})
    async with serving(fake.OLLAMA) as server:
        model = await registry.open_model("ollama:llava:7b", settings, at(server))
    for opened in (model, await registry.open_model("embedded:smollm2", settings, at())):
        with pytest.raises(ProviderFailed) as failed:
            opened.encode(prompt(opened.name, (tool,)), {})
        assert failed.value.reason == "capability"


async def test_scripts_and_the_embedded_model_are_opened(settings: Settings, tmp_path: Path) -> None:
    path = tmp_path / "demo.json"
    path.write_text('{"replies": [{"text": "Hi."}]}')
    script = await registry.open_model(f"scripted:{path}", settings, at())
    assert (await reply_of(script)).parts == (Text(text="Hi."),)
    embedded = await registry.open_model("embedded:smollm2", settings, at())
    assert embedded.binding.origin == "embedded:"


@pytest.mark.parametrize(
    ("name", "error"), [("", Misused), ("openai:", Misused), ("scripted:/absent", NotFound), ("work:m", Misused)]
)
async def test_names_that_lead_nowhere_are_refused(settings: Settings, name: str, error: type[ForkwoodError]) -> None:
    with pytest.raises(error):
        await registry.open_model(name, Settings(home=settings.home, providers={"work": Provider()}), at())


async def test_the_server_of_a_model_that_is_set_by_its_address_is_asked(home: Path) -> None:
    async with serving({"/v1/models": fake.of({"object": "list", "data": [{"id": "small"}, {"id": "big"}]})}) as server:
        name = f"{server.url}/v1#small"
        found = await registry.survey(Settings(home=str(home), model=name), {"FORKWOOD_LOCAL_SERVERS": ""})
    rows = {row.name: row.default for row in found.models}
    assert rows[name] is True
    assert rows[f"{server.url}/v1#big"] is False


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("embedded:smollm2", True),
        ("embedded:smolm2", False),
        ("ollama:anything", True),
        ("openai:anything", True),
        ("nobody:knows", False),
        ("bare", False),
        ("http://127.0.0.1:1/v1#x", True),
        ("scripted:/x.json", True),
    ],
)
def test_a_name_is_known_by_its_provider_and_nobody_is_asked(home: Path, name: str, known: bool) -> None:
    assert registry.is_known(name, Settings(home=str(home))) is known


async def test_a_model_nobody_knows_is_not_among_what_can_be_reached(home: Path) -> None:
    settings = Settings(home=str(home), model="embedded:smolm2")
    error = await registry.nobody_knows("embedded:smolm2", settings, {"FORKWOOD_LOCAL_SERVERS": ""})
    assert error.facts["candidates"] == ["embedded:smollm2"]
