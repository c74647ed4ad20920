"""What the dialects share in putting a prompt on the wire: images, calls and results, each valid for every server."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from forkwood.domain.errors import ProviderFailed
from forkwood.domain.message import Attachment, Part, Text, Thinking, ToolCall, ToolResult
from forkwood.domain.prompt import ToolSpec

NAME_CHARACTERS_MAX = 64
_ODD = re.compile(r"[^A-Za-z0-9_-]")


def joined(parts: tuple[Part, ...]) -> str:
    """The words of PARTS, a blank line between two of them."""
    return "\n\n".join(part.text for part in parts if isinstance(part, Text) and part.text.strip())


def answered(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """PARTS of a reply without the thinking at its end: a provider refuses thinking that nothing follows."""
    end = len(parts)
    while end and isinstance(parts[end - 1], Thinking):
        end -= 1
    return parts[:end]


def image(attachment: Attachment, images: Mapping[str, bytes]) -> str:
    """The bytes of an image in base64. Raises ProviderFailed("capability") for what is no image or not at hand."""
    if not attachment.mime.startswith("image/"):
        raise ProviderFailed(
            "capability",
            f"{attachment.name} ({attachment.mime}) cannot be sent to a model as it is",
            hint="attach it as text, or name it in the message",
            name=attachment.name,
        )
    if attachment.blob not in images:
        raise ProviderFailed(
            "capability",
            f"The bytes of {attachment.name} are no longer there",
            hint="edit the message that attached it",
            name=attachment.name,
        )
    return b64encode(images[attachment.blob]).decode()


def images_of(parts: tuple[Part, ...]) -> tuple[Attachment, ...]:
    """The images among PARTS, those of tool results included."""
    found: list[Attachment] = []
    for part in parts:
        if isinstance(part, Attachment):
            found.append(part)
        elif isinstance(part, ToolResult):
            found.extend(one for one in part.parts if isinstance(one, Attachment))
    return tuple(found)


def arguments(call: ToolCall) -> dict[str, Any]:
    """The arguments of CALL as an object, which every server demands; what was no object stands under `unparsed`."""
    if isinstance(call.arguments, dict):
        return call.arguments
    return {"unparsed": call.arguments} if call.arguments.strip() else {}


def name(text: str) -> str:
    """The name of a tool as every server takes it: a name some model made up must not block all later turns."""
    return _plain(text, NAME_CHARACTERS_MAX) or "unnamed"


def call_id(text: str) -> str:
    """The id of a call as every server takes it; call and result stay together, for equal ids give equal ids."""
    return _plain(text, NAME_CHARACTERS_MAX)


def function(tool: ToolSpec) -> dict[str, Any]:
    """TOOL as OpenAI's chat completions spell it, and Ollama; its schema goes verbatim."""
    spelled = {"name": tool.name, "description": tool.description, "parameters": tool.schema}
    return {"type": "function", "function": spelled}


def result_text(result: ToolResult) -> str:
    """What the model reads of RESULT; a result without words says how it ended."""
    return joined(result.parts) or result.outcome


def put(body: dict[str, Any], field: str, value: Any) -> None:
    """VALUE at FIELD of BODY, dots leading into objects."""
    *outer, last = field.split(".")
    for key in outer:
        body = body.setdefault(key, {})
    body[last] = value


def merge(body: dict[str, Any], extra: Mapping[str, Any]) -> None:
    """The fields of EXTRA in BODY, objects field by field."""
    for key, value in extra.items():
        mine = body.get(key)
        if isinstance(mine, dict) and isinstance(value, dict):
            body[key] = dict(mine)
            merge(body[key], value)
        else:
            body[key] = value


def _plain(text: str, most: int) -> str:
    plain = _ODD.sub("_", text)
    if plain == text and len(text) <= most:
        return text
    return f"{plain[: most - 9]}_{sha256(text.encode()).hexdigest()[:8]}"
