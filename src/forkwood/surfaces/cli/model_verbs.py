"""Commands about models: what can be reached now, which one answers by default, its weights, its keys."""

from __future__ import annotations

import click

from forkwood.domain.errors import Misused
from forkwood.surfaces.cli.desk import Call
from forkwood.surfaces.cli.named import MODEL, WORDS
from forkwood.surfaces.cli.options import verb_group
from forkwood.surfaces.cli.screen_text import visible_line
from forkwood.surfaces.cli.waiting import progress, waiting
from forkwood.surfaces.cli.words import bytes_of

ENVIRONMENT = "FORKWOOD_MODEL"
"""What counts before config.toml where it is set."""
NONE_REACHED = "No model can be reached: start a local server, set a key, or forkwood models pull."


@verb_group("models")
def models(call: Call) -> None:
    """List the models that can be reached now: local servers, keys that are there, the embedded one."""
    from forkwood.surfaces.cli.show_house import draw_models

    with waiting("Asking servers and providers", call.terminal):
        found, notes = call.runtime.survey(remote=True)
    for note in dict.fromkeys(notes):
        call.terminal.note(visible_line(note))
    if found or call.as_json:
        call.give(found, lambda: draw_models(found, call.terminal.pen))
    else:
        call.terminal.say(call.terminal.hint(NONE_REACHED))


@models.verb("use", key=True)
@click.argument("model", metavar="M", type=MODEL)
def use(call: Call, *, model: str) -> None:
    """Let M answer from now on, wherever a conversation does not say otherwise."""
    chosen = call.runtime.models_use(model, key=call.key)
    call.give(
        {"model": chosen},
        lambda: f"{visible_line(chosen)} answers from now on, where a conversation does not say otherwise.",
    )
    if said := call.terminal.environ.get(ENVIRONMENT):
        call.terminal.note(f"{ENVIRONMENT} is set: {visible_line(said)} answers for as long as it is.")


@models.verb("pull", key=True)
def pull(call: Call) -> None:
    """Fetch the embedded model's weights, once; nothing else ever needs the network."""
    with progress("Fetching the weights", call.terminal) as told:
        got = call.runtime.models_pull(told, key=call.key)
    state = "were here already" if got.already else "are here now"
    call.give(got, lambda: f"The weights {state}: {visible_line(str(got.path))} ({bytes_of(got.bytes)})")


@models.verb("key", key=True)
@click.argument("provider", type=WORDS)
def key(call: Call, *, provider: str) -> None:
    """Keep a key of PROVIDER, asked for here or read from standard input; never given as an argument."""
    if not call.is_repeat:
        call.runtime.check_provider(provider)
    value = _secret(call, provider)
    kept = call.runtime.models_key(provider, value, key=call.key)
    call.give(
        {"provider": provider, "reference": kept}, lambda: f"Kept. It is named {visible_line(kept)} in config.toml."
    )


def _secret(call: Call, provider: str) -> str:
    """What a person types unseen, or one line of standard input. Raises Misused for nothing."""
    from forkwood.domain import limits
    from forkwood.surfaces.cli.typed import read_within, text_from

    if call.terminal.stdin.isatty():
        value: str = click.prompt(f"Key of {visible_line(provider)}", hide_input=True, err=True)
    else:
        found = read_within(
            call.terminal.bytes_in,
            limits.secret_bytes_max,
            limit="secret_bytes_max",
            hint="nothing was kept; a key is one line, as the provider shows it",
        )
        value = text_from(found, "the key")
    if not value.strip():
        raise Misused("The key is empty", hint=f"forkwood models key {provider} < FILE, or type it when asked")
    return value.strip()
