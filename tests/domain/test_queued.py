"""A queued message has one shape at every door, and its acts can be taken back."""

from __future__ import annotations

import pytest

from forkwood import wire
from forkwood.domain.act import Effect, QueuedChanged, QueuedStands, inverse
from forkwood.domain.message import Attachment, Text
from forkwood.domain.queued import MessageQueued, Queued, QueueMoved
from forkwood.domain.scrub import forgotten, scrubbed

NAME = "0190c0de" * 4


def test_it_says_what_it_is_in_json() -> None:
    queued = Queued(
        id=NAME, conversation="c", behind="r", steers=False, state="waiting", text="later", parts=(Text(text="later"),),
        models=("ollama:a",), node=None, runs=(), by="user", via="cli", created_ms=5,
    )  # fmt: skip
    assert wire.plain(queued) == {
        "type": "queued", "id": NAME, "conversation": "c", "behind": "r", "steers": False, "state": "waiting",
        "text": "later", "parts": [{"kind": "text", "text": "later"}], "models": ["ollama:a"], "node": None,
        "runs": [], "by": "user", "via": "cli", "created_ms": 5, "steered": False,
    }  # fmt: skip
    assert wire.decode(wire.encode(queued), Queued) == queued


@pytest.mark.parametrize(
    "effect",
    [
        QueuedStands(queued=NAME, waits=True),
        QueuedChanged(queued=NAME, before=(Text(text="a"),), after=(Text(text="b"),)),
    ],
)
def test_each_effect_on_the_queue_has_an_inverse(effect: Effect) -> None:
    back = inverse(effect)
    assert back is not None and back != effect and inverse(back) == effect


def test_a_purge_leaves_the_structure_and_no_word() -> None:
    words = (Text(text="secret"), Attachment(blob="b", media="file", name="secret.txt", mime="text/plain", size=1))
    acts = [
        MessageQueued(effects=(QueuedStands(queued=NAME, waits=True),), queued=NAME, behind="r", steers=True),
        MessageQueued(
            effects=(QueuedChanged(queued=NAME, before=words, after=words),), queued=NAME, behind="r", steers=False
        ),
    ]
    for act in acts:
        plain = wire.plain(act)
        for left in (scrubbed(plain), forgotten(plain, {NAME}, ())):
            assert "secret" not in wire.text(left)
            assert wire.decode(wire.encode(left), MessageQueued).queued == NAME
    kept = wire.plain(acts[1])
    assert forgotten(kept, {"another"}, ()) == kept
    moved = wire.plain(QueueMoved(queued=(NAME,), state="sent", behind="r", runs=("n",)))
    assert scrubbed(moved) == moved
