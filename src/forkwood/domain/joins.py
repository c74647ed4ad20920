"""From a path to a prompt, by rules that never change. A prompt is a pure function of its recipe. Form 1:

1. Visible messages only, oldest first. What system messages say follows the system prompt, a blank line between.
2. Of a message: text that is not blank; thinking with its replay value, for the dialect and family that gave it;
   calls; images for models that see. Other attachments become text: small text files fenced, the rest by name.
3. Results stand behind their calls, in the calls' order; a call without one is closed as interrupted, a result without
   its call is left out. A call id that was used before gets a number.
4. Neighbours of one role become one message, a blank line between their texts.
5. Where the first message is not the user's, OPENING goes before it; where the last is the model's, CLOSING follows.

Form 2 is form 1, and:
6. The words of results are fenced as data under a marker of their node; but not the answers of a person.
7. The memories that were sealed end the system prompt, as notes; where tools are withdrawn, a last line there says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from forkwood.domain import fences, memory
from forkwood.domain.errors import Misused
from forkwood.domain.manifest import Manifest
from forkwood.domain.memory import Memory
from forkwood.domain.message import Attachment, Part, Text, Thinking, ToolCall, ToolResult, family_of, is_whole
from forkwood.domain.prompt import Prompt, PromptMessage, PromptRole, Said

FORM = 2
FENCED_FROM = 2
"""The first form in which what tools gave is fenced."""
OPENING = "(The conversation begins with the next message.)"
CLOSING = "(Go on.)"
INTERRUPTED = "interrupted: no result of this call was kept"
WITHDRAWN = "The limit of {rounds} rounds of tool calls is reached: there are no tools any more. Answer in words now."

Files: TypeAlias = Mapping[str, bytes]
"""The bytes of attached files that may be shown whole, by their SHA-256."""


class Made(Struct, frozen=True, kw_only=True):
    """All that a prompt is made from: what was SAID under MANIFEST, the blobs that `wanted` names, the MEMORIES that
    the manifest names (in its order), and whether the tools are WITHDRAWN."""

    said: Sequence[Said]
    manifest: Manifest
    files: Files
    memories: Sequence[Memory] = ()
    withdrawn: bool = False


def build(
    said: Sequence[Said],
    manifest: Manifest,
    *,
    files: Files,
    memories: Sequence[Memory] = (),
    withdrawn: bool = False,
    form: int = FORM,
) -> Prompt:
    """The prompt for what was SAID under MANIFEST; FILES holds the blobs that `wanted` names, MEMORIES those it seals.

    WITHDRAWN: without tools. Raises Misused for a FORM this program does not know.
    """
    if form not in FORMS:
        raise Misused(f"prompts of form {form} are not known to this program", hint="a newer Forkwood knows them")
    return FORMS[form](Made(said=said, manifest=manifest, files=files, memories=memories, withdrawn=withdrawn))


def wanted(said: Iterable[Said], manifest: Manifest) -> tuple[str, ...]:
    """The blobs `build` must be handed: attached files small enough to be shown whole."""
    found = {
        part.blob: None
        for one in said
        for part in one.parts
        if type(part) is Attachment and fences.is_shown(part, manifest.limits.fenced_text_bytes_max)
    }
    return tuple(found)


def images(prompt: Prompt) -> tuple[str, ...]:
    """The blobs of the images in PROMPT."""
    parts = (part for message in prompt.messages for part in message.parts)
    return tuple({part.blob: None for part in parts if type(part) is Attachment})


def replayed(part: Thinking, manifest: Manifest) -> bool:
    """Whether thinking goes back to the model: only to the dialect and family that gave it a replay value."""
    back = part.replay
    if back is None:
        return False
    return (back.dialect, back.family) == (manifest.binding.dialect, family_of(manifest.binding.model))


def distinct(parts: Sequence[Part]) -> tuple[Part, ...]:
    """PARTS of one reply, each call with an id of its own: the machine tells calls apart by them."""
    return tuple(_renamed(parts, set()))


def notes(memories: Sequence[Memory], manifest: Manifest) -> memory.Block:
    """The block of MEMORIES that a prompt under MANIFEST holds, and those it leaves out."""
    bounds = manifest.limits
    return memory.block(memories, bytes_max=bounds.memory_block_bytes_max, count_max=bounds.memories_max)


def persons(manifest: Manifest) -> frozenset[str]:
    """The tools whose results are a person's answers."""
    return frozenset(tool.spec.name for tool in manifest.tools if tool.question)


def _form_1(made: Made) -> Prompt:
    path = _Path(made.manifest, made.files)
    path.read(made.said)
    return _prompt(1, made, path, (made.manifest.system, *path.system))


def _form_2(made: Made) -> Prompt:
    manifest, path = made.manifest, _Fencing(made.manifest, made.files)
    path.read(made.said)
    told = WITHDRAWN.format(rounds=manifest.limits.rounds_max) if made.withdrawn else None
    return _prompt(2, made, path, (manifest.system, *path.system, notes(made.memories, manifest).text, told))


def _prompt(form: int, made: Made, path: _Path, system: Iterable[str | None]) -> Prompt:
    return Prompt(
        form=form,
        model=made.manifest.binding.model,
        system="\n\n".join(text for text in system if text) or None,
        messages=_with_ends(path.messages if path.alternates else _joined(path.messages)),
        tools=() if made.withdrawn else tuple(tool.spec for tool in made.manifest.tools),
        parameters=made.manifest.parameters,
    )


FORMS: dict[int, Callable[[Made], Prompt]] = {1: _form_1, 2: _form_2}
"""Every form there ever was: `why` rebuilds old prompts by the form of their day."""


class _Open(Struct, frozen=True, gc=False):
    """A call that waits for its result: ID is the one it was given, SENT the one the prompt has."""

    id: str
    sent: str
    name: str


class _Path:
    """Reads a path, message by message; MESSAGES are not joined yet."""

    def __init__(self, manifest: Manifest, files: Files) -> None:
        self.manifest = manifest
        self.files = files
        self.system: list[str] = []
        self.messages: list[PromptMessage] = []
        self.calls: set[str] = set()
        self.open: tuple[_Open, ...] = ()
        self.alternates = True
        """Nothing is to be joined, as far as one glance tells."""

    def read(self, said: Sequence[Said]) -> None:
        """Plain messages are nearly all there are: they go the short way."""
        keep, last = self.messages.append, ""
        for one in said:
            parts, role = one.parts, one.role
            if len(parts) == 1 and type(part := parts[0]) is Text and role in _SPEAKERS and not self.open:
                if (text := part.text) and not text.isspace():
                    if role == last:
                        self.alternates = False
                    last = role
                    keep(PromptMessage(role, parts, (one.node,)))  # type: ignore[arg-type]  # a membership test narrows nothing
            else:
                self.alternates = False
                self._read(one)
        self._close(())

    def _read(self, one: Said) -> None:
        match one.role:
            case "system":
                self.system += [part.text for part in one.parts if isinstance(part, Text) and part.text.strip()]
            case "tool":
                self._close(one.parts, one.node)
            case "user" | "assistant":
                self._close(())
                self._keep(one.role, self._sendable(one.parts), one.node)

    def _keep(self, role: PromptRole, parts: tuple[Part, ...], node: str) -> None:
        given = [part for part in parts if isinstance(part, ToolCall)]
        renamed = tuple(_renamed(parts, self.calls)) if given else parts
        sent = [part for part in renamed if isinstance(part, ToolCall)]
        self.open = tuple(_Open(was.call, now.call, now.name) for was, now in zip(given, sent, strict=True))
        if parts:
            self.messages.append(PromptMessage(role, renamed, (node,)))

    def _sendable(self, parts: Iterable[Part]) -> tuple[Part, ...]:
        return tuple(sent for part in parts if (sent := self._sent(part)) is not None)

    def _sent(self, part: Part) -> Part | None:
        match part:
            case Text(text=text):
                return part if text and not text.isspace() else None
            case Thinking():
                return part if replayed(part, self.manifest) else None
            case ToolCall():
                return part
            case ToolResult():
                return None
            case Attachment():
                sees = self.manifest.traits.images is not False
                return part if sees and fences.is_picture(part) else fences.shown(part, self.files.get(part.blob))

    def _close(self, parts: Sequence[Part], node: str | None = None) -> None:
        """Put the results in PARTS behind the open calls, in the calls' order."""
        if not self.open:
            return
        left = [part for part in parts if isinstance(part, ToolResult)]
        results: list[Part] = []
        for call in self.open:
            found = next((one for one in left if one.call == call.id), None)
            if found is not None:
                left.remove(found)
            results.append(self._result(call, found, node))
        self.messages.append(PromptMessage("tool", tuple(results), () if node is None else (node,)))
        self.open = ()

    def _result(self, call: _Open, found: ToolResult | None, _node: str | None) -> ToolResult:
        if found is None:
            parts = (Text(text=INTERRUPTED),)
            return ToolResult(call=call.sent, name=call.name, outcome="interrupted", parts=parts)
        read = (part for part in found.parts if not is_whole(part))
        inner = tuple(part for part in self._sendable(read) if isinstance(part, Text | Attachment))
        return replace(found, call=call.sent, parts=inner)


class _Fencing(_Path):
    """Reads a path as form 2 does: what tools gave is fenced."""

    def __init__(self, manifest: Manifest, files: Files) -> None:
        super().__init__(manifest, files)
        self.persons = persons(manifest)

    def _result(self, call: _Open, found: ToolResult | None, node: str | None) -> ToolResult:
        plain = super()._result(call, found, node)
        if found is None or node is None or found.name in self.persons:
            return plain
        return replace(plain, parts=tuple(_fenced(part, node) for part in plain.parts))


def _fenced(part: Text | Attachment, node: str) -> Text | Attachment:
    return Text(text=fences.fenced(part.text, node)) if isinstance(part, Text) else part


_SPEAKERS = frozenset({"user", "assistant"})


def _renamed(parts: Iterable[Part], used: set[str]) -> Iterable[Part]:
    """PARTS with every call id used once: a repeated one gets the next free number, a missing one a name."""
    for part in parts:
        if not isinstance(part, ToolCall):
            yield part
            continue
        name, number = part.call or "call", 1
        while name in used:
            number += 1
            name = f"{part.call or 'call'}-{number}"
        used.add(name)
        yield part if name == part.call else replace(part, call=name)


def _joined(messages: list[PromptMessage]) -> list[PromptMessage]:
    """Neighbours of one role as one message."""
    return [_one(list(group)) for _, group in groupby(messages, key=lambda message: message.role)]


def _one(group: list[PromptMessage]) -> PromptMessage:
    if len(group) == 1:
        return group[0]
    parts: list[Part] = []
    # The text that is still growing is joined once: else a long row of neighbours costs its square.
    texts: list[str] = []
    for message in group:
        for number, part in enumerate(message.parts):
            if isinstance(part, Text) and (number == 0 or not texts):
                texts.append(part.text)
                continue
            _close_text(parts, texts)
            if isinstance(part, Text):
                texts.append(part.text)
            else:
                parts.append(part)
    _close_text(parts, texts)
    return PromptMessage(group[0].role, tuple(parts), tuple(node for message in group for node in message.nodes))


def _close_text(parts: list[Part], texts: list[str]) -> None:
    if texts:
        parts.append(Text(text="\n\n".join(texts)))
        texts.clear()


def _with_ends(messages: list[PromptMessage]) -> tuple[PromptMessage, ...]:
    before = () if messages and messages[0].role == "user" else (_line(OPENING),)
    after = (_line(CLOSING),) if messages and messages[-1].role == "assistant" else ()
    return (*before, *messages, *after)


def _line(text: str) -> PromptMessage:
    return PromptMessage("user", (Text(text=text),), ())
