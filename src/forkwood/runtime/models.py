"""To be written in this commit series: models."""

from forkwood.runtime.acts import Verbs


class Models(Verbs):
    """Verbs of this room."""
