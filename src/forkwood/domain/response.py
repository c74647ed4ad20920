"""What verbs give back. Each is a value with one JSON shape at every door."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from forkwood.domain.conversation import Conversation
from forkwood.domain.event import Event
from forkwood.domain.ids import Id
from forkwood.domain.interaction import Interaction
from forkwood.domain.memory import Memory
from forkwood.domain.message import Via
from forkwood.domain.model import Usage
from forkwood.domain.policy import Scope
from forkwood.domain.prompt import Prompt
from forkwood.domain.run_event import EffectOfTool, Verdict
from forkwood.domain.tree import Node


class Affects(Struct, frozen=True, kw_only=True):
    """How far a change reaches: BRANCHES whose paths hold what changed, and the CONVERSATIONS they are in.

    NOTE says what to do instead where less was meant.
    """

    branches: int
    conversations: tuple[Id, ...]
    note: str = ""


class Moved(Struct, frozen=True, kw_only=True):
    """Where the head stands now (a place, null for an empty path), and the node that was appended, if one was.

    GONE: the message that `drop` took out of the branch, and behind it the other of its tool group.
    """

    head: str | None
    node: Node | None
    gone: tuple[Id, ...] = ()


class Switched(Conversation, frozen=True, kw_only=True):
    """A conversation after `switch`. PASSED: the message that was named, where the head stands at another: it went on
    to a leaf below, or STAYS where it was, for the message is on its branch."""

    passed: Id | None = None
    stays: bool = False


class Started(Struct, frozen=True, kw_only=True):
    """What a send, edit or retry made: its node, the version it replaced, the graft of what was kept, its runs.

    Where a run is at work the message is QUEUED instead: NODE is the one it waits behind, and there are no runs.
    RELEASED: what was held and waits for these runs now. WARNINGS are to be told before the runs are driven: what was
    typed holds a credential.
    """

    conversation: Id
    node: Node
    runs: tuple[Id, ...]
    replaced: Id | None = None
    kept: Id | None = None
    queued: Id | None = None
    released: tuple[Id, ...] = ()
    warnings: tuple[str, ...] = ()


class SettingChange(Struct, frozen=True, kw_only=True):
    """A conversation after `set`, what the setting was before, and how far the change reaches."""

    conversation: Conversation
    key: str
    before: Any
    affects: Affects | None = None


class Touched(Struct, frozen=True, kw_only=True):
    """What hide or unhide did: NODES whose state changed (none: it was so already), or the conversation. NAMED: the
    message that was named."""

    affects: Affects
    hidden: bool
    named: Id | None = None
    nodes: tuple[Id, ...] = ()
    conversation: Id | None = None


class MemoryWhy(Struct, frozen=True, kw_only=True):
    """Where a version of a fact comes from: MODEL is that of the reply which proposed it (None: a person stated it),
    DECIDED the event by which somebody decided about it."""

    memory: Memory
    model: str | None
    decided: Event | None


class FileTouched(Struct, frozen=True, kw_only=True):
    """A file beside the store that a purge removes, or rewrites without what is purged, and WHY. PATH: in the home."""

    path: str
    fate: Literal["removed", "rewritten"]
    why: str


class PurgeReport(Struct, frozen=True, kw_only=True):
    """What a purge destroyed, what stayed because another conversation carries it, what it could not reach, and what
    became of files beside the store. QUEUED: messages that were in the queue or had been taken out of it."""

    nodes: tuple[Id, ...]
    conversations: tuple[Id, ...]
    kept: tuple[Id, ...]
    affects: Affects
    out_of_reach: tuple[str, ...]
    files: tuple[FileTouched, ...] = ()
    queued: tuple[Id, ...] = ()


class Branch(Struct, frozen=True, kw_only=True):
    """A leaf: its place, the last words on its path, its age, and whether the head stands there."""

    leaf: str
    node: Id
    text: str
    role: str
    length: int
    hidden: bool
    created_ms: int
    head: bool


class NodeShown(Struct, frozen=True, kw_only=True):
    """A node with the two digests of its path: what `show` gives."""

    node: Node
    digest: str
    match_digest: str


class Trash(Struct, frozen=True, kw_only=True):
    """What is hidden: whole conversations, and messages."""

    conversations: tuple[Conversation, ...]
    nodes: tuple[Node, ...]


class GrantHeld(Struct, frozen=True, kw_only=True):
    """A grant: it lets TOOL run in the run or conversation OF; UNTIL is null while it holds. Both are log numbers."""

    id: Id
    tool: str
    scope: Scope
    of: str
    hash: str | None
    conversation: Id
    since: int
    until: int | None
    created_ms: int


class LeftOut(Struct, frozen=True, kw_only=True):
    """Something of the path that the model did not get, and why."""

    id: Id
    reason: str


class SummaryUsed(Struct, frozen=True, kw_only=True):
    """The summary in a prompt: TEXT stood there in place of the messages it COVERS. What the prompt would have taken
    without it, and what it took with it, are estimates; null where it cannot be built again."""

    id: Id
    covers: tuple[Id, ...]
    text: str
    tokens_without: int | None = None
    tokens_with: int | None = None


class Why(Struct, frozen=True, kw_only=True):
    """How a reply was made. VERIFIED: the prompt rebuilt from the books has the digest that was sent; null: REASON.

    INTERACTIONS: what a person was asked about its calls; GRANTS: those that let calls of it run; MEMORIES: the notes
    that its prompt held; SUMMARY: what stood there for the beginning of the path. DOOR, CLIENT and KEY are those of the
    command that asked for the run.
    """

    node: Id
    run: Id | None
    turn: int | None
    manifest: dict[str, Any] | None
    recipe: dict[str, Any] | None
    entries: tuple[Id, ...]
    left_out: tuple[LeftOut, ...]
    prompt: Prompt | None
    prompt_digest: str | None
    request_digest: str | None
    verified: bool | None
    reason: str | None
    usage: dict[str, Any] | None
    cost: float | None
    interactions: tuple[Interaction, ...] = ()
    grants: tuple[GrantHeld, ...] = ()
    memories: tuple[Memory, ...] = ()
    summary: SummaryUsed | None = None
    door: Via | None = None
    client: str | None = None
    key: str | None = None
    changes: tuple[Any, ...] = ()


class Summarized(Struct, frozen=True, kw_only=True):
    """A summary that was made: TEXT stands for the messages it COVERS, the beginning of a path; what it took."""

    conversation: Id
    summary: Id
    covers: tuple[Id, ...]
    text: str
    model: str
    usage: Usage | None
    cost: float | None


class ToolListed(Struct, frozen=True, kw_only=True):
    """A tool as it stands in a conversation: whether a model is offered it (ON), the VERDICT on a call of it by now,
    and the JSON schema of its ARGUMENTS."""

    name: str
    on: bool
    effect: EffectOfTool
    verdict: Verdict
    arguments: dict[str, Any]
    description: str


class Answering(Struct, frozen=True, kw_only=True):
    """The model that would answer now, WHY it is that one, and what was passed over on the way to it."""

    model: str
    why: str
    notes: tuple[str, ...]


class Pulled(Struct, frozen=True, kw_only=True):
    """Weights that are here now: where, how large, and whether they were ALREADY."""

    path: str
    bytes: int
    already: bool
