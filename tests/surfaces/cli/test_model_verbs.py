"""models, models use, models key at the command line."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from forkwood.domain import limits
from tests.surfaces.cli.desks import given, run_cli, succeed
from tests.surfaces.cli.scripts import echoing, scripted


def test_the_embedded_model_is_there_without_server_or_key() -> None:
    listed = {model["name"]: model for model in given(["models"])}
    assert listed["embedded:smollm2"]["default"] is True
    assert "embedded:smollm2" in succeed("models").out
    assert given(["models"]) == succeed("models", "--json").value


def test_a_model_that_is_used_answers_from_now_on(tmp_path: Path, home: Path) -> None:
    model = echoing(tmp_path)
    assert given(["models", "use", model]) == {"model": model}
    assert model in (home / "config.toml").read_text()
    succeed("new")
    assert succeed("send", "Hello?").out == "A reply.\n"


@pytest.mark.parametrize("name", ("nobody:knows", "bare", ""))
def test_a_model_nobody_knows_is_told_with_what_there_is(name: str) -> None:
    told = run_cli("models", "use", name)
    assert told.code in {2, 3}
    assert told.err.count("\n") >= 2


def test_a_key_is_read_unseen_and_never_shown(home: Path) -> None:
    secret = "sk-" + "0123456789abcdef" * 2
    kept = given(["models", "key", "openai"], stdin=f"{secret}\n".encode())
    assert kept["provider"] == "openai"
    assert secret not in (home / "config.toml").read_text()
    assert kept["reference"] in (home / "config.toml").read_text()


def test_a_command_about_models_sent_twice_is_done_once(tmp_path: Path, home: Path) -> None:
    one, two = echoing(tmp_path), scripted(tmp_path, {"text": "Other."}, file="other.json")
    assert given(["models", "use", one, "--key", "k"]) == {"model": one}
    succeed("models", "use", two)
    assert given(["models", "use", one, "--key", "k"]) == {"model": one}
    assert given(["config", "get", "model"]) == two
    assert run_cli("models", "use", two, "--key", "k").code == 4


def test_a_provider_key_sent_twice_is_kept_once_and_leaves_no_trace_in_the_store(home: Path) -> None:
    secret = b"sk-" + b"0123456789abcdef" * 2
    first = given(["models", "key", "openai", "--key", "k"], stdin=secret)
    assert given(["models", "key", "openai", "--key", "k"], stdin=secret + b"\n") == first
    assert run_cli("models", "key", "openai", "--key", "k", stdin=secret[:-1]).code == 4
    for path in home.glob("forkwood.db*"):
        assert secret not in path.read_bytes()
        assert sha256(secret).hexdigest().encode() not in path.read_bytes()


def test_what_counts_before_the_file_is_told(tmp_path: Path) -> None:
    ran = succeed("models", "use", echoing(tmp_path), environ={"FORKWOOD_MODEL": "embedded:smollm2"})
    assert "FORKWOOD_MODEL is set: embedded:smollm2 answers" in ran.err


def test_no_key_is_asked_for_where_nobody_has_that_name() -> None:
    told = run_cli("models", "key", "nosuch", stdin=b"")
    assert (told.code, "no provider is called 'nosuch'" in told.err, "providers: anthropic, " in told.err) == (
        2,
        True,
        True,
    )


def test_a_key_over_the_limit_is_told_by_its_own_limit(home: Path) -> None:
    told = run_cli("models", "key", "openai", "--json", stdin=b"x" * (limits.secret_bytes_max + 1))
    error = told.value["error"]
    assert (told.code, error["limit"], error["bound"]) == (6, "secret_bytes_max", limits.secret_bytes_max)
    assert "--attach" not in error["hint"]
    assert not (home / "config.toml").exists()


@pytest.mark.parametrize(
    ("provider", "stdin", "code"),
    (("openai", b"", 2), ("openai", b" \n", 2), ("openai", b"\xff", 2), ("nobody", b"x" * 20, 2)),
)
def test_a_key_that_cannot_be_kept_is_told(home: Path, provider: str, stdin: bytes, code: int) -> None:
    assert run_cli("models", "key", provider, stdin=stdin).code == code
    assert not (home / "config.toml").exists()
