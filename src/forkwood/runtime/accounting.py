"""Why: how a reply was made, out of the books. The prompt is rebuilt from its recipe and proved by its digest."""

from __future__ import annotations

from msgspec import Struct

from forkwood import wire
from forkwood.domain import joins
from forkwood.domain.errors import ForkwoodError, Refused
from forkwood.domain.manifest import Manifest
from forkwood.domain.message import Attachment, Part, Thinking
from forkwood.domain.prompt import Prompt, Said
from forkwood.domain.response import LeftOut, Why
from forkwood.domain.run_event import Recipe, ReplyKept, RunEvent, TurnStarted
from forkwood.domain.tree import Node, Spot, parse_place
from forkwood.runtime import naming
from forkwood.runtime.verbs import Verbs
from forkwood.store import log, manifests, marks, names, nodes, places
from forkwood.store.db import Tx


class Turn(Struct, frozen=True, kw_only=True):
    """A turn as the log has it: what was sent, and what was kept of it."""

    number: int
    recipe: Recipe
    kept: ReplyKept | None


class Judgement(Struct, frozen=True, kw_only=True):
    """Whether the prompt rebuilt from the books is the one that was sent; None where that cannot be told, and why."""

    verified: bool | None
    reason: str | None
    prompt: Prompt | None = None


class Accounting(Verbs):
    """why."""

    def why(self, node: str, *, conversation: str | None = None) -> Why:
        """How a reply was made: its run, manifest and recipe, what it was made from, and whether the books prove it.

        Raises NotFound, Refused for a message that no model made.
        """
        with self.house.store.read() as tx:
            row = nodes.row(tx, naming.node_anywhere(tx, conversation, node))
            if row.origin.run is None:
                raise Refused(
                    f"{node} was written by hand: no prompt stands behind it",
                    hint="forkwood history NODE says who wrote each version; forkwood why takes a model's reply",
                    node=row.id,
                )
            turn = _turn(tx, row)
            return _accounted(tx, row, turn) if turn else _unaccounted(row)


def _turn(tx: Tx, row: Node) -> Turn | None:
    """The turn that made a reply: the last one begun before the reply was kept."""
    assert row.origin.run is not None
    begun: TurnStarted | None = None
    for name, payload in log.run_story(tx, row.origin.run):
        if isinstance(payload, TurnStarted):
            begun = payload
        elif name == row.id and begun is not None:
            return Turn(number=begun.turn, recipe=begun.recipe, kept=_reply_kept(payload))
    return None


def _reply_kept(payload: RunEvent) -> ReplyKept | None:
    return payload if isinstance(payload, ReplyKept) else None


def _accounted(tx: Tx, row: Node, turn: Turn) -> Why:
    spot = _spot(tx, turn.recipe.place)
    said = places.said(tx, spot, log=turn.recipe.log)
    body = manifests.body(tx, turn.recipe.manifest)
    judged = judged_by(tx, spot, said, turn.recipe)
    kept = turn.kept
    return Why(
        node=row.id,
        run=row.origin.run,
        turn=turn.number,
        manifest=None if body is None else wire.decode(body, dict),
        recipe=wire.plain(turn.recipe),
        entries=tuple(one.node for one in said),
        left_out=left_out(tx, spot, said, turn.recipe),
        prompt=None if judged.prompt is None else wire.plain(judged.prompt),
        prompt_digest=turn.recipe.prompt_digest,
        request_digest=turn.recipe.request_digest,
        verified=judged.verified,
        reason=judged.reason,
        usage=None if kept is None or kept.usage is None else wire.plain(kept.usage),
        cost=None if kept is None else kept.cost,
    )


def _unaccounted(row: Node) -> Why:
    return Why(
        node=row.id,
        run=row.origin.run,
        turn=None,
        manifest=None,
        recipe=None,
        entries=(),
        left_out=(),
        prompt=None,
        prompt_digest=None,
        request_digest=None,
        verified=None,
        reason="the log has no turn of this reply",
        usage=None,
        cost=None,
    )


def judged_by(tx: Tx, spot: Spot, said: list[Said], recipe: Recipe) -> Judgement:
    """Rebuild the prompt of RECIPE and hold it against the digest it was sent with."""
    from forkwood.engine import prepare

    if recipe.form not in joins.FORMS:
        return Judgement(verified=None, reason="form unknown")
    if any(step.purged for step in places.steps(tx, spot)) or manifests.body(tx, recipe.manifest) is None:
        return Judgement(verified=None, reason="purged")
    try:
        prompt = prepare.rebuilt(tx, said, recipe)
    except ForkwoodError as error:
        return Judgement(verified=False, reason=error.message)
    if wire.digest(prompt) == recipe.prompt_digest:
        return Judgement(verified=True, reason=None, prompt=prompt)
    differing = next((one.node for one in said if recipe.fresh.get(one.node, _same(one)) != _same(one)), None)
    where = "an entry before the last reply" if differing is None else f"entry {differing}"
    return Judgement(verified=False, reason=f"{where} is not what it was when it was sent", prompt=prompt)


def _same(one: Said) -> str:
    from forkwood.engine import prepare

    return prepare.digest_of(one)


def left_out(tx: Tx, spot: Spot, said: list[Said], recipe: Recipe) -> tuple[LeftOut, ...]:
    """What of the path the model did not get: hidden and purged entries, thinking, files too large to show."""
    steps = places.steps(tx, spot)
    hidden = marks.hidden_at(tx, recipe.log)
    found = [
        LeftOut(id=step.id.hex(), reason="purged" if step.purged else "hidden")
        for step in steps
        if step.purged or step.node in hidden
    ]
    manifest = _sealed(tx, recipe)
    shown = set() if manifest is None else set(joins.wanted(said, manifest))
    for one in said:
        found += [
            LeftOut(id=one.node, reason=reason)
            for reason in dict.fromkeys(_left_part(part, manifest, shown) for part in one.parts)
            if reason
        ]
    return tuple(found)


def _sealed(tx: Tx, recipe: Recipe) -> Manifest | None:
    try:
        return manifests.get(tx, recipe.manifest)
    except ForkwoodError:
        return None


def _left_part(part: Part, manifest: Manifest | None, shown: set[str]) -> str | None:
    match part:
        case Thinking() if manifest is None or not joins.replayed(part, manifest):
            return "its thinking: only the model that made it gets it back"
        case Attachment(media="file", name=name) if part.blob not in shown:
            return f"the file {name}: named, not shown"
        case _:
            return None


def _spot(tx: Tx, place: str | None) -> Spot:
    if place is None:
        return Spot(0)
    name, cut = parse_place(place)
    return places.canonical(tx, names.node(tx, name), cut)
