"""A store that somebody altered by hand: every verb does what it should or says what is wrong, and repair helps."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest

from forkwood.domain.errors import ForkwoodError
from forkwood.runtime import Runtime
from tests.runtime.doors import heard
from tests.store.breaking import broken
from tests.store.damage import opened, seeded
from tests.store.test_damage import LOOKS, laid, looked, works

ALTERED = [
    "UPDATE node SET source_cut = 1, source_node = 5 WHERE source_node IS NOT NULL",
    "UPDATE node SET own = 999, length = 1500 WHERE source_node IS NOT NULL",
    "UPDATE node SET first = 1 WHERE source_node IS NOT NULL",
    "UPDATE node SET jump_node = 999 WHERE seq = 5",
    "UPDATE node SET at_node = 1 WHERE seq = 20",
    "UPDATE node SET hops = 1",
    "DELETE FROM conversation",
    "UPDATE conversation SET head_cut = 3",
    "UPDATE conversation SET head_node = 999",
    "UPDATE conversation SET tags = '5', params = '[1]', tools_off = '{}'",
    "UPDATE conversation SET title = CAST(x'61e561' AS TEXT)",
    "UPDATE event SET kind = 'song' WHERE act = 1",
    "DELETE FROM event WHERE kind = 'reply.kept'",
    "DELETE FROM event WHERE run IS NOT NULL",
    "UPDATE run SET status = 'running'",
    "DELETE FROM blob",
    "DELETE FROM manifest",
    "DROP TABLE search",
    "DROP TABLE receipt",
]
Verb = Callable[[Runtime, str, str], object]
VERBS: dict[str, Verb] = {
    "send": lambda runtime, here, node: heard(runtime, runtime.send("x", conversation=here)),
    "switch": lambda runtime, here, node: runtime.switch(node, conversation=here),
    "edit": lambda runtime, here, node: runtime.edit(node, "y", keep=True, conversation=here),
    "hide": lambda runtime, here, node: runtime.hide(node),
    "drop": lambda runtime, here, node: runtime.drop(node, conversation=here),
    "fork": lambda runtime, here, node: runtime.fork(node, conversation=here),
    "retry": lambda runtime, here, node: heard(runtime, runtime.retry(node, conversation=here)),
    "why": lambda runtime, here, node: runtime.why(node, conversation=here),
    "history": lambda runtime, here, node: runtime.history(node, conversation=here),
    "undo": lambda runtime, here, node: runtime.undo(conversation=here),
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    home = tmp_path_factory.mktemp("whole") / "home"
    seeded(home, 10)
    return (home / "forkwood.db").read_bytes()


@pytest.mark.parametrize("altered", ALTERED)
def test_no_verb_crashes_on_an_altered_store(home: Path, whole: bytes, altered: str) -> None:
    laid(home, whole)
    broken(home, altered)
    content = (home / "forkwood.db").read_bytes()
    with closing(opened(home)) as runtime:
        for look in LOOKS:
            with suppress(ForkwoodError):
                look(runtime, None)
    for conversation, node in named(home):
        for verb in VERBS.values():
            laid(home, content)
            with suppress(ForkwoodError), closing(opened(home)) as runtime:
                verb(runtime, conversation, node)


@pytest.mark.parametrize("altered", ALTERED)
def test_an_altered_store_is_repaired(home: Path, whole: bytes, altered: str) -> None:
    laid(home, whole)
    broken(home, altered)
    assert not looked(home).ok
    report = looked(home, repair=True)
    assert report.problems == ()
    works(home)
    assert looked(home).ok


def named(home: Path) -> list[tuple[str, str]]:
    """Conversations, each with a message: one in the middle of a path, one behind the newest graft."""
    with closing(opened(home)) as runtime, runtime.house.store.read() as tx:
        rows = tx.rows(
            "SELECT c.id, n.id FROM node n JOIN conversation c ON c.seq = n.conversation"
            " WHERE n.seq = 20 OR n.seq = (SELECT max(seq) + 1 FROM node WHERE source_node IS NOT NULL)"
        )
    return [(conversation.hex(), node.hex()) for conversation, node in rows]
