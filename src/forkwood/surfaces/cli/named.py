"""The kinds of names that commands take: nodes, conversations, runs, models; each completed from what there is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeAlias

import click

from forkwood.domain.errors import ForkwoodError
from forkwood.domain.ids import ending
from forkwood.surfaces.cli.desk import Desk

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from forkwood.domain.conversation import Conversation

COMPLETED_MAX = 200
WORDS_SHOWN = 60

Candidates: TypeAlias = Callable[[Desk, str | None], Iterable[tuple[str, str]]]
"""What could be named, each with a word about it, in the conversation given with -c."""


class Words(click.ParamType[str, str]):
    """Text that can be stored: what the shell handed over as bytes that are no UTF-8 is refused, naming where."""

    name = "text"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """VALUE, unchanged. Fails for bytes that are no UTF-8."""
        try:
            value.encode()
        except UnicodeEncodeError as error:
            at = len(value[: error.start].encode())
            self.fail(f"it is not UTF-8 at byte {at}; a file with such bytes goes with --attach FILE", param, ctx)
        return value


class Name(Words):
    """A name of one of the things that CANDIDATES lists; which one it names is the Runtime's to say."""

    def __init__(self, kind: str, candidates: Candidates) -> None:
        self.name = kind
        self.candidates = candidates

    def shell_complete(
        self,
        ctx: click.Context,
        param: click.Parameter,  # noqa: ARG002 - click hands it over
        incomplete: str,
    ) -> list[CompletionItem]:
        """What begins like INCOMPLETE. Nothing where the store cannot be read: a completion has no place for errors."""
        from click.shell_completion import CompletionItem

        desk = ctx.ensure_object(Desk)
        try:
            found = [*self.candidates(desk, ctx.params.get("conversation"))]
        except ForkwoodError:
            return []
        fitting = [(value, about) for value, about in found if value.startswith(incomplete)]
        return [CompletionItem(value, help=about) for value, about in fitting[:COMPLETED_MAX]]


def _conversations(desk: Desk, _: str | None) -> Iterable[tuple[str, str]]:
    return [_about(conversation) for conversation in desk.runtime.listed()]


def _about(conversation: Conversation) -> tuple[str, str]:
    return ending(conversation.id), conversation.title


def _nodes(desk: Desk, conversation: str | None) -> Iterable[tuple[str, str]]:
    from forkwood.surfaces.cli.words import one_line

    entries = desk.runtime.path(conversation=conversation or desk.conversation)
    return [
        ("@", "the head"),
        *((ending(entry.node.id), one_line(entry.node)[:WORDS_SHOWN]) for entry in reversed(entries)),
    ]


def _runs(desk: Desk, conversation: str | None) -> Iterable[tuple[str, str]]:
    runs = desk.runtime.runs(conversation=conversation or desk.conversation)
    return [(ending(run.id), f"{run.status} {run.model}") for run in runs]


def _models(desk: Desk, _: str | None) -> Iterable[tuple[str, str]]:
    return [(model.name, model.provider) for model in desk.runtime.models()]


def _profiles(desk: Desk, _: str | None) -> Iterable[tuple[str, str]]:
    return [(name, profile.model or "") for name, profile in desk.runtime.profiles().items()]


def _settings(_: Desk, __: str | None) -> Iterable[tuple[str, str]]:
    from forkwood.domain.choices import NAMES

    return [(name, "") for name in NAMES]


WORDS = Words()
CONVERSATION = Name("conv", _conversations)
NODE = Name("node", _nodes)
RUN = Name("run", _runs)
MODEL = Name("model", _models)
PROFILE = Name("profile", _profiles)
SETTING = Name("key", _settings)
