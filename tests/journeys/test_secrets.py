"""A server says the key it was sent back, in every way it can: no byte of what is kept or shown gives the key away."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from forkwood.domain.masking import MASK
from tests.domain.spelled import SECRET, SPELLINGS, gives_away
from tests.journeys.echoes import Answer, Called, Echo, Way, echoing, pieces, told
from tests.surfaces.cli.desks import Ran, run_cli, succeed

DIALECTS = ("chat", "responses", "anthropic", "google", "ollama")
HALF = len(SECRET) // 2
PAGE = "content-type: text/html"
STREAM = "text/event-stream"
JSON = "content-type: application/json"


def spelled(key: str) -> str:
    """KEY in every way, one after the other."""
    return " ; ".join(way(key) for way in SPELLINGS.values())


def arguments(key: str) -> str:
    return json.dumps({"a": [spelled(key)], key: 1}).replace(key[:2], f"\\u{ord(key[0]):04x}{key[1]}")


def error(key: str) -> bytes:
    return json.dumps({"error": {"message": f"no: {spelled(key)}", "code": key, "type": key.upper()}}).encode()


def halves(key: str) -> bytes:
    one, two = key[:HALF], key[HALF:]
    message = {"k": one, "l": two, "m": f'{one}" "{two}', "n": [two, one]}
    return json.dumps({"error": {"message": message, "code": one}, "message": two, "code": one}).encode()


def page(key: str) -> bytes:
    return f"<html><h1>{spelled(key)}</h1><p>{key[:5]}<script>x</script>{key[5:]}\n{key[:6]}\n{key[6:]}".encode()


def streamed(body: bytes) -> Answer:
    return Answer(headers=f"content-type: {'application/x-ndjson' if body.startswith(b'{') else STREAM}", body=body)


def ways_of(dialect: str) -> dict[str, Way]:
    """The ways of saying it in a stream of DIALECT."""
    return {
        "said": lambda key: streamed(told(dialect, *pieces("text", f"It is {spelled(key)}."))),
        "thought": lambda key: streamed(told(dialect, *pieces("thinking", spelled(key)), ("text", "Well."))),
        "thought, then said": lambda key: streamed(told(dialect, ("thinking", key[:9]), ("text", key[9:]))),
        "around a thought": lambda key: Answer(
            body=told(dialect, ("text", key[:9]), ("thinking", "hm"), ("text", key[9:]))
        ),
        "around a tag": lambda key: streamed(told(dialect, ("text", f"{key[:4]}<think>{key[4:]}</think>"))),
        "in turns": lambda key: Answer(
            body=told(dialect, *(("text" if at % 2 else "thinking", letter) for at, letter in enumerate(key)))
        ),
        "called": lambda key: Answer(
            body=told(dialect, call=Called(id=f"id-{key}", name=key.upper(), arguments=arguments(key)))
        ),
        "finished": lambda key: streamed(told(dialect, ("text", "Well."), finish=key)),
        "in an error of the stream": lambda key: streamed(told(dialect, ("text", "Well"), error=spelled(key))),
        "broken off": lambda key: streamed(told(dialect, *pieces("text", f"{key} {key[:-1]}"))[:-60]),
        "cut off": lambda key: streamed(told(dialect, *pieces("text", f"It is {key[:-1]}"), finish="length")),
        "without its beginning": lambda key: streamed(told(dialect, *pieces("text", f"It is {key[1:]} end", 2))),
        "half of it": lambda key: streamed(told(dialect, ("thinking", f"{key[:HALF]}!"), ("text", f"?{key[HALF:]}"))),
        "refused": lambda key: Answer(status="400 Bad", headers=JSON, body=error(key)),
        "refused with most of it": lambda key: Answer(status="400 Bad", headers=JSON, body=error(key[:-2])),
        "refused with halves": lambda key: Answer(status="400 Bad", headers=JSON, body=halves(key)),
        "halves in an error of the stream": lambda key: streamed(
            told(dialect, ("text", "Well"), error="@").replace(b'{"message": "@", "code": "@"}', halves(key))
        ),
        "refused in a page": lambda key: Answer(status="400 Bad", headers=PAGE, body=page(key)),
        "a page for a reply": lambda key: Answer(headers=PAGE, body=page(key)),
        "its type": lambda key: Answer(headers=f"content-type: {key}", body=b"hello"),
        "a redirect": lambda key: Answer(
            status="302 Found", headers=f"location: /{key}/{SPELLINGS['percent twice'](key)}"
        ),
    }


@pytest.fixture
def echo(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Echo]:
    """A server that is a provider of each dialect, by its name."""
    monkeypatch.setenv("ECHO_API_KEY", SECRET)
    with echoing() as server:
        home.mkdir()
        (home / "config.toml").write_text("".join(f"{provider(server.url, dialect)}\n" for dialect in DIALECTS))
        yield server


def provider(url: str, dialect: str) -> str:
    """The server at URL as settings name it."""
    routes = "" if dialect == "ollama" else "/v1"
    return f'[providers.my-{dialect}]\nurl = "{url}{routes}"\ndialect = "{dialect}"\nkeys = ["env:ECHO_API_KEY"]'


def searched(ran: Ran, home: Path, way: str) -> None:
    """No byte of output or home gives the key away."""
    for where, text in (("stdout", ran.out), ("stderr", ran.err), *kept(home)):
        assert not gives_away(text, SECRET), f"{way}: {where}"


def kept(home: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(home.rglob("*")):
        if path.is_file():
            yield path.name, path.read_bytes().decode("utf-8", "replace")


def words(parts: Any) -> Iterator[str]:
    """Every string in PARTS, in their order."""
    match parts:
        case str():
            yield parts
        case dict():
            for value in (*parts, *parts.values()) if "kind" not in parts else parts.values():
                yield from words(value) if value != parts.get("kind") else ()
        case list():
            for one in parts:
                yield from words(one)


@pytest.mark.parametrize(
    ("dialect", "as_json"), [*((dialect, True) for dialect in DIALECTS), ("chat", False), ("anthropic", False)]
)
def test_a_key_that_is_echoed_is_kept_and_shown_nowhere(echo: Echo, home: Path, dialect: str, as_json: bool) -> None:
    for way, answer in ways_of(dialect).items():
        echo.way = answer
        made = succeed("new", "--model", f"my-{dialect}:m", "--json").value["id"]
        echo.asked.clear()
        ran = run_cli("send", "What is my key?", *(["--json"] if as_json else []))
        assert set(echo.asked) == {SECRET}, f"{way}: it was asked, and with the key"
        assert not gives_away(ran.out, SECRET), way
        assert not gives_away(ran.err, SECRET), way
        for lane in lanes(ran) if as_json else ():
            assert not gives_away(lane, SECRET), way
        shown = succeed("show", "@").out + succeed("log", "-c", made, "--json").out
        assert not gives_away(shown, SECRET), way
        assert MASK in ran.out + ran.err + shown, f"{way}: it came"
    for name, text in kept(home):
        assert not gives_away(text, SECRET), name


def lanes(ran: Ran) -> Iterator[str]:
    """What came of a reply, read in all orders that make sense."""
    deltas = [line for line in ran.lines if line["type"] == "delta"]
    yield "".join(line["text"] for line in deltas)
    for field in ("part", "index"):
        for value in {line.get(field) for line in deltas}:
            yield "".join(line["text"] for line in deltas if line.get(field) == value)
    [*_, entry] = succeed("path", "--json").value
    parts = entry["node"]["parts"]
    yield "".join(words(parts))
    for kind in ("text", "thinking", "tool_call"):
        yield "".join(words([part for part in parts if part["kind"] == kind]))


def test_a_chunk_that_is_none_says_nothing_of_the_key(echo: Echo, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = SECRET.removeprefix("sk-")  # what is shaped as a key is masked by its shape
    monkeypatch.setenv("ECHO_API_KEY", key)
    echo.way = lambda key: Answer(
        headers="transfer-encoding: chunked", body=f"3\r\nabc\r\n{key[:HALF]}\r\n{key[HALF:]}".encode()
    )
    succeed("new", "--model", "my-chat:m")
    ran = run_cli("send", "What is my key?")
    assert ran.code == 1
    searched(ran, home, "broken chunk")
    for half in (key[:HALF], key[HALF:]):
        assert half not in ran.err + "".join(text for _, text in kept(home))


@pytest.mark.parametrize("arguments", [["models"], ["models", "--json"]])
def test_a_key_that_is_listed_as_a_model_is_not_shown(echo: Echo, home: Path, arguments: list[str]) -> None:
    ran = succeed(*arguments)
    assert MASK in ran.out
    searched(ran, home, "listed")


def test_a_key_of_eleven_characters_is_a_word_like_any_other(
    echo: Echo, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ECHO_API_KEY", SECRET[:11])
    echo.way = ways_of("chat")["said"]
    succeed("new", "--model", "my-chat:m")
    assert SECRET[:11] in succeed("send", "What is my key?").out
