"""What one turn is made from: the sealed manifest, the prompt of the path, the request, and the recipe of it all."""

from __future__ import annotations

from hashlib import sha256

from msgspec import Struct
from msgspec.structs import replace

from forkwood import wire
from forkwood.domain import joins, limits
from forkwood.domain.budget import estimate
from forkwood.domain.conversation import Conversation
from forkwood.domain.errors import Conflict, LimitExceeded
from forkwood.domain.ids import Id
from forkwood.domain.manifest import RETRY, Bounds, Manifest
from forkwood.domain.model import Model, Traits
from forkwood.domain.prompt import Prompt, Said, words_bytes
from forkwood.domain.run_event import Recipe
from forkwood.domain.step import CallModel
from forkwood.domain.summary import Summary, with_summary
from forkwood.domain.tool import ToolSealed
from forkwood.engine import judging
from forkwood.engine.supplies import Supplies
from forkwood.store import blobs, conversations, log, manifests, memories, nodes, places, runs, summaries, walk
from forkwood.store.db import Tx
from forkwood.store.holding import Held

FRESH_DIGITS = 16
UNKNOWN_CLIENT = "cli"
"""Of a run that was opened before clients were written down."""


class Prepared(Struct, frozen=True, kw_only=True):
    """A turn that is ready to be sent. WORDS_BYTES: how much is said in its prompt; ESTIMATE: its tokens, before any
    correction."""

    manifest: Manifest
    request: bytes
    recipe: Recipe
    words_bytes: int
    estimate: int


def prepare(supplies: Supplies, held: Held, model: Model, step: CallModel) -> Prepared:
    """The turn STEP wants, as of now. Raises a ForkwoodError where the run cannot go on."""
    with supplies.store.read() as tx:
        _room(tx, held)
        manifest = _manifest(tx, supplies, held, model)
        said, summary = summarized(tx, places.said(tx, held.tip))
        files = {blob: blobs.get(tx, blob) for blob in joins.wanted(said, manifest)}
        known = memories.of_ids(tx, manifest.memories)
        prompt = joins.build(said, manifest, files=files, memories=known, withdrawn=step.withdrawn)
        pictures = {blob: blobs.get(tx, blob) for blob in joins.images(prompt)}
        place, number = nodes.spot_text(tx, held.tip), log.newest(tx)
    request = model.encode(prompt, pictures)
    recipe = Recipe(
        place=place,
        log=number,
        manifest=sha256(manifests.spelled(manifest)).hexdigest(),
        summary=None if summary is None else summary.id,
        first_entry=_first(said, summary),
        tools_withdrawn=step.withdrawn,
        form=prompt.form,
        prompt_digest=wire.digest(prompt),
        request_digest=sha256(request).hexdigest(),
        fresh=fresh(said),
    )
    return Prepared(
        manifest=manifest,
        request=request,
        recipe=recipe,
        words_bytes=words_bytes(prompt),
        estimate=estimate(prompt),
    )


def fresh(said: list[Said]) -> dict[Id, str]:
    """Digests of the last reply and all behind it, by node."""
    last = next((index for index in reversed(range(len(said))) if said[index].role == "assistant"), 0)
    return {one.node: digest_of(one) for one in said[last:][-limits.recipe_fresh_max :]}


def digest_of(one: Said) -> str:
    """What tells whether a message is still what it was."""
    return wire.digest([one.role, one.parts])[:FRESH_DIGITS]


def summarized(tx: Tx, said: list[Said]) -> tuple[list[Said], Summary | None]:
    """What is SAID with the summary that fits before it, in place of what it stands for."""
    found = summaries.best(tx, said)
    return (said, None) if found is None else (with_summary(said, found), found)


def _first(said: list[Said], summary: Summary | None) -> Id | None:
    """The first message of the path that was sent whole, behind the summary where there is one."""
    names = [one.node for one in said]
    kept = names if summary is None else names[names.index(summary.id) + 1 :]
    return kept[0] if kept else None


def rebuilt(tx: Tx, said: list[Said], recipe: Recipe) -> Prompt:
    """The prompt of RECIPE for what is SAID at its place as of its log number."""
    if recipe.summary is not None:
        said = with_summary(said, summaries.get(tx, recipe.summary))
    manifest = manifests.get(tx, recipe.manifest)
    files = {blob: blobs.get(tx, blob) for blob in joins.wanted(said, manifest)}
    known = memories.of_ids(tx, manifest.memories)
    return joins.build(said, manifest, files=files, memories=known, withdrawn=recipe.tools_withdrawn, form=recipe.form)


def _room(tx: Tx, held: Held) -> None:
    """A reply that could not be kept is not asked for."""
    size = walk.size(tx, held.tip)
    if size >= limits.path_entries_max:
        raise LimitExceeded(
            "the path's entries",
            limit="path_entries_max",
            bound=limits.path_entries_max,
            got=size + 1,
            hint="go on in a new conversation",
        )


def _manifest(tx: Tx, supplies: Supplies, held: Held, model: Model) -> Manifest:
    if held.state.manifest is None:
        return _new(tx, conversations.row(tx, held.conversation), supplies, held, model)
    manifest = manifests.get(tx, held.state.manifest)
    same_binding(manifest, model)
    off = conversations.row(tx, held.conversation).tools_off
    tools = _offered(supplies, manifest.traits, off)
    policy = judging.policy_now(tx, supplies, held)
    now = replace(manifest, tools=tools, tools_off=off, policy=policy)
    if now == manifest and memories.are_standing(tx, manifest.memories):
        return manifest
    return replace(now, memories=memories.in_use(tx))


def same_binding(manifest: Manifest, model: Model) -> None:
    """Raises Conflict where MODEL is not reached as it was when the run was sealed. Keys behind a name may change."""
    if manifest.binding != model.binding:
        raise Conflict(
            f"the model {manifest.model} is reached in another way than when the run began",
            hint=RETRY,
            reason="binding",
            sealed=manifest.binding.origin,
            found=model.binding.origin,
        )


def _new(tx: Tx, conversation: Conversation, supplies: Supplies, held: Held, model: Model) -> Manifest:
    system = supplies.settings().system if conversation.system is None else conversation.system
    manifest = Manifest(
        model=held.model,
        binding=model.binding,
        traits=model.traits,
        parameters=conversation.params,
        system=system,
        profile=conversation.profile,
        tools=_offered(supplies, model.traits, conversation.tools_off),
        tools_off=conversation.tools_off,
        policy=judging.policy_now(tx, supplies, held),
        memories=memories.in_use(tx),
        door=held.door,
        client=runs.client(tx, held.run) or UNKNOWN_CLIENT,
        limits=Bounds(rounds_max=supplies.settings().rounds),
    )
    # As it will be read again: a 1 where a fraction may stand is spelled 1.0 then, and digests are of spellings.
    return wire.decode(wire.canonical(manifest), Manifest)


def _offered(supplies: Supplies, traits: Traits, off: tuple[str, ...]) -> tuple[ToolSealed, ...]:
    """The tools that are switched on, as of now; none for a model that is known to call none."""
    if traits.tools is False:
        return ()
    return tuple(tool.sealed for tool in supplies.tools.values() if tool.sealed.spec.name not in off)
