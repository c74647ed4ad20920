"""A driver that stood still while another took its run over: woken, it commits nothing and has no effect."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from forkwood.domain.run_event import InteractionClosed
from forkwood.domain.watch import Result
from forkwood.store import conversations, log, runs
from forkwood.store.opening import open_store
from tests.crash.cast import called, left
from tests.crash.stopped import engine_for
from tests.engine.stage import NOW, WHO, Stage, results

PLAY = (called("look", "peek"), called("jot", "fire"), {"text": "Done.", "chunk": 2, "pause_ms": 2})
MOMENTS_MIN = 9
"""Commits and effects of a run of PLAY: fewer, and the test stops nobody where it matters."""


class Scene:
    """A home with one question in it and a run that answers it; whatever its tools do is in the trace."""

    def __init__(self, folder: Path) -> None:
        self.home, self.script, self.trace = folder / "home", folder / "script.json", folder / "trace"
        folder.mkdir()
        self.script.write_text(json.dumps({"replies": PLAY}))
        self.stage = Stage(folder, store=open_store(self.home, now_ms=NOW))
        with self.stage.store.write() as tx:
            conversations.write_setting(tx, self.stage.conversation, "approvals", "allow-all")
        self.stage.say("Hi")
        self.run = self.stage.open("scripted:one")

    def driver(self, stop_at: int) -> subprocess.Popen[bytes]:
        """A process that drives the run, and stands still at that moment."""
        arguments = [str(self.home), str(self.script), self.run, str(self.trace), str(stop_at)]
        return subprocess.Popen(
            [sys.executable, "-m", "tests.crash.stopped", *arguments], cwd=Path(__file__).parents[2]
        )

    async def finish(self) -> Result:
        """Take the run over and drive it to its end; what is in doubt is answered as the trace says."""
        engine = engine_for(self.stage.store, self.home, self.script, self.trace)
        while True:
            result = results([item async for item in engine.drive([self.run])])[-1]
            if result.status != "waiting":
                await engine.close()
                return result
            self.answer_doubt()

    def answer_doubt(self) -> None:
        done = f"{self.run} fire" in left(self.trace)
        with self.stage.store.write() as tx:
            events = log.events_of_run(tx, self.run, after=0)
            asked = [event.payload for event in events if event.kind == "interaction.opened"][-1]
            answer = "done" if done else "retry"
            closed = InteractionClosed(interaction=asked["interaction"], status="answered", answer=answer)
            runs.add(tx, self.run, closed, who=WHO, now_ms=NOW)

    def take_lock_away(self) -> None:
        """Let the driver look dead: its lock is gone, though it lives."""
        (lock,) = (self.home / "drivers").iterdir()
        lock.unlink()


def test_windie_65_a_driver_that_wakes_after_a_take_over_commits_nothing_and_has_no_effect(
    tmp_path: Path,
) -> None:
    moment = 0
    while True:
        moment += 1
        scene = Scene(tmp_path / str(moment))
        with scene.driver(moment) as process:
            _, status = os.waitpid(process.pid, os.WUNTRACED)
            if not os.WIFSTOPPED(status):
                process.returncode = os.waitstatus_to_exitcode(status)
                break
            scene.take_lock_away()
            result = asyncio.run(scene.finish())
            assert (result.status, result.text) == ("done", "Done."), moment
            events, trace, path = scene.stage.events(scene.run), left(scene.trace), scene.stage.path()
            process.send_signal(signal.SIGCONT)
            assert process.wait() == 0
        assert scene.stage.events(scene.run) == events, f"it committed something: moment {moment}"
        assert (left(scene.trace), scene.stage.path()) == (trace, path), f"it did something: moment {moment}"
        for once in ("jot", "fire"):
            assert trace.count(f"{scene.run} {once}") == 1, f"moment {moment}: {trace}"
    assert moment > MOMENTS_MIN
    assert process.returncode == 0 and scene.stage.run(scene.run).status == "done"
