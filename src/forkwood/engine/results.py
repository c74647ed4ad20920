"""Results as a model reads them: a long text is cut in its middle, and the whole is kept beside it for the person.

So every result of a turn has its share of the one message that holds them all, whoever's words it says.
"""

from __future__ import annotations

from typing import TypeAlias

from msgspec.structs import replace

from forkwood.domain import limits
from forkwood.domain.cutting import cut
from forkwood.domain.message import Attachment, Text
from forkwood.domain.run_event import CallSettled
from forkwood.domain.text import storable
from forkwood.store import blobs
from forkwood.store.db import Tx
from forkwood.store.holding import Held

Read: TypeAlias = "tuple[Text | Attachment, ...]"
"""What a model reads of a result."""


def fitted(tx: Tx, held: Held, settled: CallSettled) -> CallSettled:
    """SETTLED, a call of the present turn of HELD, with parts that can be kept whatever they say."""
    name = next(call.name for call in held.state.calls if call.call == settled.call)
    return replace(settled, parts=_readable(tx, held, name, settled.parts))


def _readable(tx: Tx, held: Held, name: str, parts: Read) -> Read:
    """PARTS within the bound of a result. The whole of a longer one is kept with the reply that called.

    The results node will speak of it too; until there is one, the reply alone does.
    """
    words = storable("\n\n".join(part.text for part in parts if isinstance(part, Text)))
    spelled = words.encode()
    if len(spelled) <= limits.result_bytes_max:
        return tuple(replace(part, text=storable(part.text)) if isinstance(part, Text) else part for part in parts)
    keeps = len(spelled) <= limits.attachment_bytes_max
    note = "the person has the whole" if keeps else "too much to be kept"
    shown = Text(text=cut(words, limits.result_bytes_max, note=note))
    others = tuple(part for part in parts if not isinstance(part, Text))
    if not keeps:
        return (shown, *others)
    whole = Attachment(
        blob=blobs.put_for(tx, spelled, held.tip.node),
        media="file",
        name=f"{name}.txt",
        mime="text/plain",
        size=len(spelled),
        trust="untrusted",
        source="tool",
        meta={"whole": True},
    )
    return (shown, *others, whole)
