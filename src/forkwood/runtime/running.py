"""To be written in this commit series: running."""

from forkwood.runtime.acts import Verbs


class Running(Verbs):
    """Verbs of this room."""
