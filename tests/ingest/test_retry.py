"""Repeated attempts: how many, how long between them, which errors, and results that are repeated until their input is stable."""

from __future__ import annotations

from itertools import islice

import pytest

from throttlescope.ingest.core.errors import GateError, SourceError
from throttlescope.ingest.core.retry import doubling, is_transient, jitter, retry, until_stable
from throttlescope.ingest.lake import ConflictError
from throttlescope.ingest.sources.access import BrokenStreamError

ATTEMPTS = 6


@pytest.mark.parametrize("failures", [0, 1, ATTEMPTS - 1])
def test_transient_errors_are_retried(failures):
    outcomes, noted, waited = [ConflictError("lost")] * failures, [], []

    def work():
        if outcomes:
            raise outcomes.pop()
        return "done"

    found = retry(
        work,
        attempts=ATTEMPTS,
        wait_s=jitter(0.1, 2.0, growing=True),
        before_retry=lambda: noted.append(1),
        sleep=waited.append,
    )
    assert found == "done"
    assert (len(noted), len(waited)) == (failures, failures)
    assert all(0.1 * number <= one_s <= 2 * number for number, one_s in enumerate(waited, 1))


@pytest.mark.parametrize("exhausted", [None, lambda: ConflictError("always", fix="run the command again")])
def test_last_attempt_raises(exhausted):
    calls = []

    def lose():
        calls.append(1)
        raise ConflictError("lost", fix="run the command again")

    with pytest.raises(ConflictError, match="lost" if exhausted is None else "always"):
        retry(lose, attempts=ATTEMPTS, exhausted=exhausted, sleep=pytest.fail)
    assert len(calls) == ATTEMPTS


def test_other_errors_are_not_retried():
    calls = []

    def stop():
        calls.append(1)
        raise GateError("stopped")

    with pytest.raises(GateError):
        retry(stop, attempts=ATTEMPTS)
    assert len(calls) == 1


def test_errors_say_whether_they_are_transient():
    assert is_transient(ConflictError("lost"))
    assert is_transient(BrokenStreamError("cut off"))
    assert not any(is_transient(one) for one in (SourceError("refused"), GateError("stopped"), OSError()))


def test_waits():
    assert list(islice(doubling(2.0, 60.0), 7)) == [2, 4, 8, 16, 32, 60, 60]
    assert [jitter(0.1, 2.0, growing=True, draw=max)(number) for number in (1, 2)] == [2, 4]
    assert jitter(0.1, 2.0, draw=min)(5) == 0.1


@pytest.mark.parametrize(("changes", "times"), [(0, 1), (2, 3), (99, ATTEMPTS)])
def test_work_is_repeated_until_input_is_stable(changes, times):
    version, done, again = [0], [], []

    def work():
        done.append(version[0])
        version[0] += len(done) <= changes
        return version[0]

    found = until_stable(work, lambda: version[0], attempts=ATTEMPTS, before_repeat=lambda: again.append(1))
    assert found == version[0]
    assert (len(done), len(again)) == (times, times - 1)
