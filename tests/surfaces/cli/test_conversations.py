"""new, ls, use, set, fork, profiles at the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from forkwood.surfaces.cli.show_lists import shape_words
from tests.surfaces.cli.desks import given, run_cli, succeed
from tests.surfaces.cli.scripts import echoing


def test_a_new_conversation_is_the_current_one_and_listed_first() -> None:
    first = given(["new", "--title", "First"])["id"]
    second = given(["new", "--title", "Second", "--system", "-"], stdin=b"Be kind.\n")
    assert second["system"] == "Be kind."
    assert [row["title"] for row in given(["ls"])] == ["Second", "First"]
    assert succeed("ls").out.splitlines()[0].startswith(f"● {second['id'][-8:]}  Second")
    assert given(["use", first[-8:]])["title"] == "First"
    assert succeed("ls").out.splitlines()[1].startswith("● ")


def test_no_conversation_is_told_with_the_way() -> None:
    assert succeed("ls").out == "There are no conversations yet: forkwood chat begins one.\n"
    told = run_cli("path")
    assert (told.code, "forkwood new" in told.err) == (3, True)


def test_settings_say_what_they_were_and_what_they_touch() -> None:
    succeed("new", "--system", "older")
    assert succeed("set", "system", "old").out == "system is now old (was older).\n"
    succeed("send", "hi", "--no-run")
    assert succeed("set", "system", "new").out.startswith("system is now new (was old).\nThis touches 1 branch.\n")
    assert given(["set", "title", "Named"])["title"] == "Named"
    assert succeed("set", "temperature", "0.5").out == "temperature is now 0.5 (was not set).\n"
    assert succeed("set", "temperature", "0.5").out == "temperature is 0.5, as before.\n"
    assert succeed("set", "pinned", "yes").out == "pinned is now yes (was no).\n"
    assert succeed("set", "tags", "a,b").out == "tags is now a, b (was not set).\n"


def test_a_tool_switch_is_a_value_and_never_an_option() -> None:
    succeed("new")
    assert given(["set", "tools", "-recall"])["tools_off"] == ["recall"]
    assert given(["set", "tools", "-ask_user", "--key", "k"])["tools_off"] == ["ask_user", "recall"]
    succeed("set", "tools", "+ask_user")
    assert given(["set", "tools", "+recall"])["tools_off"] == []
    assert given(["set", "tools", "-current_time", "-c", given(["ls"])[0]["id"]])["tools_off"] == ["current_time"]


@pytest.mark.parametrize(
    ("arguments", "code"),
    (
        (["set", "nonsense", "1"], 2),
        (["set", "temperature", "hot"], 2),
        (["set", "approvals", "never"], 2),
        (["set", "title", "x" * 201], 6),
        (["set", "model", "nobody:knows"], 3),
        (["set", "model", "bare"], 3),
        (["use", "ffff"], 3),
        (["use", "zz"], 3),
        (["new", "--profile", "none"], 3),
        (["fork", "@"], 3),
        (["set", "tools", "x"], 2),
        (["set", "tools", "-json"], 3),
        (["set", "tools", "+json"], 3),
    ),
)
def test_what_cannot_be_set_is_told(arguments: list[str], code: int) -> None:
    succeed("new", "--title", "Kept")
    before = given(["ls"])
    assert run_cli(*arguments).code == code
    assert given(["ls"]) == before


def test_endings_name_conversations_as_long_as_they_are_unambiguous() -> None:
    made = [given(["new", "--title", f"T{number}"])["id"] for number in range(3)]
    assert given(["use", made[0][-8:]])["title"] == "T0"
    assert given(["path", "-c", made[1]]) == []


def test_a_fork_shares_the_path_and_is_current(tmp_path: Path) -> None:
    old = given(["new", "--model", echoing(tmp_path)])["id"]
    succeed("send", "Hello?")
    forked = given(["fork", "@", "--title", "Other way"])
    assert (forked["title"], forked["forked_from"]["conversation"]) == ("Other way", old)
    assert [entry["node"]["text"] for entry in given(["path"])] == ["Hello?", "A reply."]
    assert given(["ls"])[0]["id"] == forked["id"]


def test_profiles_begin_conversations(home: Path) -> None:
    succeed("config", "set", "profiles.calm.system", "Be calm.")
    succeed("config", "set", "profiles.calm.params.temperature", "0.1")
    made = given(["new", "--profile", "calm"])
    assert (made["system"], made["params"], made["profile"]) == ("Be calm.", {"temperature": 0.1}, "calm")
    assert succeed("profiles").out == "calm  temperature 0.1  Be calm.\n"


def test_conversations_that_are_not_listed_are_said_to_be_elsewhere() -> None:
    archived, hidden = (given(["new", "--title", title])["id"] for title in ("Put aside", "Gone"))
    succeed("set", "archived", "yes", "-c", archived)
    succeed("hide", hidden)
    assert succeed("ls").out == (
        "No conversation is listed; 1 conversation archived: forkwood ls --archived, "
        "1 conversation in the trash: forkwood trash.\n"
    )
    assert (given(["ls"]), len(given(["ls", "--archived"]))) == ([], 1)
    succeed("set", "archived", "no", "-c", archived)
    assert succeed("ls", "--archived").out.startswith(
        "No conversation is archived; 1 conversation not archived: forkwood ls, "
    )


def test_a_switch_behind_the_two_dashes_is_a_value_too() -> None:
    succeed("new")
    assert given(["set", "tools", "-ask_user"])["tools_off"] == ["ask_user"]
    succeed("set", "--", "tools", "-current_time")
    assert given(["ls"])[0]["tools_off"] == ["ask_user", "current_time"]
    succeed("set", "title", "--", "tools")
    assert given(["ls"])[0]["title"] == "tools"
    succeed("set", "title", "--", "-tools")
    assert given(["ls"])[0]["title"] == "-tools"


def test_names_of_profiles_do_not_act_on_the_screen(home: Path) -> None:
    home.mkdir()
    (home / "config.toml").write_text(
        '[profiles."a\\u001B[2J\\u202e"]\nparams = { effort = "low" }\ntools_off = ["\\u001b[0m"]\n'
    )
    shown = succeed("profiles").out
    assert shown == "a\\x1b[2J\\u202e  effort low  without \\x1b[0m\n"
    assert "\x1b" not in succeed("config", "get").out and "\u202e" not in succeed("config", "get").out
    assert "profiles.a\\x1b[2J\\u202e.model = not set" in succeed("config", "get").out
    told = succeed("config", "set", 'profiles."\u202e".system', "brief").out
    assert told == 'profiles."\\u202e".system is now brief\n'


def test_tools_are_listed_as_they_stand_here_with_their_arguments() -> None:
    assert {tool["name"]: tool["on"] for tool in given(["tools"])}["recall"]
    succeed("new")
    succeed("set", "tools", "-recall")
    succeed("config", "set", "deny", "remember")
    told = succeed("tools").out
    assert "recall  off, read, does not ask\n    {name?: string}\n" in told
    assert "remember  on, read, never runs\n    {name: string, value: string}\n" in told
    assert "search_conversations  on, read, asks\n    {words: string, limit?: integer}\n" in told
    succeed("set", "approvals", "allow-all")
    assert {tool["name"]: tool["verdict"] for tool in given(["tools"])}["search_conversations"] == "allow"


def test_the_page_of_the_scripted_model_has_every_tool_and_its_arguments() -> None:
    page = (Path(__file__).parents[3] / "docs" / "scripted-model.md").read_text("utf-8")
    rows = {
        row.split("`")[1]: row.split("`")[3]
        for row in page.splitlines()
        if row.startswith("| `") and row.count("`") == 4
    }
    listed = {tool["name"]: shape_words(tool["arguments"]) for tool in given(["tools"])}
    assert {name: rows[name] for name in listed} == listed
