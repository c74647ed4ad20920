"""Where commands are given: the terminal and the one door, opened when the first command needs it."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any

from forkwood.surfaces.cli.screen_text import visible_line, wrapped
from forkwood.surfaces.cli.terminal import Terminal

if TYPE_CHECKING:
    from forkwood.domain.settings import Settings
    from forkwood.runtime import Runtime


class Desk:
    """One terminal with one Runtime behind it, for one command or for a whole chat. Closes what it opened."""

    def __init__(self, terminal: Terminal, *, conversation: str | None = None) -> None:
        self.terminal = terminal
        self.conversation = conversation
        """The conversation that is meant where a command names none; None is the current one."""
        self._runtime: Runtime | None = None

    def __enter__(self) -> Desk:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._runtime is not None:
            self._runtime.close()

    @property
    def settings(self) -> Settings:
        """What holds now, from file and environment."""
        from forkwood.config import load_settings

        return load_settings(self.terminal.environ)

    @property
    def runtime(self) -> Runtime:
        """The one door. Raises StoreUnusable, and Misused for a configuration that is wrong."""
        if self._runtime is None:
            from forkwood.runtime import Runtime

            self._runtime = Runtime.open(self.settings, self.terminal.environ, via="cli")
        return self._runtime

    def tell_notices(self) -> None:
        """Say what happened to the store beside what was asked."""
        if self._runtime is not None:
            for notice in self._runtime.notices():
                self.terminal.note(self.terminal.hint(f"Notice: {visible_line(notice)}"))


class Call:
    """One command as it was given: in which conversation, under which key, and whether it gives words or JSON."""

    def __init__(self, desk: Desk, *, conversation: str | None, key: str | None, as_json: bool) -> None:
        self.desk = desk
        self.terminal = desk.terminal
        self.named = conversation
        """The conversation that the command names itself: where none is named, lists are of all."""
        self.conversation = conversation if conversation is not None else desk.conversation
        self.key = key
        self.as_json = as_json

    @property
    def runtime(self) -> Runtime:
        """The one door."""
        return self.desk.runtime

    @property
    def is_repeat(self) -> bool:
        """Whether this command was done already, under its key: nothing is looked for then, and nobody is asked. What
        its words mean by now may be something else, or nothing."""
        return self.key is not None and self.runtime.was_done(self.key)

    def give(self, value: Any, words: Callable[[], str]) -> None:
        """Write what came of it: VALUE as JSON where that is wanted, else WORDS (nothing where they are empty)."""
        if self.as_json:
            self.terminal.json(value)
        elif text := words():
            self.terminal.say(wrapped(text, self.terminal.pen.width) if self.terminal.is_screen else text)

    def remark(self, text: str) -> None:
        """Say something beside the result, to a person alone."""
        if text and not self.as_json:
            self.terminal.note(self.terminal.hint(text))
