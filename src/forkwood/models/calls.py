"""Keeps the tool calls of a chat stream apart: by id first, then by index, then by the order in which they begin."""

from __future__ import annotations

from msgspec import Struct

from forkwood.models.reply import Assembly, Slot, object_of


class Fragment(Struct, frozen=True, kw_only=True):
    """What one frame says of one call. POSITION is its place among the calls of that frame.

    Arguments are PRESUMED where they came as an empty object: they hold unless pieces of text come.
    """

    id: str
    index: int | None
    name: str
    arguments: str
    presumed: bool = False
    position: int


class CallsApart:
    """Finds for each fragment the call it belongs to, or begins one.

    A new id on a known index is a new call; one id on another index too, where a name comes with it. Without an id, a
    name begins a new call once the arguments before it are whole or another name's. A name repeated is not appended.
    """

    __slots__ = ("_by_id", "_by_index", "_last", "_said")

    def __init__(self, said: Assembly) -> None:
        self._said = said
        self._by_id: dict[str, Slot] = {}
        self._by_index: dict[int, Slot] = {}
        self._last: Slot | None = None

    def add(self, fragment: Fragment) -> None:
        """Say what FRAGMENT says, of its own call."""
        known = self._known(fragment)
        if known is None and not (fragment.id or fragment.name) and (fragment.presumed or not fragment.arguments):
            return
        slot = self._begin() if known is None else known
        self._remember(slot, fragment)
        if fragment.name and fragment.name != slot.name and not slot.pieces:
            slot.name += fragment.name
        if fragment.presumed:
            slot.presumed = fragment.arguments
        else:
            self._said.say(slot, fragment.arguments)

    def _known(self, fragment: Fragment) -> Slot | None:
        at_index = None if fragment.index is None else self._by_index.get(fragment.index)
        if fragment.id:
            return self._by_known_id(fragment, at_index)
        if fragment.index is not None:
            return None if at_index is None or _starts(fragment, at_index) else at_index
        if self._last is None or (fragment.name and fragment.position):
            return None
        return None if _starts(fragment, self._last) else self._last

    def _by_known_id(self, fragment: Fragment, at_index: Slot | None) -> Slot | None:
        if at_index is not None and at_index.call == fragment.id:
            return at_index
        known = self._by_id.get(fragment.id)
        if known is not None:
            return None if fragment.name and self._elsewhere(known, fragment.index) else known
        nameless = at_index is not None and not at_index.call and not (fragment.name and at_index.name)
        return at_index if nameless else None

    def _elsewhere(self, known: Slot, index: int | None) -> bool:
        """Whether a call with an id already known stands on another index: the server gives all calls one id."""
        return index is not None and known in self._by_index.values() and self._by_index.get(index) is not known

    def _begin(self) -> Slot:
        return self._said.open("tool_call")

    def _remember(self, slot: Slot, fragment: Fragment) -> None:
        self._last = slot
        if fragment.index is not None:
            self._by_index[fragment.index] = slot
        if fragment.id:
            slot.call = slot.call or fragment.id
            self._by_id.setdefault(fragment.id, slot)


def _starts(fragment: Fragment, call: Slot) -> bool:
    """Whether FRAGMENT, which names no id, begins a new call rather than going on with CALL."""
    if not fragment.name or not call.name:
        return False
    if fragment.name != call.name:
        return bool(call.pieces or call.presumed or fragment.arguments)
    return bool(fragment.arguments) and object_of("".join(call.pieces) + call.held or call.presumed) is not None
