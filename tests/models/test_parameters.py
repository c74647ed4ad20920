"""What is set goes out, or is refused, or is left out and told: never is a parameter merely forgotten."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from forkwood.domain.errors import ProviderFailed
from forkwood.domain.settings import Parameters
from forkwood.models import parameters
from forkwood.models.parameters import WISHES
from forkwood.models.quirks import Quirks
from forkwood.models.remote import DIALECTS
from tests.models.prompts import IMAGES, MODELS, prompt, user

ALL: dict[str, Any] = {
    "temperature": 0.125,
    "top_p": 0.375,
    "max_output": 31,
    "seed": 12_345,
    "effort": "high",
    "context": 54_321,
}
QUIRKS = (
    Quirks(),
    Quirks(seed_field=None, effort_field=None),
    Quirks(seed_field="random_seed", effort_field="a.b", output_limit_field="max_completion_tokens"),
    Quirks(effort_style="level"),
)


def test_the_table_holds_every_parameter() -> None:
    assert ALL.keys() == msgspec.structs.asdict(Parameters()).keys()


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("quirks", QUIRKS)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_parameter_changes_the_request_where_its_dialect_does_not_say_that_it_lacks_it(
    dialect: str, quirks: Quirks, name: str
) -> None:
    spoken = DIALECTS[dialect]
    plain, asked = (
        spoken.encode(prompt(user("hi"), **set_to), IMAGES, MODELS[dialect], quirks)
        for set_to in ({}, {name: ALL[name]})
    )
    assert (asked == plain) is (name in spoken.lacks(quirks))


@pytest.mark.parametrize("name", ALL)
def test_a_promise_is_refused_and_a_wish_is_told_with_the_way_back(name: str) -> None:
    wanted = Parameters(**{name: ALL[name]})
    told = parameters.wishes_left_out("m:x", wanted, {name})
    if name in WISHES:
        parameters.refuse_promises("m:x", wanted, {name})
        assert len(told) == 1
        for words in (name, str(ALL[name]), "m:x", f"forkwood set {name} none"):
            assert words in told[0]
        return
    assert told == ()
    with pytest.raises(ProviderFailed) as caught:
        parameters.refuse_promises("m:x", wanted, {name})
    assert (caught.value.reason, caught.value.facts["setting"]) == ("capability", name)
    assert f"forkwood set {name} none" in caught.value.hint


def test_what_is_not_set_or_not_lacking_is_no_matter() -> None:
    for wanted, lacks in ((Parameters(), set(ALL)), (Parameters(**ALL), set[str]())):
        parameters.refuse_promises("m:x", wanted, lacks)
        assert parameters.wishes_left_out("m:x", wanted, lacks) == ()
