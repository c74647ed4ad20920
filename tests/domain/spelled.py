"""A credential spelled in the ways a server may echo it, and an own, slow judge of whether a text gives one away."""

from __future__ import annotations

import html
import json
import re
import unicodedata
from base64 import b32encode, b64encode, urlsafe_b64encode
from collections.abc import Callable
from itertools import product
from urllib.parse import quote, unquote

SECRET = "sk-Very_secret/Value+1234567"

SPELLINGS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "upper case": str.upper,
    "lower case": str.lower,
    "JSON escapes": lambda key: "".join(f"\\u{ord(one):04x}" for one in key),
    "JSON escapes in JSON": lambda key: json.dumps("".join(f"\\u{ord(one):04X}" for one in key)),
    "one JSON escape": lambda key: f"{key[:5]}\\u{ord(key[5]):04x}{key[6:]}",
    "its first letter escaped": lambda key: f"\\u{ord(key[0]):04x}{key[1:]}",
    "JSON in an address": lambda key: quote("".join(f"\\u{ord(one):04x}" for one in key)),
    "entities in JSON": lambda key: "".join(f"\\u0026#{ord(one)};" for one in key),
    "entities in an address": lambda key: quote("".join(f"&#x{ord(one):x};" for one in key)),
    "x escapes": lambda key: "".join(f"\\x{ord(one):02x}" for one in key),
    "braced escapes": lambda key: "".join(f"\\u{{{ord(one):x}}}" for one in key),
    "escaped marks": lambda key: re.sub(r"([^0-9A-Za-z])", r"\\\1", key),
    "an address": lambda key: quote(key, safe=""),
    "percent, all of it": lambda key: "".join(f"%{ord(one):02X}" for one in key),
    "percent twice": lambda key: quote("".join(f"%{ord(one):02x}" for one in key), safe=""),
    "entities by tens": lambda key: "".join(f"&#{ord(one)};" for one in key),
    "entities by sixteens": lambda key: "".join(f"&#x{ord(one):x};" for one in key),
    "entities in HTML": lambda key: html.escape("".join(f"&#{ord(one):03};" for one in key)),
    "named entities": lambda key: key.replace("/", "&sol;").replace("+", "&plus;").replace("_", "&lowbar;"),
    "tags": "<b>".join,
    "a tag": lambda key: f"{key[:4]}<think>{key[4:]}",
    "closed tags": lambda key: f'<i class="a">{key[:7]}</i><i class="b">{key[7:]}</i>',
    "blanks": " ".join,
    "two lines": lambda key: f"{key[:9]}\r\n    {key[9:]}",
    "lines of JSON": lambda key: f"{key[:9]}\\n{key[9:]}",
    "a hard blank": lambda key: "&nbsp;%20\u00a0".join((key[:6], key[6:])),
    "unseen characters": "\u200b".join,
    "base64": lambda key: b64encode(key.encode()).decode(),
    "base64 of a header": lambda key: b64encode(f"Bearer {key}".encode()).decode(),
    "base64 of a user": lambda key: b64encode(f"me:{key}".encode()).decode(),
    "base64 of a user of three": lambda key: b64encode(f"you:{key}!".encode()).decode(),
    "base64 in addresses": lambda key: quote(urlsafe_b64encode(f"u:{key}".encode()).decode()),
    "base64 in lines": lambda key: "\n".join(re.findall(".{1,16}", b64encode(f"a user:{key}".encode()).decode())),
    "hexadecimal": lambda key: key.encode().hex(),
    "hexadecimal with colons": lambda key: key.encode().hex(":"),
    "base32": lambda key: b32encode(key.encode()).decode(),
    "base32 of a user": lambda key: b32encode(f"me:{key}!".encode()).decode().lower(),
    "backwards": lambda key: key[::-1],
    "long escapes": lambda key: "".join(f"\\U{ord(one):08x}" for one in key),
    "octal escapes": lambda key: "".join(f"\\{ord(one):03o}" for one in key),
    "bold": "**".join,
    "code": lambda key: f"{key[:9]}`+`{key[9:]}",
    "a list of its letters": lambda key: json.dumps(list(key))[2:-2],
    "a comment": lambda key: f"{key[:9]}<!-- a > b -->{key[9:]}",
    "comments": "<!-- > -->".join,
    "full width": lambda key: "".join(chr(ord(one) + 0xFEE0) for one in key),
    "mathematical": lambda key: re.sub("[a-z]", lambda one: chr(ord(one[0]) + 0x1D41A - ord("a")), key),
    "accents": "\u0301".join,
    "joiners": "\u034f".join,
    "fillers": "\u3164".join,
    "vowel separators": "\u180e".join,
    "Unicode tags": "\U000e0061".join,
    "variations": "\U000e0100".join,
}
"""Each way by its name."""


def gives_away(text: str, key: str) -> bool:
    """Whether TEXT holds half of KEY in any of these ways, found by undoing them one after the other in all of it."""
    undone = {text, re.sub(r"<!--.*?-->|<[^<>]*>", "", text, flags=re.DOTALL)}
    for undo in (_without_escapes, html.unescape, unquote, _without_escapes, html.unescape, unquote):
        undone |= {undo(one) for one in undone}
    bare = {_bare(one) for one in undone}
    return any(half in one for form, one in product(_known(key), bare) for half in _halves(form))


def _known(key: str) -> set[str]:
    whole = {b64encode(bytes(n) + key.encode())[4 if n else 0 : -4].decode() for n in range(3)}
    whole |= {b32encode(bytes(n) + key.encode())[8 if n else 0 : -8].decode() for n in range(5)}
    return {_bare(one) for one in (key, key[::-1], key.encode().hex(), *whole)}


def _halves(form: str) -> list[str]:
    length = max(8, (len(form) + 1) // 2)
    return [form[at : at + length] for at in range(len(form) - length + 1)]


def _bare(text: str) -> str:
    text = re.sub(r"<!--.*?-->|<[^<>]*>|\u3164", "", text, flags=re.DOTALL)
    return re.sub(r"[\W_]", "", unicodedata.normalize("NFKD", text)).lower()


def _without_escapes(text: str) -> str:
    def meant(found: re.Match[str]) -> str:
        return chr(int(found[4], 8) if found[4] else int(next(filter(None, found.groups())), 16))

    escapes = r"\\+u([0-9a-fA-F]{4})|\\+x([0-9a-fA-F]{2})|\\+u\{([0-9a-fA-F]+)\}|\\([0-3][0-7]{2})"
    text = re.sub(rf"{escapes}|\\+U([0-9a-fA-F]{{8}})", meant, text)
    return re.sub(r"\\+([^0-9A-Za-z])", r"\1", re.sub(r"\\+[nrt]", " ", text))
