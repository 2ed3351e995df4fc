"""Two runs at one lake: who loses looks again, so many times, and who was overtaken does it again."""

from __future__ import annotations

import pytest

from throttlescope.app.pipeline import commit_conflicts
from throttlescope.app.pipeline.commit_conflicts import TRIES, until_unmoved, until_won
from throttlescope.ingest.core.errors import GateError
from throttlescope.ingest.lake import ConflictError


@pytest.fixture(autouse=True)
def no_waits(monkeypatch):
    waited = []
    monkeypatch.setattr(commit_conflicts.time, "sleep", waited.append)
    return waited


@pytest.mark.parametrize("lost", [0, 1, TRIES - 1])
def test_a_stage_that_lost_is_done_again(lost, no_waits):
    outcomes, said = [ConflictError("lost")] * lost, []

    def stage():
        if outcomes:
            raise outcomes.pop()
        return "done"

    assert until_won(stage, said.append) == "done"
    assert (len(said), len(no_waits)) == (lost, lost)
    assert all(0 < one_s <= 2 * TRIES for one_s in no_waits)


def test_who_always_loses_is_told_and_other_errors_at_once(no_waits):
    tries = []

    def lose():
        tries.append(1)
        raise ConflictError("Another run replaced blocks meanwhile", fix="run the command again")

    with pytest.raises(ConflictError, match="run the command again"):
        until_won(lose, lambda _: None)
    assert len(tries) == TRIES

    def stop():
        tries.append(1)
        raise GateError("stopped")

    with pytest.raises(GateError):
        until_won(stop, lambda _: None)
    assert len(tries) == TRIES + 1


@pytest.mark.parametrize(("moves", "times"), [(0, 1), (2, 3), (99, TRIES - 1)])
def test_what_was_overtaken_is_done_again_but_not_for_ever(moves, times):
    version, done, again = [0], [], []

    def stage():
        done.append(version[0])
        version[0] += len(done) <= moves
        return version[0]

    assert until_unmoved(stage, lambda: version[0], lambda: again.append(1)) == version[0]
    assert len(done) == times
    assert len(again) == min(moves, times)
