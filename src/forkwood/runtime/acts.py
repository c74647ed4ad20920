"""The frame of every verb that changes something: one transaction, one act event, one receipt."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from forkwood import wire
from forkwood.domain import limits
from forkwood.domain.act import Act, Effect, HeadMoved, SettingChanged
from forkwood.domain.conversation import TitledBy
from forkwood.domain.errors import Conflict, LimitExceeded, Misused
from forkwood.domain.ids import Id
from forkwood.domain.tree import Spot
from forkwood.runtime import naming, settling
from forkwood.runtime.house import House
from forkwood.runtime.verbs import Verbs
from forkwood.store import conversations, log, nodes, receipts, runs
from forkwood.store.db import Tx

T = TypeVar("T")


class OpenAct:
    """An act being done: its transaction, its conversation, and the effects it has had so far, in order."""

    def __init__(self, tx: Tx, house: House, conversation: int) -> None:
        self.tx = tx
        self.house = house
        self.conversation = conversation
        self.now_ms = house.clock()
        self.effects: list[Effect] = []

    def new_id(self) -> Id:
        """A fresh name for something this act makes."""
        return self.house.new_id()

    def head(self) -> Spot:
        """Where the head stands now."""
        return conversations.head(self.tx, self.conversation)

    def move_head(self, spot: Spot, *, led_by: Id | None = None) -> None:
        """Move the head; LED_BY names the run that starts there and will lead it on. No effect where it stands so."""
        before = self.head()
        if before == spot and led_by is None:
            return
        conversations.move_head(self.tx, self.conversation, spot, self.now_ms)
        self.effects.append(
            HeadMoved(
                before=nodes.spot_text(self.tx, before),
                after=nodes.spot_text(self.tx, spot),
                before_run=runs.leading_at(self.tx, self.conversation, before),
                after_run=led_by or runs.leading_at(self.tx, self.conversation, spot),
            )
        )

    def write_setting(self, key: str, value: Any) -> Any:
        """Change a setting; its value before, both as JSON has them. No effect where it is so already."""
        before, value = conversations.setting(self.tx, self.conversation, key), wire.plain(value)
        if before != value:
            by: TitledBy = "user" if value else "rule"
            conversations.write_setting(self.tx, self.conversation, key, value, titled_by=by)
            self.effects.append(SettingChanged(key=key, before=before, after=value))
        return before

    def record(self, payload: type[Act], *, node: int | None = None, **fields: Any) -> int:
        """Write the act's event with all its effects; its seq."""
        conversations.touch(self.tx, self.conversation, self.now_ms)
        return log.write(
            self.tx,
            payload(effects=tuple(self.effects), **fields),
            who=self.house.who,
            now_ms=self.now_ms,
            conversation=self.conversation,
            node=node,
        )


class Acting(Verbs):
    """Verbs that change something, and the frame they are done in."""

    def _once(
        self, verb: str, arguments: dict[str, Any], shape: type[T], do: Callable[[Tx], T], *, key: str | None
    ) -> T:
        """Do a verb in one transaction. With a KEY it is done once: the same again gives the same response.

        Raises Conflict where the key was used with another verb or other arguments.
        """

        def once() -> T:
            with self.house.store.write() as tx:
                if key is None:
                    return do(tx)
                client, fingerprint = self.house.settings.client, wire.digest([verb, arguments])
                given = receipts.find(tx, client, checked_key(key))
                if given is not None:
                    return wire.decode(given_response(given, key, fingerprint), shape)
                response = do(tx)
                receipts.give(tx, client, key, verb, fingerprint, wire.encode(response), self.house.clock())
                return response

        return settling.settled(self.house, arguments.get("conversation"), once)

    def _once_ready(
        self,
        verb: str,
        arguments: dict[str, Any],
        shape: type[T],
        prepare: Callable[[], Callable[[Tx], T]],
        *,
        key: str | None,
    ) -> T:
        """As `_once`, for a verb that asks the disk or the network first: PREPARE does, and gives what is to be done.

        It is not called where the key was used: what it would look for may be gone by then.
        """
        given = self._receipt(key)
        if given is not None:
            return wire.decode(given_response(given, given.key, wire.digest([verb, arguments])), shape)
        return self._once(verb, arguments, shape, prepare(), key=key)

    def _act(
        self,
        verb: str,
        arguments: dict[str, Any],
        shape: type[T],
        do: Callable[[OpenAct], T],
        *,
        conversation: str | None,
        key: str | None,
    ) -> T:
        """Do an act in the conversation of that name (None: the current one)."""

        def begin(tx: Tx) -> T:
            return do(OpenAct(tx, self.house, naming.conversation(tx, conversation)))

        return self._once(verb, {"conversation": conversation, **arguments}, shape, begin, key=key)

    def _act_ready(
        self,
        verb: str,
        arguments: dict[str, Any],
        shape: type[T],
        prepare: Callable[[int], Callable[[OpenAct], T]],
        *,
        conversation: str | None,
        key: str | None,
    ) -> T:
        """As `_act`, for an act that asks the disk or the network first: see `_once_ready`.

        PREPARE is told the conversation, which is looked up once: the act is done in that one.
        """

        def ready() -> Callable[[Tx], T]:
            with self.house.store.read() as tx:
                here = naming.conversation(tx, conversation)
            do = prepare(here)
            return lambda tx: do(OpenAct(tx, self.house, here))

        return self._once_ready(verb, {"conversation": conversation, **arguments}, shape, ready, key=key)

    def _receipt(self, key: str | None) -> receipts.Receipt | None:
        """What was done under KEY, if anything was. Raises Misused or LimitExceeded for what can be no key."""
        if key is None:
            return None
        with self.house.store.read() as tx:
            return receipts.find(tx, self.house.settings.client, checked_key(key))


def checked_key(key: str) -> str:
    """KEY, if it can be one. Raises Misused or LimitExceeded."""
    if not key.strip():
        raise Misused("the key is empty", hint="give --key a text of your own, one for each command")
    if len(key) > limits.key_characters_max:
        raise LimitExceeded(
            "the key's characters", limit="key_characters_max", bound=limits.key_characters_max, got=len(key)
        )
    return key


def given_response(given: receipts.Receipt, key: str, fingerprint: str) -> bytes:
    """What was answered when the key was first used. Raises Conflict for another command, or one still at work."""
    if given.fingerprint != fingerprint:
        raise Conflict(
            f"the key '{key}' was used for another command ({given.verb})",
            hint="use a key of its own for each command",
            key=key,
            verb=given.verb,
        )
    if given.response is None:
        raise Conflict(f"the command with the key '{key}' is still at work", hint="send it again in a moment", key=key)
    return given.response
