"""Keeping a reply: its node, its event, usage and cost, the head, notices, and the end of its draft, in one commit."""

from __future__ import annotations

from msgspec.structs import replace

from forkwood.domain import joins, limits, policy
from forkwood.domain.event import NoticeGiven
from forkwood.domain.manifest import Manifest
from forkwood.domain.message import Origin, Part, PartialReason, Text, calls_of
from forkwood.domain.model import Reply, cost_of
from forkwood.domain.policy import Policy
from forkwood.domain.prompt import looks_cut
from forkwood.domain.run import RunState
from forkwood.domain.run_event import ReplyKept, RunSealed
from forkwood.engine import judging
from forkwood.engine.grip import Grip
from forkwood.engine.prepare import Prepared
from forkwood.engine.supplies import Supplies
from forkwood.store import append, conversations, drafts, holding, interactions, log, manifests
from forkwood.store.db import Tx
from forkwood.store.holding import Held


def keep_reply(grip: Grip, turn: int, reply: Reply, ready: Prepared) -> None:
    """Append REPLY to the tree at the run's tip. Raises Lost, and for one that the tree does not take LimitExceeded,
    Misused or Refused."""
    with grip.supplies.store.write() as tx:
        held = grip.renewed(tx)
        grip.settle(tx, _kept(tx, grip, held, reply, turn=turn, ready=ready))


def _kept(tx: Tx, grip: Grip, held: Held, reply: Reply, *, turn: int, ready: Prepared) -> Held:
    manifest = ready.manifest
    parts = joins.distinct(reply.parts)
    if not parts and reply.partial == "cancelled":
        return held  # nothing had come: the run ends without this turn
    now_ms = grip.supplies.clock()
    node = add_reply(tx, grip.supplies, held, parts, partial=reply.partial) if parts else None
    cost = None if reply.usage is None else cost_of(reply.usage, manifest.traits.price)
    tools = {tool.spec.name: tool for tool in manifest.tools}
    cut = reply.usage is not None and looks_cut(ready.words_bytes, reply.usage.input)
    held, judging_now = _policy(tx, grip, held, manifest, now_ms)
    kept = ReplyKept(
        turn=turn,
        usage=reply.usage,
        cost=cost,
        finish=reply.finish,
        partial=reply.partial,
        error=reply.error,
        calls=policy.asked(calls_of(parts), tools, judging_now),
        prompt_cut=cut and not interactions.may_go_on(tx, held.conversation, held.model),
        empty=not any(_says(part) for part in parts) and not calls_of(parts),
    )
    held = holding.append(tx, held, kept, now_ms=now_ms, node=node, by="model")
    conversations.count_reply(tx, held.conversation, reply.usage, cost, now_ms)
    drafts.clear(tx, held.run)
    for notice in _notices(reply, ready, kept, held.state) if node else ():
        log.write(
            tx,
            notice,
            who=held.who(),
            now_ms=now_ms,
            conversation=held.conversation,
            run=held.run,
            node=node,
        )
    return held


def _policy(tx: Tx, grip: Grip, held: Held, manifest: Manifest, now_ms: int) -> tuple[Held, Policy]:
    """What calls are judged by: the policy of this moment. Where another was sealed, the run is sealed anew."""
    now = judging.policy_now(tx, grip.supplies, held)
    if now != manifest.policy:
        digest = manifests.put(tx, replace(manifest, policy=now))
        sealed = RunSealed(manifest=digest, rounds_max=manifest.limits.rounds_max)
        held = holding.append(tx, held, sealed, now_ms=now_ms)
    return held, now


def add_reply(tx: Tx, supplies: Supplies, held: Held, parts: tuple[Part, ...], *, partial: PartialReason | None) -> int:
    """Append PARTS as the model's words at the run's tip; the node. PARTIAL: why they are not whole."""
    return append.add_message(
        tx,
        id=supplies.new_id(),
        conversation=held.conversation,
        at=held.tip,
        role="assistant",
        parts=parts,
        origin=Origin(by="model", via=held.door, run=held.run, model=held.model),
        now_ms=supplies.clock(),
        partial=partial,
    )


def _says(part: Part) -> bool:
    return isinstance(part, Text) and bool(part.text.strip())


def _notices(reply: Reply, ready: Prepared, kept: ReplyKept, state: RunState) -> list[NoticeGiven]:
    notices = [NoticeGiven(what="reply", text=text) for text in reply.notices]
    if ready.recipe.tools_withdrawn:
        notices.append(NoticeGiven(what="reply", text=_withdrawn(state)))
    if kept.prompt_cut and kept.usage is not None:
        text = (
            f"the server counted {kept.usage.input:,} tokens for {ready.words_bytes:,} bytes: it has probably left out "
            "the beginning; drop or hide messages, or set a larger context"
        )
        notices.append(NoticeGiven(what="reply", text=text))
    if reply.partial is not None:
        notices.append(NoticeGiven(what="partial", text=reply.error or f"this reply is not whole: {reply.partial}"))
    return notices


def _withdrawn(state: RunState) -> str:
    """Why this reply was asked for without tools, and how there may be more rounds."""
    if state.rounds >= state.rounds_max:
        limit = f"the limit of {state.rounds_max} rounds of tool calls (rounds in config.toml)"
    else:
        limit = f"the limit of {limits.turns_max:,} turns of a run"
    return f"the run reached {limit}: this last reply was asked for without tools; another message goes on"
