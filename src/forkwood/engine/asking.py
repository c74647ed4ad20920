"""Asking a person: what an interaction says, what a yes is bound to, and until when it can be given."""

from __future__ import annotations

from forkwood.domain import interaction
from forkwood.domain.ids import Id
from forkwood.domain.interaction import Question
from forkwood.domain.message import ToolCall
from forkwood.domain.run_event import CallAsked, InteractionClosed, InteractionOpened
from forkwood.domain.step import Asking
from forkwood.engine import judging
from forkwood.engine.supplies import Supplies
from forkwood.store import holding, manifests
from forkwood.store.db import Tx
from forkwood.store.holding import Held

SECOND_MS = 1_000


def opened(tx: Tx, supplies: Supplies, held: Held, ask: Asking, calls: dict[str, ToolCall]) -> InteractionOpened:
    """The interaction that ASK wants, about one of CALLS of the present turn."""
    name = supplies.new_id()
    match ask.sort:
        case "approval":
            return _approval(tx, supplies, held, name, calls[_asked(held, ask).call])
        case "question":
            call = calls[_asked(held, ask).call]
            return _about(name, ask, questions=interaction.questions_in(call.name, call.arguments))
        case "doubt" if ask.call is None:
            return _about(name, ask, about=interaction.CUT_WORDS)
        case "doubt":
            return _about(name, ask, about=interaction.doubt_words(_asked(held, ask).name))


def expired(tx: Tx, supplies: Supplies, held: Held) -> Held:
    """HELD after what is overdue was closed: it counts as a no."""
    for late in held.state.overdue(supplies.clock()) if held.state.asked else ():
        closed = InteractionClosed(interaction=late, status="expired")
        held = holding.append(tx, held, closed, now_ms=supplies.clock())
    return held


def _about(name: Id, ask: Asking, *, about: str = "", questions: tuple[Question, ...] = ()) -> InteractionOpened:
    return InteractionOpened(interaction=name, sort=ask.sort, call=ask.call, about=about, questions=questions)


def _approval(tx: Tx, supplies: Supplies, held: Held, name: Id, call: ToolCall) -> InteractionOpened:
    sealed = next(tool for tool in manifests.get(tx, held.state.manifest).tools if tool.spec.name == call.name)
    seconds = supplies.settings().approval_expiry_seconds
    return InteractionOpened(
        interaction=name,
        sort="approval",
        call=call.call,
        hash=judging.binding(sealed, call.arguments),
        about=interaction.approval_words(call.name, sealed.effect),
        expires_ms=None if seconds is None else supplies.clock() + round(seconds * SECOND_MS),
    )


def _asked(held: Held, ask: Asking) -> CallAsked:
    return next(call for call in held.state.calls if call.call == ask.call)
