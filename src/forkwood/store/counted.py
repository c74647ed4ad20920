"""What providers counted of earlier prompts, as the log tells it: estimates of later ones are corrected by that."""

from __future__ import annotations

from forkwood.domain.budget import Counted
from forkwood.store.db import Tx

_RUNS_ASKED = 8
_EVENTS_READ = 200
"""Of each run, from its end: the newest reply that tells anything is among its last events, or rarely further back."""

_RUNS = "SELECT id FROM run WHERE conversation = ? AND model = ? ORDER BY seq DESC LIMIT ?"
_TURNS = """SELECT kind, payload ->> '$.estimate', payload ->> '$.usage.input', payload ->> '$.prompt_cut'
  FROM (SELECT seq, kind, payload FROM event WHERE run = ? ORDER BY seq DESC LIMIT ?)
  WHERE kind IN ('turn.started', 'reply.kept') ORDER BY seq DESC"""


def newest(tx: Tx, conversation: int, model: str) -> Counted | None:
    """The newest prompt of MODEL in a conversation of which a count was reported; None where there is none of late.

    What a server counted of a prompt that it cut says nothing.
    """
    for (run,) in tx.rows(_RUNS, (conversation, model, _RUNS_ASKED)):
        reported = None
        for kind, estimated, counted, cut in tx.rows(_TURNS, (run, _EVENTS_READ)):
            if kind == "reply.kept":
                reported = None if cut else counted
            elif reported and estimated:
                return Counted(estimated=estimated, reported=reported)
    return None
