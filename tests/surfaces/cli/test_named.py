"""Names are completed from what there is, and text that cannot be stored is refused where it is typed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from forkwood.surfaces.cli import named
from forkwood.surfaces.cli.app import forkwood
from forkwood.surfaces.cli.desk import Desk
from tests.surfaces.cli.desks import given, run_cli, succeed, terminal
from tests.surfaces.cli.scripts import echoing


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    succeed("new", "--model", echoing(tmp_path), "--title", "Trees")
    succeed("send", "Hello?")
    with Desk(terminal(**os.environ)) as here:  # type: ignore[arg-type]
        yield here


def offered(kind: named.Name, desk: Desk, incomplete: str = "") -> list[str]:
    ctx = click.Context(forkwood, obj=desk)
    return [item.value for item in kind.shell_complete(ctx, forkwood.params[0], incomplete)]


def test_each_kind_of_name_is_completed(desk: Desk) -> None:
    conversation = desk.runtime.conversation().id
    assert offered(named.CONVERSATION, desk) == [conversation[-8:]]
    path = [entry["node"]["id"][-8:] for entry in given(["path"])]
    assert offered(named.NODE, desk) == ["@", *reversed(path)]
    assert offered(named.NODE, desk, path[0][:7]) == [path[0]]
    assert offered(named.RUN, desk) == [given(["runs"])[0]["id"][-8:]]
    assert offered(named.MODEL, desk, "embedded") == ["embedded:smollm2"]
    assert "temperature" in offered(named.SETTING, desk)
    assert offered(named.PROFILE, desk) == []


def test_a_store_that_cannot_be_read_completes_nothing(home: Path) -> None:
    home.write_text("no folder")
    assert offered(named.NODE, Desk(terminal(**os.environ))) == []  # type: ignore[arg-type]


def test_the_shell_is_answered(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {"_FORKWOOD_COMPLETE": "bash_complete", "COMP_WORDS": "forkwood use ", "COMP_CWORD": "2"}
    for name, value in asked.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit) as ended:
        run_cli()
    assert ended.value.code == 0


@pytest.mark.parametrize(("value", "byte"), (("a\udcff", 1), ("ä\ud83d", 2)))
def test_what_is_no_text_is_refused_at_its_byte(value: str, byte: int) -> None:
    with pytest.raises(click.BadParameter) as refused:
        named.WORDS.convert(value, None, None)
    assert f"at byte {byte};" in refused.value.message
    assert named.WORDS.convert("fine ✓ \0", None, None) == "fine ✓ \0"


def test_a_branch_to_switch_to_and_what_to_carry_are_offered_from_everywhere(desk: Desk) -> None:
    first, reply = (entry["node"]["id"][-8:] for entry in given(["path"]))
    other = given(["edit", first, "Hello there?", "--no-run"])["id"][-8:]
    succeed("label", reply, "gem")
    assert offered(named.NODE, desk) == ["@", other]
    assert offered(named.LEAF, desk) == [reply, "@", other, first, "gem"]
    assert offered(named.ANY_NODE, desk) == ["@", other, reply, first, "gem"]


def test_what_is_hidden_is_offered_to_be_shown_again(desk: Desk) -> None:
    reply = given(["path"])[1]["node"]["id"][-8:]
    trashed = given(["new", "--title", "Gone"])["id"][-8:]
    succeed("hide", trashed)
    succeed("use", given(["ls"])[0]["id"])
    succeed("hide", reply)
    assert offered(named.HIDDEN, desk) == [reply, trashed]


def test_a_path_that_no_system_takes_is_refused_as_a_word_is() -> None:
    with pytest.raises(click.BadParameter, match="no path"):
        named.PATH.convert("a\0b", None, None)
    assert named.PATH.convert("a" * 300, None, None) == Path("a" * 300)
