"""What a model is sent that is to summarise: the instruction, and all that is covered, as data."""

from __future__ import annotations

from forkwood.domain import fences
from forkwood.domain.message import Text, ToolCall, ToolResult, text_of
from forkwood.domain.prompt import Said
from forkwood.domain.summary import INTRODUCTION, Summary
from forkwood.domain.summing import INSTRUCTION, asking_for_summary
from tests.domain.paths import CAT, FILES, NOTES, manifest

CALL = ToolCall(call="a", name="look", arguments={"at": "oak"})
RESULT = ToolResult(call="a", name="look", outcome="ok", parts=(Text(text="an oak, 30 m"),))
PATH = [
    Said("0" * 32, "system", (Text(text="the rules"),)),
    Said("1" * 32, "user", (Text(text="look at this"), NOTES, CAT)),
    Said("2" * 32, "assistant", (CALL,)),
    Said("3" * 32, "tool", (RESULT,)),
    Said("4" * 32, "assistant", (Text(text="An oak."),)),
]


def asked(before: Summary | None = None, tokens_max: int = 100) -> str:
    prompt = asking_for_summary(PATH, before, manifest(), FILES, tokens_max=tokens_max)
    assert (len(prompt.messages), prompt.tools, prompt.system) == (1, (), None)
    assert prompt.parameters == manifest().parameters
    return text_of(prompt.messages[0].parts)


def test_all_that_is_covered_is_in_the_request_under_its_role() -> None:
    text = asked()
    assert text.startswith(INSTRUCTION.format(words=60))
    for words in (
        "[user]\nlook at this\nnotes.txt:\n````\na ``` b\nc\n````",
        "(picture: cat.png)",
        '[assistant]\n(calls look {"at":"oak"})',
        "[tool]\n(look: ok)\nan oak, 30 m",
        "[assistant]\nAn oak.",
    ):
        assert words in text
    assert "the rules" not in text, "system messages are never summarised: they stay"
    assert "Be brief." not in text


def test_of_what_was_summarised_before_the_summary_is_in_it_and_all_since() -> None:
    before = Summary(id="9" * 32, digest=b"", covers=tuple(one.node for one in PATH[:4]), text="they looked at an oak")
    text = asked(before)
    assert f"{INTRODUCTION}\n\nthey looked at an oak" in text
    assert "an oak, 30 m" not in text
    assert "An oak." in text


def test_what_was_said_stands_between_marked_lines() -> None:
    mark = fences.marker(PATH[-1].node)
    assert asked().count(mark) == 2
    assert asked().endswith(f"{mark}>")


def test_a_summary_is_asked_to_be_short() -> None:
    assert "at most 600 words" in asked(tokens_max=1_000)
    assert "at most 1 words" in asked(tokens_max=1)
