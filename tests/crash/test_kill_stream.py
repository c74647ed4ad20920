"""kill -9 while a reply comes in, and inside every commit: what was said is there, and the run is finished."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from forkwood.domain.watch import Result
from forkwood.engine.driver import lives
from forkwood.store import drafts, runs
from forkwood.store.opening import open_store
from tests.crash import driven
from tests.engine.stage import NOW, WHO, Stage, results

WORDS = "".join(f"word {number} " for number in range(40))
SLOW = {"replies": [{"text": WORDS, "chunk": 7, "pause_ms": 20}]}
ROUNDS = {
    "replies": [
        {"text": "Let me see.", "tool_calls": [{"name": "look", "arguments": {}}]},
        {"text": "Seen.", "chunk": 1, "pause_ms": 120},
    ]
}
COMMITS = range(1, 7)


class Scene:
    """A home with one question in it, and the run that answers it."""

    def __init__(self, folder: Path, script: object) -> None:
        self.home, self.script = folder / "home", folder / "script.json"
        self.script.write_text(json.dumps(script))
        self.stage = Stage(folder, store=open_store(self.home, now_ms=NOW))
        self.stage.say("Hi")
        self.run = self.stage.open("scripted:one")

    def driver(self, *commit: int) -> subprocess.Popen[str]:
        """A process that drives the run (and dies in that commit)."""
        arguments = [str(self.home), str(self.script), self.run, *(str(number) for number in commit)]
        root = Path(__file__).parents[2]
        paths = os.pathsep.join([str(root), str(root / "src")])
        return subprocess.Popen(
            [sys.executable, "-m", "tests.crash.driven", *arguments],
            stdout=subprocess.PIPE,
            text=True,
            cwd=root,
            env={**os.environ, "PYTHONPATH": paths},
        )

    async def finish(self) -> Result:
        """Take the run over and drive it to its end."""
        engine = driven.engine_for(self.stage.store, self.home, self.script)
        seen = [item async for item in engine.drive([self.run])]
        await engine.close()
        return results(seen)[-1]

    def is_driven(self) -> bool:
        with self.stage.store.read() as tx:
            driver = runs.details(tx, self.run).driver
        return driver is not None and lives(self.home / "drivers", driver)


def heard(process: subprocess.Popen[str], lines: int) -> str:
    """The first LINES that PROCESS says."""
    assert process.stdout is not None
    return "".join(process.stdout.readline().rstrip("\n") for _ in range(lines))


async def test_killed_in_mid_stream_the_run_is_finished_by_another(tmp_path: Path) -> None:
    scene = Scene(tmp_path, SLOW)
    with scene.driver() as process:
        said = heard(process, 25)
        assert scene.is_driven()
        process.kill()
        process.wait()
    assert not scene.is_driven(), "its lock was free the moment it died"
    with scene.stage.store.read() as tx:
        (draft,) = drafts.parts(tx, scene.run)
        assert runs.row(tx, scene.run).status == "running"
    result = await scene.finish()
    assert (result.status, result.text) == ("done", WORDS)
    assert scene.stage.path() == ["user: Hi", f"assistant: {WORDS}"]
    (partial,) = [node for node in scene.stage.nodes() if node.partial]
    assert (partial.text, partial.partial_reason) == (draft.text, "interrupted")  # type: ignore[union-attr]
    assert WORDS.startswith(partial.text) and len(partial.text) > 0 and said.startswith(partial.text[: len(said)])
    assert list((scene.home / "drivers").iterdir()) == [], "locks of the dead are swept"


@pytest.mark.parametrize("commit", COMMITS)
async def test_killed_inside_a_commit_nothing_is_half_done(tmp_path: Path, commit: int) -> None:
    scene = Scene(tmp_path, ROUNDS)
    with scene.driver(commit) as process:
        process.communicate()
    assert process.returncode == -signal.SIGKILL
    before = scene.stage.kinds(scene.run)
    result = await scene.finish()
    assert (result.status, result.text) == ("done", "Seen.")
    assert scene.stage.kinds(scene.run)[: len(before)] == before, "what was committed stays"
    assert [line.split(":")[0] for line in scene.stage.path()] == ["user", "assistant", "tool", "assistant"]
    with scene.stage.store.read() as tx:
        assert runs.differing(tx) == [] and drafts.parts(tx, scene.run) == ()
        assert tx.value("PRAGMA integrity_check") == "ok"
    assert scene.stage.kinds(scene.run).count("run.ended") == 1


async def test_a_second_process_follows_the_first_and_gives_the_same_result(tmp_path: Path) -> None:
    scene = Scene(tmp_path, SLOW)
    with scene.driver() as process:
        heard(process, 1)
        result = await scene.finish()
        assert process.stdout is not None and process.stdout.read().endswith("over\n")
    assert (result.status, result.text) == ("done", WORDS)
    assert scene.stage.kinds(scene.run).count("run.driven") == 1


async def test_a_cancel_reaches_the_process_that_drives(tmp_path: Path) -> None:
    scene = Scene(tmp_path, SLOW)
    with scene.driver() as process:
        heard(process, 3)
        engine = driven.engine_for(scene.stage.store, scene.home, scene.script)
        assert engine.cancel(scene.run, WHO).status == "running"
        process.communicate()
        await engine.close()
    kept = scene.stage.nodes()[-1]
    assert (scene.stage.run(scene.run).status, kept.partial_reason) == ("cancelled", "cancelled")
    assert kept.text and WORDS.startswith(kept.text)
