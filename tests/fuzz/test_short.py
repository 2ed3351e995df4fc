"""The short form of the fuzzing: a few inputs for every target; and that trouble is seen, whatever kind it is of."""

from __future__ import annotations

import os
import time
from collections import Counter

import pytest

from tests.fuzz import run as running
from tests.fuzz.registry import NAMES, target_of
from tests.fuzz.state import State
from tests.fuzz.target import (
    ACCEPTED,
    CRASH,
    DIED,
    HANG,
    MEMORY,
    REFUSED,
    SLOW,
    TROUBLE,
    TWIN,
    WORDS,
    Target,
    UnlikeTwinError,
    execute,
)

#: About a third of a second for each.
_EXECUTIONS = {
    "frames": 400, "messages": 400, "snappy": 400, "chunks": 400, "prometheus-json": 150, "admin-json": 60, "recordings": 60, "promql": 15,
    "rules": 60, "scenarios": 30, "config": 60,
}  # fmt: skip
#: What is written is always right; what a broker answers is noted where it is wrong, and the rest goes on.
_NEVER_REFUSE = ("exposition", "admin-json")


@pytest.mark.sampled(3)
@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_inputs_are_accepted_or_refused_cleanly(name: str) -> None:
    target = target_of(name)
    # What is compiled at first use takes no memory of an input's.
    execute(target, target.input(-1, 0))
    outcomes = Counter()
    for number in range(_EXECUTIONS.get(name, 150)):
        content = target.input(0, number)
        outcome = execute(target, content, measured=number % 10 == 0)
        outcomes[outcome.kind] += 1
        assert outcome.kind in (ACCEPTED, REFUSED), f"input {number}: {outcome}; {ascii(content)[:400]}"
    # Inputs that are all refused, or all taken, would find nothing.
    assert outcomes[ACCEPTED] > 0
    assert outcomes[REFUSED] > 0 or name in _NEVER_REFUSE


def _target(read) -> Target:
    return Target("made", "a made reader", lambda rng: b"", read, (ValueError,), spare_bytes=1 << 20)


def _busy() -> None:
    until = time.process_time() + 1.05
    while time.process_time() < until:
        pass


def _raising(error: Exception):
    def read(_: bytes) -> None:
        raise error

    return read


@pytest.mark.long
@pytest.mark.parametrize(
    ("read", "kind"),
    [
        (lambda _: None, ACCEPTED),
        (_raising(ValueError("no number")), REFUSED),
        (_raising(ValueError("two\nlines")), WORDS),
        (_raising(ValueError("")), WORDS),
        (_raising(KeyError("x")), CRASH),
        (_raising(RecursionError("deep")), CRASH),
        (_raising(MemoryError("all of it")), MEMORY),
        (_raising(UnlikeTwinError("1, 2")), TWIN),
        (lambda _: _busy(), SLOW),
    ],
)
def test_kinds_of_trouble_are_distinguished(read, kind: str) -> None:
    assert execute(_target(read), b"").kind == kind


def test_memory_beyond_the_bound_is_trouble() -> None:
    kept = []
    assert execute(_target(lambda _: kept.append(bytes(2 << 20))), b"", measured=True).kind == MEMORY
    assert execute(_target(lambda _: kept.append(bytes(1 << 19))), b"", measured=True).kind == ACCEPTED


def test_an_input_is_the_same_for_ever() -> None:
    for name in ("chunks", "addresses"):
        target = target_of(name)
        assert target.input(3, 7) == target.input(3, 7)
        assert len({str(target.input(3, number)) for number in range(50)}) > 25


def _troubled_child(pipe, at, name: str, seed: int, first: int, after: int, skipped) -> None:
    """Dies at input 2, falls silent at input 4."""
    pipe.send({"ready": True})
    for number in range(first, after):
        at.value = number
        if number not in skipped and number == 2:
            os._exit(1)
        if number not in skipped and number == 4:
            time.sleep(600)
        report = {
            "next": number + 1,
            "classes": {ACCEPTED: 1},
            "refusals": {},
            "findings": [],
            "seconds": 0.1,
        }
        pipe.send(report | {"slowest_s": 0.0, "largest_peak_bytes": 0, "measured": 0})
    pipe.close()  # fmt: skip


@pytest.mark.long
def test_dead_child_costs_one_input(tmp_path, monkeypatch) -> None:
    """A silent one too; the run continues."""
    monkeypatch.setattr(running, "SILENCE_S", 1.0)

    def until(executions: int) -> State:
        state = State.load("chunks", 5, tmp_path)
        return running.run(state, executions, folder=tmp_path, say=lambda _: None, child=_troubled_child)

    assert until(1).executions == 1
    done = until(6)
    assert done.executions == 6
    assert [(one["number"], one["kind"]) for one in done.findings] == [(2, DIED), (4, HANG)]
    assert set(done.classes) <= {ACCEPTED, *TROUBLE}
    assert done.classes[ACCEPTED] == 6
    assert State.load("chunks", 5, tmp_path) == done
