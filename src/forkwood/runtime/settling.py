"""Settling a head that cannot reach a root: when a verb meets the break, on the newest leaf that can, with a notice."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from forkwood.domain.act import Who
from forkwood.domain.errors import StoreUnusable
from forkwood.domain.event import NoticeGiven
from forkwood.domain.ids import ending
from forkwood.runtime import naming
from forkwood.runtime.house import House
from forkwood.store import conversations, log, nodes, walk

T = TypeVar("T")


def settled(house: House, conversation: str | None, do: Callable[[], T]) -> T:
    """What DO gives. A broken path costs nothing to look for: only where DO meets one, the head of that conversation
    (None: the current one) is settled and DO is done once more. Where the head is sound, what DO raised is raised."""
    try:
        return do()
    except StoreUnusable as error:
        if not walk.is_broken(error) or not settle(house, conversation):
            raise
    return do()


def settle(house: House, conversation: str | None) -> bool:
    """Put the head on the newest leaf whose path can be read, where its own cannot; whether that was so."""
    with house.store.write() as tx:
        if conversation is None and conversations.current(tx) is None:
            return False
        seq = naming.conversation(tx, conversation)
        spot, moved = conversations.settled_head(tx, seq)
        if not moved:
            return False
        now_ms = house.clock()
        conversations.move_head(tx, seq, spot, now_ms)
        leaf = walk.last(tx, spot)
        told = notice(nodes.row(tx, leaf).id if leaf else None)
        who = Who(by="system", via=house.who.via)
        log.write(tx, told, who=who, now_ms=now_ms, conversation=seq, node=leaf or None)
    house.notices.append(told.text)
    return True


def notice(leaf: str | None) -> NoticeGiven:
    """What is said of a head that was settled on the message LEAF, or on the empty path."""
    now = f"it stands on {ending(leaf)} now, the newest that can be read" if leaf else "no message can be read"
    return NoticeGiven(what="repair", text=f"the path of the head was broken: {now} (forkwood doctor tells the damage)")
