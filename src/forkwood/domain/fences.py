"""How an attachment that is no picture stands in a prompt: a small text file whole, between fences; others by name."""

from __future__ import annotations

import re

from forkwood.domain.message import Attachment, Text

PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_TICKS = re.compile("`{3,}")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def is_picture(part: Attachment) -> bool:
    """Whether PART is an image that models which see are sent."""
    return part.state == "present" and part.mime in PICTURES


def is_shown(part: Attachment, bytes_max: int) -> bool:
    """Whether PART is shown whole if it turns out to be text."""
    return part.state == "present" and part.mime not in PICTURES and part.size <= bytes_max


def shown(part: Attachment, content: bytes | None) -> Text:
    """PART as words: with CONTENT (None: not at hand, or too large) where that is text, else by name, type and size."""
    text = None if content is None else text_of_file(content)
    name = _CONTROL.sub(" ", part.name)
    if text is None:
        gone = "" if part.state == "present" else ", no longer kept"
        return Text(text=f"[attached: {name} ({part.mime}, {part.size} bytes{gone})]")
    fence = fence_around(text)
    return Text(text=f"{name}:\n{fence}\n{text}{'' if text.endswith(chr(10)) else chr(10)}{fence}")


def fence_around(text: str) -> str:
    """Backticks, three or more: longer than any run of them in TEXT."""
    return "`" * max([3, *(len(run) + 1 for run in _TICKS.findall(text))])


def text_of_file(content: bytes) -> str | None:
    """CONTENT as text, without a byte order mark; None where it is not valid UTF-8 or holds NUL."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text
