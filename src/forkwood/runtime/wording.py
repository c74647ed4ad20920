"""What may be said, and what to tell before it is: bounds of a text, and credentials that stand in it."""

from __future__ import annotations

from collections.abc import Sequence

from forkwood.domain import limits, masking
from forkwood.domain.errors import LimitExceeded, Misused
from forkwood.runtime.attaching import ReadFile


def warned(secrets: dict[str, str], text: str, files: Sequence[ReadFile] = ()) -> tuple[str, ...]:
    """What to tell before words that hold a credential are sent: where its value is from, never the value."""
    attached = ((file.part.name, file.content.decode(errors="replace")) for file in files)
    return tuple(
        f"{what} holds the value of {name}; it is kept and sent as it is"
        for what, words in (("the text", text), *attached)
        for name in masking.names_in(words, secrets)
    )


def checked_text(text: str, *, blank_allowed: bool) -> None:
    """Raises Misused for blank text or lone surrogates, LimitExceeded for too much of it."""
    if not text.strip() and not blank_allowed:
        raise Misused("the text is empty", hint="say something, or attach a file with --attach FILE")
    try:
        size = len(text.encode())
    except UnicodeEncodeError as broken:
        raise Misused(
            f"the text is not valid Unicode: character {broken.start + 1} is half of a pair",
            hint="attach the file that holds it with --attach FILE, which keeps every byte",
        ) from None
    if size > limits.message_bytes_max:
        raise LimitExceeded(
            "the text's bytes",
            limit="message_bytes_max",
            bound=limits.message_bytes_max,
            got=size,
            hint="attach it as a file: --attach FILE",
        )
