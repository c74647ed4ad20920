"""What of a path a prompt does not hold, and why: the other half of an account."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from forkwood.domain import fences
from forkwood.domain.joins import Files, notes, persons, replayed
from forkwood.domain.manifest import Manifest
from forkwood.domain.memory import Memory
from forkwood.domain.message import Attachment, Part, Text, Thinking, ToolResult, calls_of, is_whole
from forkwood.domain.prompt import Said
from forkwood.domain.response import LeftOut


def left_out(
    said: Iterable[Said], manifest: Manifest, files: Files, *, memories: Sequence[Memory] = ()
) -> tuple[LeftOut, ...]:
    """What `joins.build` leaves out of what was SAID, in its order: parts that are not sent, messages with none; then
    the MEMORIES that it has no room for."""
    return (*_of_path(said, manifest, files), *_of_memories(memories, manifest))


def defused(said: Iterable[Said], manifest: Manifest) -> tuple[LeftOut, ...]:
    """The results in which something was shaped like a fence of ours: a prompt that fences does not hold that."""
    answers = persons(manifest)
    return tuple(
        LeftOut(id=one.node, reason=f"what looks like one of our fences, in a result: {part.name}")
        for one in said
        for part in one.parts
        if isinstance(part, ToolResult) and part.name not in answers and _is_defused(part)
    )


def _is_defused(part: ToolResult) -> bool:
    return any(isinstance(piece, Text) and fences.defused(piece.text) != piece.text for piece in part.parts)


def _of_memories(memories: Sequence[Memory], manifest: Manifest) -> list[LeftOut]:
    return [
        LeftOut(id=one.id, reason=f"an older memory, for which the notes have no room: {one.name}")
        for one in notes(memories, manifest).left_out
    ]


def _of_path(said: Iterable[Said], manifest: Manifest, files: Files) -> list[LeftOut]:
    found: list[LeftOut] = []
    calls: list[str] = []
    for one in said:
        if _is_plain(one):
            calls = []
            continue
        reasons = [reason for part in one.parts for reason in _reasons(part, one, calls, manifest, files)]
        found += [LeftOut(id=one.node, reason=reason) for reason in dict.fromkeys(reasons)]
        if one.role != "tool":
            calls = [call.call for call in calls_of(one.parts)]
    return found


def _is_plain(one: Said) -> bool:
    """Whether ONE is words alone that are sent as they are, as nearly all messages are."""
    parts = one.parts
    return len(parts) == 1 and type(part := parts[0]) is Text and one.role != "tool" and bool(part.text.strip())


def _reasons(part: Part, one: Said, calls: list[str], manifest: Manifest, files: Files) -> Iterator[str]:
    match part:
        case Thinking() if not replayed(part, manifest):
            yield "thinking goes back only to the model that gave it, and only signed"
        case Text(text=text) if not text.strip():
            yield "a text without words"
        case Text() if one.role == "system":
            return  # it stands in the system prompt
        case Attachment() if one.role == "system":
            yield f"a system message's attachment: {part.name}"
        case Attachment() if fences.is_picture(part) and manifest.traits.images is not False:
            return
        case Attachment() if fences.is_picture(part):
            yield f"the model sees no pictures: {part.name} is named only"
        case Attachment() if fences.text_of_file(files.get(part.blob, b"\0")) is None:
            yield f"{part.name} is named only: no longer kept, too large, or no text"
        case ToolResult() if one.role != "tool" or part.call not in calls:
            yield f"a result without its call: {part.name}"
        case ToolResult() if any(is_whole(piece) for piece in part.parts):
            yield f"the middle of a long result: {part.name}"
        case _:
            return
