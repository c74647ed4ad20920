"""Secrets by reference: found where they are said to be, refused where others can read them, never repeated."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest
from keyring.backend import KeyringBackend

from forkwood.domain import limits
from forkwood.domain.errors import ForkwoodError, Misused, ProviderFailed, StoreUnusable
from forkwood.models import keys
from forkwood.models.keys import Keys, Reference

SECRET = "sk-forkwood-seeded-0123456789"


class Ring(KeyringBackend):
    """A keyring in memory; FORGETFUL ones take everything and keep nothing."""

    priority = 5

    def __init__(self, *, forgetful: bool = False) -> None:
        self.kept: dict[tuple[str, str], str] = {}
        self.forgetful = forgetful

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        if not self.forgetful:
            self.kept[service, username] = password


@pytest.fixture
def ring() -> Iterator[Ring]:
    before = keyring.get_keyring()
    ring = Ring()
    keyring.set_keyring(ring)
    yield ring
    keyring.set_keyring(before)


def said(error: ForkwoodError) -> str:
    return repr((error, error.message, error.hint, error.facts))


def private(path: Path, text: str, mode: int = 0o600) -> Path:
    path.write_text(text)
    path.chmod(mode)
    return path


@pytest.mark.parametrize(
    ("text", "reference"),
    [
        ("env:OPENAI_API_KEY", Reference(holder="env", name="OPENAI_API_KEY")),
        ("keyring:openai", Reference(holder="keyring", name="openai")),
        ("file:/etc/key", Reference(holder="file", name="/etc/key")),
        ("file:~/key", Reference(holder="file", name="~/key")),
    ],
)
def test_a_reference_names_its_place(text: str, reference: Reference) -> None:
    assert keys.parse(text) == reference


@pytest.mark.parametrize("text", [SECRET, f"{SECRET}:x", "", "env:", "vault:x", "env:A\nB"])
def test_what_is_no_reference_may_be_the_secret_itself_and_is_not_repeated(text: str) -> None:
    with pytest.raises(Misused) as refused:
        keys.parse(text)
    assert SECRET not in said(refused.value)
    assert "env:NAME" in refused.value.hint


def test_a_relative_path_is_refused() -> None:
    with pytest.raises(Misused):
        keys.parse("file:key.txt")


def test_a_key_is_found_in_the_environment() -> None:
    found = Keys({"A_KEY": f" {SECRET}\n", "EMPTY": " "})
    assert found("env:A_KEY") == SECRET
    assert found.present("env:A_KEY")
    assert not found.present("env:EMPTY")
    assert SECRET not in repr(found)
    for missing in ("env:EMPTY", "env:ABSENT"):
        with pytest.raises(ProviderFailed) as failed:
            found(missing)
        assert (failed.value.reason, failed.value.facts["key"]) == ("auth", missing)
        assert "models key" in failed.value.hint


def test_a_key_is_found_in_a_private_file_alone(tmp_path: Path) -> None:
    path = private(tmp_path / "key", f"{SECRET}\n")
    assert Keys({})(f"file:{path}") == SECRET
    assert Keys({}).present(f"file:{path}")
    for mode in (0o640, 0o604, 0o666):
        path.chmod(mode)
        with pytest.raises(ProviderFailed) as failed:
            Keys({})(f"file:{path}")
        assert failed.value.facts["mode"] == f"{mode:o}"
        assert failed.value.hint == f"run: chmod 600 {path}"
        assert SECRET not in said(failed.value)


def test_a_key_file_that_is_no_file_never_hangs(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe", 0o600)
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "pipe", tmp_path / "absent", tmp_path / "folder"):
        with pytest.raises(ProviderFailed) as failed:
            Keys({})(f"file:{path}")
        assert failed.value.reason == "auth"


@pytest.mark.parametrize("value", [f"{SECRET} two", f"{SECRET}\nX-Evil: 1", f"{SECRET}é", SECRET * 5_000])
def test_a_value_no_header_can_carry_is_not_sent_and_not_repeated(value: str) -> None:
    with pytest.raises(ProviderFailed) as failed:
        Keys({"A_KEY": value})("env:A_KEY")
    assert SECRET not in said(failed.value)


def test_a_key_may_be_as_long_as_its_limit() -> None:
    longest = "k" * limits.secret_bytes_max
    assert Keys({"A": longest})("env:A") == longest
    with pytest.raises(ProviderFailed):
        Keys({"A": longest + "k"})("env:A")


def test_without_a_keyring_a_key_is_kept_in_a_private_file(home: Path) -> None:
    reference = keys.keep(home, "openai", f"{SECRET}\n")
    path = home / "keys" / "openai"
    assert reference == f"file:{path}"
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert Keys({})(reference) == SECRET
    assert [found.name for found in path.parent.iterdir()] == ["openai"]


def test_a_key_file_is_never_readable_by_others_not_for_an_instant(home: Path) -> None:
    modes: set[int] = set()
    done = threading.Event()

    def watch() -> None:
        while not done.is_set():
            for path in (home / "keys").iterdir():
                try:
                    modes.add(path.stat().st_mode & 0o777)
                except FileNotFoundError:
                    continue

    before = os.umask(0)
    try:
        keys.keep(home, "openai", SECRET)
        watcher = threading.Thread(target=watch)
        watcher.start()
        for number in range(50):
            keys.keep(home, "openai", f"{SECRET}-{number}")
    finally:
        os.umask(before)
        done.set()
        watcher.join()
    assert modes == {0o600}
    assert Keys({})(f"file:{home}/keys/openai") == f"{SECRET}-49"


def test_a_keyring_is_taken_where_it_keeps_what_it_is_given(home: Path, ring: Ring) -> None:
    assert keys.keep(home, "openai", SECRET) == "keyring:openai"
    assert Keys({})("keyring:openai") == SECRET
    assert not home.exists()
    ring.forgetful = True
    assert keys.keep(home, "anthropic", SECRET) == f"file:{home}/keys/anthropic"
    with pytest.raises(ProviderFailed) as failed:
        Keys({})("keyring:anthropic")
    assert failed.value.hint == "run `forkwood models key anthropic`"


@pytest.mark.parametrize("value", ["", "  \n", f"{SECRET} two words"])
def test_what_is_no_key_is_not_kept(home: Path, value: str) -> None:
    with pytest.raises(Misused) as refused:
        keys.keep(home, "openai", value)
    assert SECRET not in said(refused.value)
    assert not home.exists()


def test_a_home_that_takes_no_key_says_so(home: Path) -> None:
    home.write_text("a file")
    with pytest.raises(StoreUnusable) as failed:
        keys.keep(home, "openai", SECRET)
    assert failed.value.hint
    assert SECRET not in said(failed.value)


def test_credentials_of_the_environment_are_known_by_their_names() -> None:
    environ = {
        "OPENAI_API_KEY": SECRET,
        "aws_secret_access_key": "abcdefghijkl",
        "GITHUB_TOKEN": " ghp_0123456789 ",
        "SHORT_KEY": "elevenchars",
        "KEYBOARD_LAYOUT": "a-plain-long-word",
        "MONKEY": "a-plain-long-word",
    }
    assert keys.credential_values(environ) == (SECRET, "abcdefghijkl", "ghp_0123456789")


@pytest.mark.parametrize("name", sorted(keys.HEADERS_OURS | keys.HEADERS_SECRET | {"", "a b", "ü", "x:y"}))
def test_a_header_that_no_setting_may_send_is_refused(name: str) -> None:
    with pytest.raises(Misused) as refused:
        keys.header(name.title(), "sk-seeded-0123456789")
    assert "seeded" not in repr((refused.value, refused.value.hint, refused.value.facts))


def test_a_header_goes_by_its_name_in_lower_case() -> None:
    assert keys.header("X-Title", " Forkwood ") == ("x-title", "Forkwood")
    for value in ("a\nb", "ü"):
        with pytest.raises(Misused):
            keys.header("x-title", value)


@pytest.mark.parametrize("name", ["/" + "k" * 300, "/k" * 3_000])
def test_a_name_that_no_key_file_can_have_is_told(name: str) -> None:
    with pytest.raises(ProviderFailed) as failed:
        Keys({})(f"file:{name}")
    assert failed.value.reason == "auth"
    assert not Keys({}).present(f"file:{name}")
