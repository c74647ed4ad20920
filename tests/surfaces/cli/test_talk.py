"""send, edit, retry, resume, runs, cancel at the command line."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from forkwood.domain import limits
from forkwood.surfaces.cli.desk import Call, Desk
from forkwood.surfaces.cli.talk import tell_who
from tests.surfaces.cli.desks import given, run_cli, succeed, terminal, written
from tests.surfaces.cli.scripts import echoing, scripted


@pytest.fixture
def model(tmp_path: Path) -> str:
    return echoing(tmp_path)


@pytest.fixture
def talking(model: str) -> str:
    """A conversation with one message and its reply."""
    conversation: str = given(["new", "--model", model])["id"]
    succeed("send", "Hello?")
    return conversation


def texts(*more: str) -> list[str]:
    return [entry["node"]["text"] for entry in given(["path", *more])]


def test_a_reply_is_all_there_is_on_standard_output(model: str) -> None:
    succeed("new", "--model", model)
    assert succeed("send", "Hello?").out == "A reply.\n"
    assert texts() == ["Hello?", "A reply."]


def test_json_lines_end_with_the_result(talking: str) -> None:
    lines = succeed("send", "Again", "--json").lines
    assert {line["type"] for line in lines[:-1]} <= {"delta", "event"}
    assert "".join(line["text"] for line in lines if line["type"] == "delta") == "A reply."
    result = lines[-1]
    assert (result["type"], result["status"], result["text"], result["error"]) == ("result", "done", "A reply.", None)
    assert result["usage"]["output"] == 2
    assert result["node"] == given(["show", "@"])["id"]


def test_several_models_answer_beside_each_other_the_first_last(tmp_path: Path, talking: str) -> None:
    one = scripted(tmp_path, {"text": "one"}, file="one.json")
    two = scripted(tmp_path, {"text": "two"}, file="two.json")
    lines = succeed("send", "Both", "--model", one, "--model", two, "--json").lines
    results = [line for line in lines if line["type"] == "result"]
    assert [result["text"] for result in results] == ["two", "one"]
    assert lines[-1] == results[-1]
    assert given(["path"])[-1]["siblings"]["count"] == 2
    assert texts()[-1] == "one"
    shown = succeed("retry", "@~1", "--model", one, "--model", two)
    assert "two" in shown.out and one in shown.out


def test_where_nothing_runs_the_message_is_given(talking: str) -> None:
    node = given(["send", "I say so", "--role", "assistant"])
    assert (node["role"], node["text"], node["origin"]["by"]) == ("assistant", "I say so", "user")
    assert given(["send", "later", "--no-run"])["text"] == "later"
    assert succeed("send", "again later", "--no-run").out.startswith("Kept as ")


def test_a_pipe_is_heard_without_a_dash(talking: str) -> None:
    assert given(["send", "--no-run"], stdin=b"piped\n")["text"] == "piped"
    assert run_cli("send", stdin=b"").code == 2
    assert run_cli("send", stdin=b"\xff").code == 2


def test_a_file_can_go_without_words(talking: str, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("words")
    assert given(["send", "--attach", str(tmp_path / "notes.txt"), "--no-run"])["text"] == ""


def test_where_none_is_named_the_head_or_the_newest_run_is_meant(talking: str, tmp_path: Path) -> None:
    head = given(["path"])[-1]["node"]["id"]
    assert given(["show"])["id"] == given(["why"])["node"] == head
    assert [node["id"] for node in given(["history"])] == [head]
    succeed("retry")
    assert given(["path"])[-1]["siblings"]["count"] == 2
    assert (run_cli("cancel").code, run_cli("resume").code) == (3, 3)
    refusing = scripted(tmp_path, {"text": "x", "fail": {"status": 401, "times": 1}}, file="refusing.json")
    assert run_cli("send", "Hello?", "--model", refusing).code == 1
    resumed = run_cli("resume", "--json").lines[-1]
    assert resumed["type"] == "result"
    assert len(given(["runs"])) == 4


def test_a_person_is_told_who_answers_where_nobody_chose(tmp_path: Path) -> None:
    with Desk(terminal(is_screen=True, **os.environ)) as desk:  # type: ignore[arg-type]
        call = Call(desk, conversation=desk.runtime.new().id, key=None, as_json=False)
        started = desk.runtime.send("Hello?", conversation=call.conversation)
        tell_who(call, started, ())
        assert "embedded:smollm2 answers: it needs no server and no key." in written(desk.terminal.err)
        told = written(desk.terminal.err)
        tell_who(call, started, ("a:b",))
        desk.runtime.set("model", echoing(tmp_path), conversation=call.conversation)
        tell_who(call, started, ())
        assert written(desk.terminal.err) == told


def test_a_person_is_told_where_another_model_answers_than_before(talking: str, tmp_path: Path) -> None:
    before = given(["path"])[-1]["node"]["origin"]["model"]
    other = scripted(tmp_path, {"text": "x"}, file="other.json")
    with Desk(terminal(is_screen=True, **os.environ)) as desk:  # type: ignore[arg-type]
        call = Call(desk, conversation=desk.runtime.conversation().id, key=None, as_json=False)
        desk.terminal.in_chat = True
        reply = desk.runtime.path()[-1].node.id
        tell_who(call, desk.runtime.send("Again?", at=reply), ())
        assert written(desk.terminal.err) == ""
        desk.runtime.set("model", other)
        tell_who(call, desk.runtime.send("And now?", at=reply), ())
        told = " ".join(written(desk.terminal.err).split())
    assert f"{other} answers: this conversation says so. The last reply here is of {before}." in told


def test_a_reply_cut_by_its_limit_says_so(talking: str, tmp_path: Path) -> None:
    cut = scripted(tmp_path, {"text": "It goes on and", "finish": "length"}, file="cut.json")
    assert "cut at the token limit: forkwood resume" in succeed("send", "Tell", "--model", cut).err


def test_resume_without_a_name_goes_on_with_the_reply_that_was_cut_and_with_it_once(tmp_path: Path) -> None:
    cut = scripted(tmp_path, {"text": "It goes on and", "finish": "length"}, file="cut.json")
    more = scripted(tmp_path, {"text": " on."}, file="more.json")
    succeed("new", "--model", cut)
    succeed("send", "Tell")
    assert "  done, cut  " in succeed("runs").out
    (tmp_path / "cut.json").write_text((tmp_path / "more.json").read_text())
    assert (more, succeed("resume", "--json").lines[-1]["text"]) == (more, " on.")
    assert texts() == ["Tell", "It goes on and", " on."]
    assert run_cli("resume").code == 3, "what came of it is whole"


CREDENTIAL = {"SOME_API_TOKEN": "tok-0123456789abcdef"}


@pytest.mark.parametrize("arguments", (["send"], ["send", "--json"], ["send", "--no-run"], ["edit", "@~1"]))
def test_a_credential_that_is_typed_is_kept_and_warned_of(talking: str, arguments: list[str]) -> None:
    ran = run_cli(*arguments, f"use {CREDENTIAL['SOME_API_TOKEN']}", environ=CREDENTIAL)
    assert ran.code == 0
    assert ran.err.startswith("Careful: the text holds the value of SOME_API_TOKEN")
    assert CREDENTIAL["SOME_API_TOKEN"] not in ran.err
    assert "Careful" not in succeed("send", "use something else", environ=CREDENTIAL).err


def test_a_file_that_is_attached_twice_is_warned_of_once(talking: str, tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text(CREDENTIAL["SOME_API_TOKEN"])
    ran = succeed("send", "--no-run", "--attach", str(path), "--attach", str(path), "see", environ=CREDENTIAL)
    assert ran.err.count("notes.txt holds the value of SOME_API_TOKEN") == 1


def test_a_message_can_stand_elsewhere(talking: str) -> None:
    succeed("send", "there", "--at", "@~1", "--no-run")
    assert texts() == ["Hello?", "there"]


def test_an_edit_says_what_it_replaced_and_the_way_back(talking: str) -> None:
    old = given(["path"])[0]["node"]["id"]
    told = succeed("edit", "@~1", "Hi!")
    assert told.out == "A reply.\n"
    assert f"forkwood switch {old[-8:]}" in told.err
    assert texts() == ["Hi!", "A reply."]
    succeed("switch", old[-8:])
    assert texts() == ["Hello?", "A reply."]


def test_an_edit_that_keeps_runs_nothing(talking: str) -> None:
    node = given(["edit", "@~1", "Hi!", "--keep"])
    assert (node["text"], node["kind"]) == ("Hi!", "message")
    assert texts() == ["Hi!", "A reply."]
    assert "What followed is carried" in succeed("edit", "@~1", "Hey", "--keep").out
    assert len(given(["runs"])) == 1


def test_an_edit_without_text_opens_the_editor(talking: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "editor"
    program.write_text('#!/bin/sh\nsed -i "s/Hello/Goodbye/" "$1"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    assert given(["edit", "@~1", "--no-run"], environ={"EDITOR": str(program)})["text"] == "Goodbye?"
    assert run_cli("edit", "@", "--no-run", environ={"EDITOR": "true"}).code == 2
    assert run_cli("edit", "@", "--no-run").code == 2


def test_a_retry_is_a_sibling(talking: str) -> None:
    old = given(["show", "@"])["id"][-8:]
    told = succeed("retry", "@")
    assert (told.out, f"forkwood switch {old}" in told.err) == ("A reply.\n", True)
    assert given(["path"])[-1]["siblings"]["count"] == 2
    assert succeed("retry", "@~1").err == ""


def test_standard_input_is_text(talking: str) -> None:
    succeed("send", "-", "--no-run", stdin="zwei\nZeilen ü\n".encode())
    assert texts()[-1] == "zwei\nZeilen ü"


def test_files_go_along(talking: str, tmp_path: Path) -> None:
    file = tmp_path / "bytes\udcff.bin"
    file.write_bytes(b"\xff\0")
    node = given(["send", "look", "--attach", str(file), "--no-run"])
    assert [part["kind"] for part in node["parts"]] == ["text", "attachment"]
    assert node["parts"][1]["size"] == 2
    assert run_cli("send", "look", "--attach", str(tmp_path / "none")).code == 3
    assert run_cli("send", "look", "--attach", str(tmp_path)).code == 2


BAD: tuple[tuple[list[str], bytes, int, str], ...] = (
    (["send", ""], b"", 2, "empty"),
    (["send", " \n\t"], b"", 2, "empty"),
    (["send", "-"], b"", 2, "empty"),
    (["send", "-"], b"ok \xff\xfe", 2, "byte 3"),
    (["send", "-"], b"a\0b", 2, "byte 1"),
    (["send", "-"], b"x" * (8 * 1024 * 1024 + 1), 6, "8,388,609"),
    (["send", "-"], b"x" * (64 * 1024 * 1024), 6, "67,108,864"),
    (["send", "hi", "--model", "nobody:knows"], b"", 3, "nobody"),
    (["send", "hi", "--model", "bare"], b"", 3, "bare"),
    (["send", "hi", "--at", "@~9"], b"", 3, "@~9"),
    (["send", "hi", "-c", "ffffffff"], b"", 3, "ffffffff"),
    (["edit", "zzz", "x"], b"", 3, "zzz"),
    (["edit", "@", " "], b"", 2, "empty"),
    (["retry", "#99999"], b"", 3, "99999"),
    (["cancel", "ffffffff"], b"", 3, "ffffffff"),
    (["resume", "ffffffff"], b"", 3, "ffffffff"),
)


@pytest.mark.parametrize(("arguments", "stdin", "code", "said"), BAD)
def test_bad_input_is_told_and_nothing_is_stored(
    talking: str, arguments: list[str], stdin: bytes, code: int, said: str
) -> None:
    before = given(["tree"])
    told = run_cli(*arguments, stdin=stdin)
    assert (told.code, told.out) == (code, "")
    assert said in told.err
    as_json = run_cli(*arguments, "--json", stdin=stdin)
    assert as_json.code == code
    assert set(as_json.value["error"]) >= {"kind", "message", "hint"}
    assert said in as_json.value["error"]["message"]
    assert given(["tree"]) == before


def test_a_failed_run_is_exit_1_with_words_and_a_way_on(tmp_path: Path) -> None:
    refusing = scripted(tmp_path, {"text": "x", "fail": {"status": 401, "times": 9}})
    succeed("new", "--model", refusing)
    told = run_cli("send", "Hello?")
    assert (told.code, told.out) == (1, "")
    assert "forkwood retry" in told.err
    last = run_cli("send", "--at", "@", "Once more", "--json").lines[-1]
    assert (last["type"], last["status"], last["error"]["kind"]) == ("result", "failed", "provider")


def test_a_reply_that_broke_off_goes_on(tmp_path: Path) -> None:
    cut = scripted(tmp_path, {"text": "half a wo", "finish": "cut"}, {"text": "the rest"})
    succeed("new", "--model", cut)
    run = run_cli("send", "Tell", "--json").lines[-1]["run"]
    assert given(["path"])[-1]["node"]["partial"] is True
    run_cli("resume", run)
    assert len(given(["runs"])) == 2
    assert texts()[:2] == ["Tell", "half a wo"]


def test_a_key_used_again_gives_the_same_result(talking: str) -> None:
    first = succeed("send", "Once", "--key", "k1", "--json").lines[-1]
    again = succeed("send", "Once", "--key", "k1", "--json").lines[-1]
    assert first == again
    assert texts().count("Once") == 1
    assert run_cli("send", "Other", "--key", "k1").code == 4


def start(*arguments: str) -> subprocess.Popen[str]:
    """The real command in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "forkwood", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ.copy(),
    )


def slow(folder: Path) -> str:
    """A model that would talk for hours."""
    return scripted(folder, {"text": "word " * 100_000, "chunk": 5, "pause_ms": 50})


def first_delta(process: subprocess.Popen[str]) -> dict[str, Any]:
    import json

    assert process.stdout is not None
    return next(found for line in process.stdout if (found := json.loads(line))["type"] == "delta")


def test_ctrl_c_keeps_what_came(tmp_path: Path) -> None:
    succeed("new", "--model", slow(tmp_path))
    with start("send", "Talk", "--json") as process:
        first_delta(process)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    assert process.returncode == 130
    node = given(["show", "@"])
    assert node["partial"] is True
    assert node["text"].startswith("word")
    assert given(["runs"])[0]["status"] == "cancelled"


def test_a_run_is_cancelled_from_elsewhere(tmp_path: Path) -> None:
    succeed("new", "--model", slow(tmp_path))
    with start("send", "Talk", "--json") as process:
        run = first_delta(process)["run"]
        assert given(["cancel", run])["status"] in {"running", "cancelled"}
        process.communicate(timeout=60)
    assert process.returncode == 130
    assert given(["runs"])[0]["status"] == "cancelled"


def test_a_cancel_waits_for_the_end_of_a_run_that_another_process_drives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    succeed("new", "--model", slow(tmp_path))
    monkeypatch.setattr(limits, "cancel_wait_ms", 60_000)
    with start("send", "Talk", "--json") as process:
        run = first_delta(process)["run"]
        assert succeed("cancel").out.startswith(f"{run[-8:]}  cancelled  ")
        process.communicate(timeout=60)


def test_a_cancel_that_is_not_heard_yet_says_that_it_was_asked(tmp_path: Path) -> None:
    succeed("new", "--model", slow(tmp_path))
    with start("send", "Talk", "--json") as process:
        run = first_delta(process)["run"]
        process.send_signal(signal.SIGSTOP)
        told = succeed("cancel", run).out
        process.send_signal(signal.SIGCONT)
        process.communicate(timeout=60)
    assert told.startswith(f"{run[-8:]}  running  ") and told.endswith("  asked to end\n")


def test_a_reader_that_leaves_does_not_end_the_run(tmp_path: Path) -> None:
    talkative = scripted(tmp_path, {"text": "word " * 40, "chunk": 1})
    succeed("new", "--model", talkative)
    with start("send", "Talk", "--json") as process:
        first_delta(process)
        assert process.stdout is not None
        process.stdout.close()
        process.stdout = None
        assert process.stderr is not None
        complaint = process.stderr.read()
        process.wait(timeout=60)
    assert (process.returncode, complaint) == (0, "")
    assert texts()[-1] == ("word " * 40)
