"""What every room of the Runtime is: verbs over one house."""

from __future__ import annotations

from forkwood.runtime.house import House


class Verbs:
    """The verbs of one room."""

    def __init__(self, house: House) -> None:
        self.house = house
