"""Any words at all: whatever a command line is made of, it ends with a code of the contract and says so in its form."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias
from unittest import mock

import click
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from forkwood.domain import choices as choices_of_set
from forkwood.surfaces.cli import named
from forkwood.surfaces.cli.app import COMMANDS, forkwood
from tests.surfaces.cli.desks import Ran, run_cli, succeed
from tests.surfaces.cli.scripts import echoing

CODES = frozenset({0, 1, 2, 3, 4, 5, 6, 7, 130})
ELSEWHERE = frozenset({("models", "pull")})
"""Commands that go out for something: a test does not."""
ACTING = "\x1b\x9b\u202e\u2066\u200b\r\0"
"""What would act on a screen, or could not be seen there."""

NODES = ("@", "@~1", "#1", "#3", "#4", "gem")
ODD = (
    *(
        "@~",
        "@~-1",
        "@~99",
        "@~9999999999999999999999",
        "#0",
        "#-1",
        "#99999999999999999999999",
        "@~1..@",
        "RUN",
        "CONV",
    ),
    *("", " ", "-", "--", "---", "-x", "--x", "--json", "-c", "-h", "~", "x~1", "..", "@..", "@..@", "..@", "1..1..1"),
    *("\0", "a\0b", "\x1b[2J", "\x9b", "\u202eevil", "a\u200bb", "\ud83d", "a\udcff", "\ufeff", "\u2028", "\r\n", "\t"),
    *("0", "-1", "1e999", "nan", "inf", "1" * 5_000, "9223372036854775808", "[" * 5_000, '{"a":' * 200, "null", "{}"),
    *("x" * 100_000, "ü" * 50_000, "a " * 50_000, "a." * 5_000, "👩‍👩‍👧‍👦", "%s%n", "{0}", "\\", "'", '"', "$(x)", "*"),
    *("scripted:", "scripted:/no/such/file", "http://", "http://[", "nosuch:model", "embedded:", "a:b:c", "file:/x"),
    *("title", "model", "system", "tools", "-ask_user", "+x", "effort", "context", "tags", "providers.p.url", "yes"),
    *(".", "/", "/proc/self/mem", "/dev/null", "/no/such", "a" * 300, "profiles.x.model", "timeouts.stall", "user"),
)
WORD = st.one_of(st.sampled_from(ODD), st.text(max_size=12))

Path_: TypeAlias = tuple[str, ...]


def below(name: str, command: click.Command) -> Iterator[tuple[Path_, click.Command]]:
    """COMMAND under its NAME, and all commands below it."""
    yield (name,), command
    if isinstance(command, click.Group):
        for inner, made in command.commands.items():
            yield (name, inner), made


def every() -> dict[Path_, click.Command]:
    """Every command that a test may give, by the words that name it."""
    ctx = click.Context(forkwood)
    found = ((name, forkwood.get_command(ctx, name)) for name in COMMANDS)
    all_of_them = (pair for name, command in found if command for pair in below(name, command))
    return {path: command for path, command in all_of_them if path not in ELSEWHERE}


EVERY = every()


def fitting(param: click.Parameter) -> tuple[str, ...]:
    """Words that PARAM can take, where its kind has such."""
    match param.type:
        case click.Choice(choices=choices):
            return tuple(choices)
        case named.Name(name="node"):
            return NODES
        case named.Name(name="key"):
            return choices_of_set.NAMES
        case named.Name(name="conv" | "run" as kind):
            return (kind.upper(),)
        case _:
            return ("word", "-", "2")


@st.composite
def words_for(draw: st.DrawFn, param: click.Parameter) -> str:
    """A word for PARAM: mostly one that fits its kind, else any."""
    return draw(st.sampled_from(fitting(param)) if draw(st.integers(0, 3)) else WORD)


@st.composite
def command_lines(draw: st.DrawFn) -> list[str]:
    """A command with some of its options, valued or not, and words: as many as it takes, or one fewer or more."""
    path = draw(st.sampled_from(sorted(EVERY)))
    arguments = [param for param in EVERY[path].params if isinstance(param, click.Argument)]
    words = [draw(words_for(argument)) for argument in arguments]
    pieces = [[word] for word in draw(st.sampled_from([words, words, words, words[:-1], [*words, "more"]]))]
    options = [param for param in EVERY[path].params if isinstance(param, click.Option) and "--help" not in param.opts]
    for option in draw(st.lists(st.sampled_from(options), max_size=3)):
        name = draw(st.sampled_from(option.opts))
        pieces.append([name] if option.is_flag else [name, draw(words_for(option))])
    if draw(st.booleans()):
        pieces = draw(st.permutations(pieces))
    return [*path, *(word for piece in pieces for word in piece)]


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with something of everything that can be named."""
    folder = tmp_path_factory.mktemp("words")
    environ = {"FORKWOOD_HOME": str(folder / "home"), "FORKWOOD_MODEL": echoing(folder), "FORKWOOD_LOCAL_SERVERS": ""}
    for words in (
        ("new", "--title", "Other"),
        ("send", "elsewhere", "--no-run"),
        ("new", "--title", "Trees"),
        ("send", "Hello?"),
        ("edit", "@~1", "Hello there?"),
        ("label", "@", "gem"),
        ("drop", "@~1"),
        ("send", "More?"),
        ("undo",),
        ("send", "Most?"),
        ("hide", "@~2"),
    ):
        succeed(*words, environ=environ)
    for kind, words in (("CONV", ("ls", "--json")), ("RUN", ("runs", "--json"))):
        (folder / kind).write_text(succeed(*words, environ=environ).value[-1]["id"])
    return folder


def given_in_a_copy(furnished: Path, words: list[str], stdin: bytes) -> Ran:
    """What comes of WORDS in a home of their own, and in a folder where nothing else stands."""
    ids = {kind: (furnished / kind).read_text() for kind in ("CONV", "RUN")}
    with TemporaryDirectory() as here:
        shutil.copytree(furnished / "home", Path(here, "home"))
        environ = {"FORKWOOD_HOME": str(Path(here, "home")), "FORKWOOD_MODEL": f"scripted:{furnished}/script.json"}
        with pytest.MonkeyPatch.context() as patch, mock.patch.dict("os.environ", environ):
            patch.chdir(here)
            return run_cli(
                *(ids.get(word, word) for word in words), stdin=stdin, environ={**environ, "FORKWOOD_LOCAL_SERVERS": ""}
            )


@given(command_lines(), st.sampled_from([b"", b"words\n", b"a\xff", b"\0", b"/help\n/nosuch\n\x1b\n//x\n"]))
@example(["ls", "--", "--json"], b"")
@example(["send", "--attach", "a\0b"], b"")
@example(["config", "set", "providers.p.extra_body.a", "[" * 5_000], b"")
def test_any_words_end_as_the_contract_says(furnished: Path, words: list[str], stdin: bytes) -> None:
    ran = given_in_a_copy(furnished, words, stdin)
    assert ran.code in CODES
    said = ran.out + ran.err
    if "--json" in words:
        return
    assert not [acting for acting in ACTING if acting in said]


@given(command_lines())
def test_whatever_goes_wrong_is_json_where_that_is_wanted(furnished: Path, words: list[str]) -> None:
    ran = given_in_a_copy(furnished, [words[0], "--json", *words[1:]], b"")
    assert ran.code in CODES
    if words[0] != "chat":
        lines = [json.loads(line) for line in ran.out.split("\n") if line]
        assert ran.code == 0 or "error" in lines[-1] or lines[-1]["type"] == "result" or words[0] == "doctor"
