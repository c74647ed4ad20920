"""What holds for every test: a home of its own, no key and no server of this machine, and how hard hypothesis tries."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# What lands is decided by the same examples each time; people and the soak look for new ones.
settings.register_profile("default", deadline=None, max_examples=60, derandomize="CI" in os.environ)
settings.register_profile(
    "thorough",
    deadline=None,
    max_examples=3_000,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("default")


def is_of_this_machine(name: str) -> bool:
    """Whether the environment variable NAME could lead a test to a person's own keys, models, store or editor."""
    return name.startswith("FORKWOOD_") or name.endswith("_API_KEY") or name in {"EDITOR", "VISUAL"}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The FORKWOOD_HOME of this test: it does not exist yet. No keys, no keyring, no local server, no editor."""
    for name in filter(is_of_this_machine, list(os.environ)):
        monkeypatch.delenv(name)
    folder = tmp_path / "home"
    monkeypatch.setenv("FORKWOOD_HOME", str(folder))
    monkeypatch.setenv("FORKWOOD_LOCAL_SERVERS", "")
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    return folder
