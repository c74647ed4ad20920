"""Values of credentials are seeded wherever a model or a tool can put one: no byte of the home and of what is shown has
them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from forkwood.domain.masking import MASK
from tests.domain.spelled import SECRET, gives_away
from tests.surfaces.cli.desks import Ran, given, run_cli, succeed
from tests.surfaces.cli.scripts import scripted

GITHUB = "ghp_4fT9qLw2ZbX7cVn1RkYd8sJm3HgP6uQeA5oE"
SEEDS = {"MY_SERVICE_TOKEN": SECRET, "GITHUB_TOKEN": GITHUB, "DATABASE_PASSWORD": "correct horse battery"}
LOOKS = (
    ("path",), ("tree",), ("branches",), ("show", "@"), ("history", "@"), ("why", "@~2"), ("log",), ("runs",), ("ls",),
    ("pending",), ("memory",), ("grants",), ("queue",), ("trash",), ("stats",), ("doctor",), ("search", "token"),
    ("search", MASK), ("config", "get"), ("models",),
)  # fmt: skip


def called(name: str, /, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


def talker(folder: Path, value: str) -> str:
    """A model that puts VALUE wherever a model can put something: in single letters, too."""
    everywhere = {
        "match": "What is my token",
        "thinking": f"The token is {value}.",
        "text": f"It is {value}.",
        "chunk": 3,
        "tool_calls": [
            called("remember", name="the token", value=value),
            called("recall", name=value),
            called("current_time", zone=value),
            called(value.replace(" ", "_"), **{value: [value]}),
            called("search_conversations", words=value),
            called("ask_user", questions=[{"text": f"Is it {value}?", "options": [value, "no"]}]),
        ],
    }
    summary = {"match": "Write a summary", "text": f"They spoke of {value}.", "chunk": 2}
    title = {"match": "a title of at most", "text": f"All of {value}"}
    last = {"text": f"So it is {value}, and its halves {value[:14]} {value[14:]}.", "chunk": 1}
    return scripted(folder, summary, title, everywhere, last, file=f"{len(value)}.json")


def shown(ran: Ran) -> Iterator[tuple[str, str]]:
    yield "stdout", ran.out
    yield "stderr", ran.err


def kept(home: Path) -> Iterator[tuple[str, str]]:
    """Every file of the home, its raw bytes as text of any encoding."""
    for path in sorted(home.rglob("*")):
        if path.is_file():
            yield path.name, path.read_bytes().decode("latin-1")


@pytest.fixture
def outputs(home: Path, monkeypatch: pytest.MonkeyPatch) -> list[Ran]:
    """What commands said; the seeds stand in the environment."""
    for name, value in SEEDS.items():
        monkeypatch.setenv(name, value)
    home.mkdir()
    (home / "config.toml").write_text("title_by_model = true\n")
    return []


@pytest.mark.parametrize("name", SEEDS)
def test_pain_40_a_seeded_value_is_in_no_byte_that_is_kept_or_shown(
    outputs: list[Ran], home: Path, tmp_path: Path, name: str
) -> None:
    value = SEEDS[name]
    succeed("new", "--model", talker(tmp_path, value))
    outputs.append(run_cli("send", "What is my token?", "--json"))
    assert outputs[-1].code == 5, outputs[-1]
    asked = given(["pending"])
    outputs += [run_cli(*words, *more) for words in (("pending",), ("log",), ("path",)) for more in ((), ("--json",))]
    (approval,) = [one for one in asked if one["kind"] == "approval"]
    outputs.append(run_cli("answer", approval["id"], "allow"))
    (question,) = given(["pending"])
    outputs.append(run_cli("answer", question["id"], "no", "--json"))
    assert outputs[-1].code == 0
    (fact,) = given(["memory"])
    outputs.append(succeed("memory", "--accept", fact["id"]))
    outputs.append(succeed("send", "Again", "--json"))
    outputs.append(succeed("summarize"))
    outputs += [run_cli(*words, *more) for words in LOOKS for more in ((), ("--json",))]
    texts = [one for ran in outputs for one in shown(ran)]
    assert any(MASK in text for _, text in texts), "it came"
    for where, text in (*texts, *kept(home)):
        assert value not in text and not gives_away(text, value), where
    spoken = [line for ran in outputs if ran.out.startswith('{"type"') for line in ran.lines]
    deltas = "".join(line["text"] for line in spoken if line["type"] == "delta")
    assert MASK in deltas and not gives_away(deltas, value)
    assert json.dumps(given(["memory"])).count(MASK) >= 1


def test_panelot_87_the_log_paths_and_accounts_that_are_given_out_whole_hold_no_secret(
    outputs: list[Ran], tmp_path: Path
) -> None:
    succeed("new", "--model", scripted(tmp_path, {"text": f"It is {SECRET}.", "thinking": SECRET}))
    succeed("send", "What is my token?")
    outputs += [succeed(*words, "--json") for words in (("log",), ("path",), ("why",), ("show", "@"), ("tree",))]
    for ran in outputs:
        assert not gives_away(ran.out, SECRET)
    assert MASK in outputs[1].out and MASK in outputs[3].out
