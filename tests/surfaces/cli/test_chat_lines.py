"""What a line of a chat means."""

from __future__ import annotations

import pytest

from forkwood.domain.errors import Misused
from forkwood.surfaces.cli.app import forkwood
from forkwood.surfaces.cli.chat_lines import Help, Leave, Line, Message, Nothing, Verb, read_line

LINES: tuple[tuple[str, Line], ...] = (
    ("hello there", Message("hello there")),
    ("  kept as typed ", Message("  kept as typed ")),
    ("-", Message("-")),
    ("//etc/hosts is a file", Message("/etc/hosts is a file")),
    ("   ", Nothing()),
    ("", Nothing()),
    ("/help", Help()),
    ("/?", Help()),
    ("/", Help()),
    ("/help edit", Verb("edit", ("--help",))),
    ("/quit", Leave()),
    ("/exit", Leave()),
    ("/path", Verb("path", ())),
    ("/path @~2", Verb("path", ("@~2",))),
    ("/tree --fold", Verb("tree", ("--fold",))),
    ("/label @ 'two words'", Verb("label", ("@", "two words"))),
    ("/search foo-bar c++", Verb("search", ("foo-bar", "c++"))),
    ('/edit @~1 it\'s "new" now', Verb("edit", ("@~1", "--", 'it\'s "new" now'))),
    ("/edit @~1 --keep two\nlines", Verb("edit", ("@~1", "--keep", "--", "two\nlines"))),
    ("/edit --keep --on @ @~1 -x is text", Verb("edit", ("--keep", "--on", "@", "@~1", "--", "-x is text"))),
    ("/edit @~1", Verb("edit", ("@~1",))),
    ("/send --role=assistant I say", Verb("send", ("--role=assistant", "--", "I say"))),
    ("/set tools -current_time", Verb("set", ("tools", "--", "-current_time"))),
    ("/model ollama:qwen3:8b", Verb("set", ("model", "--", "ollama:qwen3:8b"))),
    ("/title a 'good' one", Verb("set", ("title", "--", "a 'good' one"))),
    ('/title "My trees"', Verb("set", ("title", "--", "My trees"))),
    ("/title 'a \\ one'", Verb("set", ("title", "--", "a \\ one"))),
    (r'/send "say \"no\" \n"', Verb("send", ("--", r'say "no" \n'))),
    ('/send "yes" and "no"', Verb("send", ("--", '"yes" and "no"'))),
    ('/edit @~1 --keep "What?"', Verb("edit", ("@~1", "--keep", "--", "What?"))),
    (
        "/edit \"good point\" --on 'other one' it's new",
        Verb("edit", ("good point", "--on", "other one", "--", "it's new")),
    ),
    ("/edit #12 now", Verb("edit", ("#12", "--", "now"))),
    ("/send --at", Verb("send", ("--at", ""))),
)


@pytest.mark.parametrize(("line", "meaning"), LINES)
def test_what_a_line_means(line: str, meaning: Line) -> None:
    assert read_line(line, forkwood) == meaning


@pytest.mark.parametrize("line", ("/nonsense", "/chat", "/completion bash", "/label @ 'open", "/edit 'good point now"))
def test_what_means_nothing_is_refused(line: str) -> None:
    with pytest.raises(Misused):
        read_line(line, forkwood)
