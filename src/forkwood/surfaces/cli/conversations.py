"""Commands about whole conversations: new, ls, use, set, fork, profiles."""

from __future__ import annotations

import click
from msgspec import to_builtins

from forkwood.surfaces.cli.desk import Call
from forkwood.surfaces.cli.named import CONVERSATION, MODEL, NODE, PROFILE, SETTING, WORDS
from forkwood.surfaces.cli.options import verb
from forkwood.surfaces.cli.show_lists import conversation_line, draw_conversations, draw_profiles, draw_tools
from forkwood.surfaces.cli.show_setting import setting_words
from forkwood.surfaces.cli.typed import text_of
from forkwood.surfaces.cli.words import count_of


@verb("new", conversation=False, key=True)
@click.option("--title", type=WORDS, metavar="T", help="Its title; else its first line becomes one.")
@click.option("--model", type=MODEL, metavar="M", help="Who answers.")
@click.option("--system", type=WORDS, metavar="S", help="The system prompt; - reads standard input.")
@click.option("--profile", type=PROFILE, metavar="P", help="Start as this profile of config.toml says.")
def new(call: Call, *, title: str | None, model: str | None, system: str | None, profile: str | None) -> None:
    """Begin a conversation and make it the current one."""
    said = None if system is None else text_of(system, call.terminal)
    made = call.runtime.new(title=title, model=model, system=said, profile=profile, key=call.key)
    call.give(made, lambda: f"New: {conversation_line(made, call.terminal.now_ms())}")


@verb("ls", conversation=False)
@click.option("--archived", is_flag=True, help="Those that were put aside with: set archived yes.")
def ls(call: Call, *, archived: bool) -> None:
    """List the conversations, newest first."""
    found = call.runtime.listed(archived=archived)
    if found or call.as_json:
        call.give(found, lambda: draw_conversations(found, _current(call), call.terminal.pen, call.terminal.now_ms()))
    else:
        call.terminal.say(call.terminal.hint(_none_listed(call, archived=archived)))


@verb("use", conversation=False, key=True)
@click.argument("conv", type=CONVERSATION)
def use(call: Call, *, conv: str) -> None:
    """Make CONV the conversation that is meant when none is named."""
    now = call.runtime.use(conv, key=call.key)
    call.give(now, lambda: f"Now: {conversation_line(now, call.terminal.now_ms())}")


class Switching(click.Command):
    """A command that takes `tools -NAME`: what follows `tools` is a value, whatever it begins with."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse ARGS with `tools` and its value behind all options."""
        at = args.index("tools") if "tools" in args and "--" not in args else len(args)
        switch = args[at : at + 2]
        if len(switch) == 2:
            args = [*args[:at], *args[at + 2 :], "--", *switch]
        return super().parse_args(ctx, args)


@verb("set", key=True, kind=Switching)
@click.argument("key_name", metavar="KEY", type=SETTING)
@click.argument("value", metavar="VALUE", type=WORDS)
def set_(call: Call, *, key_name: str, value: str) -> None:
    """Change a setting of the conversation, for every branch of it.

    \b
    KEY          VALUE
    title        its name in lists
    model        who answers: PROVIDER:NAME
    system       the system prompt (- reads standard input)
    approvals    ask, allow-edits, allow-all
    tools        +NAME or -NAME: switch a tool on or off
    temperature, top_p, max_output, seed, effort, context
                 how the model answers
    pinned, archived   yes or no
    tags, folder       to find it again

    An empty VALUE ("") clears it. What it was stays readable in the log.
    """
    said = text_of(value, call.terminal) if key_name == "system" else value
    change = call.runtime.set(key_name, said, conversation=call.conversation, key=call.key)
    call.give(change.conversation, lambda: setting_words(change))


@verb("tools")
def tools(call: Call) -> None:
    """List the tools: on or off in this conversation, what a call does, whether it asks you, and its arguments."""
    found = call.runtime.tools(conversation=call.conversation)
    call.give(found, lambda: draw_tools(found))
    call.remark("forkwood set tools -NAME switches one off, +NAME on.")


@verb("fork", key=True)
@click.argument("node", type=NODE)
@click.option("--title", type=WORDS, metavar="T", help="The new conversation's title.")
def fork(call: Call, *, node: str, title: str | None) -> None:
    """Begin a conversation that shares the path to NODE, and make it current."""
    made = call.runtime.fork(node, conversation=call.conversation, title=title, key=call.key)
    call.give(made, lambda: f"Forked, and current now: {conversation_line(made, call.terminal.now_ms())}")


@verb("profiles", conversation=False)
def profiles(call: Call) -> None:
    """List the profiles of config.toml: models with parameters, system prompt and tool switches."""
    found = call.runtime.profiles()
    rows = [{"name": name, **to_builtins(profile)} for name, profile in found.items()]
    call.give(rows, lambda: draw_profiles(found))


def _none_listed(call: Call, *, archived: bool) -> str:
    """That no conversation is listed, and where those are that there are."""
    other, hidden = call.runtime.listed(archived=not archived), call.runtime.trash().conversations
    elsewhere = [
        f"{count_of(len(found), 'conversation')} {where}"
        for found, where in (
            (other, "not archived: forkwood ls" if archived else "archived: forkwood ls --archived"),
            (hidden, "in the trash: forkwood trash"),
        )
        if found
    ]
    if elsewhere:
        return f"No conversation is {'archived' if archived else 'listed'}; {', '.join(elsewhere)}."
    return "There are no conversations yet: forkwood chat begins one."


def _current(call: Call) -> str | None:
    from forkwood.domain.errors import NotFound

    try:
        return call.runtime.conversation().id
    except NotFound:
        return None
