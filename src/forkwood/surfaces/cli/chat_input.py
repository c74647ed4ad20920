"""Lines typed at a screen: several lines in one message, what was said before, and completion of verbs and names.

What was said before comes from the store and is kept nowhere else: what is purged is gone from here too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import click
from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import History
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

from forkwood.domain.errors import ForkwoodError
from forkwood.surfaces.cli.chat_lines import ALIASES, ELSEWHERE
from forkwood.surfaces.cli.desk import Desk
from forkwood.surfaces.cli.named import Name

PROMPT = "> "
GOES_ON = ". "
MENU_LINES = 5
SAID_MAX = 1_000


def typed_lines(desk: Desk) -> Iterator[str]:
    """Each line or lines that a person enters, until Ctrl-D. Ctrl-C throws away what stands there."""
    asking: PromptSession[str] = PromptSession(
        history=Said(desk),
        completer=Verbs(desk),
        key_bindings=_keys(),
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


class Said(History):
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
    """Completes `/ve` to a verb, and its words to what they can name."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

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
        word = rest.rpartition(" ")[2] if blank else verb
        found = self._names(verb) if blank else _verbs()
        for value, about in found:
            if value.startswith(word):
                yield Completion(value, start_position=-len(word), display_meta=about)

    def _names(self, verb: str) -> Iterable[tuple[str, str]]:
        from forkwood.surfaces.cli.app import forkwood

        command = forkwood.get_command(click.Context(forkwood), ALIASES.get(verb, (verb,))[0])
        kinds = {param.type for param in command.params if isinstance(param.type, Name)} if command else set()
        arguments = [kind for kind in kinds if isinstance(kind, Name) and kind.name != "conv"] or list(kinds)
        try:
            return [found for kind in arguments if isinstance(kind, Name) for found in kind.candidates(self.desk, None)]
        except ForkwoodError:
            return []


def _verbs() -> list[tuple[str, str]]:
    from forkwood.surfaces.cli.app import COMMANDS

    verbs = [(listed.name, listed.summary) for listed in COMMANDS.values() if listed.name not in ELSEWHERE]
    return [*verbs, *((name, "/" + " ".join(whole)) for name, whole in ALIASES.items()), ("help", ""), ("quit", "")]


def _keys() -> KeyBindings:
    """Enter sends; Alt+Enter, which is Escape and Enter, begins a new line."""
    keys = KeyBindings()

    @keys.add("enter")
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.validate_and_handle()

    @keys.add("escape", "enter")
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    return keys
