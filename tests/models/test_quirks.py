"""The defaults are the plain form of each dialect."""

from __future__ import annotations

import pytest

from forkwood.domain.errors import Misused
from forkwood.models.quirks import OURS, SECRET, Quirks, header
from forkwood.models.remote import DIALECTS
from tests.models.prompts import IMAGES, MODELS, cases


@pytest.mark.parametrize("dialect", DIALECTS)
def test_extra_fields_of_the_body_win_in_every_dialect(dialect: str) -> None:
    quirks = Quirks(extra_body={"keep_alive": "5m"})
    body = DIALECTS[dialect].encode(cases(dialect)["text"], IMAGES, MODELS[dialect], quirks)
    assert body.endswith(b',"keep_alive":"5m"}')


@pytest.mark.parametrize("name", sorted(OURS | SECRET | {"", "a b", "ü", "x:y"}))
def test_a_header_that_no_setting_may_send_is_refused(name: str) -> None:
    with pytest.raises(Misused) as refused:
        header(name.title(), "sk-seeded-0123456789")
    assert "seeded" not in repr((refused.value, refused.value.hint, refused.value.facts))


def test_a_header_goes_by_its_name_in_lower_case() -> None:
    assert header("X-Title", " Forkwood ") == ("x-title", "Forkwood")
    for value in ("a\nb", "ü"):
        with pytest.raises(Misused):
            header("x-title", value)
