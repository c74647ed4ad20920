"""What is remembered, as a person reads it who decides on it: every sign of it seen, and where it comes from."""

from __future__ import annotations

from collections.abc import Sequence

from forkwood.domain.ids import ending
from forkwood.domain.memory import Memory
from forkwood.domain.response import MemoryWhy
from forkwood.domain.visible import visible
from forkwood.surfaces.cli.screen_text import cropped, indented, visible_line
from forkwood.surfaces.cli.terminal import Terminal
from forkwood.surfaces.cli.words import ago, count_of

VALUE_WIDTH = 60
FORGOTTEN = "(forgotten)"
PURGED = "(purged)"


def draw_memories(found: Sequence[Memory], terminal: Terminal) -> str:
    """What waits, with the commands that decide it, before what counts."""
    counting = {one.name: one for one in found if one.state == "accepted"}
    waiting = [one for one in found if one.state == "proposed"]
    drawn = [_proposal(one, counting.get(one.name), terminal) for one in waiting]
    return "\n".join([*drawn, *(_version(one, terminal) for one in found if one.state == "accepted")])


def draw_history(versions: Sequence[Memory], terminal: Terminal) -> str:
    """Every version of a fact, oldest first."""
    return "\n".join(_version(one, terminal) for one in versions)


def draw_why(why: MemoryWhy, terminal: Terminal) -> str:
    """Where a version of a fact comes from, and who decided about it."""
    memory, now_ms = why.memory, terminal.now_ms()
    lines = [_version(memory, terminal)]
    if memory.node and memory.run:
        call = f", in its call {visible_line(memory.call)}" if memory.call else ""
        model = visible_line(why.model or "a model")
        lines.append(f"  proposed by {model} in {ending(memory.node)}, run {ending(memory.run)}{call}")
    if why.decided and memory.by == "model":
        lines.append(f"  {memory.state} by {why.decided.by} via {why.decided.via} {ago(why.decided.at_ms, now_ms)}")
    elif memory.by == "model":
        lines.append("  nobody has decided about it yet")
    return "\n".join(lines)


def decided_words(memory: Memory) -> str:
    """What a decision came to, and the way to another."""
    name, words = visible(memory.name), f"forkwood memory --history {ending(memory.id)} shows every version."
    if memory.purged:
        return f"What this memory said was purged; it was {memory.state} before. {words}"
    if not memory.value:
        return f"'{name}' is forgotten: no later run is told it. {words}"
    if memory.state == "rejected":
        return f"'{name}' is rejected: it does not count. {words}"
    return f"'{name}' is remembered: later runs are told it. {words}"


def proposed_words(proposed: Sequence[Memory]) -> str:
    """One line about what runs PROPOSED to be remembered, with how it is decided; empty for nothing."""
    if len(proposed) > 1:
        return f"{count_of(len(proposed), 'fact')} proposed to be remembered: forkwood memory lists them."
    return "".join(
        f"Proposed to be remembered: {_line(one)}. forkwood memory --accept {ending(one.id)} accepts it, --reject "
        f"{ending(one.id)} does not."
        for one in proposed
    )


def held_words(memory: Memory) -> str:
    """A memory that a prompt held, in one line."""
    return "purged" if memory.purged else f"{_line(memory)} (version {memory.version}, {ending(memory.id)})"


def _line(memory: Memory) -> str:
    return cropped(visible(f"{memory.name}: {memory.value}".replace("\n", " ")), VALUE_WIDTH)


def _proposal(memory: Memory, now: Memory | None, terminal: Terminal) -> str:
    replaced = [indented(f"instead of: {visible(now.value)}")] if now else []
    ways = [f"  {terminal.hint(f'forkwood memory --{way} {ending(memory.id)}')}" for way in ("accept", "reject")]
    return "\n".join([_version(memory, terminal), *replaced, *ways])


def _version(memory: Memory, terminal: Terminal) -> str:
    name = terminal.pen.inks.bold(f"{_state(memory)} {ending(memory.id)}")
    head = f"{name}  {visible(memory.name)}, version {memory.version}, {_origin(memory, terminal.now_ms())}"
    return f"{head}\n{indented(visible(memory.value) or (PURGED if memory.purged else FORGOTTEN))}"


def _state(memory: Memory) -> str:
    return "superseded" if memory.superseded_by else memory.state


def _origin(memory: Memory, now_ms: int) -> str:
    who = "by you" if memory.by == "user" else f"by the model in {ending(memory.node or '')}"
    door = "" if memory.via == "cli" else f" via {memory.via}"
    decided = memory.decided_ms is not None and memory.by == "model"
    then = f", {memory.state} {ago(memory.decided_ms or 0, now_ms)}" if decided else ""
    return f"{who}{door} {ago(memory.created_ms, now_ms)}{then}"
