"""Every verb that changes anything, walked: one key is one deed, other words under it are refused, and what was refused
leaves no receipt."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from forkwood import wire
from forkwood.domain.errors import ForkwoodError
from forkwood.domain.response import Pulled
from forkwood.models import pull
from forkwood.runtime import ROOMS, Runtime
from tests.runtime.askers import Asking, Writer, calls, driven
from tests.runtime.doors import said, script

ELSEWHERE = {"settle": "it is no act, and asks only whether its key was used: test_running"}
NOBODY = "beefbeef"


class World(Struct, kw_only=True):
    """A house in which every verb has something to do."""

    runtime: Runtime
    ids: list[str]
    run: str
    interaction: str
    grant: str
    queued: str
    other: str
    model: str
    talker: str


class Verb(Struct, frozen=True, kw_only=True):
    """The words of a command; OTHER ones, and those for which it is REFUSED, where there are any: each over WORDS."""

    words: Mapping[str, Any] = {}
    other: Mapping[str, Any] | None = None
    refused: Mapping[str, Any] | None = None
    first: Callable[[World], object] = lambda _: None


def undone(world: World) -> None:
    world.runtime.undo()


VERBS: dict[str, Callable[[World], Verb]] = {
    "send": lambda at: Verb(
        words={"text": "hello", "models": [at.model]}, other={"text": "hello!"}, refused={"at": NOBODY}
    ),
    "edit": lambda at: Verb(
        words={"node": at.ids[0], "text": "q1'", "run": False}, other={"text": "q"}, refused={"node": NOBODY}
    ),
    "retry": lambda at: Verb(
        words={"node": at.ids[1], "models": [at.model]}, other={"node": at.ids[0]}, refused={"node": NOBODY}
    ),
    "drop": lambda at: Verb(words={"node": at.ids[2]}, other={"node": at.ids[0]}, refused={"node": NOBODY}),
    "graft": lambda at: Verb(
        words={"first": at.ids[1], "onto": at.ids[0]}, other={"first": at.ids[2]}, refused={"first": NOBODY}
    ),
    "fork": lambda at: Verb(words={"node": at.ids[1]}, other={"node": at.ids[0]}, refused={"node": NOBODY}),
    "switch": lambda at: Verb(
        words={"node": at.ids[1], "here": True}, other={"node": at.ids[0]}, refused={"node": NOBODY}
    ),
    "label": lambda at: Verb(
        words={"node": at.ids[0], "name": "here"}, other={"name": "there"}, refused={"node": NOBODY}
    ),
    "unlabel": lambda at: Verb(
        words={"name": "this one"}, other={"name": "that"}, refused={"name": "nothing"},
        first=lambda _: at.runtime.label(at.ids[0], "this one"),
    ),
    "hide": lambda at: Verb(words={"name": at.other}, other={"name": at.ids[0]}, refused={"name": NOBODY}),
    "unhide": lambda at: Verb(
        words={"name": at.other}, other={"name": at.ids[0]}, refused={"name": NOBODY},
        first=lambda _: at.runtime.hide(at.other),
    ),
    "new": lambda _: Verb(words={"title": "a"}, other={"title": "b"}, refused={"profile": "nobody's"}),
    "use": lambda at: Verb(words={"name": at.other}, other={"name": at.other[-8:]}, refused={"name": NOBODY}),
    "set": lambda _: Verb(
        words={"setting": "title", "value": "a"}, other={"value": "b"}, refused={"setting": "nothing"}
    ),
    "undo": lambda at: Verb(other={"conversation": at.other}, refused={"conversation": NOBODY}),
    "redo": lambda at: Verb(other={"conversation": at.other}, refused={"conversation": NOBODY}, first=undone),
    "resume": lambda at: Verb(
        words={"run": at.run}, other={"run": at.run[-8:]}, refused={"run": NOBODY},
        first=lambda _: at.runtime.cancel(at.run),
    ),
    "cancel": lambda at: Verb(words={"run": at.run}, other={"run": at.run[-8:]}, refused={"run": NOBODY}),
    "queue_edit": lambda at: Verb(
        words={"name": at.queued, "text": "a"}, other={"text": "b"}, refused={"name": NOBODY}
    ),
    "queue_remove": lambda at: Verb(
        words={"name": at.queued}, other={"name": at.queued[-8:]}, refused={"name": NOBODY}
    ),
    "answer": lambda at: Verb(
        words={"name": at.interaction, "words": ["allow"]}, other={"words": ["deny"]}, refused={"words": ["perhaps"]}
    ),
    "revoke": lambda at: Verb(words={"name": at.grant}, other={"name": at.grant[-8:]}, refused={"name": NOBODY}),
    "memory_add": lambda _: Verb(
        words={"name": "colour", "value": "green"}, other={"value": "blue"}, refused={"name": " "}
    ),
    "memory_decide": lambda at: Verb(
        words={"name": memory(at), "decision": "accept"}, other={"decision": "reject"}, refused={"name": NOBODY}
    ),
    "memory_forget": lambda at: Verb(
        words={"name": "city"}, other={"name": "country"}, refused={"name": "nothing"},
        first=lambda _: memory(at),
    ),
    "summarize": lambda at: Verb(
        words={"node": at.ids[2], "model": at.talker}, other={"node": at.ids[1]}, refused={"node": NOBODY}
    ),
    "purge": lambda at: Verb(words={"names": [at.other]}, other={"names": [at.ids[0]]}, refused={"names": [NOBODY]}),
    "models_use": lambda at: Verb(
        words={"name": at.model}, other={"name": "scripted:/other.json"}, refused={"name": "nobody:x"}
    ),
    "models_key": lambda _: Verb(
        words={"provider": "openai", "value": "sk-test-0123456789"}, other={"value": "sk-test-9876543210"},
        refused={"provider": "nobody"},
    ),
    "models_pull": lambda _: Verb(words={"progress": lambda *_: None}),
    "config_set": lambda _: Verb(
        words={"name": "title_by_model", "value": "true"}, other={"value": "false"}, refused={"name": "nothing"}
    ),
}  # fmt: skip


def memory(world: World) -> str:
    """A fact that counts; its name is known, its id given."""
    return world.runtime.memory_add("city", "Bern").id


@pytest.fixture
def world(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    fetched: list[int] = []

    def fetch(_: Path, __: object) -> Pulled:
        fetched.append(1)
        return Pulled(path="/weights", bytes=len(fetched), already=False)

    monkeypatch.setattr(pull, "pull", fetch)
    asking = Asking(home, Writer("write"), Writer("test", effect="execute"))
    runtime = asking.door()
    other = runtime.new(title="other").id
    runtime.new(title="t")
    model = script(tmp_path, calls("test"), calls("write"), {"text": "done"})
    ids = said(runtime, "q1", "a1", "q2")
    sent = runtime.send("go", models=[model], at=ids[2])
    driven(runtime, sent.runs[0])
    [asked] = runtime.pending()
    grant = runtime.answer(asked.id, ["allow"], remember="conversation").grant
    driven(runtime, sent.runs[0])
    [asked] = runtime.pending()
    queued = runtime.send("later").queued
    runtime.switch(ids[2], here=True)
    assert grant and queued
    yield World(
        runtime=runtime, ids=ids, run=sent.runs[0], interaction=asked.id, grant=grant, queued=queued, other=other,
        model=model,
        talker=script(tmp_path, {"text": "a summary"}, name="talker.json"),
    )  # fmt: skip
    asking.close()


def takes_a_key(verb: Callable[..., object]) -> bool:
    """`config_get` takes the key of a setting, which is no command's: a command's is given by name alone."""
    key = signature(verb).parameters.get("key")
    return key is not None and key.kind is Parameter.KEYWORD_ONLY


def test_the_walk_is_through_every_verb_that_takes_a_key(world: World) -> None:
    keyed = {name for room in ROOMS.values() for name in room if takes_a_key(getattr(world.runtime, name))}
    assert keyed == {*VERBS, *ELSEWHERE}


def told(runtime: Runtime) -> tuple[Any, ...]:
    """What a verb that is done twice would add to."""
    with runtime.house.store.read() as tx:
        tables = ("event", "node", "run", "queued", "granted", "memory", "summary", "receipt", "conversation")
        return tuple(tx.value(f"SELECT count(*) FROM {table}") for table in tables)


def receipts(runtime: Runtime) -> list[tuple[str, bool]]:
    with runtime.house.store.read() as tx:
        return [
            (key, bool(done)) for key, done in tx.rows("SELECT key, response IS NOT NULL FROM receipt ORDER BY key")
        ]


@pytest.mark.parametrize("name", VERBS)
def test_panelot_22_23_24_27_one_key_is_one_deed(world: World, name: str) -> None:
    verb, runtime = VERBS[name](world), world.runtime
    verb.first(world)
    do = getattr(runtime, name)
    if verb.refused is not None:
        before = told(runtime)
        with pytest.raises(ForkwoodError):
            do(**{**verb.words, **verb.refused}, key="k")
        assert (told(runtime), receipts(runtime)) == (before, []), "what was refused leaves none"
    given = wire.plain(do(**verb.words, key="k"))
    after = told(runtime)
    assert receipts(runtime) == [("k", True)]
    assert wire.plain(do(**verb.words, key="k")) == given
    assert told(runtime) == after, "and it is done once"
    if verb.other is not None:
        with pytest.raises(ForkwoodError, match="the key 'k' was used for another command"):
            do(**{**verb.words, **verb.other}, key="k")
    with pytest.raises(ForkwoodError, match="the key 'k' was used for another command"):
        runtime.use(world.other, key="k") if name != "use" else runtime.undo(key="k")
    assert told(runtime) == after


@pytest.mark.parametrize("name", sorted(VERBS.keys() - {"purge"}))
def test_panelot_27_an_act_whose_receipt_cannot_be_written_is_not_done(
    world: World, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    verb, runtime = VERBS[name](world), world.runtime
    verb.first(world)
    before = told(runtime)

    def fails(*_: object, **__: object) -> None:
        raise OSError("the power went")

    monkeypatch.setattr("forkwood.store.receipts.give", fails)
    with pytest.raises(OSError, match="the power went"):
        getattr(runtime, name)(**verb.words, key="k")
    assert told(runtime) == before
