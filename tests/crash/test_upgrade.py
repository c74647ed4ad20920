"""A run waits for a yes while the program is replaced by another version, whose tools are described in other words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from forkwood.domain.message import Text, ToolResult
from tests.crash.cast import called
from tests.crash.lives import Fate, Life, Theatre, copied

PLAY = (called("jot", "fire"), {"text": "Done."})


@pytest.fixture(scope="module")
def theatre() -> Iterator[Theatre]:
    with Theatre() as opened:
        yield opened


@pytest.fixture
def life(theatre: Theatre, tmp_path: Path) -> Life:
    """A life whose run waits for two yeses."""
    made = Life(theatre, tmp_path / "life", PLAY)
    made.run("new", "--model", made.model)
    assert made.run("send", "Go", "--key", "once").code == 5
    return made


def answer_all(life: Life, reworded: str) -> None:
    """Yes to both, given to the new version, which then drives the run to its end."""
    for asked in life.books.pending():
        assert life.run("answer", asked.id, "allow", "--no-run", reworded=reworded).code == 0
    said = life.run("send", "Go", "--key", "once", reworded=reworded)
    assert (said.code, said.lines[-1]["text"]) == (0, "Done.")
    life.check()


@pytest.mark.parametrize("reworded", ["", "look", "peek"])
def test_a_yes_outlives_a_version_that_changed_another_tool(life: Life, reworded: str) -> None:
    asked = life.books.pending()
    answer_all(life, reworded)
    assert life.outcomes() == {"jot": "ok", "fire": "ok"}
    assert life.trace() == ["jot", "fire"]
    assert [one.id for one in asked] == [event.payload["interaction"] for event in life.log_of("interaction.opened")], (
        "nobody is asked the same twice"
    )
    assert len({event.payload["manifest"] for event in life.log_of("run.sealed")}) == (2 if reworded else 1)


@pytest.mark.parametrize("reworded", ["jot", "fire"])
def test_a_yes_to_a_tool_that_is_another_now_lets_nothing_run(life: Life, reworded: str) -> None:
    answer_all(life, reworded)
    other = {"jot": "fire", "fire": "jot"}[reworded]
    assert life.outcomes() == {reworded: "error", other: "ok"}
    assert life.trace() == [other]
    assert results(life)[reworded] == "changed since it was asked"


def results(life: Life) -> dict[str, str]:
    """What the model reads of each call."""
    parts = [part for entry in life.books.path() for part in entry.node.parts if isinstance(part, ToolResult)]
    return {part.call: "".join(one.text for one in part.parts if isinstance(one, Text)) for part in parts}


def test_killed_over_its_calls_and_upgraded_the_disk_and_the_person_still_decide(life: Life, tmp_path: Path) -> None:
    first, second = life.books.pending()
    assert life.run("answer", first.id, "allow", "--no-run").code == 0
    doubts = 0
    for die_at in range(1, 20, 2):
        heir = copied(life, tmp_path / f"{die_at}")
        heir.run("answer", second.id, "allow", fate=Fate(die_at))
        said = heir.run("send", "Go", "--key", "once", reworded="look")
        while said.code == 5:
            (asked,) = heir.books.pending()
            doubts += asked.kind == "doubt"
            word = "retry" if asked.kind == "doubt" else "allow"
            said = heir.run("answer", asked.id, word, reworded="look")
        assert (said.code, heir.outcomes()) == (0, {"jot": "ok", "fire": "ok"})
        heir.check()
    assert doubts
