"""Prompts whose request bytes are golden: text, tools, images, thinking given back, each for every dialect."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from forkwood.domain.message import Attachment, Part, Replay, Text, Thinking, ToolCall, ToolResult
from forkwood.domain.prompt import Prompt, PromptMessage, ToolSpec
from forkwood.domain.settings import Parameters
from forkwood.models.quirks import Quirks
from forkwood.models.remote import DIALECTS
from tests.models.recorded import REASONING_ITEM, REDACTED, SIGNED

PLAIN = Quirks()
GOLDEN = Path(__file__).parent / "golden"
PNG = b"\x89PNG\r\n\x1a\n"
PICTURE = Attachment(blob="b10b", media="image", name="cat.png", mime="image/png", size=len(PNG))
IMAGES = {"b10b": PNG}
MODELS = {
    "chat": "gpt-5",
    "responses": "gpt-5",
    "anthropic": "claude-sonnet-4-5",
    "google": "gemini-3-pro",
    "ollama": "qwen3:8b",
}
WEATHER = ToolSpec(
    name="weather",
    description="Weather of a city.",
    schema={
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer", "minimum": 1}},
        "required": ["city"],
        "additionalProperties": False,
    },
)
DETAILS = {"reasoning_details": [{"type": "reasoning.text", "text": "Hm.", "signature": "sig+/==", "index": 0}]}
REPLAYS: dict[str, tuple[Any, ...]] = {
    "chat": (DETAILS,),
    "responses": (REASONING_ITEM,),
    "anthropic": (SIGNED, REDACTED),
    "google": ({"at": "thought", "thoughtSignature": "one=="}, {"at": "call", "thoughtSignature": "two=="}),
    "ollama": (),
}


def user(*parts: Part | str) -> PromptMessage:
    return _message("user", parts)


def assistant(*parts: Part | str) -> PromptMessage:
    return _message("assistant", parts)


def _message(role: Any, parts: tuple[Part | str, ...]) -> PromptMessage:
    return PromptMessage(role=role, parts=tuple(Text(text=p) if isinstance(p, str) else p for p in parts), nodes=())


def prompt(
    *messages: PromptMessage, system: str | None = None, tools: tuple[ToolSpec, ...] = (), **set_to: Any
) -> Prompt:
    """A prompt of MESSAGES; SET_TO are its parameters."""
    return Prompt(form=1, model="m", system=system, messages=messages, tools=tools, parameters=Parameters(**set_to))


def result(call: str = "c1", outcome: Any = "ok", *parts: Text | Attachment) -> ToolResult:
    return ToolResult(call=call, name="weather", outcome=outcome, parts=parts or (Text(text="12 °C"),))


def call(identity: str = "c1", arguments: Any = ...) -> ToolCall:
    return ToolCall(call=identity, name="weather", arguments={"city": "Zürich"} if arguments is ... else arguments)


def thoughts(dialect: str) -> tuple[Thinking, ...]:
    """Thinking that a model of DIALECT gave, with what it wants back."""
    family = {"anthropic": "claude", "google": "gemini"}.get(dialect, "gpt")
    return tuple(
        Thinking(text="Hm.", replay=Replay(dialect=dialect, family=family, value=value)) for value in REPLAYS[dialect]
    )


def cases(dialect: str) -> dict[str, Prompt]:
    """The golden prompts of DIALECT by name."""
    seed: Any = {"seed": 7} if dialect in {"chat", "google", "ollama"} else {}
    asked = user("What is the weather in Zürich? 🌍")
    return {
        "text": prompt(
            user("Grüße", "und\nmehr"), assistant("Hallo."), user("Weiter"), system="Be brief.", temperature=0.5,
            top_p=0.9, max_output=300, **seed,
        ),
        "tools": prompt(
            asked, assistant("Let me see.", call(), call("c2", '{"city":')),
            user(result(), result("c2", "error", Text(text="no JSON"))),
            system="Be brief.", tools=(WEATHER,),
        ),
        "images": prompt(
            user("What is this?", PICTURE), assistant("A cat."), user("And?"), assistant(call()),
            user(result("c1", "ok", Text(text="a chart"), PICTURE)), tools=(WEATHER,),
        ),
        "thinking": prompt(
            asked, assistant(*thoughts(dialect), call()), user(result()), tools=(WEATHER,), effort="medium",
        ),
    }  # fmt: skip


def request(dialect: str, asked: Prompt, quirks: Quirks = PLAIN) -> bytes:
    """The request body of DIALECT for ASKED."""
    return DIALECTS[dialect].encode(asked, IMAGES, MODELS[dialect], quirks)


def golden(dialect: str, name: str) -> bytes:
    """The bytes that were agreed on."""
    return (GOLDEN / f"{dialect}_{name}.json").read_bytes().rstrip(b"\n")
