"""The scripted model: replies played from a JSON file, for tests, demos and bug reports. It keeps no state anywhere."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Struct

from forkwood import wire
from forkwood.domain import limits
from forkwood.domain.errors import LimitExceeded, Misused, NotFound, ProviderFailed
from forkwood.domain.message import Part, PartialReason, Text, Thinking, ToolCall, ToolResult
from forkwood.domain.model import Binding, Delta, DeltaKind, Reply, Traits, Try, Usage
from forkwood.domain.prompt import Prompt, PromptMessage
from forkwood.domain.settings import Parameters
from forkwood.domain.text import is_deeper, storable
from forkwood.models import matching
from forkwood.models.failures import Told, kind_of
from forkwood.models.reply import finite, no_number, object_of, spelled

EXAMPLE = '{"replies": [{"text": "Hello."}]}'
HINT = f"a script is JSON: {EXAMPLE}"


class ScriptedCall(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A tool call to be played; `call` is its id (left out: made from the turn and its place)."""

    name: str
    arguments: Any
    call: str | None = None


class ScriptedUsage(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Tokens the reply claims."""

    input: int = 0
    output: int = 0


class ScriptedFailure(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A failure of the first `times` tries of a turn: at once, or after so many characters have come."""

    status: int
    times: int
    retry_after: float | None = None
    after_chars: int | None = None


class ScriptedReply(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One entry of the script: `docs/scripted-model.md` says what each field does."""

    match: str | None = None
    text: str | None = None
    thinking: str | None = None
    tool_calls: list[ScriptedCall] = []
    delay_ms: float = 0
    chunk: int | None = None
    pause_ms: float = 0
    usage: ScriptedUsage | None = None
    finish: Literal["stop", "length", "cut"] = "stop"
    fail: ScriptedFailure | None = None


class Script(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole file."""

    replies: list[ScriptedReply]


Cues: TypeAlias = tuple[str, ...]
"""What was said to the model before each turn of a run, the coming one last."""


def read(path: Path) -> Script:
    """The script in the file at PATH. Raises NotFound, LimitExceeded, or Misused saying what is wrong with it."""
    check_there(path)
    try:
        with path.open("rb") as file:
            found = file.read(limits.script_bytes_max + 1)
    except OSError as error:
        raise _unread(path, error) from None
    if len(found) > limits.script_bytes_max:
        raise LimitExceeded(
            f"The size of the script {path}, in bytes",
            limit="script_bytes_max",
            bound=limits.script_bytes_max,
            got=len(found),
        )
    return script_of(found, str(path))


def check_there(path: Path) -> None:
    """Raises NotFound where PATH leads to no file."""
    try:
        is_there = path.is_file()
    except OSError as error:
        raise _unread(path, error) from None
    if not is_there:
        raise NotFound(f"There is no script {path}", hint=HINT, file=str(path))


def _unread(path: Path, error: OSError) -> NotFound:
    return NotFound(f"The script {path} cannot be read: {error.strerror}", hint=HINT, file=str(path))


def script_of(source: bytes, file: str) -> Script:
    """The script SOURCE spells; FILE names it in errors. Raises Misused."""
    import json  # it takes lone surrogates, which providers send and scripts must be able to play

    try:
        text = source.decode("utf-8-sig")
        if is_deeper(text, limits.frame_depth_max):
            raise _bad(file, f"objects and lists stand in one another more than {limits.frame_depth_max} deep")
        numbers: dict[str, Any] = {"parse_constant": no_number, "parse_float": finite}
        script = msgspec.convert(json.loads(text, **numbers), Script)
    except ValueError as error:
        raise _bad(file, str(error)) from None
    if not script.replies:
        raise _bad(file, "it has no replies")
    for number, reply in enumerate(script.replies):
        _check(reply, file, f"replies[{number}]")
    return script


def turn_of(script: Script, cues: Cues) -> ScriptedReply:
    """The reply due after CUES: each turn takes the first unused one that matches, or the script's last one again."""
    used: set[int] = set()
    chosen = len(script.replies) - 1
    for words in cues:
        chosen = _choose(script, words, used)
        used.add(chosen)
    return script.replies[chosen]


def spoken_to(messages: Sequence[PromptMessage], turn: int) -> Cues:
    """What was said before each of the last TURN replies in MESSAGES, and what was said last of all."""
    replies = [index for index, message in enumerate(messages) if message.role == "assistant"]
    finished = replies[-turn:] if turn else []
    return tuple(_words_before(messages, index) for index in [*finished, len(messages)])


class ScriptedModel:
    """Plays a script as a model would reply: a pure function of script, request and try, but for its delays."""

    def __init__(self, path: str, script: Script) -> None:
        self._script = script
        self.name = f"scripted:{path}"
        self.binding = Binding(provider="scripted", dialect="scripted", origin="scripted:", model=path)
        self.traits = Traits(tools=True, images=True, thinking=True)
        self.keys_left = 0

    @classmethod
    def open(cls, path: str) -> ScriptedModel:
        """The model that plays the file at PATH. Raises as `read` does."""
        return cls(path, read(Path(path)))

    def encode(self, prompt: Prompt, images: Mapping[str, bytes]) -> bytes:  # noqa: ARG002  (images stand there by digest)
        """The canonical JSON of PROMPT."""
        return wire.canonical(prompt)

    def unsent(self, wanted: Parameters) -> tuple[str, ...]:  # noqa: ARG002  (the request holds them all)
        """Nothing: a script is sent whatever is set."""
        return ()

    async def stream(self, request: bytes, attempt: Try) -> AsyncIterator[Delta | Reply]:
        """Play the reply that is due. Raises ProviderFailed for a failure before its first character."""
        import asyncio

        prompt = wire.decode(request, Prompt)
        reply = turn_of(self._script, spoken_to(prompt.messages, attempt.turn))
        parts, notices = parts_of(reply, attempt.turn)
        parts, over = fitting(parts)
        await asyncio.sleep(reply.delay_ms / 1000)
        room = room_before_failure(reply.fail, attempt.number)
        for delta in deltas_of(parts, reply.chunk, room):
            yield delta
            await asyncio.sleep(reply.pause_ms / 1000)
        whole = _whole(reply, parts, notices) if room is None else _broken(reply, parts, room)
        yield msgspec.structs.replace(whole, partial="length", error=over.message) if over else whole

    def next_key(self) -> bool:
        """Scripts need no keys."""
        return False


def parts_of(reply: ScriptedReply, turn: int) -> tuple[tuple[Part, ...], tuple[str, ...]]:
    """The parts REPLY consists of, made storable, and a notice where that changed something."""
    parts: list[Part] = []
    if reply.thinking is not None:
        parts.append(Thinking(text=storable(reply.thinking)))
    if reply.text is not None:
        parts.append(Text(text=storable(reply.text)))
    for number, call in enumerate(reply.tool_calls, start=1):
        name = call.call or f"call_{turn + 1}_{number}"
        parts.append(ToolCall(call=storable(name), name=storable(call.name), arguments=_arguments(call.arguments)))
    odd = any(text and storable(text) != text for text in (reply.thinking, reply.text))
    return tuple(parts), ("characters that cannot be stored were spelled out",) if odd else ()


def fitting(parts: tuple[Part, ...]) -> tuple[tuple[Part, ...], LimitExceeded | None]:
    """PARTS as far as a reply may go, and why there are no more: a call that does not fit whole is no call."""
    room, size = limits.reply_bytes_max, sum(_size(part) for part in parts)
    if size <= room:
        return parts, None
    fit: list[Part] = []
    for part in parts:
        if isinstance(part, Text | Thinking) and room:
            text = part.text.encode()[:room].decode("utf-8", "ignore")
            fit.append(msgspec.structs.replace(part, text=text))
        elif _size(part) <= room:
            fit.append(part)
        room = max(0, room - _size(part))
    bound = limits.reply_bytes_max
    return tuple(fit), LimitExceeded("The reply, in bytes", limit="reply_bytes_max", bound=bound, got=size)


def deltas_of(parts: Sequence[Part], chunk: int | None, room: int | None) -> Iterator[Delta]:
    """PARTS as they would come in, CHUNK characters at a time (None: a part at once), up to ROOM characters in all."""
    for index, part in enumerate(parts):
        kind, text = _streamed(part)
        text = text if room is None else text[:room]
        room = room if room is None else room - len(text)
        size = chunk or len(text) or 1
        for start in range(0, len(text), size):
            yield Delta(index=index, kind=kind, text=text[start : start + size])


def room_before_failure(fail: ScriptedFailure | None, number: int) -> int | None:
    """How many characters come before try NUMBER fails; None: it does not. Raises ProviderFailed where none come."""
    if fail is None or number > fail.times:
        return None
    if fail.after_chars:
        return fail.after_chars
    raise ProviderFailed(
        kind_of(Told(), fail.status),
        f"scripted: status {fail.status} (try {number} of {fail.times} that fail)",
        hint="the script says so",
        retry_after=fail.retry_after,
        status=fail.status,
    )


def _check(reply: ScriptedReply, file: str, at: str) -> None:
    why = matching.fault(reply.match or "")
    if why is not None:
        raise _bad(file, f"{at}.match {why}")
    least = {"delay_ms": reply.delay_ms, "pause_ms": reply.pause_ms, "chunk": (reply.chunk or 1) - 1}
    if reply.chunk == 0 or any(not 0 <= value < float("inf") for value in least.values()):
        raise _bad(file, f"{at}: delay_ms and pause_ms are 0 or more, chunk is 1 or more")
    if reply.fail and not _can_fail(reply.fail):
        raise _bad(file, f"{at}.fail: status is 400 to 599, the others are 0 or more")
    if reply.usage and not all(0 <= one <= limits.usage_tokens_max for one in (reply.usage.input, reply.usage.output)):
        raise _bad(file, f"{at}.usage: counts are 0 to {limits.usage_tokens_max:,}")
    if len(reply.tool_calls) > limits.tool_calls_max:
        raise _bad(file, f"{at} has more than {limits.tool_calls_max} tool calls")


def _can_fail(fail: ScriptedFailure) -> bool:
    return 400 <= fail.status <= 599 and min(fail.times, fail.after_chars or 0, fail.retry_after or 0) >= 0


def _bad(file: str, why: str) -> Misused:
    return Misused(
        f"The script {file} cannot be played: {storable(why)}", hint=f"a script is JSON: {EXAMPLE}", file=file
    )


def _choose(script: Script, words: str, used: set[int]) -> int:
    for index, reply in enumerate(script.replies):
        if index not in used and (reply.match is None or matching.fits(reply.match, words)):
            return index
    return len(script.replies) - 1


def _words_before(messages: Sequence[PromptMessage], index: int) -> str:
    """The text of the last message before INDEX that a user or a tool gave."""
    for message in reversed(messages[:index]):
        if message.role != "assistant":
            return "\n\n".join(_words(part) for part in message.parts)
    return ""


def _words(part: Part) -> str:
    match part:
        case Text():
            return part.text
        case ToolResult():
            return "\n\n".join(_words(inner) for inner in part.parts)
        case _:
            return ""


def _arguments(value: Any) -> dict[str, Any] | str:
    if isinstance(value, str):
        return storable(value)
    text = spelled(value)
    found = object_of(text)
    return text if found is None else found


def _size(part: Part) -> int:
    """The bytes of PART that count: those of its words, or of its call's arguments."""
    match part:
        case Text() | Thinking():
            return len(part.text.encode())
        case ToolCall(arguments=str(arguments)):
            return len(arguments.encode())
        case ToolCall():
            return len(wire.encode(part.arguments))
        case _:
            return 0


def _streamed(part: Part) -> tuple[DeltaKind, str]:
    match part:
        case Thinking():
            return "thinking", part.text
        case ToolCall():
            arguments = part.arguments if isinstance(part.arguments, str) else wire.text(part.arguments)
            return "tool_call", f"{part.name} {arguments}"
        case Text():
            return "text", part.text
        case _:
            raise AssertionError(part)


def _whole(reply: ScriptedReply, parts: tuple[Part, ...], notices: tuple[str, ...]) -> Reply:
    reasons: dict[str, PartialReason | None] = {"stop": None, "length": "length", "cut": "cut"}
    return Reply(
        parts=parts,
        usage=Usage(input=reply.usage.input, output=reply.usage.output) if reply.usage else None,
        finish=None if reply.finish == "cut" else reply.finish,
        partial=reasons[reply.finish],
        error="the stream ended without its end" if reply.finish == "cut" else None,
        notices=notices,
    )


def _broken(reply: ScriptedReply, parts: tuple[Part, ...], room: int) -> Reply:
    """The reply as far as it came: calls cut off in it are not calls yet."""
    came: list[Part] = []
    for part in parts:
        if isinstance(part, Text | Thinking) and room > 0:
            came.append(msgspec.structs.replace(part, text=part.text[:room]))
            room -= len(part.text)
    assert reply.fail is not None
    return Reply(parts=tuple(came), partial="error", error=f"scripted: status {reply.fail.status} in mid-stream")
