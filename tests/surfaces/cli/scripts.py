"""Scripted models for command lines: the name under which a file of replies is asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def scripted(folder: Path, *replies: dict[str, Any], file: str = "script.json") -> str:
    """The name of a model that plays REPLIES from a file in FOLDER."""
    path = folder / file
    path.write_text(json.dumps({"replies": replies}))
    return f"scripted:{path}"


def echoing(folder: Path) -> str:
    """A model that always says the same."""
    return scripted(folder, {"text": "A reply.", "usage": {"input": 3, "output": 2}})
