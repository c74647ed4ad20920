"""What the queue sends while a command hears its own reply: what it was is told, and the replies to it are shown."""

from __future__ import annotations

from collections.abc import Callable

from forkwood.domain.ids import Id
from forkwood.domain.model import Usage
from forkwood.domain.text import first_line
from forkwood.domain.tree import Node
from forkwood.domain.watch import DeltaSeen, EventSeen, Result, Seen
from forkwood.surfaces.cli.live import View
from forkwood.surfaces.cli.screen_text import visible_line
from forkwood.surfaces.cli.terminal import Terminal
from forkwood.surfaces.cli.views import RepliesInTurn

WORDS_SHOWN = 100


class WithQueue:
    """VIEW, and between a reply and those to what the queue sends behind it the words that are answered next.

    LOOK gives the node of an id. Of several replies to one message the first is shown as it comes, the others whole.
    """

    def __init__(self, view: View, terminal: Terminal, look: Callable[[Id], Node]) -> None:
        self.view = view
        self.terminal = terminal
        self.look = look
        self._last: dict[Id, Id] = {}
        """The last reply of each run."""
        self._shown = set[Id]()
        """Runs whose reply is shown to its end already."""
        self._beside = set[Id]()
        """Runs that reply to a queued message beside the first."""

    def see(self, seen: Seen) -> bool:
        """Show it; whether there was anything to show."""
        match seen:
            case Result() if seen.run in self._shown:
                return True
            case Result() if seen.run in self._beside:
                return RepliesInTurn(self.terminal, {}).see(seen)
            case DeltaSeen() | EventSeen() if seen.run in self._beside:
                return False
            case EventSeen(kind="reply.kept", run=str(run), node=str(node)):
                self._last[run] = node
            case EventSeen(kind="queue.moved", run=str(run)) if seen.payload["state"] == "sent":
                self._go_on(run, seen)
                return True
        return self.view.see(seen)

    def close(self) -> None:
        """Nothing more comes."""
        self.view.close()

    def _go_on(self, run: Id, seen: EventSeen) -> None:
        """The reply of RUN is whole: it is shown to its end before the first line about what comes next."""
        if run in self._last:
            node = self.look(self._last[run])
            self.view.see(Result(run=run, status="done", node=node.id, text=node.text, usage=Usage(), error=None))
        self.view.close()
        self._shown.add(run)
        self._beside.update(seen.payload["runs"][1:])
        words = first_line(self.look(seen.node or "").text, WORDS_SHOWN)
        self.terminal.note(self.terminal.hint(f"Next in the queue: {visible_line(words)}"))
