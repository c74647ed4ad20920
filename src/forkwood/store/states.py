"""States by which rows are sought, as SQL: in the very words of the partial indexes, which serve no others."""

ACTIVE = "status IN ('queued', 'running', 'waiting')"
"""Of a run: `domain.run.ACTIVE`."""
IN_QUEUE = "state IN ('waiting', 'held')"
"""Of a queued message: `domain.queued.IN_QUEUE`."""
