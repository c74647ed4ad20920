"""Commands about what waits for a person: pending, answer; and about yeses given beforehand: grants."""

from __future__ import annotations

from collections.abc import Sequence

import click

from forkwood.domain.ids import Id, ending
from forkwood.domain.interaction import Interaction
from forkwood.surfaces.cli.desk import Call
from forkwood.surfaces.cli.named import GRANT, INTERACTION, WORDS
from forkwood.surfaces.cli.options import verb
from forkwood.surfaces.cli.screen_text import visible_line
from forkwood.surfaces.cli.show_asked import Whereabouts, answered_words, draw_grants, draw_pending


@verb("pending")
def pending(call: Call) -> None:
    """List what waits for you: approvals, questions and doubts, with the commands that answer them.

    Without -c: of all conversations.
    """
    found = call.runtime.pending(call.named)
    call.give(found, lambda: draw_pending(found, call.terminal, _whereabouts(call, found)))
    if not found:
        call.remark("Nothing waits for you.")


@verb("answer", conversation=False, key=True)
@click.argument("interaction", type=INTERACTION)
@click.argument("words", type=WORDS, nargs=-1, required=True)
@click.option("--remember", type=WORDS, metavar="run|conversation", help="With allow: do not ask for this tool there.")
@click.option("--no-run", is_flag=True, help="Only answer; the run goes on with the next command.")
def answer(call: Call, *, interaction: str, words: tuple[str, ...], remember: str | None, no_run: bool) -> int:
    """Answer what waits for you; the run then goes on here, unless another process drives it.

    WORDS are allow or deny for an approval; retry, done or failed for a call in doubt; go-on or stop for a prompt that
    was cut; for a question any text (`-` reads it from standard input), and for several questions a text each.
    """
    from forkwood.surfaces.cli.hearing import hear
    from forkwood.surfaces.cli.typed import texts_of

    given = texts_of(words, call.terminal)
    answered = call.runtime.answer(interaction, given, remember=remember, key=call.key)
    if no_run:
        call.give(answered, lambda: call.terminal.hint(answered_words(answered)))
        return 0
    call.remark(answered_words(answered))
    return hear(call, call.runtime.going_on([answered.run]), answered.conversation)


@verb("grants", key=True)
@click.option("--revoke", type=GRANT, metavar="ID", help="End this one: its tool asks again.")
def grants(call: Call, *, revoke: str | None) -> None:
    """List the yeses that you gave beforehand and that hold: each for one tool, in one run or conversation.

    Without -c: of all conversations.
    """
    if revoke is not None:
        ended = call.runtime.revoke(revoke, key=call.key)
        call.remark(f"Revoked {ending(ended.id)}: {visible_line(ended.tool)} asks again.")
    found = call.runtime.grants(call.named)
    call.give(found, lambda: draw_grants(found, call.terminal.now_ms()))
    if not found and revoke is None:
        call.remark("No grant holds: every write and every execute asks, as the conversation is set.")


def _whereabouts(call: Call, found: Sequence[Interaction]) -> dict[Id, Whereabouts]:
    """Where each of the runs stands that wait: whoever answers from another terminal sees what it is about."""
    wanted = {asked.run: asked.conversation for asked in found}
    tips = {run.id: run.tip for here in {*wanted.values()} for run in call.runtime.runs(conversation=here)}
    return {
        run: Whereabouts(title=call.runtime.conversation(here).title, said=_said_last(call, here, tips[run]))
        for run, here in wanted.items()
    }


def _said_last(call: Call, conversation: Id, tip: str | None) -> str:
    entries = [] if tip is None else call.runtime.path(tip, conversation=conversation)
    return next((entry.node.text for entry in reversed(entries) if entry.node.role == "user"), "")
