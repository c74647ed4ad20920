"""The account of a reply: its prompt rebuilt from the books, and proved by the digest it was sent with."""

from __future__ import annotations

from itertools import takewhile
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from forkwood import wire
from forkwood.domain import joins
from forkwood.domain.budget import estimate
from forkwood.domain.errors import Conflict, LimitExceeded, NotFound, Refused
from forkwood.domain.event import Event
from forkwood.domain.ids import Id, ending
from forkwood.domain.manifest import Manifest, checked_size
from forkwood.domain.memory import Memory
from forkwood.domain.omissions import defused, left_out
from forkwood.domain.prompt import Prompt, Said
from forkwood.domain.response import LeftOut, SummaryUsed, Why
from forkwood.domain.run_event import CallJudged, Recipe, ReplyInterrupted, ReplyKept, TurnStarted
from forkwood.domain.tree import ROOT, Node, Spot, parse_place
from forkwood.engine.prepare import digest_of, rebuilt
from forkwood.store import (
    blobs,
    grants,
    interactions,
    log,
    manifests,
    marks,
    memories,
    names,
    nodes,
    places,
    summaries,
    walk,
)
from forkwood.store.db import Tx


class Turn(Struct, frozen=True, kw_only=True):
    """The turn that made a reply. KEPT is None where the reply was interrupted and asked for again. SINCE and UNTIL are
    the log numbers between which its calls were dealt with; GRANTED are the grants that let them run. OPENED began the
    run."""

    opened: Event
    number: int
    recipe: Recipe
    kept: ReplyKept | None
    since: int
    until: int
    granted: tuple[Id, ...] = ()


class Path(Struct, frozen=True, kw_only=True):
    """What a path said as of a recipe's log number, and its entries that it did not: hidden or purged."""

    said: list[Said]
    unsaid: tuple[LeftOut, ...] = ()


def why(tx: Tx, node: int) -> Why:
    """How the reply NODE was made (or the reply whose results it holds). Raises Refused for what no run made."""
    row = nodes.row(tx, nodes.group(tx, node)[0])
    if row.origin.run is None:
        raise Refused(
            f"{ending(row.id)} was written by hand: no prompt stands behind it",
            hint="forkwood history NODE says who wrote each version; forkwood why takes a model's reply",
            node=row.id,
        )
    turn = _turn(log.events_of_run(tx, row.origin.run, after=0), row)
    return _unaccounted(row) if turn is None else _accounted(tx, row, turn)


def _accounted(tx: Tx, row: Node, turn: Turn) -> Why:
    recipe, kept = turn.recipe, turn.kept
    path = path_of(tx, recipe)
    said = path.said
    verified, reason, prompt = verdict(tx, recipe, path)
    body = manifests.body(tx, recipe.manifest)
    return Why(
        node=row.id,
        run=row.origin.run,
        turn=turn.number,
        manifest=_readable(body),
        recipe=wire.plain(recipe),
        entries=tuple(one.node for one in said),
        left_out=(*path.unsaid, *_omitted(tx, said, recipe)),
        prompt=prompt,
        prompt_digest=recipe.prompt_digest,
        request_digest=recipe.request_digest,
        verified=verified,
        reason=reason,
        usage=None if kept is None or kept.usage is None else wire.plain(kept.usage),
        cost=None if kept is None else kept.cost,
        interactions=tuple(interactions.of_turn(tx, row.origin.run or "", turn.since, turn.until)),
        grants=tuple(grants.row(tx, grant) for grant in turn.granted),
        memories=tuple(_held_memories(tx, recipe)),
        summary=_summary(tx, recipe, said, prompt),
        door=turn.opened.via,
        client=turn.opened.payload.get("client"),
        key=turn.opened.payload.get("key"),
    )


def _readable(body: bytes | None) -> dict[str, Any] | None:
    """A manifest as it stands in the store, also an altered one: whether it holds is the verdict's to say."""
    try:
        return None if body is None else wire.decode(checked_size(body), dict[str, Any])
    except (LimitExceeded, msgspec.MsgspecError, RecursionError):
        return None


def _unaccounted(row: Node) -> Why:
    """Of a reply whose run was logged elsewhere: it was imported."""
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


def verdict(tx: Tx, recipe: Recipe, path: Path) -> tuple[bool | None, str | None, Prompt | None]:
    """Whether the prompt can be proved; the reason where not (with the first differing entry); the prompt, rebuilt."""
    if recipe.form not in joins.FORMS:
        return None, "form unknown", None
    gone = _gone(tx, recipe, path)
    if gone is not None:
        return None, gone, None
    try:
        prompt = rebuilt(tx, path.said, recipe)
    except NotFound as lost:
        return None, f"lost: {lost.message}", None
    except Conflict as altered:
        return False, altered.message, None
    if wire.digest(prompt) == recipe.prompt_digest:
        return True, None, prompt
    return False, _difference(tx, recipe, path.said), prompt


def _gone(tx: Tx, recipe: Recipe, path: Path) -> str | None:
    """Why nothing can be said of the prompt: what it was made of was purged, or is not in the store."""
    if recipe.summary is not None and not summaries.is_kept(tx, recipe.summary):
        return "purged"
    if any(one.reason == "purged" for one in path.unsaid) or manifests.is_husk(tx, recipe.manifest):
        return "purged"
    body = manifests.body(tx, recipe.manifest)
    if body is None:
        return "manifest missing"
    return "purged" if memories.is_any_purged(tx, _sealed_memories(body)) else None


def _sealed_memories(body: bytes) -> list[Id]:
    """The memories that a manifest names, which may be altered or of an unknown version."""
    try:
        return msgspec.json.decode(body, type=_Remembering).memories
    except msgspec.MsgspecError:
        return []


class _Remembering(Struct):
    memories: list[Id] = []


def _turn(events: list[Event], row: Node) -> Turn | None:
    """The turn in EVENTS of a run that made the reply ROW: its recipe is the last one before the reply came."""
    recipe: Recipe | None = None
    for index, event in enumerate(events):
        if event.kind == "turn.started":
            recipe = msgspec.convert(event.payload, TurnStarted).recipe
        elif event.node == row.id and event.kind in {"reply.kept", "reply.interrupted"} and recipe is not None:
            kept = msgspec.convert(event.payload, ReplyKept) if event.kind == "reply.kept" else None
            after = list(takewhile(lambda one: one.kind != "turn.started", events[index + 1 :]))
            return Turn(
                opened=events[0],
                number=(kept or msgspec.convert(event.payload, ReplyInterrupted)).turn,
                recipe=recipe,
                kept=kept,
                since=event.seq,
                until=after[-1].seq if after else event.seq,
                granted=() if kept is None else _granted(kept, after),
            )
    return None


def _granted(kept: ReplyKept, after: list[Event]) -> tuple[Id, ...]:
    """The grants that let calls of a reply run, as each was judged last."""
    found = {call.call: call.granted for call in kept.calls}
    judged = (msgspec.convert(event.payload, CallJudged) for event in after if event.kind == "call.judged")
    found |= {call.call: call.granted for call in judged}
    return tuple(dict.fromkeys(grant for grant in found.values() if grant is not None))


def _spot(tx: Tx, recipe: Recipe) -> Spot:
    if recipe.place is None:
        return ROOT
    name, cut = parse_place(recipe.place)
    return walk.canonical(tx, names.node(tx, name), cut)


def path_of(tx: Tx, recipe: Recipe) -> Path:
    """The path of RECIPE, read once: where all of it was said, nothing is looked for that was not."""
    spot = _spot(tx, recipe)
    said = places.said(tx, spot, log=recipe.log)
    if len(said) == walk.size(tx, spot):
        return Path(said=said)
    entries = walk.light_entries(tx, spot)
    unseen = marks.unseen(tx, [entry.node for entry in entries], [entry.role for entry in entries], log=recipe.log)
    unsaid = tuple(
        LeftOut(id=entry.id.hex(), reason="purged" if entry.purged else "hidden")
        for entry in entries
        if entry.purged or entry.node in unseen
    )
    return Path(said=said, unsaid=unsaid)


def _omitted(tx: Tx, said: list[Said], recipe: Recipe) -> tuple[LeftOut, ...]:
    try:
        manifest: Manifest = manifests.get(tx, recipe.manifest)
        files = {blob: blobs.get(tx, blob) for blob in joins.wanted(said, manifest)}
        known = memories.of_ids(tx, manifest.memories)
    except (Conflict, NotFound):
        return ()
    found = left_out(said, manifest, files, memories=known)
    return found if recipe.form < joins.FENCED_FROM else (*found, *defused(said, manifest))


def _held_memories(tx: Tx, recipe: Recipe) -> list[Memory]:
    """The memories that the prompt of RECIPE held, as they stand in the books."""
    try:
        manifest = manifests.get(tx, recipe.manifest)
        known = memories.of_ids(tx, manifest.memories)
    except (Conflict, NotFound):
        return []
    outside = {one.id for one in joins.notes(known, manifest).left_out}
    return [one for one in known if one.id not in outside]


def _summary(tx: Tx, recipe: Recipe, said: list[Said], prompt: Prompt | None) -> SummaryUsed | None:
    """What the summary in PROMPT stood for, and what it saved."""
    if recipe.summary is None or not summaries.is_kept(tx, recipe.summary):
        return None
    found = summaries.get(tx, recipe.summary)
    used = SummaryUsed(id=found.id, covers=found.covers, text=found.text)
    if prompt is None:
        return used
    try:
        whole = rebuilt(tx, said, replace(recipe, summary=None))
    except NotFound:  # a file of what is covered is lost: the prompt that was sent held nothing of it
        return used
    return replace(used, tokens_without=estimate(whole), tokens_with=estimate(prompt))


def _difference(tx: Tx, recipe: Recipe, said: list[Said]) -> str:
    """The first entry that is not what a recipe on this path says it was."""
    known = _recorded(tx, recipe)
    for one in said:
        if one.node in known and known[one.node] != digest_of(one):
            return f"first differing entry: {one.node}"
    unknown = next((one.node for one in said if one.node not in known), None)
    if unknown is not None:
        return f"no recorded entry differs; the first that no recipe recorded: {unknown}"
    return "no entry differs: the settings, the marks or the rules do"


def _recorded(tx: Tx, recipe: Recipe) -> dict[Id, str]:
    """Digests of the entries as the recipes of the runs on this path recorded them; the first record counts."""
    entries = walk.light_entries(tx, _spot(tx, recipe))
    made = nodes.rows(tx, [entry.node for entry in entries if entry.role == "assistant"])
    known: dict[Id, str] = {}
    for run in dict.fromkeys(row.origin.run for row in made if row.origin.run):
        for event in log.events_of_run(tx, run, after=0):
            if event.kind == "turn.started":
                known = {**msgspec.convert(event.payload, TurnStarted).recipe.fresh, **known}
    return known | {node: digest for node, digest in recipe.fresh.items() if node not in known}
