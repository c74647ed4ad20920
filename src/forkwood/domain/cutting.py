"""A long text cut in its middle: what stands at its ends says most, and between them stands how much is left out."""

from __future__ import annotations


def cut(text: str, bytes_max: int, *, note: str) -> str:
    """TEXT where it takes no more than BYTES_MAX as UTF-8; else its head and its tail within that.

    Between them a line of its own says how many of how many bytes are left out, and then NOTE.
    """
    spelled = text.encode()
    if len(spelled) <= bytes_max:
        return text
    room = bytes_max - len(_gap(len(spelled), len(spelled), note).encode())
    assert room > 1, "what is left out takes less to say than it took"
    head = spelled[: room - room // 2].decode(errors="ignore")
    tail = spelled[len(spelled) - room // 2 :].decode(errors="ignore")
    left = len(spelled) - len(head.encode()) - len(tail.encode())
    return f"{head}{_gap(left, len(spelled), note)}{tail}"


def shortened(text: str, characters_max: int) -> str:
    """TEXT where it has no more than CHARACTERS_MAX characters; else its ends, with an ellipsis in its middle."""
    half = characters_max // 2
    return text if len(text) <= characters_max else f"{text[:half]} … {text[-half:]}"


def _gap(left: int, size: int, note: str) -> str:
    return f"\n\n[… {left:,} of {size:,} bytes are left out here: {note} …]\n\n"
