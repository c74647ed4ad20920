"""The command summarize: a summary in place of the beginning of a path, in prompts alone."""

from __future__ import annotations

import click

from forkwood.domain.ids import ending
from forkwood.domain.response import Summarized
from forkwood.surfaces.cli.desk import Call
from forkwood.surfaces.cli.named import MODEL, NODE
from forkwood.surfaces.cli.options import verb
from forkwood.surfaces.cli.screen_text import visible
from forkwood.surfaces.cli.waiting import waiting
from forkwood.surfaces.cli.words import count_of


@verb("summarize", key=True)
@click.argument("node", type=NODE, required=False)
@click.option("--model", type=MODEL, metavar="M", help="Who makes it; else the model of the conversation.")
def summarize(call: Call, *, node: str | None, model: str | None) -> None:
    """Have the path to NODE (else to the head) summarised, up to its newest exchange, so that prompts are shorter.

    Prompts hold the summary in place of what it covers from now on, wherever a path begins so. Every message stays as
    it is, and a prompt that would be too long has one made without being told.
    """
    with waiting("Waiting for the summary", call.terminal):
        made = call.runtime.summarize(node, model=model, conversation=call.conversation, key=call.key)
    call.give(made, lambda: visible(made.text))
    call.remark(_end(made))


def _end(made: Summarized) -> str:
    covered = f"{count_of(len(made.covers), 'message')}, {ending(made.covers[0])} to {ending(made.covers[-1])}"
    used = "" if made.usage is None else f" It took {made.usage.input:,} + {made.usage.output:,} tokens."
    return f"Prompts hold this in place of the first {covered}; the messages themselves stay as they are.{used}"
