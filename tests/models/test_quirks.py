"""What a quirk adds to a request wins over what the dialect would send, in every dialect."""

from __future__ import annotations

import pytest

from forkwood.models.quirks import Quirks
from forkwood.models.remote import DIALECTS
from tests.models.prompts import IMAGES, MODELS, cases


@pytest.mark.parametrize("dialect", DIALECTS)
def test_extra_fields_of_the_body_win_in_every_dialect(dialect: str) -> None:
    quirks = Quirks(extra_body={"keep_alive": "5m"})
    body = DIALECTS[dialect].encode(cases(dialect)["text"], IMAGES, MODELS[dialect], quirks)
    assert body.endswith(b',"keep_alive":"5m"}')
