"""To be written in this commit series: upkeep."""

from forkwood.runtime.acts import Verbs


class Upkeep(Verbs):
    """Verbs of this room."""
