"""Commands about the house itself: doctor, stats, config, completion."""

from __future__ import annotations

import click
from msgspec import to_builtins

from forkwood.surfaces.cli.desk import Call
from forkwood.surfaces.cli.named import WORDS
from forkwood.surfaces.cli.options import listing, verb, verb_group
from forkwood.surfaces.cli.screen_text import visible_line
from forkwood.surfaces.cli.waiting import waiting

SHELLS = ("bash", "zsh", "fish")
STORE_HAS_PROBLEMS = 7


@verb("doctor", conversation=False)
@click.option("--repair", is_flag=True, help="Make indexes anew; save what a broken file still holds.")
def doctor(call: Call, *, repair: bool) -> int:
    """Derive everything in the store anew and report what differs. Exit code 7 where something does."""
    from forkwood.runtime import Runtime
    from forkwood.surfaces.cli.show_house import draw_report

    with waiting("Examining the store", call.terminal):
        report = Runtime.doctor(call.desk.settings, via="cli", repair=repair)
    call.give(report, lambda: call.terminal.hint(draw_report(to_builtins(report), call.terminal.pen.inks)))
    return 0 if report.ok else STORE_HAS_PROBLEMS


@verb("stats", conversation=False)
def stats(call: Call) -> None:
    """Say how many conversations, messages and runs there are, and how much room they take."""
    from forkwood.surfaces.cli.show_house import draw_stats

    with waiting("Counting", call.terminal):
        found = call.runtime.stats()
    call.give(found, lambda: draw_stats(found))


@verb_group("config")
def config(call: Call) -> None:
    """Read and write config.toml. Keys are written with dots: profiles.NAME.model"""
    ctx = click.get_current_context()
    call.give(listing(ctx.command, ctx), ctx.get_help)


@config.verb("get")
@click.argument("key", type=WORDS, required=False)
def get(call: Call, *, key: str | None) -> None:
    """Show the value of KEY that holds now; without KEY, everything."""
    from forkwood.surfaces.cli.show_house import draw_value

    found = call.runtime.config_get(key)
    call.give(found, lambda: draw_value(found))


@config.verb("set", key=True)
@click.argument("key", type=WORDS)
@click.argument("value", type=WORDS, required=False)
@click.option("--unset", is_flag=True, help="Take the line out instead.")
def set_(call: Call, *, key: str, value: str | None, unset: bool) -> None:
    """Write VALUE for KEY into config.toml; comments and order stay."""
    from forkwood.surfaces.cli.show_house import draw_value

    if (value is None) != unset:
        raise click.UsageError("say either VALUE or --unset", click.get_current_context())
    call.runtime.config_set(key, value, key=call.key)
    now = call.runtime.config_get(key)
    call.give(now, lambda: f"{visible_line(key)} is now {draw_value(now)}")


@verb("completion", conversation=False)
@click.argument("shell", type=click.Choice(SHELLS))
def completion(call: Call, *, shell: str) -> None:
    """Print the script that completes forkwood in SHELL.

    \b
    bash   eval "$(forkwood completion bash)"     in ~/.bashrc
    zsh    eval "$(forkwood completion zsh)"      in ~/.zshrc
    fish   forkwood completion fish | source      in ~/.config/fish/config.fish
    """
    from click.shell_completion import get_completion_class

    from forkwood.surfaces.cli.app import forkwood

    kind = get_completion_class(shell)
    assert kind is not None
    source = kind(forkwood, {}, "forkwood", "_FORKWOOD_COMPLETE").source()
    if call.as_json:
        call.terminal.json({"shell": shell, "script": source})
    else:
        call.terminal.say(source)
