"""The door: every verb of every room is found in it, and a room is loaded when it is first needed."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from forkwood.config import load_settings
from forkwood.domain.errors import StoreUnusable
from forkwood.runtime import ROOMS, Runtime
from tests.runtime.doors import door


@pytest.mark.parametrize("room", ROOMS)
def test_the_door_knows_every_verb_of_a_room(room: str) -> None:
    found = getattr(import_module(f"forkwood.runtime.{room.lower()}"), room)
    public = {name for name in vars(found) if not name.startswith("_")}
    assert public == set(ROOMS[room])
    runtime = door()
    assert all(callable(getattr(runtime, verb)) for verb in ROOMS[room])


def test_what_is_no_verb_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="no verb 'dance'"):
        door().dance  # type: ignore[attr-defined]  # noqa: B018


def test_reading_a_path_loads_no_other_room() -> None:
    program = (
        "import sys; from forkwood.runtime import Runtime; import forkwood.runtime.reading;"
        "print(sorted(name for name in sys.modules if name.startswith('forkwood.runtime.')))"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert "talking" not in said
    assert "purging" not in said


def test_a_runtime_is_opened_on_a_home_and_closed_again(home: Path) -> None:
    with Runtime.open(load_settings({"FORKWOOD_HOME": str(home)}), {}, via="cli") as runtime:
        made = runtime.new(title="t")
    with Runtime.open(load_settings({"FORKWOOD_HOME": str(home)}), {}, via="web") as runtime:
        assert runtime.conversation() == made
        assert runtime.send("x", run=False).node.origin.via == "web"


def test_a_home_that_is_a_file_is_no_home(home: Path) -> None:
    home.write_text("not a folder")
    with pytest.raises(StoreUnusable):
        load_settings({"FORKWOOD_HOME": str(home)})
    assert home.read_text() == "not a folder"
