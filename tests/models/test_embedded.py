"""The embedded model, the real one: it answers, a cancel in mid-prompt kills its child, and the next call works."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from pathlib import Path

import pytest

from forkwood.domain import limits
from forkwood.domain.errors import ProviderFailed
from forkwood.domain.message import Text
from forkwood.domain.model import REPEATABLE, Delta, Reply, Try
from forkwood.domain.prompt import Prompt, PromptMessage, ToolSpec
from forkwood.domain.settings import Parameters, Timeouts
from forkwood.models import embedded, embedded_server
from forkwood.models.embedded import EmbeddedModel
from forkwood.models.embedded_server import EmbeddedServer, Serving

FIRST = Try(turn=0, number=1)


@pytest.fixture(scope="module")
def server() -> Iterator[EmbeddedServer]:
    weights = embedded_server.weights_in(Path("/nowhere"))
    assert weights is not None
    server = EmbeddedServer(weights)
    yield server
    server.kill()


@pytest.fixture
def model(server: EmbeddedServer) -> EmbeddedModel:
    return EmbeddedModel(server, Timeouts())


def prompt(words: str, max_output: int | None = None, tools: tuple[ToolSpec, ...] = ()) -> Prompt:
    message = PromptMessage(role="user", parts=(Text(text=words),), nodes=())
    parameters = Parameters(max_output=max_output)
    return Prompt(form=1, model=embedded.NAME, system=None, messages=(message,), tools=tools, parameters=parameters)


async def ask(model: EmbeddedModel, asked: Prompt) -> tuple[list[Delta], Reply]:
    items = [item async for item in model.stream(model.encode(asked, {}), FIRST)]
    assert isinstance(items[-1], Reply)
    return [item for item in items if isinstance(item, Delta)], items[-1]


async def test_it_answers_the_same_each_time(model: EmbeddedModel) -> None:
    deltas, reply = await ask(model, prompt("Say hello."))
    assert (reply.finish, reply.partial) == ("stop", None)
    (part,) = reply.parts
    assert isinstance(part, Text)
    assert "hello" in part.text.lower()
    assert len(deltas) > 1
    assert "".join(delta.text for delta in deltas) == part.text
    assert reply.usage is not None
    assert reply.usage.input > 0
    assert reply.usage.output > 1
    assert (await ask(model, prompt("Say hello.")))[1].parts == reply.parts


async def test_a_reply_over_its_limit_is_partial(model: EmbeddedModel) -> None:
    _, reply = await ask(model, prompt("Tell me a long story.", max_output=5))
    assert (reply.partial, reply.usage and reply.usage.output) == ("length", 5)


async def test_its_request_names_no_port_and_no_key(model: EmbeddedModel, server: EmbeddedServer) -> None:
    serving = await server.serving()
    request = model.encode(prompt("Hi"), {})
    assert request == EmbeddedModel(EmbeddedServer(Path("other")), Timeouts()).encode(prompt("Hi"), {})
    for secret in (serving.key, serving.url):
        assert secret not in repr((request, model.binding, model.traits))


async def test_a_cancel_in_mid_prompt_kills_the_child_and_the_next_call_works(
    model: EmbeddedModel, server: EmbeddedServer
) -> None:
    await server.serving()
    child = server.pid
    assert child is not None
    asked = asyncio.create_task(ask(model, prompt("word " * 7_000)))
    await reading(child)
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)
    assert (await ask(model, prompt("Hi", max_output=3)))[1].parts


async def reading(child: int) -> None:
    """Returns once process CHILD has worked for a tenth of a second more: it reads a prompt then."""
    start = worked(child)
    async with asyncio.timeout(60):
        while worked(child) < start + 10:
            await asyncio.to_thread(worked, child)


def worked(child: int) -> int:
    """Hundredths of a second of processor time that process CHILD has used."""
    fields = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


async def test_a_reply_closed_in_mid_stream_leaves_the_child_to_the_next(
    model: EmbeddedModel, server: EmbeddedServer
) -> None:
    await server.serving()
    child = server.pid
    items: AsyncIterator[Delta | Reply] = model.stream(model.encode(prompt("Tell me a long story."), {}), FIRST)
    async with aclosing(items) as open_items:  # type: ignore[type-var]  # the protocol's iterators are generators
        await anext(open_items)
    assert (await ask(model, prompt("Hi", max_output=3)))[1].parts
    assert server.pid == child


async def test_calls_wait_for_each_other(model: EmbeddedModel) -> None:
    replies = await asyncio.gather(*(ask(model, prompt(f"Say {word}.", max_output=4)) for word in ("one", "two")))
    assert all(reply.parts for _, reply in replies)


async def test_a_child_that_dies_in_mid_stream_leaves_a_partial_reply(
    model: EmbeddedModel, server: EmbeddedServer
) -> None:
    await server.serving()
    child = server.pid
    assert child is not None
    items: list[Delta | Reply] = []
    async for item in model.stream(model.encode(prompt("Tell me a long story."), {}), FIRST):
        if not items:
            os.kill(child, signal.SIGKILL)
        items.append(item)
    assert isinstance(items[-1], Reply)
    assert items[-1].partial == "cut"
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)  # it is not merely dying: the next call cannot be sent to it
    assert (await ask(model, prompt("Hi", max_output=3)))[1].parts


async def test_a_child_that_takes_no_connection_is_replaced_by_the_next_try(
    model: EmbeddedModel, server: EmbeddedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    serving = await server.serving()
    child = server.pid

    async def dying() -> Serving:
        """Where nobody listens any more, though the process does not count as dead yet."""
        return Serving(url=f"http://127.0.0.1:{free_port()}/v1", key=serving.key)

    with monkeypatch.context() as patch:
        patch.setattr(server, "serving", dying)
        with pytest.raises(ProviderFailed) as failed:
            await ask(model, prompt("Hi"))
    assert failed.value.reason in REPEATABLE
    assert server.pid is None
    assert (await ask(model, prompt("Hi", max_output=3)))[1].parts
    assert server.pid not in {None, child}


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


async def test_a_prompt_over_its_context_is_told_with_both_numbers(
    model: EmbeddedModel, server: EmbeddedServer
) -> None:
    with pytest.raises(ProviderFailed) as failed:
        await ask(model, prompt("word " * 9_000))
    assert failed.value.reason == "context_overflow"
    assert failed.value.facts["context"] == limits.embedded_context_tokens_max
    assert failed.value.facts["prompt_tokens"] > 9_000
    assert server.pid is not None


def test_it_calls_no_tools_and_says_so_before_it_starts(model: EmbeddedModel) -> None:
    tool = ToolSpec(name="current_time", description="", schema={"type": "object"})
    with pytest.raises(ProviderFailed) as failed:
        model.encode(prompt("Hi", tools=(tool,)), {})
    assert failed.value.reason == "capability"
    assert (model.keys_left, model.next_key()) == (0, False)


def test_it_is_opened_where_its_parts_are(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = EmbeddedModel.open(home, Timeouts()), EmbeddedModel.open(home, Timeouts())
    assert first._server is second._server
    monkeypatch.setattr(embedded_server, "find_spec", lambda name: None)
    with pytest.raises(ProviderFailed) as failed:
        EmbeddedModel.open(home, Timeouts())
    assert failed.value.reason == "unreachable"
