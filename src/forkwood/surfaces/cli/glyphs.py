"""The few marks of the drawings, in Unicode and in ASCII, and the inks they are drawn with."""

from __future__ import annotations

from msgspec import Struct


class Glyphs(Struct, frozen=True, kw_only=True):
    """One alphabet of marks. Each means the same wherever it is drawn."""

    user: str = "○"
    reply: str = "●"
    partial: str = "◐"
    tool: str = "◆"
    system: str = "■"
    graft: str = "⇢"
    trunk: str = "│"
    branch: str = "├─"
    fold: str = "⋮"
    head: str = "◀ @"
    by_other: str = "✎"
    notice: str = "▲"
    version: str = "‹{}/{}›"
    rule: str = "─"

    @property
    def all(self) -> str:
        """Every character of it."""
        return "".join(getattr(self, field) for field in self.__struct_fields__)


UNICODE = Glyphs()
ASCII = Glyphs(
    user="o",
    reply="*",
    partial="%",
    tool="+",
    system="#",
    graft=">",
    trunk="|",
    branch="|-",
    fold=":",
    head="<- @",
    by_other="!",
    notice="^",
    version="<{}/{}>",
    rule="-",
)


class Inks(Struct, frozen=True, kw_only=True):
    """Escape sequences before and after a piece of text; all empty where nothing should be coloured."""

    strong: str = ""
    faint: str = ""
    here: str = ""
    bad: str = ""
    off: str = ""

    def bold(self, text: str) -> str:
        """Names and roles."""
        return f"{self.strong}{text}{self.off}"

    def dim(self, text: str) -> str:
        """What is beside the matter, and what is hidden."""
        return f"{self.faint}{text}{self.off}"

    def mark(self, text: str) -> str:
        """Where one stands, and what works now."""
        return f"{self.here}{text}{self.off}"

    def alarm(self, text: str) -> str:
        """What went wrong."""
        return f"{self.bad}{text}{self.off}"


class Pen(Struct, frozen=True, kw_only=True):
    """What drawings are drawn with: which marks, which inks, how many columns wide."""

    glyphs: Glyphs
    inks: Inks
    width: int
    wraps: int = 0
    """After how many columns the words of a message break; 0: where they are, for a program reads them."""


PLAIN = Inks()
COLOURED = Inks(strong="\x1b[1m", faint="\x1b[2m", here="\x1b[36m", bad="\x1b[31m", off="\x1b[0m")
