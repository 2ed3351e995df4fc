"""Nothing that fuzzing has found comes back."""

from __future__ import annotations

import pytest

from tests.fuzz.found import FOUND
from tests.fuzz.registry import target_of
from tests.fuzz.target import ACCEPTED, REFUSED, execute


@pytest.mark.long
@pytest.mark.parametrize("what", FOUND)
def test_what_was_found_is_mended(what: str) -> None:
    name, content = FOUND[what]
    target = target_of(name)
    execute(target, target.input(-1, 0))
    outcome = execute(target, content)
    assert outcome.kind in (ACCEPTED, REFUSED), outcome
    assert execute(target, content, measured=True).kind in (ACCEPTED, REFUSED)
