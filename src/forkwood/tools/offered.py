"""The list of the tools there are. A tool that is not named here does not exist."""

from __future__ import annotations

from collections.abc import Callable

from forkwood.domain.ids import Id
from forkwood.domain.tool import Tool
from forkwood.store.db import Store
from forkwood.tools.ask_user import AskUser
from forkwood.tools.current_time import CurrentTime
from forkwood.tools.recall import Recall
from forkwood.tools.remember import Remember
from forkwood.tools.search_conversations import SearchConversations


def offered(store: Store, clock: Callable[[], int], new_id: Callable[[], Id]) -> dict[str, Tool]:
    """Every tool by its name, in the order models see. CLOCK is in Unix milliseconds; NEW_ID names what is made."""
    tools: tuple[Tool, ...] = (
        AskUser(),
        CurrentTime(clock),
        Recall(store),
        Remember(store, clock, new_id),
        SearchConversations(store),
    )
    named = {tool.sealed.spec.name: tool for tool in tools}
    assert len(named) == len(tools), "a name is one tool's"
    return named
