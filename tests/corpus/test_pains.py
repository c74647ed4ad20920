"""Pains 1, 2, 11 to 13 and 15 to 18 of other programs' users, at the command line, where they would meet them."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from forkwood.config import load_settings
from forkwood.runtime import Runtime
from forkwood.store.migrations import OLDEST_VERSION, SCHEMA_VERSION
from tests.reference.houses import entered
from tests.runtime.doors import NOON, said, texts
from tests.surfaces.cli.desks import given, run_cli, succeed
from tests.surfaces.cli.scripts import scripted

TEN_YEARS_MS = 10 * 365 * 86_400_000


def spoken(count: int) -> list[str]:
    """A new conversation of COUNT messages m1, m2 …, the user's and the assistant's in turn; their ids."""
    succeed("new")
    with Runtime.open(load_settings(os.environ), os.environ, via="cli") as runtime:
        return said(runtime, *(f"m{number}" for number in range(1, count + 1)))


def words(*naming: str) -> list[str]:
    return [entry["node"]["text"] for entry in given(["path", *naming])]


def test_pain_1_editing_message_3_of_40_leaves_all_forty_readable(home: Path) -> None:
    ids = spoken(40)
    edited = given(["edit", ids[2], "m3 anew", "--no-run"])
    assert words() == ["m1", "m2", "m3 anew"]
    assert given(["path"])[-1]["siblings"] == {"index": 2, "count": 2, "ids": [ids[2], edited["id"]]}
    assert given(["ls"])[0]["head"] == edited["id"]
    plain = sqlite3.connect(home / "forkwood.db")
    rows = plain.execute("SELECT parts ->> '$[0].text' FROM node ORDER BY seq").fetchall()
    plain.close()
    assert [text for (text,) in rows] == [*(f"m{number}" for number in range(1, 41)), "m3 anew"]
    succeed("switch", ids[2])
    assert words() == [f"m{number}" for number in range(1, 41)]


def test_pain_2_an_edited_reply_keeps_its_tail_and_says_where(home: Path) -> None:
    ids = spoken(6)
    ran = succeed("edit", ids[1], "m2 by hand")
    assert words() == ["m1", "m2 by hand"]
    assert f"is a new version of {ids[1][-8:]}, which stays as it was" in ran.out + ran.err
    assert f"forkwood switch {ids[1][-8:]}" in ran.out + ran.err
    assert words(ids[5]) == ["m1", "m2", "m3", "m4", "m5", "m6"]
    succeed("switch", ids[1])
    assert words() == ["m1", "m2", "m3", "m4", "m5", "m6"]
    kept = succeed("edit", ids[1], "m2 kept", "--keep")
    assert "What followed is carried" in kept.out + kept.err
    assert words() == ["m1", "m2 kept", "m3", "m4", "m5", "m6"]


def test_pain_11_a_corrupt_store_is_named_left_alone_and_salvaged(home: Path) -> None:
    spoken(60)
    path = home / "forkwood.db"
    damaged = bytes(16) + path.read_bytes()[16:]
    path.write_bytes(damaged)
    for command in (["ls"], ["send", "more", "--no-run"], ["path"]):
        ran = run_cli(*command, "--json")
        assert (ran.code, ran.value["error"]["kind"]) == (7, "store")
        assert str(path) in ran.value["error"]["message"]
        assert "doctor --repair" in ran.value["error"]["hint"]
    assert run_cli("doctor", "--json").code == 7
    assert path.read_bytes() == damaged
    assert given(["doctor", "--repair"])["ok"] is True
    assert words() == [f"m{number}" for number in range(1, 61)]
    assert damaged in [file.read_bytes() for file in home.iterdir() if file.name != "forkwood.db" and file.is_file()]


def test_pain_12_a_store_of_a_newer_program_is_refused_untouched_and_both_versions_named(home: Path) -> None:
    spoken(2)
    path = home / "forkwood.db"
    plain = sqlite3.connect(path)
    plain.execute("PRAGMA user_version = 42")
    plain.close()
    before = {file.name: file.read_bytes() for file in home.iterdir() if file.is_file()}
    for command in (["ls"], ["send", "more", "--no-run"], ["doctor"], ["doctor", "--repair"]):
        ran = run_cli(*command)
        assert ran.code == 7
        assert "is of version 42" in ran.out + ran.err
        assert f"versions {OLDEST_VERSION} to {SCHEMA_VERSION}" in ran.out + ran.err
    assert {file.name: file.read_bytes() for file in home.iterdir() if file.is_file()} == before


def test_pain_13_ten_years_later_nothing_is_gone_not_even_a_receipt(home: Path) -> None:
    runtime = entered(home)
    runtime.new(title="old")
    ids = said(runtime, "m1", "m2", "m3", "m4")
    runtime.edit(ids[0], "m1 anew", keep=True)
    runtime.hide(ids[3])
    sent = runtime.send("once", run=False, key="k")
    runtime.new(title="older")
    runtime.hide(runtime.conversation().id)
    runtime.use(runtime.listed()[0].id)
    before = (runtime.listed(), runtime.tree(), runtime.path(), runtime.trash(), list(runtime.log()))
    runtime.close()
    later = entered(home, later_ms=TEN_YEARS_MS)
    assert later.house.clock() >= NOON + TEN_YEARS_MS
    assert (later.listed(), later.tree(), later.path(), later.trash(), list(later.log())) == before
    assert later.send("once", run=False, key="k") == sent, "still done once"
    later.send("a new day", run=False)
    later.undo()
    later.close()
    assert Runtime.doctor(load_settings(os.environ), via="cli", repair=True).ok
    again = entered(home, later_ms=2 * TEN_YEARS_MS)
    assert again.tree()[: len(before[1])] == before[1]
    assert list(again.log())[: len(before[4])] == before[4]
    assert (again.path(), again.trash()) == (before[2], before[3])
    assert again.redo().kind == "act.redone"
    assert texts(again)[-1] == "a new day"


def test_pain_15_words_are_found_in_every_branch_in_tool_output_and_under_marks(tmp_path: Path) -> None:
    call = {"name": "unheard_of", "arguments": {"find": "walnut"}}
    succeed("new", "--model", scripted(tmp_path, {"text": "see", "tool_calls": [call]}, {"text": "a walnut it is"}))
    succeed("send", "is it a walnut? 我们讨论数据库设计")
    first = given(["path"])[0]["node"]["id"]
    succeed("edit", first, "no walnut, a 胡桃", "--no-run")
    succeed("hide", first)
    succeed("new")
    succeed("send", "walnuts elsewhere, and a walnut", "--no-run")
    hits = succeed("search", "walnut", "--json").value
    assert {(hit["role"], hit["hidden"]) for hit in hits} >= {("user", True), ("user", False), ("assistant", False)}
    assert len({hit["conversation"] for hit in hits}) == 2
    assert [hit["hidden"] for hit in given(["search", "数据库"])] == [True]
    assert [hit["hidden"] for hit in given(["search", "数据"])] == [True]
    assert [hit["node"] for hit in given(["search", "胡桃"])] != []
    assert [hit["role"] for hit in given(["search", "unheard_of", "--role", "tool"])] == ["tool"]


def test_pain_16_one_message_is_left_out_and_comes_back_exactly() -> None:
    ids = spoken(6)
    before = given(["path"])
    touched = given(["hide", ids[2]])
    assert touched["affects"]["branches"] == 1
    assert words() == ["m1", "m2", "m4", "m5", "m6"]
    assert given(["ls"])[0]["head"] == ids[5]
    succeed("unhide", ids[2])
    assert given(["path"]) == before


def test_pain_17_a_conversation_is_taken_back_out_of_the_trash_and_destroyed_only_by_purge(home: Path) -> None:
    spoken(3)
    here = given(["ls"])[0]
    succeed("hide", here["id"])
    assert given(["ls"]) == []
    assert [row["id"] for row in given(["trash"])] == [here["id"]]
    succeed("unhide", here["id"])
    assert {**given(["ls"])[0], "updated_ms": 0} == {**here, "updated_ms": 0}
    assert words() == ["m1", "m2", "m3"]
    asked = run_cli("purge", here["id"])
    assert (asked.code, words()) == (4, ["m1", "m2", "m3"]), "without a yes nothing goes"
    report = given(["purge", here["id"], "--yes"])
    assert report["conversations"] == [here["id"]]
    assert [event["kind"] for event in succeed("log", "--json").lines][-1] == "purge.done"
    assert not [file for file in home.rglob("*") if file.is_file() and b'"m2"' in file.read_bytes()]


def test_pain_18_a_fork_is_one_row_and_sees_every_original(home: Path) -> None:
    ids = spoken(40)
    succeed("edit", ids[4], "m5 anew", "--keep")
    plain = sqlite3.connect(home / "forkwood.db")
    before = plain.execute("SELECT count(*) FROM node").fetchone()[0]
    fork = given(["fork", ids[29]])
    assert plain.execute("SELECT count(*) FROM node").fetchone()[0] == before + 1
    plain.close()
    assert given(["ls"])[0]["id"] == fork["id"]
    due = [*(f"m{number}" for number in range(1, 5)), "m5 anew", *(f"m{number}" for number in range(6, 31))]
    assert words() == due
    assert [entry["node"]["id"] for entry in given(["path"])][5:] == ids[5:30]
    assert given(["show", ids[4]])["text"] == "m5", "and the original that was edited"
    assert [node["text"] for node in given(["history", given(["path"])[4]["node"]["id"]])] == ["m5", "m5 anew"]
