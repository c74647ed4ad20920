"""`forkwood chat`: a conversation line by line, on a terminal with history and completion, or through a pipe."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import assert_never

import click

from forkwood.domain import limits
from forkwood.domain.errors import ForkwoodError, LimitExceeded, Misused, NotFound
from forkwood.domain.ids import Id, ending
from forkwood.surfaces.cli import failures
from forkwood.surfaces.cli.chat_lines import LEAVING, Help, Leave, Message, Nothing, Verb, read_line
from forkwood.surfaces.cli.desk import Call, Desk
from forkwood.surfaces.cli.named import MODEL, PROFILE
from forkwood.surfaces.cli.options import verb
from forkwood.surfaces.cli.screen_text import visible_line
from forkwood.surfaces.cli.show_path import draw_last
from forkwood.surfaces.cli.terminal import Terminal
from forkwood.surfaces.cli.typed import text_from
from forkwood.surfaces.cli.waiting import waiting

MOVING = frozenset({"new", "use", "fork"})
"""Verbs after which another conversation is the current one: the chat goes along."""


@verb("chat")
@click.option("--new", "anew", is_flag=True, help="Begin a conversation, rather than going on with the current one.")
@click.option("--model", type=MODEL, metavar="M", help="Who answers, from here on.")
@click.option("--profile", type=PROFILE, metavar="P", help="Begin a conversation as this profile says.")
def chat(call: Call, *, anew: bool, model: str | None, profile: str | None) -> int:
    """Talk, line by line. A line that begins with / is a command; /help lists them, Ctrl-D leaves."""
    desk = call.desk
    desk.terminal.in_chat = True
    desk.conversation = _place_to_talk(call, anew=anew, model=model, profile=profile)
    _greet(desk)
    left = call.runtime.left(desk.conversation)
    if left:
        desk.terminal.note("A run was left at work here: its model is asked again, and what had come is kept beside.")
        failures.told(desk.terminal, lambda: _hear(call, left), as_json=call.as_json)
    attend(call)
    return talk(call, lines_of(desk))


def talk(call: Call, lines: Iterator[str]) -> int:
    """Do what each of LINES means, until they end or one leaves; the exit code of the last that did anything."""
    code = 0
    for line in lines:
        done = failures.told(call.terminal, partial(_do, call, line), as_json=call.as_json)
        if done is None:
            break
        code = attend(call) if done == failures.WAITING else done
        call.desk.tell_notices()
        if call.terminal.holds_line:
            call.terminal.note("What you typed meanwhile comes next.")
    return 0 if call.terminal.is_conversation else code


def attend(call: Call) -> int:
    """Ask the person for what waits in this conversation, and let its runs go on; the exit code.

    A pipe is asked nothing: who reads it is told how to answer.
    """
    if not call.terminal.is_conversation:
        return failures.WAITING
    from forkwood.surfaces.cli.asking import tell_open

    runtime = call.runtime
    here = runtime.conversation(call.desk.conversation).id
    code = failures.told(call.terminal, partial(_ask_in_place, call, here), as_json=call.as_json)
    failures.told(call.terminal, partial(tell_open, runtime, here, call.terminal))
    return code


def _ask_in_place(call: Call, here: Id) -> int:
    """Until nothing waits any more, or the person leaves something open."""
    from forkwood.surfaces.cli.asking import ask_all
    from forkwood.surfaces.cli.chat_input import typed_answer

    runtime, code = call.runtime, 0
    while runtime.pending(here):
        is_all = ask_all(runtime, here, call.terminal, typed_answer)
        if left := runtime.left(here):
            code = _hear(call, left)
        if not is_all:
            return failures.WAITING
    return code


def _do(call: Call, line: str) -> int | None:
    """Do what LINE means; its exit code, None to leave."""
    from forkwood.surfaces.cli.app import carry_out, forkwood

    match read_line(line, forkwood):
        case Nothing():
            return 0
        case Leave():
            return None
        case Help():
            call.terminal.note(help_text())
            return 0
        case Message(text=text) if text.strip() in LEAVING and call.terminal.is_conversation:
            call.terminal.note(f"/{text.strip()} or Ctrl-D leaves; /send {text.strip()} says the word to the model.")
            return 0
        case Message(text=text):
            return _say(call, text)
        case Verb(name="answer", words=()) if _waits_for_person(call):
            return failures.WAITING  # it is asked again then
        case Verb(name=name, words=words):
            code = carry_out((name, *(["--json"] if call.as_json else []), *words), call.desk)
            if name in MOVING and code == 0:
                call.desk.conversation = call.runtime.conversation().id
            return code
        case meaning:
            assert_never(meaning)


def _waits_for_person(call: Call) -> bool:
    """Whether a bare /answer can mean that what waits is asked again."""
    return call.terminal.is_conversation and bool(call.runtime.pending(call.desk.conversation))


def _say(call: Call, text: str) -> int:
    from forkwood.surfaces.cli.talk import answered, finish_left, tell_who

    here = Call(call.desk, conversation=call.desk.conversation, key=None, as_json=call.as_json)
    finish_left(here)
    started = call.runtime.send(text, conversation=here.conversation)
    tell_who(here, started, ())
    return answered(here, started)


def _hear(call: Call, runs: Sequence[Id]) -> int:
    from forkwood.surfaces.cli.hearing import hear

    assert call.desk.conversation is not None
    return hear(call, runs, call.desk.conversation)


def help_text() -> str:
    """Every verb with its summary, and how to type here."""
    from forkwood.surfaces.cli.app import SECTIONS
    from forkwood.surfaces.cli.chat_lines import ALIASES, ELSEWHERE

    lines = ["What you type goes to the model. Alt+Enter begins a new line, Ctrl-C ends a reply, Ctrl-D leaves.", ""]
    for title, section in SECTIONS.items():
        lines.append(title)
        lines += [f"  /{listed.name:<11} {listed.summary}" for listed in section if listed.name not in ELSEWHERE]
    lines.append("Short forms")
    lines += [f"  /{name:<11} /{' '.join(whole)}" for name, whole in ALIASES.items()]
    lines.append(f"  /{'quit':<11} Leave; /exit, /q and Ctrl-D do too.")
    lines += ["", "/VERB --help says more. A message that begins with a slash takes two: //"]
    return "\n".join(lines)


def lines_of(desk: Desk) -> Iterator[str]:
    """What is typed, line by line: by a person at a screen, else from standard input."""
    if desk.terminal.is_conversation:
        from forkwood.surfaces.cli.chat_input import typed_lines

        return typed_lines(desk)
    return piped_lines(desk.terminal)


def piped_lines(terminal: Terminal) -> Iterator[str]:
    """The lines of standard input. One that is no text or too long is told and left out."""
    while line := terminal.bytes_in.readline(limits.message_bytes_max + 2):
        try:
            yield text_from(_whole(line, terminal), "the line")
        except ForkwoodError as error:
            failures.tell(error, terminal, as_json=False)


def _whole(line: bytes, terminal: Terminal) -> bytes:
    """LINE, if it ended within bounds. Raises LimitExceeded; the rest of the line is read, counted and not kept."""
    if len(line) <= limits.message_bytes_max + 1:
        return line
    got = len(line)
    while not line.endswith(b"\n") and (line := terminal.bytes_in.readline(limits.MIB)):
        got += len(line)
    raise LimitExceeded(
        "The bytes of the line",
        limit="message_bytes_max",
        bound=limits.message_bytes_max,
        got=got,
        hint="a long text goes along as a file: /send --attach FILE TEXT",
    )


def _place_to_talk(call: Call, *, anew: bool, model: str | None, profile: str | None) -> str:
    if call.named is not None and (anew or profile is not None):
        raise Misused(
            "-c goes on with a conversation, --new and --profile begin one: both cannot be",
            hint="leave out -c, or go on with it as it is; forkwood set changes what a conversation has",
        )
    runtime = call.runtime
    if call.conversation is not None:
        here = runtime.use(call.conversation)
    elif anew or profile is not None:
        return runtime.new(model=model, profile=profile).id
    else:
        try:
            here = runtime.conversation()
        except NotFound:
            return runtime.new(model=model).id
    if model is not None:
        runtime.set("model", model, conversation=here.id)
    return here.id


def _greet(desk: Desk) -> None:
    """Say who answers and why, where one is, and how to change either."""
    here = desk.runtime.conversation(desk.conversation)
    title = f"  {visible_line(here.title)}" if here.title else ""
    desk.terminal.note(f"Conversation {ending(here.id)}{title}")
    entries = desk.runtime.path(conversation=here.id) if here.head else []
    if entries:
        desk.terminal.note(draw_last(entries, desk.terminal.pen))
    try:
        with waiting("Looking for a model", desk.terminal):
            answering = desk.runtime.answering(conversation=here.id)
    except ForkwoodError as error:
        failures.tell(error, desk.terminal, as_json=False)
    else:
        for note in answering.notes:
            desk.terminal.note(visible_line(note))
        desk.terminal.note(f"{visible_line(answering.model)} answers: {visible_line(answering.why)}.")
    desk.terminal.note("/model NAME changes who answers, /models lists who can, /help the rest. Ctrl-D leaves.")
