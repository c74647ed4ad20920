"""kill -9 of a real purge, at any of its steps and at any moment: the same command finishes it, and nothing is left."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.runtime import seeded
from tests.runtime.seeded import assert_gone, seeded_bytes

ROOT = Path(__file__).parents[2]
STEPS = range(12)
MOMENTS = range(4)


class Scene:
    """A home whose every book holds the marker, a conversation of it that is to be purged, and one that is not."""

    def __init__(self, home: Path, folder: Path) -> None:
        self.home = home
        with pytest.MonkeyPatch.context() as patched:
            runtime = seeded.opened(home)
            self.conversation = runtime.new().id
            seeded.seed_settings(runtime)
            seeded.seed_messages(runtime, folder)
            seeded.fail_quoting(runtime, folder, patched)
            seeded.summarise(runtime, 2)
            seeded.draft(runtime, runtime.send("go on").runs[0])
            seeded.seed_files(runtime)
            self.other = runtime.new(title="kept").id
            runtime.send("what stays", run=False)
            assert len(seeded_bytes(runtime)) > 3
            runtime.house.close()

    def command(self, seed: int) -> list[str]:
        """The purge as a person types it: every other time with a key."""
        return ["purge", self.conversation[-8:], "--yes", *(["--key", "once"] if seed % 2 else [])]

    def start(self, seed: int, step: int) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "tests.crash.purger", str(step), *self.command(seed)],
            cwd=ROOT,
            env={**os.environ, "FORKWOOD_HOME": str(self.home), "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def again(self, name: Path) -> Scene:
        """The same scene in a home of its own."""
        copy = object.__new__(Scene)
        copy.conversation, copy.other = self.conversation, self.other
        copy.home = Path(shutil.copytree(self.home, name))
        return copy


def assert_finished(scene: Scene, seed: int) -> None:
    """The same command again finishes what was begun; only then is the marker gone from everywhere."""
    finishing = scene.start(seed, 0)
    said, errors = finishing.communicate(timeout=120)
    assert (finishing.returncode, "Destroyed" in said) == (0, True), errors
    runtime = seeded.opened(scene.home)
    assert_gone(runtime)
    assert [row.id for row in runtime.listed()] == [scene.other]
    assert [entry.node.text for entry in runtime.path(conversation=scene.other)] == ["what stays"]
    assert [event.kind for event in runtime.log()].count("purge.done") == 1
    runtime.house.close()


def test_killed_at_any_step_or_moment_the_same_command_finishes_it(tmp_path: Path) -> None:
    scene = Scene(tmp_path / "home", tmp_path)
    living = scene.again(tmp_path / "living").start(0, 0)
    _, errors = living.communicate(timeout=120)
    assert living.returncode == 0, errors
    steps, killed = int(errors.split()[-1]), 0
    for seed in STEPS:
        dying = scene.again(tmp_path / f"step{seed}")
        program = dying.start(seed, random.Random(seed).randrange(1, steps + 1))
        program.communicate(timeout=120)
        killed += program.returncode == -signal.SIGKILL
        assert_finished(dying, seed)
    assert killed == len(STEPS)


@pytest.mark.parametrize("seed", MOMENTS)
def test_killed_from_outside_while_it_works(tmp_path: Path, seed: int) -> None:
    """As soon as the first copy is gone, and then a random while of somebody else's work later."""
    scene = Scene(tmp_path / "home", tmp_path)
    program = scene.start(seed, 0)
    copies = scene.home / "backups"
    while any(copies.iterdir()) and program.poll() is None:
        sum(range(random.Random(seed).randrange(1, 20_000)))
    program.kill()
    program.communicate(timeout=120)
    assert_finished(scene, seed)
