"""The timelines of the page about the model. In: the engines and small scenarios. Out: ``docs/background/throttling-model.md``, tables rewritten.

Every figure is run: the short ones by the slow twin, ten minutes by the kernel.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from docs.generate.markdown import DOCS, fill_marked, markdown_table
from throttlescope.models.throttling.compile import compile_scenario
from throttlescope.models.throttling.kernel import run_kernel
from throttlescope.models.throttling.limiters import SECOND_US, new_meter
from throttlescope.models.throttling.machine import Machine
from throttlescope.models.throttling.scenario import Broker, Scenario
from throttlescope.models.throttling.scenario.broker import engine_of
from throttlescope.models.throttling.twin import run_twin

PAGE = DOCS / "background" / "throttling-model.md"

ENGINES = ("A0", "A", "B", "C")
ENGINE_WORDS = {
    "A0": "window without debt",
    "A": "window with debt",
    "B": "token bucket, steps of 16 ms",
    "C": "token bucket, one refill per period",
}
#: First and last release of every range, and how the page calls it.
RANGES = (
    ("2.0.0", "2.7.3", "up to 2.7.3"),
    ("2.7.4", "3.1.3", "2.7.4 to 3.1"),
    ("3.2.0", "3.3.4", "3.2, 3.3.0 to 3.3.4"),
    ("3.3.5", "3.3.8", "3.3.5 to 3.3.8"),
    ("4.0.0", "4.0.2", "4.0.0 to 4.0.2"),
    ("4.0.3", "4.0.3", "4.0.3"),
    ("4.0.4", "4.0.13", "4.0.4 to 4.0.13"),
    ("4.0.14", "4.0.99", "4.0.14 and later 4.0"),
    ("4.1.0", "4.2.4", "4.1, 4.2.0 to 4.2.4"),
    ("4.2.5", "4.2.99", "4.2.5 and later 4.2"),
    ("5.0.0-M1", "5.0.0-M1", "5.0.0-M1"),
    ("5.0.0", "5.0.1", "5.0.0 and later"),
)
#: The timelines' consumer joins then, and their times are counted from there; what it reads was published before.
_JOINS_S = 2
#: From plan to entries of every read of the timelines. Their back-off timer fires a millisecond late.
READ_MS = 10
_BATCH = 6


def versions() -> str:
    rows = []
    for first, last, words in RANGES:
        (engine,) = {engine_of(first), engine_of(last)}
        ((counts, merges, batch),) = {
            (broker.counts_throttling, broker.merges_reads, broker.read_batch)
            for broker in (Broker(version=first), Broker(version=last))
        }
        yes_or_no = ["yes" if value else "no" for value in (counts, merges)]
        rows.append((words, f"{engine}: {ENGINE_WORDS[engine]}", *yes_or_no, batch))
    return markdown_table(
        ("Pulsar", "default engine", "has the six counters", "merges requests", "entries of a read"), rows
    )


def queries() -> str:
    """Limiters of 10 per second, all called at the same times; 10 are sent at 0 and at 1200 ms."""
    meters = {name: new_meter(name, 10, SECOND_US, 0) for name in ENGINES}
    rows = []
    for at_ms, sent in ((0, 10), (500, 0), (1000, 0), (1200, 10), (2100, 0), (2201, 0)):
        seen = [meters[name].available(at_ms * 1000) for name in ENGINES]
        for meter in meters.values():
            if sent:
                meter.charge(sent, at_ms * 1000)
        rows.append((at_ms, *seen, sent or ""))
    return markdown_table(("ms", *ENGINES, "sent"), rows)


def slots() -> str:
    """Engine B with 10 per second and a reader that calls it every millisecond and sends the permitted number, until that is zero."""
    meter = new_meter("B", 10, SECOND_US, 0)
    rows, at_ms, total = [], 0, 0
    while seen := meter.available(at_ms * 1000):
        meter.charge(seen, at_ms * 1000)
        total += seen
        if at_ms < 2 or at_ms == 15:
            rows.append((at_ms, seen, total, meter.balance()))
        elif at_ms == 2:
            rows.append(("...", "...", "...", "..."))
        at_ms += 1
    # From here on it calls after every back-off.
    while not seen:
        if at_ms < 1100 or meter.balance() > -10:
            rows.append((at_ms, seen, total, meter.balance()))
        elif rows[-1][0] != "...":
            rows.append(("...", "...", "...", "..."))
        at_ms += 1001
        seen = meter.available(at_ms * 1000)
    rows.append((at_ms, seen, total, meter.balance()))
    return markdown_table(("ms", "sees", "sent so far", "balance"), rows)


def debt() -> str:
    return _per_second(9)


def policy() -> str:
    return _per_second(9, touched_s=0.5)


def reads() -> str:
    """Every read of a subscription under 250 messages per second."""
    every_us = READ_MS * 1000
    totals = run_twin(_world("C", 250, 1.1), _machine(READ_MS), every_us)
    added = {name: np.diff(values[:, 0], prepend=0) for name, values in totals.items()}
    rows = []
    for number in np.flatnonzero(added["polls"]):
        ms = int(number) * READ_MS - _JOINS_S * 1000
        tokens = totals["subscription_msg_tokens"][number, 0]
        event = "+1" if added["subscription_msg_events"][number] else ""
        rows.append(
            (ms, added["out_messages"][number] or "", tokens, min(tokens, 100) or "none: timer", event)
        )
    heads = ("ms", "dispatched and charged", "tokens", "next plan, entries", "`subscription` message events")
    return markdown_table(heads, rows)


def backoff() -> str:
    """What is delivered of a limit of 1000 messages per second whose tokens last some time."""
    seconds, rows = 600, []
    for lasts_ms in (20, 50, 200, 500):
        shares = []
        for engine in ("C", "A"):
            world = _world(engine, 1000, seconds, published=seconds * 1100)
            totals = run_kernel(world, _machine(lasts_ms / 10))["out_messages"][:, 0]
            shares.append(f"{totals[-1] / (1000 * seconds):.3f}")
        rows.append((lasts_ms, *shares, f"{1 / (1.001 + lasts_ms / 1000):.3f}"))
    return markdown_table(("tokens last, ms", "C", "A", "1 / (1.001 s + x)"), rows)


def redelivery() -> str:
    """Ten messages that come back once after half a second, under 10 per second, in a version that polls once and one that polls twice."""
    every_us = READ_MS * 1000
    back = {"nack_share": 1, "nack_delay_ms": 500}
    one, two = (
        run_twin(
            _world("C", 10, 1.2, published=10, version=version, redelivery=back), _machine(READ_MS), every_us
        )
        for version in ("4.0.8", "4.2.4")
    )
    events = [np.diff(run["subscription_msg_events"][:, 0], prepend=0) for run in (one, two)]
    sent = np.diff(two["out_messages"][:, 0], prepend=0)
    rows = [
        (
            int(number) * READ_MS - _JOINS_S * 1000,
            sent[number] or "",
            two["subscription_msg_tokens"][number, 0],
            two["replay_entries"][number, 0],
            *(f"+{run[number]}" if run[number] else "" for run in events),
        )
        for number in np.flatnonzero(events[0] + events[1] + sent)
    ]
    heads = (
        "ms",
        "dispatched and charged",
        "tokens",
        "wait for redelivery",
        "events, 4.0.8",
        "events, 4.2.4",
    )
    return markdown_table(heads, rows)


TABLES = {
    table.__name__: table for table in (versions, queries, slots, debt, policy, reads, backoff, redelivery)
}


def render(page: str) -> str:
    """The page with every marked table rewritten."""
    return fill_marked(page, "simulated", TABLES)


def _per_second(seconds: int, touched_s: float | None = None) -> str:
    """Messages per second that each engine lets through under 10 per second, in batches of 6."""
    rows = []
    for engine in ENGINES:
        world = _world(engine, 10, seconds, batch=_BATCH, touched_s=touched_s)
        totals = run_twin(world, _machine(READ_MS))["out_messages"][:, 0]
        rows.append((engine, *np.diff(totals)[_JOINS_S - 1 :]))
    return markdown_table(("engine", *(f"{second}." for second in range(1, seconds + 1))), rows)


def _machine(read_ms: float) -> Machine:
    return Machine(read_us=round(read_ms * 1000))


def _world(
    engine: str,
    limit_msg: int,
    seconds: float,
    *,
    batch: int = 1,
    touched_s: float | None = None,
    published: int = 6_000,
    version: str = "4.2.4",
    redelivery: dict[str, Any] | None = None,
) -> Any:
    """A Shared subscription whose only consumer finds a backlog when it joins, under a limit of its own."""
    marks = [0, seconds] if touched_s is None else [0, touched_s, seconds]
    join = {"action": "set_consumers", "subscription": "billing", "consumers": 1}
    steps = [join, {"action": "touch_policy", "topic": "orders"}]
    scenario = Scenario.model_validate(
        {
            "format": 1,
            "name": "timeline",
            "broker": {"engine": engine, "version": version},
            "topics": [{"name": "orders"}],
            "limits": [{"level": "subscription", "set_at": "namespace", "msg": limit_msg}],
            "subscriptions": [
                {
                    "name": "billing",
                    "topic": "orders",
                    "type": "Shared",
                    "consumers": 0,
                    "processing_ms": 0,
                    "receiver_queue": 1_000_000,
                    "redelivery": redelivery,
                }
            ],
            "producers": [
                {
                    "topic": "orders",
                    "rate_msg": published,
                    "size_bytes": 1024,
                    "shape": "steps",
                    "steps": [(1, 0)],
                    "batching": {"max_messages": batch, "max_delay_ms": 100} if batch > 1 else None,
                }
            ],
            "timeline": [{"name": "published", "duration_s": _JOINS_S}]
            + [
                {"name": f"from-{start}", "duration_s": end - start, "interventions": [steps[number]]}
                for number, (start, end) in enumerate(pairwise(marks))
            ],
        }
    )
    return compile_scenario(scenario, _machine(READ_MS))
