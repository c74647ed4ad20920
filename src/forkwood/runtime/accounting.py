"""To be written in this commit series: accounting."""

from forkwood.runtime.acts import Verbs


class Accounting(Verbs):
    """Verbs of this room."""
