"""The house: ids from its own clock and chance, one engine, models opened once."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from msgspec.structs import replace

from forkwood.domain.errors import NotFound
from forkwood.domain.ids import make_id
from forkwood.domain.settings import Provider, Settings
from forkwood.domain.watch import DeltaSeen
from forkwood.runtime import Runtime
from forkwood.runtime.house import House, ended, wall_clock
from forkwood.store.db import Store
from forkwood.store.opening import open_store
from tests.engine.stage import FakeModel, FakeTool
from tests.runtime.doors import NOON, door, heard, script


def test_ids_are_made_of_the_clock_and_chance_that_were_handed_in() -> None:
    house = House(
        Store.in_memory(), Settings(home="/x"), {}, "api", clock=lambda: NOON, chance=lambda size: b"x" * size
    )
    assert house.new_id() == make_id(NOON, b"x" * 10)
    assert (house.who.by, house.who.via) == ("user", "api")


def test_the_wall_clock_is_in_milliseconds() -> None:
    assert 1_700_000_000_000 < wall_clock() < 10_000_000_000_000


def test_there_is_one_engine_and_each_model_is_opened_once(home: Path, tmp_path: Path) -> None:
    runtime = door(open_store(home, now_ms=NOON), Settings(home=str(home)))
    name = script(tmp_path, {"text": "x"})
    assert runtime.house.engine is runtime.house.engine
    first, second = asyncio.run(runtime.house.open_model(name)), asyncio.run(runtime.house.open_model(name))
    assert first is second
    runtime.close()
    assert list(home.glob("drivers/*")) == []


def test_other_settings_bring_another_choice(tmp_path: Path) -> None:
    house = door(settings=Settings(home=str(tmp_path), model="scripted:/one.json")).house
    assert house.default_model().name == "scripted:/one.json"
    house.settings = Settings(home=str(tmp_path), model="scripted:/two.json", system="Be brief.")
    assert house.default_model().name == "scripted:/two.json"
    assert house.engine._supplies.settings().system == "Be brief."


async def test_what_takes_a_loop_is_waited_for_inside_one_too() -> None:
    async def seven() -> int:
        await asyncio.sleep(0)
        return 7

    async def broken() -> None:
        raise ValueError("no")

    assert ended(seven()) == 7
    with pytest.raises(ValueError, match="no"):
        ended(broken())
    runtime = door()
    with pytest.raises(NotFound, match="Nobody knows"):
        runtime.house.known_model("nosuch:model")


def test_secrets_are_credential_named_variables_and_keys_in_use(tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text("the-key-in-a-file\n")
    key.chmod(0o600)
    provider = Provider(url="http://127.0.0.1:9/v1", keys=(f"file:{key}", "env:ODD_NAME", "file:/nowhere/key"))
    house = door(settings=Settings(home=str(tmp_path), providers={"mine": provider})).house
    environ = {"A_TOKEN": "a" * 12, "B_TOKEN": "b" * 11, "ODD_NAME": "odd-but-in-use", "PLAIN": "p" * 20}
    house.environ = environ
    found = {"A_TOKEN": "a" * 12, "ODD_NAME": "odd-but-in-use", f"file:{key}": "the-key-in-a-file"}
    assert house.secrets() == found
    environ["OF_A_MODEL"] = "key-of-an-opened-model"
    house._models["m"] = FakeModel()
    house._models["m"].binding = replace(house._models["m"].binding, credentials=("env:OF_A_MODEL",))  # type: ignore[misc]
    assert house.secrets() == found | {"OF_A_MODEL": "key-of-an-opened-model"}


def test_an_echoed_variable_reaches_nothing_that_is_kept(home: Path, tmp_path: Path) -> None:
    runtime = door(open_store(home, now_ms=NOON), Settings(home=str(home)))
    runtime.new(title="t")
    runtime.house.environ = {**runtime.house.environ, "MY_TOKEN": "a-value-of-a-token"}
    reply = {"text": "it is a-value-of-a-token.", "thinking": "a-value-of-a-token", "chunk": 3}
    seen = heard(runtime, runtime.send("?", models=[script(tmp_path, reply)]))
    assert "".join(one.text for one in seen if isinstance(one, DeltaSeen) and one.part == "text") == "it is [secret]."
    assert runtime.path()[1].node.text == "it is [secret]."
    assert "a-value-of-a-token" not in repr((seen, runtime.path(), list(runtime.log())))


def test_a_script_is_not_found_from_a_folder_that_was_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runtime = door(Store.in_memory(), Settings(home="/x"))
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert runtime.house.known_model("scripted:/a.json") == "scripted:/a.json"
    assert runtime.house.known_model("scripted:a.json") == "scripted:a.json"


def test_the_tools_are_the_programs_own_unless_others_are_handed_in(home: Path) -> None:
    assert list(door().house.tools) == ["ask_user", "current_time", "recall", "remember", "search_conversations"]
    mine = {"look": FakeTool("look")}
    with Runtime.open(Settings(home=str(home)), {}, via="cli", tools=mine) as runtime:
        assert runtime.house.tools is mine
