"""The child that executes. In: a target, a seed, numbers of inputs. Out: reports through a pipe, and the number at hand in shared memory.

Its memory is bounded, compiled code checks its bounds, and it may die: the parent sees at which input.
"""

from __future__ import annotations

import contextlib
import re
import resource
import time
from collections import Counter
from pathlib import Path

from tests.fuzz.registry import target_of
from tests.fuzz.target import ACCEPTED, REFUSED, execute

#: What a child may take beyond what it has when it is warm.
MEMORY_BYTES = 2 << 30
#: One input in so many is executed with its memory measured.
MEASURED_EVERY = 50
_REPORT_EVERY_S = 1.0


def work(pipe, at, name: str, seed: int, first: int, after: int, skipped: frozenset[int]) -> None:
    """Execute the inputs ``first`` to ``after``, those in ``skipped`` left out."""
    target = target_of(name)
    target.warm()
    for number in range(50):
        # What is compiled or imported at first use is no input's fault.
        execute(target, target.input(-1, number), measured=number % 2 == 0)
    _bound_memory()
    pipe.send({"ready": True})
    report, since = _empty(first), time.monotonic()
    for number in range(first, after):
        at.value = number
        if number not in skipped:
            _one(target, seed, number, report)
        report["next"] = number + 1
        if (passed := time.monotonic() - since) >= _REPORT_EVERY_S:
            pipe.send(report | {"seconds": passed})
            report, since = _empty(number + 1), time.monotonic()
    pipe.send(report | {"seconds": time.monotonic() - since})
    pipe.close()


def _one(target, seed: int, number: int, report: dict) -> None:
    content = target.input(seed, number)
    measured = number % MEASURED_EVERY == 0
    outcome = execute(target, content, measured=measured)
    report["classes"][outcome.kind] += 1
    report["slowest_s"] = max(report["slowest_s"], round(outcome.seconds, 3))
    if measured:
        report["measured"] += 1
        report["largest_peak_bytes"] = max(report["largest_peak_bytes"], outcome.peak_bytes or 0)
    if outcome.kind == REFUSED:
        report["refusals"][outcome.said.partition(":")[0]] += 1
    elif outcome.kind != ACCEPTED:
        report["findings"].append(
            {
                "number": number,
                "kind": outcome.kind,
                "said": outcome.said[:600],
                "input": ascii(content)[:1_000],
            }
        )


def _empty(number: int) -> dict:
    return {
        "next": number,
        "classes": Counter(),
        "refusals": Counter(),
        "slowest_s": 0.0,
        "largest_peak_bytes": 0,
        "measured": 0,
        "findings": [],
    }


def _bound_memory() -> None:
    with contextlib.suppress(OSError, ValueError, AttributeError):
        used = int(re.search(r"VmSize:\s+(\d+)", Path("/proc/self/status").read_text()).group(1)) * 1024
        resource.setrlimit(
            resource.RLIMIT_AS, (used + MEMORY_BYTES, resource.getrlimit(resource.RLIMIT_AS)[1])
        )
