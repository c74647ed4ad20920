"""Lines typed at a screen: several lines in one message, what was said before, and completion of verbs and names.

What was said before comes from the store and is kept nowhere else: what is purged is gone from here too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import click
from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import History
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.key_binding.bindings.completion import generate_completions

from forkwood.domain.errors import ForkwoodError
from forkwood.surfaces.cli.chat_lines import ALIASES, ELSEWHERE, LEAVING
from forkwood.surfaces.cli.desk import Desk
from forkwood.surfaces.cli.named import MODEL, Name
from forkwood.surfaces.cli.options import option_of

PROMPT = "> "
GOES_ON = ". "
MENU_LINES = 5
SAID_MAX = 1_000


def typed_lines(desk: Desk) -> Iterator[str]:
    """Each line or lines that a person enters, until Ctrl-D. Ctrl-C throws away what stands there."""
    asking: PromptSession[str] = PromptSession(
        history=EarlierWords(desk),
        completer=Verbs(desk),
        key_bindings=entering(),
        multiline=True,
        prompt_continuation=GOES_ON,
        reserve_space_for_menu=MENU_LINES,
    )
    while True:
        try:
            yield asking.prompt(PROMPT)
        except KeyboardInterrupt:
            continue
        except EOFError:
            return


def typed_answer(prompt: str) -> str | None:
    """One line that a person enters behind PROMPT; None where Ctrl-C or Ctrl-D leaves it open."""
    asking: PromptSession[str] = PromptSession()
    try:
        return asking.prompt(prompt)
    except (KeyboardInterrupt, EOFError):
        return None


class EarlierWords(History):
    """What the person has said in this conversation, on every branch, newest first; then what they type here."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self.desk = desk

    def load_history_strings(self) -> Iterable[str]:
        """From the store, each text once."""
        nodes = self.desk.runtime.tree(conversation=self.desk.conversation)
        texts = (node.text for node in reversed(nodes) if node.role == "user" and not node.hidden)
        return list(dict.fromkeys(text for text in texts if text))[:SAID_MAX]

    def store_string(self, string: str) -> None:
        """A message is in the store already; a command is not worth keeping."""


class Verbs(Completer):
    """Completes `/ve` to a verb, and a word after it to what that word can name."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self._models: list[tuple[str, str]] | None = None
        """What can be reached: servers are asked once, not at each key."""

    def get_completions(
        self,
        document: Document,
        complete_event: CompleteEvent,  # noqa: ARG002 - the library hands it over
    ) -> Iterator[Completion]:
        """What could stand where the cursor is. Nothing in a message."""
        line = document.text_before_cursor
        if not line.startswith("/") or line.startswith("//") or "\n" in line:
            return
        verb, blank, rest = line[1:].partition(" ")
        *before, word = rest.split(" ") if blank else [verb]
        found = self._names(verb, [given for given in before if given]) if blank else _verbs()
        for value, about in found:
            if value.startswith(word):
                yield Completion(value, start_position=-len(word), display_meta=about)

    def _names(self, verb: str, before: list[str]) -> list[tuple[str, str]]:
        from forkwood.surfaces.cli.app import forkwood

        first, *more = ALIASES.get(verb, (verb,))
        command = forkwood.get_command(click.Context(forkwood), first)
        try:
            return [] if command is None else self._candidates(command, [*more, *before])
        except ForkwoodError:
            return []

    def _candidates(self, command: click.Command, before: list[str]) -> list[tuple[str, str]]:
        """What the word after BEFORE can be: what goes with an option, a command below, or an argument by its place."""
        if isinstance(command, click.Group):
            if before:
                below = command.commands.get(before[0])
                return [] if below is None else self._candidates(below, before[1:])
            return [(name, below.get_short_help_str()) for name, below in command.commands.items()]
        kind = kind_after(command, before)
        if kind is MODEL:
            if self._models is None:
                self._models = [*MODEL.candidates(self.desk, None)]
            return self._models
        return [*kind.candidates(self.desk, None)] if isinstance(kind, Name) else []


def kind_after(command: click.Command, before: list[str]) -> click.ParamType[Any, Any] | None:
    """The kind of the word that stands behind the words BEFORE in COMMAND; None where nothing more fits."""
    place, option = 0, None
    for word in before:
        if option is not None:
            option = None
            continue
        option = option_of(command, word)
        place += option is None
        if option is not None and (option.is_flag or "=" in word):
            option = None
    if option is not None:
        return option.type
    if command.name == "set" and place == 1 and before[-1] == "model":
        return MODEL
    arguments = [param for param in command.params if isinstance(param, click.Argument)]
    if place < len(arguments):
        return arguments[place].type
    return arguments[-1].type if arguments and arguments[-1].nargs == -1 else None


def _verbs() -> list[tuple[str, str]]:
    from forkwood.surfaces.cli.app import COMMANDS

    verbs = [(listed.name, listed.summary) for listed in COMMANDS.values() if listed.name not in ELSEWHERE]
    return [
        *verbs,
        *((name, "/" + " ".join(whole)) for name, whole in ALIASES.items()),
        ("help", ""),
        *((name, "") for name in sorted(LEAVING)),
    ]


def entering() -> KeyBindings:
    """Enter sends; Alt+Enter, which is Escape and Enter, begins a new line; Tab completes."""
    keys = KeyBindings()

    @keys.add("enter")
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.validate_and_handle()

    @keys.add("escape", "enter")
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    keys.add("tab")(complete)
    return keys


def complete(event: KeyPressEvent) -> None:
    """Put in the one word that fits, at once; where several do, show them, and go through them."""
    buffer = event.current_buffer
    chosen = buffer.complete_state and buffer.complete_state.complete_index is not None
    asked = CompleteEvent(completion_requested=True)
    found = [] if chosen else list(buffer.completer.get_completions(buffer.document, asked))
    if len(found) == 1:
        buffer.apply_completion(found[0])
    else:
        generate_completions(event)
