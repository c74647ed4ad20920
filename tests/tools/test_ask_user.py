"""ask_user: its bounds, and that it is asked and never used."""

from __future__ import annotations

import pytest

from forkwood.domain import limits
from forkwood.domain.arguments import fault
from forkwood.store.db import Store
from forkwood.tools.ask_user import AskUser
from tests.tools.bench import call, occasion, used


@pytest.mark.parametrize(
    ("at_limit", "over"),
    [
        ([{"text": "a"}] * limits.questions_max, [{"text": "a"}] * (limits.questions_max + 1)),
        ([{"text": "a" * limits.question_characters_max}], [{"text": "a" * (limits.question_characters_max + 1)}]),
        (
            [{"text": "a", "options": ["b"] * limits.question_options_max}],
            [{"text": "a", "options": ["b"] * (limits.question_options_max + 1)}],
        ),
    ],
)
def test_questions_have_bounds(at_limit: object, over: object) -> None:
    schema = AskUser.sealed.spec.schema
    assert fault({"questions": at_limit}, schema) is None
    assert fault({"questions": over}, schema)


async def test_it_is_a_question_and_never_used() -> None:
    tool, at = AskUser(), occasion(Store.in_memory())
    assert tool.sealed.question
    assert await tool.inspect(call(tool), at) is None
    with pytest.raises(AssertionError, match="asked, not used"):
        await used(tool, at, questions=[{"text": "Which?"}])
