"""switch, labels, drop, graft, hide, purge at the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.surfaces.cli.desks import given, run_cli, succeed
from tests.surfaces.cli.scripts import echoing, scripted

SAID = ("one", "two", "three", "four")


@pytest.fixture
def names(tmp_path: Path) -> list[str]:
    """The endings of four messages on one path, by hand and alternately."""
    succeed("new", "--model", echoing(tmp_path), "--title", "Numbers")
    roles = ("user", "assistant") * 2
    return [
        given(["send", text, "--role", role, "--no-run"])["id"][-8:] for text, role in zip(SAID, roles, strict=True)
    ]


def texts(*more: str) -> list[str]:
    return [entry["node"]["text"] for entry in given(["path", *more])]


def standing(names: list[str]) -> str:
    """What says where one stands at the end of it all."""
    return f"  you   {names[2]}  three\n  reply {names[3]}  four\n"


def test_a_drop_names_what_was_dropped_and_not_what_was_typed(names: list[str]) -> None:
    assert succeed("drop", "@~1").out.startswith(f"Dropped {names[2]} from this branch")


def test_a_leaf_that_is_carried_to_the_heads_path_is_named_by_its_place(names: list[str]) -> None:
    succeed("drop", names[1])
    listed = succeed("branches").out.splitlines()
    assert f"{names[3]}~0" in [line.split()[0] for line in listed]
    succeed("switch", f"{names[3]}~0")
    assert texts() == list(SAID)


def test_switch_goes_to_the_leaf_and_with_here_to_the_message(names: list[str]) -> None:
    succeed("edit", names[1], "zwei", "--no-run")
    assert texts() == ["one", "zwei"]
    went = f"From {names[2]} it went on to the newest leaf below it; --here stands there."
    assert succeed("switch", names[2]).out == f"The head is at {names[3]}. {went}\n{standing(names)}"
    assert texts() == list(SAID)
    here = f"is on this branch already: forkwood switch {names[1]} --here stands there."
    assert succeed("switch", names[1]).out.startswith(f"The head is at {names[3]}. {names[1]} {here}\n")
    assert f" @~2 ({names[1]}) {here}\n" in succeed("switch", "@~2").out
    assert succeed("switch", names[3]).out == f"The head is at {names[3]}.\n{standing(names)}"
    succeed("switch", names[1], "--here")
    assert texts() == ["one", "two"]


def test_labels_name_messages(names: list[str]) -> None:
    assert succeed("label", names[1], "good point").out == f"good point names {names[1]} now.\n"
    assert texts("good point") == ["one", "two"]
    assert "[good point]" in succeed("tree").out
    assert succeed("label", "@", "here").out == f"here names {given(['show', '@'])['id'][-8:]} now.\n"
    succeed("unlabel", "here")
    succeed("unlabel", "good point")
    assert run_cli("path", "good point").code == 3
    assert run_cli("label", "@", "#7").code == 2


def test_drop_is_of_this_branch_alone(names: list[str]) -> None:
    told = succeed("drop", names[1])
    assert "every other branch keeps it. 2 messages carried." in told.out
    assert texts() == ["one", "three", "four"]
    assert [branch["length"] for branch in given(["branches"])] == [3, 4]
    gone = given(["show", "@"])["id"]
    moved = given(["drop", "@"])
    assert set(moved) == {"head", "node", "gone"} and moved["gone"] == [gone]
    assert run_cli("drop", names[1]).code == 4


def test_a_drop_names_what_went_with_it(tmp_path: Path) -> None:
    look = {"name": "current_time", "arguments": {}}
    succeed("new", "--model", scripted(tmp_path, {"text": "I look.", "tool_calls": [look]}, {"text": "Late."}))
    succeed("send", "How late is it?")
    _, calls, results, _ = (entry["node"]["id"][-8:] for entry in given(["path"]))
    told = f"Dropped {results} and with it the reply that called ({calls}) from this branch"
    assert succeed("drop", "@~1").out.startswith(told)
    succeed("undo")
    assert f"Dropped {calls} and with it the results of its calls ({results})" in succeed("drop", calls).out


def test_graft_carries_one_or_a_stretch(names: list[str]) -> None:
    succeed("switch", names[0], "--here")
    assert "2 messages carried" in succeed("graft", f"{names[2]}..{names[3]}", "--on", names[3]).out
    assert texts() == ["one", "three", "four"]
    moved = given(["graft", names[1], "--onto", names[0]])
    assert moved["node"]["count"] == 1
    assert texts() == ["one", "two"]
    assert run_cli("graft", f"{names[3]}..{names[2]}", "--on", names[3]).code == 4


def test_hide_says_what_it_touches_and_the_way_back(names: list[str]) -> None:
    succeed("edit", names[2], "drei", "--no-run")
    told = succeed("hide", names[1])
    assert told.out.startswith(f"{names[1]} is hidden. This touches 2 branches.")
    assert "forkwood drop" in told.out
    assert f"forkwood unhide {names[1]}" in told.out
    assert texts() == ["one", "drei"]
    again = f"{names[1]} is hidden already. forkwood unhide {names[1]} brings it back.\n"
    assert succeed("hide", names[1]).out == again
    assert given(["hide", names[1]])["affects"]["branches"] == 2
    assert [row["text"] for row in given(["trash"])] == ["two"]
    assert "hidden" in succeed("tree").out
    assert given(["unhide", names[1]])["hidden"] is False
    assert given(["trash"]) == []


def test_what_is_visible_already_names_what_is_hidden_here(names: list[str]) -> None:
    succeed("hide", "@~1")
    told = succeed("unhide", "@~1").out
    assert told == f"{names[1]} is visible already. Hidden on this branch: {names[2]}; forkwood unhide {names[2]}.\n"
    succeed("unhide", names[2])
    assert succeed("unhide", "@").out == f"{names[3]} is visible already. forkwood trash lists all that is hidden.\n"


def test_the_way_back_names_what_was_hidden_for_good(names: list[str]) -> None:
    assert f"forkwood unhide {names[2]} takes it back." in succeed("hide", "@~1").out


def test_a_conversation_goes_to_the_trash_and_back(names: list[str]) -> None:
    conversation = given(["ls"])[0]["id"]
    assert "in the trash" in succeed("hide", conversation).out
    assert given(["ls"]) == []
    assert [row["title"] for row in given(["trash"])] == ["Numbers"]
    succeed("unhide", conversation[-8:])
    assert len(given(["ls"])) == 1


def test_purge_asks_and_where_nobody_is_there_refuses(names: list[str]) -> None:
    refused = run_cli("purge", names[3])
    assert (refused.code, "--yes" in refused.err) == (4, True)
    assert texts() == list(SAID)
    report = given(["purge", names[3], "--yes"])
    assert [name[-8:] for name in report["nodes"]] == [names[3]]
    assert "four" not in succeed("path").out
    assert "four" not in succeed("log", "--json").out


def test_purge_names_the_files_it_touches_before_and_after(names: list[str], home: Path) -> None:
    damaged = home / "forkwood.db.corrupt-1"
    damaged.write_bytes(b"damaged")
    why = "a damaged store, which may hold what is purged and cannot be written anew"
    asked = run_cli("purge", names[3])
    assert (asked.code, damaged.exists()) == (4, True)
    assert f"{damaged.name} will be removed: {why}" in asked.err
    assert f"Removed: {damaged.name}, {why}" in succeed("purge", names[3], "--yes").out
    assert not damaged.exists()


def test_purge_names_what_stays_and_what_it_cannot_reach(names: list[str]) -> None:
    succeed("fork", names[1], "--title", "Other")
    told = succeed("purge", names[0], "--yes", "-c", given(["ls"])[1]["id"])
    assert f"Kept, for another conversation carries it: {names[0]}" in told.out
    assert "Out of reach:" in told.out
    assert succeed("purge", names[0], "-c", given(["ls"])[1]["id"]).out == told.out, (
        "nobody is asked where nothing goes"
    )
    assert "1 message" in succeed("purge", names[0], "--yes", "--everywhere").out


@pytest.mark.parametrize(
    "arguments", (["switch", "0000"], ["drop", "0000"], ["graft", "0000"], ["hide", "0000"], ["purge", "0000", "--yes"])
)
def test_a_name_that_names_nothing_is_3(names: list[str], arguments: list[str]) -> None:
    assert run_cli(*arguments).code == 3


def test_keys_make_an_act_happen_once(names: list[str]) -> None:
    first = given(["drop", names[3], "--key", "a"])
    assert given(["drop", names[3], "--key", "a"]) == first
    assert run_cli("drop", names[2], "--key", "a").code == 4
    assert texts() == ["one", "two", "three"]


def test_an_ambiguous_name_lists_what_it_fits(names: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    made = (f"{number:028x}abcd" for number in range(1, 100))
    monkeypatch.setattr("forkwood.runtime.house.make_id", lambda now_ms, chance: next(made))
    alike = [given(["send", text, "--no-run"])["id"] for text in ("five", "six")]
    told = run_cli("show", "abcd")
    assert (told.code, told.out) == (3, "")
    assert all(name in told.err for name in alike)
    assert run_cli("switch", "abcd", "--json").value["error"]["candidates"] == alike
    assert given(["show", alike[0]])["text"] == "five"


def test_a_node_of_another_conversation_is_told_to_be_one(names: list[str]) -> None:
    succeed("new", "--title", "Elsewhere")
    for arguments in (
        ["switch", names[0]],
        ["edit", names[0], "x"],
        ["hide", names[0]],
        ["send", "x", "--at", names[0]],
    ):
        told = run_cli(*arguments)
        assert (told.code, "another conversation" in told.err) == (4, True)
    assert "1 message carried" in succeed("graft", names[0]).out
