"""The command `forkwood`: the table of its commands, each loaded when it is given, and the frame around all of them."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

import click
from msgspec import Struct

from forkwood.domain.errors import Misused
from forkwood.surfaces.cli import failures
from forkwood.surfaces.cli.desk import Desk
from forkwood.surfaces.cli.options import HELP, HelpAsked, wants_json
from forkwood.surfaces.cli.screen_text import visible_line


class Listed(Struct, frozen=True):
    """One command: its name, the room and name of its code, and the summary that the list of commands shows."""

    name: str
    room: str
    code: str
    summary: str


SECTIONS: dict[str, tuple[Listed, ...]] = {
    "Talk": (
        Listed("chat", "chat", "chat", "Talk, line by line."),
        Listed("send", "talk", "send", "Say something and hear the reply."),
        Listed("edit", "talk", "edit", "Say a message anew, beside the old one."),
        Listed("retry", "talk", "retry", "Get another reply in NODE's place."),
        Listed("resume", "talk", "resume", "Let a run that stopped go on."),
        Listed("cancel", "talk", "cancel", "End a run, keeping what came."),
        Listed("runs", "talk", "runs", "List the runs, newest first."),
        Listed("queue", "queueing", "queue", "List what waits for a run; change it, or take it out."),
        Listed("pending", "answering", "pending", "List what waits for you."),
        Listed("answer", "answering", "answer", "Answer what waits for you."),
        Listed("grants", "answering", "grants", "List what runs without asking; revoke it."),
        Listed("memory", "remembering", "memory", "List what is remembered; accept, state, forget."),
    ),
    "Read": (
        Listed("path", "reading", "path", "Show the messages from the beginning to NODE."),
        Listed("tree", "reading", "tree", "Draw every branch of the conversation."),
        Listed("branches", "reading", "branches", "List the leaves."),
        Listed("show", "reading", "show", "Show one message whole."),
        Listed("history", "reading", "history", "Show every version of a message."),
        Listed("why", "reading", "why", "Say what a reply was made from, and prove it."),
        Listed("search", "reading", "search", "Find messages of every branch."),
        Listed("log", "reading", "log", "List what was done."),
    ),
    "Shape": (
        Listed("switch", "tree_verbs", "switch", "Move the head to another branch."),
        Listed("drop", "tree_verbs", "drop", "Take a message out of this branch."),
        Listed("graft", "tree_verbs", "graft", "Carry messages to here."),
        Listed("hide", "tree_verbs", "hide", "Leave a message or conversation out of sight."),
        Listed("unhide", "tree_verbs", "unhide", "Take hide back."),
        Listed("trash", "reading", "trash", "List what is hidden."),
        Listed("label", "tree_verbs", "label", "Give a message a name."),
        Listed("unlabel", "tree_verbs", "unlabel", "Take a label away."),
        Listed("undo", "undoing", "undo", "Take back the last act."),
        Listed("redo", "undoing", "redo", "Do again what undo took back."),
        Listed("summarize", "summarizing", "summarize", "Let a summary stand for what was said first."),
        Listed("purge", "tree_verbs", "purge", "Destroy messages or conversations, for good."),
    ),
    "Conversations": (
        Listed("new", "conversations", "new", "Begin a conversation."),
        Listed("ls", "conversations", "ls", "List the conversations, newest first."),
        Listed("use", "conversations", "use", "Make a conversation the current one."),
        Listed("fork", "conversations", "fork", "Begin a conversation that shares a path."),
        Listed("set", "conversations", "set_", "Change a setting of the conversation."),
        Listed("tools", "conversations", "tools", "List the tools, and which are on here."),
        Listed("profiles", "conversations", "profiles", "List the profiles."),
    ),
    "House": (
        Listed("models", "model_verbs", "models", "List, choose, fetch models; keep keys."),
        Listed("config", "upkeep", "config", "Read and write config.toml."),
        Listed("doctor", "upkeep", "doctor", "Check the store, and repair its indexes."),
        Listed("stats", "upkeep", "stats", "Say how much there is."),
        Listed("completion", "upkeep", "completion", "Print the shell's completion script."),
    ),
}
COMMANDS = {listed.name: listed for section in SECTIONS.values() for listed in section}


OTHER_WORDS = {
    "carry": "graft",
    "continue": "resume",
    "stop": "cancel",
    "list": "ls",
    "delete": "hide",
    "remove": "drop",
    "rm": "drop",
    "checkout": "switch",
    "revert": "undo",
    "regenerate": "retry",
    "compact": "summarize",
    "find": "search",
    "branch": "fork",
    "steer": "send --steer",
}
"""What other programs call a thing, and which command does it here."""


class Forkwood(click.Group):
    """The group of all commands. Only the one that is given is imported."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click asks so
        """Every name, in the order of the table."""
        return list(COMMANDS)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that ARGS begin with. Raises Misused for none, with the one that may be meant."""
        if args and not args[0].startswith("-") and args[0] not in COMMANDS:
            raise Misused(f"No such command '{visible_line(args[0])}'", hint=f"{_meant(args[0])}forkwood --help")
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click asks so
        """The command of that name, loaded now."""
        listed = COMMANDS.get(cmd_name)
        if listed is None:
            return None
        command: click.Command = getattr(import_module(f"forkwood.surfaces.cli.{listed.room}"), listed.code)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click asks so
        """The commands by section, from the table alone."""
        for title, section in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(listed.name, listed.summary) for listed in section], col_max=12)


@click.group(
    "forkwood",
    cls=Forkwood,
    invoke_without_command=True,
    add_help_option=False,
    context_settings={"max_content_width": 100},
    epilog="A NODE is a label, @ (the head), @~2 (two before it), '#12', an id or the end of one. "
    "forkwood COMMAND --help says more. Exit codes: 0 done, 1 the run failed, 2 usage, 3 not found, 4 refused, "
    "5 waiting for an answer, 6 over a limit, 7 the store cannot be used, 130 interrupted.",
)
@click.option("--version", is_flag=True, help="Say which version this is.")
@click.option("--json", "as_json", is_flag=True, hidden=True)
@click.pass_context
def forkwood(ctx: click.Context, *, version: bool, as_json: bool) -> None:
    """A local AI assistant: every edit is a branch, and every answer can say what it was made from."""
    if ctx.invoked_subcommand is not None:
        return
    desk = ctx.ensure_object(Desk)
    if version:
        _say_version(desk, as_json=as_json)
    elif desk.terminal.is_conversation and not as_json:
        ctx.exit(carry_out(["chat"], desk))
    elif as_json:
        desk.terminal.json(_listing())
    else:
        desk.terminal.say(ctx.get_help())


forkwood.params.append(HELP)


def _meant(word: str) -> str:
    from difflib import get_close_matches

    near = OTHER_WORDS.get(word) or next(iter(get_close_matches(word, COMMANDS, n=1)), "")
    return f"perhaps forkwood {near}; all of them: " if near else ""


def carry_out(arguments: Sequence[str], desk: Desk) -> int:
    """Carry out one command line, telling whatever goes wrong; its exit code."""
    as_json = wants_json(arguments, forkwood)
    code = failures.told(desk.terminal, lambda: _main(arguments, desk), as_json=as_json)
    return failures.unwritten(desk.terminal, code)


def _main(arguments: Sequence[str], desk: Desk) -> int:
    try:
        code = forkwood.main(args=list(arguments), prog_name="forkwood", standalone_mode=False, obj=desk)
    except HelpAsked as asked:
        _explain(asked.text, desk, as_json=wants_json(arguments, forkwood))
        return 0
    return code if isinstance(code, int) else 0


def _explain(text: str, desk: Desk, *, as_json: bool) -> None:
    if as_json:
        desk.terminal.json({"help": text})
    else:
        desk.terminal.say(text)


def _listing() -> dict[str, list[dict[str, str]]]:
    """Every command, in the order of the table, as JSON has them."""
    rows = ((title, listed) for title, section in SECTIONS.items() for listed in section)
    return {"commands": [{"name": row.name, "section": title, "summary": row.summary} for title, row in rows]}


def _say_version(desk: Desk, *, as_json: bool) -> None:
    from forkwood import __version__

    if as_json:
        desk.terminal.json({"version": __version__})
    else:
        desk.terminal.say(f"forkwood {__version__}")
