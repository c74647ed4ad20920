"""A credential spelled in the ways a server may echo it, and an own, slow judge of whether a text gives one away."""

from __future__ import annotations

import html
import json
import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable
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
}
"""Each way by its name."""


def gives_away(text: str, key: str) -> bool:
    """Whether TEXT holds KEY in any of these ways, found by undoing them one after the other in all of it."""
    undone = {text, re.sub(r"<[^<>]*>", "", text)}
    for undo in (_without_escapes, html.unescape, unquote, _without_escapes, html.unescape, unquote):
        undone |= {undo(one) for one in undone}
    bare = {_bare(one) for one in undone}
    return any(form in one for form in _known(key) for one in bare)


def _known(key: str) -> set[str]:
    whole = {b64encode(bytes(n) + key.encode())[4 if n else 0 : -4].decode() for n in range(3)}
    return {_bare(key), key.encode().hex(), *(_bare(one) for one in whole)}


def _bare(text: str) -> str:
    return re.sub(r"[\s\u200b]+|<[^<>]*>", "", text).lower().replace("-", "+").replace("_", "/")


def _without_escapes(text: str) -> str:
    def meant(found: re.Match[str]) -> str:
        return chr(int(next(filter(None, found.groups())), 16))

    text = re.sub(r"\\+u([0-9a-fA-F]{4})|\\+x([0-9a-fA-F]{2})|\\+u\{([0-9a-fA-F]+)\}", meant, text)
    return re.sub(r"\\+([^0-9A-Za-z])", r"\1", re.sub(r"\\+[nrt]", " ", text))
