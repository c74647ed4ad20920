"""doctor, stats, config and completion at the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.surfaces.cli.desks import given, run_cli, succeed
from tests.surfaces.cli.scripts import echoing


@pytest.fixture
def talking(tmp_path: Path) -> None:
    succeed("new", "--model", echoing(tmp_path), "--title", "Trees")
    succeed("send", "Hello?")


def test_doctor_finds_nothing_where_nothing_is_wrong(talking: None) -> None:
    report = given(["doctor"])
    assert (report["ok"], report["problems"]) == (True, [])
    assert succeed("doctor").out.endswith("Everything is as the books say.\n")


def test_doctor_ends_with_7_where_something_is_wrong_and_repairs_it(talking: None, home: Path) -> None:
    import apsw

    with apsw.Connection(str(home / "forkwood.db")) as store:
        store.execute("UPDATE conversation SET turns = turns + 5")
    told = run_cli("doctor")
    assert told.code == 7
    assert "forkwood doctor --repair" in told.out
    assert given(["doctor", "--repair"])["ok"] is True
    assert given(["doctor"])["ok"] is True


@pytest.mark.parametrize("content", (b"", b"this is no store " * 100, b"SQLite format 3\0" + b"\0" * 84))
def test_a_store_that_cannot_be_used_is_told_by_every_command(home: Path, content: bytes) -> None:
    home.mkdir()
    (home / "forkwood.db").write_bytes(content)
    for arguments in (["ls"], ["path"], ["send", "x"], ["doctor"], ["chat"]):
        assert run_cli(*arguments).code == 7
        assert (home / "forkwood.db").read_bytes() == content
    assert run_cli("ls", "--json").value["error"]["kind"] == "store"


def test_a_home_that_is_a_file_is_told(home: Path) -> None:
    home.write_text("x")
    told = run_cli("ls")
    assert (told.code, told.out) == (7, "")
    assert "FORKWOOD_HOME" in told.err


def test_counts_are_told_in_words_and_json(talking: None) -> None:
    stats = given(["stats"])
    assert (stats["conversations"], stats["messages"], stats["runs"]) == (1, 2, {"done": 1})
    assert stats["usage"] == {"turns": 1, "input": 3, "output": 2, "cost": None}
    assert list(stats)[:5] == ["path", "version", "usage", "runs", "messages"]
    told = succeed("stats").out
    assert "messages       2" in told
    assert "\n  node               " in told
    assert "{" not in told


def test_an_empty_setting_says_how_it_is_taken_out(home: Path) -> None:
    succeed("config", "set", "system", "Be brief.")
    told = run_cli("config", "set", "system", "")
    assert told.code == 2
    assert told.err == (
        "forkwood: system: the value is empty\n  forkwood config set system --unset takes the line out\n"
    )
    succeed("config", "set", "system", "--unset")
    succeed("config", "set", "providers.work.extra_body.stop", "")
    assert 'stop = ""' in (home / "config.toml").read_text()


def test_settings_are_written_and_read(home: Path) -> None:
    assert succeed("config", "set", "title_by_model", "true").out == "title_by_model is now true\n"
    assert given(["config", "get", "title_by_model"]) is True
    assert "title_by_model = true" in (home / "config.toml").read_text()
    assert succeed("config", "set", "profiles.fast.model", "a:b").out == "profiles.fast.model is now a:b\n"
    assert "profiles.fast.model = a:b" in succeed("config", "get").out
    assert [row["name"] for row in given(["profiles"])] == ["fast"]
    assert succeed("config", "set", "title_by_model", "--unset").out == "title_by_model is now false\n"
    assert "Usage: forkwood config" in succeed("config").out


def test_a_setting_written_twice_under_one_key_is_written_once(home: Path) -> None:
    succeed("config", "set", "title_by_model", "true", "--key", "k")
    succeed("config", "set", "title_by_model", "false")
    succeed("config", "set", "title_by_model", "true", "--key", "k")
    assert given(["config", "get", "title_by_model"]) is False
    assert run_cli("config", "set", "title_by_model", "false", "--key", "k").code == 4
    assert run_cli("config", "set", "nonsense", "1", "--key", "other").code == 2
    assert run_cli("config", "set", "title_by_model", "true", "--key", "other").code == 0


@pytest.mark.parametrize(
    ("arguments", "code"),
    (
        (["config", "get", "nonsense"], 3),
        (["config", "set", "nonsense", "1"], 2),
        (["config", "set", "title_by_model", "perhaps"], 2),
        (["config", "set", "home", "elsewhere"], 2),
        (["config", "set", "model"], 2),
        (["config", "set", "model", "x:y", "--unset"], 2),
    ),
)
def test_settings_that_are_wrong_change_nothing(home: Path, arguments: list[str], code: int) -> None:
    assert run_cli(*arguments).code == code
    assert not (home / "config.toml").exists()


def test_a_broken_file_of_settings_is_told_with_its_line(home: Path) -> None:
    home.mkdir()
    (home / "config.toml").write_text("# mine\nmodle = 1\n")
    told = run_cli("ls")
    assert (told.code, told.out) == (2, "")
    assert "line 2" in told.err


@pytest.mark.parametrize("shell", ("bash", "zsh", "fish"))
def test_each_shell_has_its_script(shell: str) -> None:
    assert "_FORKWOOD_COMPLETE" in succeed("completion", shell).out
    assert given(["completion", shell])["shell"] == shell
