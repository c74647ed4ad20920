"""Why: how a reply was made, out of the books."""

from __future__ import annotations

from forkwood.domain.response import Why
from forkwood.engine import account
from forkwood.runtime import naming
from forkwood.runtime.settling import settled
from forkwood.runtime.verbs import Verbs


class Accounting(Verbs):
    """why."""

    def why(self, node: str, *, conversation: str | None = None) -> Why:
        """How a reply was made: its run, manifest and recipe, what it was made from, and whether the books prove it.

        Raises NotFound, Refused for a message that no model made.
        """

        def look() -> Why:
            with self.house.store.read() as tx:
                return account.why(tx, naming.node_anywhere(tx, conversation, node))

        return settled(self.house, conversation, look)
