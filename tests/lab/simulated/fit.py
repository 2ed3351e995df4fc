"""Fits what Pulsar's rules leave open to the tuned recordings. In: those recordings; out: a printed machine.

``python -m tests.lab.simulated.fit`` prints the old and the new latencies with their errors; what is worth keeping is written into
``models/throttling/machine.py`` by hand. Held-out recordings are never read here.

Two steps, both without chance. What is stored beside a payload is measured: published bytes over published messages. The latencies then
minimise the mean, over recordings and figures, of error over target, capped at :data:`CAP` so that a scenario whose mechanics the model
misses pulls at nothing; one latency after the other, over a fixed grid, until none moves.
"""

from __future__ import annotations

import statistics
from dataclasses import asdict, replace

from tests.lab.simulated.recorded import Recorded, folders, read
from tests.lab.simulated.table import TARGETS, Figures, Row, judge, medians
from throttlescope.models.throttling.compile import compile_scenario
from throttlescope.models.throttling.machine import LAB, Machine

#: In multiples of a target.
CAP = 3.0
ROUNDS = 4
#: Microseconds that are tried; the reconnection after an unload or a seek is in none of the recordings.
GRID = {
    "read_entry_us": (0, 50, 75, 100, 150, 200, 250, 300, 350, 400, 450, 500, 600),
    "cached_entry_us": (0, 5, 10, 20, 40, 75),
    "cached_read_us": (200, 500, 1_000, 2_000, 3_000),
    "read_us": (500, 1_000, 2_000, 3_000, 4_000, 5_000, 7_000, 10_000),
    "timer_late_us": (700, 1_000, 2_000, 3_000, 5_000, 8_000),
    "notify_us": (0, 200, 500, 1_000, 2_000, 4_000),
    "send_us": (0, 300, 600, 1_000, 2_000, 5_000),
    "flow_us": (0, 500, 1_000, 2_000, 5_000),
}


def tuned() -> list[Recorded]:
    """The recordings that may be fitted to."""
    found = [read(folder) for folder in folders(kept_aside=False)]
    assert not any(recorded.scenario.kept_aside for recorded in found)
    return found


def stored_overheads(found: list[Recorded], otherwise: Machine = LAB) -> tuple[int, int]:
    """Bytes that are stored beside the payload: of an entry, and of every message of a batch.

    The first from entries of one message, the second from batches with the first taken off; medians over topics. Messages with a
    delivery time, which is stored too, do not count. Where there are no such topics it is what ``otherwise`` says.
    """
    single: list[float] = []
    batched: list[tuple[float, int]] = []
    for recorded in found:
        for producer in recorded.scenario.producers:
            messages, size = recorded.stored[producer.topic]
            if not messages or producer.deliver_after_ms is not None:
                continue
            beside = size / messages - producer.mean_bytes
            world = compile_scenario(recorded.scenario, LAB)
            per_entry = next(log.msgs for log in world.logs if log.topic == producer.topic)
            if per_entry == 1 and not producer.sizes:
                single.append(beside)
            elif per_entry > 1:
                batched.append((beside, per_entry))
    entry = round(statistics.median(single)) if single else otherwise.entry_overhead_bytes
    if not batched:
        return entry, otherwise.message_overhead_bytes
    return entry, round(statistics.median(beside - entry / count for beside, count in batched))


def objective(rows: list[Row]) -> float:
    """Mean of error over target, each capped, over all figures of all recordings."""
    return statistics.fmean(
        min(CAP, value / target)
        for row in rows
        for name, target in TARGETS.items()
        if (value := getattr(row.ours, name)) is not None
    )


def fit(found: list[Recorded], start: Machine = LAB) -> Machine:
    """Search the latencies, one after the other; ties keep what is."""
    entry, message = stored_overheads(found)
    best = replace(start, entry_overhead_bytes=entry, message_overhead_bytes=message)
    score = _score(found, best)
    for _ in range(ROUNDS):
        before = best
        for name, values in GRID.items():
            for value in values:
                if value == getattr(best, name):
                    continue
                tried = replace(best, **{name: value})
                reached = _score(found, tried)
                if reached < score - 1e-9:
                    best, score = tried, reached
        if best == before:
            break
    return best


def _score(found: list[Recorded], machine: Machine) -> float:
    return objective([judge(recorded, machine).row for recorded in found])


def main() -> None:
    """Fit, and print both machines with their errors."""
    found = tuned()
    new = fit(found)
    print(f"{len(found)} recordings, none of them held-out")
    for name, value in asdict(new).items():
        print(f"{name:24s} {getattr(LAB, name):8d} -> {value:8d}")
    for name, machine in (("old", LAB), ("new", new)):
        rows = [judge(recorded, machine).row for recorded in found]
        print(f"{name}: objective {objective(rows):.4f}, medians {_said(medians(rows))}")


def _said(figures: Figures) -> str:
    return ", ".join(f"{name} {getattr(figures, name):.4f}" for name in TARGETS)


if __name__ == "__main__":
    main()
