"""Verbs that say something: send, edit, retry. They append what a person says and open the runs that answer it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from forkwood.domain import limits
from forkwood.domain.act import MessageEdited, MessageSent, ReplyRetried, RunStarted, SettingChanged
from forkwood.domain.errors import Conflict, LimitExceeded, Misused, Refused
from forkwood.domain.ids import Id, ending
from forkwood.domain.message import Origin, Part, Role, Text, Thinking, calls_of
from forkwood.domain.response import Started
from forkwood.domain.text import first_line
from forkwood.domain.tree import Node, Spot
from forkwood.runtime import attaching, naming
from forkwood.runtime.acts import Acting, OpenAct
from forkwood.runtime.shaping import carry
from forkwood.store import append, conversations, grafts, nodes, purge, runs, walk


class Talking(Acting):
    """send, edit, retry."""

    def send(
        self,
        text: str,
        *,
        conversation: str | None = None,
        at: str | None = None,
        role: Role = "user",
        models: Sequence[str] = (),
        attach: Sequence[Path] = (),
        run: bool = True,
        key: str | None = None,
    ) -> Started:
        """Say something at a place (None: the head); then a run answers, or one per model: siblings.

        Raises Misused for blank text without attachments, LimitExceeded, NotFound, Refused, ProviderFailed.
        """
        files = attaching.read(attach)
        checked_text(text, blank_allowed=bool(files))
        answering = self._answering(conversation, models) if run and role == "user" else ()

        def do(act: OpenAct) -> Started:
            out_of_trash(act)
            spot = act.head() if at is None else naming.place(act.tx, act.conversation, at)
            not_working(act, spot)
            parts = ((Text(text=text),) if text else ()) + attaching.keep(act.tx, files)
            node = add(act, spot, role, parts)
            titled(act, text or files[0].part.name)
            started = open_runs(act, walk.canonical(act.tx, node, 0), answering)
            act.record(MessageSent, node=node, runs=started)
            return response(act, node, started)

        arguments = {
            "text": text,
            "at": at,
            "role": role,
            "models": list(models),
            "attach": [file.part.blob for file in files],
            "run": run,
        }
        return self._act("send", arguments, Started, do, conversation=conversation, key=key)

    def edit(
        self,
        node: str,
        text: str,
        *,
        conversation: str | None = None,
        keep: bool = False,
        on: str | None = None,
        models: Sequence[str] = (),
        run: bool = True,
        key: str | None = None,
    ) -> Started:
        """A new version of a message beside the old one. With KEEP what followed is carried behind it and nothing runs;
        else an edited user message is answered anew unless RUN is false. The old version and all below it stay."""
        checked_text(text, blank_allowed=False)
        answering = self._answering(conversation, models) if run and not keep else ()

        def do(act: OpenAct) -> Started:
            out_of_trash(act)
            entry, path = (
                naming.followed(act.tx, act.conversation, node, on)
                if keep
                else (naming.met(act.tx, act.conversation, node, on), None)
            )
            old = editable(nodes.row(act.tx, entry.node), node)
            new = add(act, entry.before, old.role or "user", edited(old, text), revises=entry.node)
            after = regrouped(act, entry, new, old)
            kept, started = None, tuple[Id, ...]()
            if path is None:
                started = open_runs(act, after, answering if old.role == "user" else ())
            else:
                kept = carry(act, after, path, walk.size(act.tx, path) - walk.size(act.tx, entry.after))
            kept_id = None if kept is None else nodes.row(act.tx, kept).id
            act.record(MessageEdited, node=new, revises=old.id, kept=kept_id, runs=started)
            return response(act, new, started, replaced=old.id, kept=kept_id)

        arguments = {"node": node, "text": text, "keep": keep, "on": on, "models": list(models), "run": run}
        return self._act("edit", arguments, Started, do, conversation=conversation, key=key)

    def retry(
        self, node: str, *, conversation: str | None = None, models: Sequence[str] = (), key: str | None = None
    ) -> Started:
        """Another reply in a reply's place; for a user message, a reply to it."""
        answering = self._answering(conversation, models)

        def do(act: OpenAct) -> Started:
            out_of_trash(act)
            entry = naming.met(act.tx, act.conversation, node)
            row = nodes.row(act.tx, entry.node)
            spot = entry.after if row.role == "user" else entry.before
            if row.role == "system":
                raise Refused(f"{node} is a system message: nothing answers it", hint="retry a reply or a user message")
            if not walk.size(act.tx, spot):
                raise Refused(f"{node} is the first message: there is nothing it answers", hint="retry a user message")
            started = open_runs(act, spot, answering)
            act.record(ReplyRetried, node=entry.node, runs=started)
            return response(act, entry.node, started)

        return self._act(
            "retry", {"node": node, "models": list(models)}, Started, do, conversation=conversation, key=key
        )

    def _answering(self, conversation: str | None, models: Sequence[str]) -> tuple[str, ...]:
        """The models that are to answer, each known: those named, else the conversation's, else the default."""
        if len(models) > limits.models_of_one_message_max:
            raise LimitExceeded(
                "models for one message",
                limit="models_of_one_message_max",
                bound=limits.models_of_one_message_max,
                got=len(models),
            )
        if models:
            return tuple(self.house.known_model(model) for model in models)
        with self.house.store.read() as tx:
            chosen = conversations.row(tx, naming.conversation(tx, conversation)).model
        return (self.house.known_model(chosen) if chosen else self.house.default_model().name,)


def checked_text(text: str, *, blank_allowed: bool) -> None:
    """Raises Misused for blank text or lone surrogates, LimitExceeded for too much of it."""
    if not text.strip() and not blank_allowed:
        raise Misused("the text is empty", hint="say something, or attach a file with --attach FILE")
    try:
        size = len(text.encode())
    except UnicodeEncodeError as broken:
        raise Misused(
            f"the text is not valid Unicode: character {broken.start + 1} is half of a pair",
            hint="attach the file that holds it with --attach FILE, which keeps every byte",
        ) from None
    if size > limits.message_bytes_max:
        raise LimitExceeded(
            "the text's bytes",
            limit="message_bytes_max",
            bound=limits.message_bytes_max,
            got=size,
            hint="attach it as a file: --attach FILE",
        )


def out_of_trash(act: OpenAct) -> None:
    """Refuse to speak in a conversation that nobody sees."""
    row = conversations.row(act.tx, act.conversation)
    if row.hidden:
        raise Refused(
            f"conversation {row.id[-8:]} is in the trash",
            hint=f"forkwood unhide {row.id[-8:]} brings it back, forkwood new begins another",
            conversation=row.id,
        )


def not_working(act: OpenAct, spot: Spot) -> None:
    """Refuse to speak at the tip of a run at work there: its reply would come beside the message, not before it."""
    run = runs.active_at(act.tx, act.conversation, spot)
    if run is not None:
        raise Conflict(
            f"run {run[-8:]} is still answering here",
            hint=f"wait for it (forkwood resume {run[-8:]}), end it (forkwood cancel {run[-8:]}), or speak with --at",
            run=run,
        )


def add(act: OpenAct, spot: Spot, role: Role, parts: tuple[Part, ...], *, revises: int = 0) -> int:
    """Append what a person says, and move the head behind it."""
    return append.add_message(
        act.tx,
        id=act.new_id(),
        conversation=act.conversation,
        at=spot,
        role=role,
        parts=parts,
        origin=Origin(by=act.house.who.by, via=act.house.who.via),
        now_ms=act.now_ms,
        revises=revises,
    )


def titled(act: OpenAct, text: str) -> None:
    """The first line becomes the title where there is none yet."""
    if not conversations.row(act.tx, act.conversation).title:
        title = first_line(text, limits.rule_title_characters_max)
        conversations.write_setting(act.tx, act.conversation, "title", title, titled_by="rule")
        act.effects.append(SettingChanged(key="title", before="", after=title))


def open_runs(act: OpenAct, spot: Spot, models: Sequence[str]) -> tuple[Id, ...]:
    """Move the head to SPOT and open a run there for each model; the first leads the head on."""
    if models and purge.closing(act.tx, act.conversation):
        name = conversations.row(act.tx, act.conversation).id
        raise Refused(
            "a purge of this conversation has begun: nothing may start in it",
            hint=f"forkwood purge {ending(name)} finishes it; forkwood new begins another conversation",
            conversation=name,
        )
    ids = tuple(act.new_id() for _ in models)
    act.move_head(spot, led_by=ids[0] if ids else None)
    for run, model in zip(ids, models, strict=True):
        runs.open(
            act.tx,
            id=run,
            conversation=act.conversation,
            place=spot,
            model=model,
            leads=run == ids[0],
            who=act.house.who,
            now_ms=act.now_ms,
        )
        act.effects.append(RunStarted(run=run))
    return ids


def editable(old: Node, name: str) -> Node:
    """OLD, if it can have a new version. Raises Refused."""
    if old.role == "tool":
        raise Refused(f"{name} holds the results of tools: nobody says them", hint="edit the message before them")
    if old.purged:
        raise Refused(f"{name} was purged: there is nothing to edit", hint="send a new message in its place with --at")
    return old


def edited(old: Node, text: str) -> tuple[Part, ...]:
    """The parts of the new version: its text replaced, attachments and calls kept, thinking gone."""
    kept = tuple(part for part in old.parts if not isinstance(part, Text | Thinking))
    return (Text(text=text), *kept)


def regrouped(act: OpenAct, entry: naming.Met, new: int, old: Node) -> Spot:
    """The place behind the new version: where OLD had calls, behind one graft of their results."""
    group = nodes.group(act.tx, entry.node)
    if len(group) == 1 or not calls_of(old.parts):
        return walk.canonical(act.tx, new, 0)
    seq, _ = grafts.add_graft(
        act.tx,
        id=act.new_id(),
        conversation=act.conversation,
        at=Spot(new),
        source=Spot(group[1]),
        count=1,
        origin=Origin(by=act.house.who.by, via=act.house.who.via),
        now_ms=act.now_ms,
    )
    return Spot(seq)


def response(
    act: OpenAct, node: int, started: tuple[Id, ...], *, replaced: Id | None = None, kept: Id | None = None
) -> Started:
    """What a verb that says something gives back."""
    return Started(
        conversation=conversations.row(act.tx, act.conversation).id,
        node=nodes.row(act.tx, node),
        runs=started,
        replaced=replaced,
        kept=kept,
    )
