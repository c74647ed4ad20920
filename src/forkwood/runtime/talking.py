"""Verbs that say something: send, edit, retry. They append what a person says and open the runs that answer it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from forkwood.domain import limits
from forkwood.domain.act import MessageEdited, MessageSent, ReplyRetried, RunStarted, SettingChanged
from forkwood.domain.errors import Conflict, Refused
from forkwood.domain.ids import Id, ending
from forkwood.domain.message import Attachment, Origin, Part, Role, Text
from forkwood.domain.response import Started
from forkwood.domain.text import first_line
from forkwood.domain.tree import Node, Spot
from forkwood.runtime import attaching, editing, naming, queueing
from forkwood.runtime.acts import Acting, OpenAct
from forkwood.runtime.keeping import Keeping
from forkwood.runtime.replying import Replying, chosen, found
from forkwood.runtime.shaping import carry
from forkwood.runtime.wording import checked_text, warned
from forkwood.store import append, conversations, names, nodes, purge, queue, runs, walk
from forkwood.store.receipts import Receipt


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
        steer: bool = False,
        key: str | None = None,
    ) -> Started:
        """Say something at a place (None: the head); then a run answers, or one per model: siblings.

        Where a run is at work at that place it is queued: it comes when that run is over, or with STEER before its next
        turn. `settle` drives one that was left. Where there is no conversation yet and none is named, one is begun.

        Raises Misused for blank text without attachments, LimitExceeded, NotFound, Refused, ProviderFailed, Conflict
        where nothing is there to steer, and for words that nobody is to answer where a run is at work.
        """
        checked_text(text, blank_allowed=bool(attach))
        answered = run and role == "user"
        if steer:
            queueing.check_steering(models, runs_then=answered)
        given = self._receipt(key)
        files = attaching.read(attach) if given is None else ()
        arguments = {
            "text": text,
            "at": at,
            "role": role,
            "models": list(models),
            "attach": [file.part.blob for file in files] if given is None else self._blobs_again(attach, given),
            "run": run,
            "steer": steer,
        }

        def prepare(here: int) -> Callable[[OpenAct], Started]:
            replying = found(self.house, here, models) if answered else None
            warnings = warned(self.house.secrets(), text, files)
            words = Words(role=role, text=text, files=files, steers=steer)
            return lambda act: said(act, at, words, replying, warnings)

        if conversation is None and given is None and not steer:
            Keeping(self.house).begin_first()
        return self._act_ready("send", arguments, Started, prepare, conversation=conversation, key=key)

    def _blobs_again(self, paths: Sequence[Path], given: Receipt) -> list[str]:
        """The files' hashes for a key that was used: of a file that is gone since, what was sent under its name."""
        parts: tuple[Part, ...] = ()
        if given.verb == "send" and given.response:
            started = self._read(given.response, Started)
            parts = self._parts_queued(started.queued) if started.queued else started.node.parts
        return attaching.blobs_again(paths, tuple(part for part in parts if isinstance(part, Attachment)), given.key)

    def _parts_queued(self, name: Id) -> tuple[Part, ...]:
        """What a queued message says, or the node that it became."""
        with self.house.store.read() as tx:
            message = queue.row(tx, name)
            return nodes.row(tx, names.node(tx, message.node)).parts if message.node else message.parts

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

        def prepare(here: int) -> Callable[[OpenAct], Started]:
            runs_then = run and not keep and self._is_asking(here, node)
            replying = found(self.house, here, models) if runs_then else None
            warnings = warned(self.house.secrets(), text)

            def do(act: OpenAct) -> Started:
                out_of_trash(act)
                if keep:
                    return kept_edit(act, naming.followed(act.tx, act.conversation, node, on), node, text, warnings)
                entry = naming.met(act.tx, act.conversation, node, on)
                old, new, after = revised(act, entry, node, text)
                answering = chosen(act, replying) if run and old.role == "user" else ()
                started = open_runs(act, after, answering)
                act.record(MessageEdited, node=new, revises=old.id, kept=None, runs=started)
                return response(act, new, started, replaced=old.id, warnings=warnings)

            return do

        arguments = {"node": node, "text": text, "keep": keep, "on": on, "models": list(models), "run": run}
        return self._act_ready("edit", arguments, Started, prepare, conversation=conversation, key=key)

    def retry(
        self, node: str, *, conversation: str | None = None, models: Sequence[str] = (), key: str | None = None
    ) -> Started:
        """Another reply in a reply's place; for a user message, a reply to it."""

        def prepare(here: int) -> Callable[[OpenAct], Started]:
            replying = found(self.house, here, models)
            return lambda act: retried(act, node, replying)

        return self._act_ready(
            "retry", {"node": node, "models": list(models)}, Started, prepare, conversation=conversation, key=key
        )

    def _is_asking(self, conversation: int, name: str) -> bool:
        """Whether the message of that name is a user's, so that an edit of it is answered."""
        with self.house.store.read() as tx:
            return nodes.row(tx, naming.node(tx, conversation, name)).role == "user"


class Words(Struct, frozen=True, kw_only=True):
    """A message as a person gave it."""

    role: Role
    text: str
    files: tuple[attaching.ReadFile, ...]
    steers: bool = False


def said(act: OpenAct, at: str | None, words: Words, replying: Replying | None, warnings: tuple[str, ...]) -> Started:
    """Append WORDS at the place of that name (None: the head), and open the runs that reply to it; at the tip of a
    run at work it is queued instead."""
    out_of_trash(act)
    spot = act.head() if at is None else naming.place(act.tx, act.conversation, at)
    working = runs.active_at(act.tx, act.conversation, spot)
    if working is None and words.steers:
        raise queueing.nothing_to_steer()
    parts = ((Text(text=words.text),) if words.text else ()) + attaching.keep(act.tx, words.files)
    if working is not None:
        not_closing(act)
        waits = queueing.enqueue(act, working, parts, named(working, replying), steers=words.steers)
        return replace(waits, warnings=warnings)
    node = add(act, spot, words.role, parts)
    titled(act, words.text or words.files[0].part.name)
    started = open_runs(act, walk.canonical(act.tx, node, 0), chosen(act, replying) if replying else ())
    going = queueing.released(act, spot, started[0]) if started else ()
    act.record(MessageSent, node=node, runs=started)
    return replace(response(act, node, started, warnings=warnings), released=going)


def named(run: Id, replying: Replying | None) -> tuple[str, ...]:
    """The models that were named for a message which waits behind RUN. Raises Conflict where nobody is to answer it:
    the reply that is coming would stand beside it, not before it."""
    if replying is not None:
        return replying.named
    raise Conflict(
        f"run {ending(run)} is at work here, and words that nobody answers cannot wait for it",
        hint=f"wait for it (forkwood resume {ending(run)}), end it (forkwood cancel {ending(run)}), or speak elsewhere "
        "with --at",
        run=run,
    )


def revised(act: OpenAct, entry: naming.Met, name: str, text: str) -> tuple[Node, int, Spot]:
    """Append the new version of an entry: the old one, the new one, and the place behind it."""
    old = editing.editable(nodes.row(act.tx, entry.node), name)
    new = add(act, entry.before, old.role or "user", editing.edited(old, text), revises=entry.node)
    return old, new, editing.regrouped(act, entry, new, old)


def kept_edit(
    act: OpenAct, followed: tuple[naming.Met, Spot], name: str, text: str, warnings: tuple[str, ...]
) -> Started:
    """The new version, and behind it what followed the old one on its path, carried; nothing runs."""
    entry, path = followed
    old, new, after = revised(act, entry, name, text)
    kept = carry(act, after, path, walk.size(act.tx, path) - walk.size(act.tx, entry.after))
    kept_id = None if kept is None else nodes.row(act.tx, kept).id
    act.record(MessageEdited, node=new, revises=old.id, kept=kept_id, runs=())
    return response(act, new, (), replaced=old.id, kept=kept_id, warnings=warnings)


def retried(act: OpenAct, name: str, replying: Replying) -> Started:
    """Open the runs that reply in a reply's place, or to a user message."""
    out_of_trash(act)
    entry = naming.met(act.tx, act.conversation, name)
    row = nodes.row(act.tx, entry.node)
    spot = entry.after if row.role == "user" else entry.before
    if row.role == "system":
        raise Refused(f"{name} is a system message: nothing answers it", hint="retry a reply or a user message")
    if not walk.size(act.tx, spot):
        raise Refused(f"{name} is the first message: there is nothing it answers", hint="retry a user message")
    started = open_runs(act, spot, chosen(act, replying))
    act.record(ReplyRetried, node=entry.node, runs=started)
    return response(act, entry.node, started)


def out_of_trash(act: OpenAct) -> None:
    """Refuse to speak in a conversation that nobody sees."""
    row = conversations.row(act.tx, act.conversation)
    if row.hidden:
        raise Refused(
            f"conversation {ending(row.id)} is in the trash",
            hint=f"forkwood unhide {ending(row.id)} brings it back, forkwood new begins another",
            conversation=row.id,
        )


def not_closing(act: OpenAct) -> None:
    """Refuse to begin anything in a conversation whose purge has begun."""
    if purge.closing(act.tx, act.conversation):
        name = conversations.row(act.tx, act.conversation).id
        raise Refused(
            "a purge of this conversation has begun: nothing may start in it",
            hint=f"forkwood purge {ending(name)} finishes it; forkwood new begins another conversation",
            conversation=name,
        )


def add(act: OpenAct, spot: Spot, role: Role, parts: tuple[Part, ...], *, revises: int = 0) -> int:
    """Append what a person says at a place; the head stays."""
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
    """Move the head to SPOT, and open a run there for each model: none, or the first leads the head on."""
    if models:
        not_closing(act)
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
            client=act.house.settings.client,
            key=act.key,
        )
        act.effects.append(RunStarted(run=run))
    return ids


def response(
    act: OpenAct,
    node: int,
    started: tuple[Id, ...],
    *,
    replaced: Id | None = None,
    kept: Id | None = None,
    warnings: tuple[str, ...] = (),
) -> Started:
    """What a verb that says something gives back."""
    return Started(
        conversation=conversations.row(act.tx, act.conversation).id,
        node=nodes.row(act.tx, node),
        runs=started,
        replaced=replaced,
        kept=kept,
        warnings=warnings,
    )
