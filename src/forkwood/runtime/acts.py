"""The frame of every verb that changes something: one transaction, one act event, one receipt."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from forkwood import wire
from forkwood.domain import limits
from forkwood.domain.act import Act, Effect, HeadMoved, SettingChanged
from forkwood.domain.conversation import TitledBy
from forkwood.domain.errors import Conflict, LimitExceeded, Misused, Refused
from forkwood.domain.ids import Id
from forkwood.domain.interaction import PEOPLE
from forkwood.domain.tree import Spot
from forkwood.runtime import naming, settling
from forkwood.runtime.house import House
from forkwood.runtime.verbs import Verbs
from forkwood.store import conversations, log, nodes, receipts, runs
from forkwood.store.db import Tx

T = TypeVar("T")
U = TypeVar("U")


class OpenAct:
    """An act being done: its transaction, its conversation, and the effects it has had so far, in order."""

    def __init__(self, tx: Tx, house: House, conversation: int, key: str | None = None) -> None:
        self.tx = tx
        self.key = key
        """The key of the command, where it carried one."""
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

    def _only_people(self, do: str, command: str) -> None:
        """Raises Refused at a door behind which a program or a model stands; people DO that by COMMAND."""
        if self.house.who.via not in PEOPLE:
            raise Refused(f"only people {do}: no model and no program does", hint=f"{command}, at a terminal")

    def _once(
        self, verb: str, arguments: dict[str, Any], shape: type[T], do: Callable[[Tx], T], *, key: str | None
    ) -> T:
        """Do a verb in one transaction. With a KEY it is done once: the same again gives the same response.

        Raises Conflict where the key was used with another verb or other arguments.
        """

        def once() -> T:
            with self.house.store.write() as tx:
                given = self._receipt_of(tx, verb, arguments, key)
                if given is not None:
                    return wire.decode(given_response(given, given.fingerprint), shape)
                response = do(tx)
                self._keep_receipt(tx, verb, arguments, given, wire.encode(response), key=key)
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
            return self._read(given_response(given, _fingerprint(verb, arguments)), shape)
        return self._once(verb, arguments, shape, prepare(), key=key)

    def _read(self, response: bytes, shape: type[T]) -> T:
        """What a receipt holds. Inside a transaction, where what cannot be read is said as damage to the store."""
        with self.house.store.read():
            return wire.decode(response, shape)

    def _begun(
        self, verb: str, arguments: dict[str, Any], shape: type[T], begin: Callable[[Tx], U], *, key: str | None
    ) -> T | U:
        """The first transaction of a verb of several. With a KEY its receipt is open from here on, for whoever ends it.

        Where it was ended before, nothing begins: what it gave is given again. Raises as `_once`.
        """
        with self.house.store.write() as tx:
            given = self._receipt_of(tx, verb, arguments, key)
            if given is not None and given.response is not None:
                return wire.decode(given.response, shape)
            found = begin(tx)
            self._keep_receipt(tx, verb, arguments, given, None, key=key)
            return found

    def _ended(
        self, verb: str, arguments: dict[str, Any], shape: type[T], do: Callable[[Tx], T], *, key: str | None
    ) -> T:
        """The transaction in which what `_begun` began is done, and its receipt completed: by one of those who try."""
        with self.house.store.write() as tx:
            given = self._receipt_of(tx, verb, arguments, key)
            if given is not None and given.response is not None:
                return wire.decode(given.response, shape)
            response = do(tx)
            self._keep_receipt(tx, verb, arguments, given, wire.encode(response), key=key)
            return response

    def _given_up(self, undo: Callable[[Tx], None], *, key: str | None) -> None:
        """What `_begun` began will not be done: UNDO takes it back, and no receipt is left. It can be sent anew."""
        with self.house.store.write() as tx:
            undo(tx)
            if key is not None:
                receipts.withdraw(tx, self.house.settings.client, key)

    def _receipt_of(self, tx: Tx, verb: str, arguments: dict[str, Any], key: str | None) -> receipts.Receipt | None:
        """The receipt of this verb under KEY, completed or not."""
        given = None if key is None else receipts.find(tx, self.house.settings.client, checked_key(key))
        if given is not None:
            same_command(given, _fingerprint(verb, arguments))
        return given

    def _keep_receipt(
        self,
        tx: Tx,
        verb: str,
        arguments: dict[str, Any],
        given: receipts.Receipt | None,
        response: bytes | None,
        *,
        key: str | None,
    ) -> None:
        """Write the receipt, or complete the one GIVEN before; without RESPONSE it is open."""
        if key is None:
            return
        client = self.house.settings.client
        if given is None:
            receipts.give(tx, client, key, verb, _fingerprint(verb, arguments), response, self.house.clock())
        elif response is not None:
            receipts.finish(tx, client, key, response)

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
            return do(OpenAct(tx, self.house, naming.conversation(tx, conversation), key))

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
            return lambda tx: do(OpenAct(tx, self.house, here, key))

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


def same_command(given: receipts.Receipt, fingerprint: str) -> None:
    """Raises Conflict where the key of a receipt was used for another command."""
    if given.fingerprint != fingerprint:
        raise Conflict(
            f"the key '{given.key}' was used for another command: a {given.verb}, or one with other words",
            hint="use a key of its own for each command",
            key=given.key,
            verb=given.verb,
        )


def given_response(given: receipts.Receipt, fingerprint: str) -> bytes:
    """What was answered when the key was first used. Raises Conflict for another command, or one still at work."""
    same_command(given, fingerprint)
    if given.response is None:
        raise Conflict(
            f"the command with the key '{given.key}' is still at work", hint="send it again in a moment", key=given.key
        )
    return given.response


def _fingerprint(verb: str, arguments: dict[str, Any]) -> str:
    """What tells a command from another under the same key. Raises Misused for arguments that are no text."""
    try:
        return wire.digest([verb, arguments])
    except UnicodeEncodeError:
        raise Misused(
            f"what was given to {verb} is not valid Unicode: it holds half of a pair", hint="give it without"
        ) from None
