"""The kinds of names that commands take: nodes, conversations, runs, models; each completed from what there is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from forkwood.domain.errors import ForkwoodError
from forkwood.domain.ids import ending
from forkwood.surfaces.cli.desk import Desk

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from forkwood.domain.conversation import Conversation
    from forkwood.domain.tree import Node

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


class FilePath(click.Path):
    """The path of a file, there or not. What it names is looked at where it is used."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """VALUE as a Path. Fails for what no system takes for one."""
        try:
            return super().convert(value, param, ctx)
        except ValueError as error:
            self.fail(f"it is no path: {error}", param, ctx)


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
    entries = desk.runtime.path(conversation=conversation or desk.conversation)
    return [("@", "the head"), *(_said(entry.node) for entry in reversed(entries))]


def _said(node: Node) -> tuple[str, str]:
    from forkwood.surfaces.cli.words import one_line

    return ending(node.id), one_line(node)[:WORDS_SHOWN]


def _leaves(desk: Desk, conversation: str | None) -> Iterable[tuple[str, str]]:
    """Where other branches end, newest first; then every node, as `_all_nodes` has them."""
    here = conversation or desk.conversation
    ends = sorted(desk.runtime.branches(conversation=here), key=lambda branch: -branch.created_ms)
    leaves = [(ending(end.node), end.text[:WORDS_SHOWN]) for end in ends if not end.head]
    named = {name for name, _ in leaves}
    return [*leaves, *(found for found in _all_nodes(desk, conversation) if found[0] not in named)]


def _all_nodes(desk: Desk, conversation: str | None) -> Iterable[tuple[str, str]]:
    """Labels, the head's path, then what stands on other branches, each newest first."""
    here = conversation or desk.conversation
    path = [*_nodes(desk, conversation)]
    named = {name for name, _ in path}
    others = [_said(node) for node in reversed(desk.runtime.tree(conversation=here)) if node.kind == "message"]
    labels = [(name, f"the label of {ending(node)}") for name, node in desk.runtime.labels(conversation=here).items()]
    return [*path, *(found for found in others if found[0] not in named), *labels]


def _hidden(desk: Desk, _: str | None) -> Iterable[tuple[str, str]]:
    trash = desk.runtime.trash()
    return [*map(_said, reversed(trash.nodes)), *map(_about, trash.conversations)]


def _runs(desk: Desk, conversation: str | None) -> Iterable[tuple[str, str]]:
    runs = desk.runtime.runs(conversation=conversation or desk.conversation)
    return [(ending(run.id), f"{run.status} {run.model}") for run in runs]


def _waiting(desk: Desk, _: str | None) -> Iterable[tuple[str, str]]:
    return [(ending(one.id), f"{one.kind} {one.call.name if one.call else ''}") for one in desk.runtime.pending()]


def _grants(desk: Desk, _: str | None) -> Iterable[tuple[str, str]]:
    return [(ending(one.id), f"{one.tool} {one.scope}") for one in desk.runtime.grants()]


def _memories(desk: Desk, _: str | None) -> Iterable[tuple[str, str]]:
    return [(ending(one.id), f"{one.name}: {one.value}") for one in desk.runtime.memory(state="proposed")]


def _queued(desk: Desk, conversation: str | None) -> Iterable[tuple[str, str]]:
    waiting = desk.runtime.queue(conversation or desk.conversation)
    return [(ending(one.id), one.text[:WORDS_SHOWN]) for one in waiting]


def _models(desk: Desk, _: str | None) -> Iterable[tuple[str, str]]:
    return [(model.name, model.provider) for model in desk.runtime.models()]


def _profiles(desk: Desk, _: str | None) -> Iterable[tuple[str, str]]:
    return [(name, profile.model or "") for name, profile in desk.runtime.profiles().items()]


def _settings(_: Desk, __: str | None) -> Iterable[tuple[str, str]]:
    from forkwood.domain.choices import NAMES

    return [(name, "") for name in NAMES]


WORDS = Words()
CONVERSATION = Name("conv", _conversations)
PATH = FilePath()
NODE = Name("node", _nodes)
ANY_NODE = Name("node", _all_nodes)
LEAF = Name("node", _leaves)
HIDDEN = Name("node", _hidden)
RUN = Name("run", _runs)
INTERACTION = Name("id", _waiting)
GRANT = Name("id", _grants)
QUEUED = Name("id", _queued)
MEMORY = Name("id", _memories)
MODEL = Name("model", _models)
PROFILE = Name("profile", _profiles)
SETTING = Name("key", _settings)
