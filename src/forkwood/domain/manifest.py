"""The manifest: all that a run is made from besides its path, sealed before its first turn and named by its digest."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import msgspec
from msgspec import Struct

from forkwood.domain import limits
from forkwood.domain.errors import Conflict, LimitExceeded
from forkwood.domain.ids import Id
from forkwood.domain.message import Via
from forkwood.domain.model import Binding, Traits
from forkwood.domain.policy import Policy
from forkwood.domain.settings import Parameters
from forkwood.domain.tool import ToolSealed

VERSION = 1


class Bounds(Struct, frozen=True, kw_only=True):
    """The limits that a run's prompts and its length depend on."""

    fenced_text_bytes_max: int = limits.fenced_text_bytes_max
    rounds_max: int = limits.rounds_max
    memory_block_bytes_max: int = limits.memory_block_bytes_max
    memories_max: int = limits.memories_max


class Manifest(Struct, frozen=True, kw_only=True):
    """What is sealed. No secret values: credentials stand by the names under which they are found."""

    version: int = VERSION
    model: str
    binding: Binding
    traits: Traits
    parameters: Parameters
    system: str | None
    profile: str | None
    tools: tuple[ToolSealed, ...] = ()
    tools_off: tuple[str, ...] = ()
    policy: Policy = Policy()
    memories: tuple[Id, ...] = ()
    """The accepted memories that its prompts hold, by the ids of their versions."""
    project: dict[str, Any] | None = None
    door: Via
    client: str = "cli"
    limits: Bounds = Bounds()


def checked(body: Any) -> Any:
    """BODY (a manifest as plain JSON values), if it is within its bounds. Raises LimitExceeded, naming no content."""
    _within("manifest_depth_max", "the manifest's depth", _depth(body), limits.manifest_depth_max)
    fields = body if isinstance(body, dict) else {}
    tools, system = fields.get("tools"), fields.get("system")
    for tool in _few(tools) if isinstance(tools, list | tuple) else ():
        size = len(msgspec.json.encode(tool))
        _within("tool_bytes_max", "one tool's description, in bytes", size, limits.tool_bytes_max)
    spoken = len(system.encode()) if isinstance(system, str) else 0
    _within("system_bytes_max", "the system prompt, in bytes", spoken, limits.system_bytes_max)
    return body


def checked_size(body: bytes) -> bytes:
    """BODY, a manifest's canonical JSON, if it is not too large. Raises LimitExceeded."""
    _within("manifest_bytes_max", "the manifest, in bytes", len(body), limits.manifest_bytes_max)
    return body


def too_deep() -> LimitExceeded:
    """Of one that is nested so deep that nobody counts."""
    bound = limits.manifest_depth_max
    return LimitExceeded("the manifest's depth", limit="manifest_depth_max", bound=bound, got=bound + 1)


def verified(digest: str, body: bytes) -> Manifest:
    """The manifest that BODY spells, if it is within its bounds (looked at before anything is digested), the one that
    DIGEST names, and of a version that is known. Raises Conflict."""
    try:
        checked(msgspec.json.decode(checked_size(body)))
    except LimitExceeded as over:
        raise _boundless(over) from None
    except RecursionError:
        raise _boundless(too_deep()) from None
    except msgspec.MsgspecError:
        raise _unreadable() from None
    if sha256(body).hexdigest() != digest:
        raise Conflict("the manifest of the run is not the one it was sealed with", hint=_ALTERED, reason="manifest")
    try:
        version = msgspec.json.decode(body, type=_Versioned).version
        if version == VERSION:
            return msgspec.json.decode(body, type=Manifest)
    except msgspec.MsgspecError:
        raise _unreadable() from None
    raise Conflict(
        f"the manifest of the run has version {version}, this program knows {VERSION}", hint=RETRY, reason="manifest"
    )


def _boundless(over: LimitExceeded) -> Conflict:
    message = f"the manifest of the run is not one that was sealed: {over.message}"
    return Conflict(message, hint=_ALTERED, reason="manifest", limit=over.facts["limit"])


def _unreadable() -> Conflict:
    return Conflict("the manifest of the run cannot be read", hint=_ALTERED, reason="manifest")


def _few(tools: list[Any] | tuple[Any, ...]) -> list[Any] | tuple[Any, ...]:
    _within("tools_max", "the tools of a run", len(tools), limits.tools_max)
    return tools


class _Versioned(Struct):
    version: int


_SHORTER = {
    "system_bytes_max": "'forkwood set system TEXT' sets a shorter one",
    "manifest_bytes_max": "'forkwood set system' and 'forkwood set tools' make it smaller",
}
_FEWER_TOOLS = "'forkwood set tools -NAME' takes one away"
RETRY = "'forkwood retry NODE' starts a new run from the same place"
_ALTERED = f"{RETRY}; the store was altered from outside: 'forkwood doctor --repair' looks at all of it"


def _depth(value: Any) -> int:
    """How deep VALUE is nested; more than the bound is not looked into."""
    level, depth = [value], 0
    while level and depth <= limits.manifest_depth_max:
        inner = [
            one.values() if isinstance(one, dict) else one for one in level if isinstance(one, dict | list | tuple)
        ]
        level, depth = [item for items in inner for item in items], depth + 1
    return depth


def _within(limit: str, what: str, got: int, bound: int) -> None:
    if got > bound:
        raise LimitExceeded(what, limit=limit, bound=bound, got=got, hint=_SHORTER.get(limit, _FEWER_TOOLS))
