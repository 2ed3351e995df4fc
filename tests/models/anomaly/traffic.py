"""Weeks of generated traffic with injected anomalies. In: a seed and a number. Out: one subscription's minutes and what was done.

Everything is drawn from ``numpy.random.default_rng([seed, number])``. The traffic knows nothing of the detector: rates follow
the local clock of a zone, noise has a memory, queues follow from arrivals and capacity (Lindley's recursion).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from zoneinfo import ZoneInfo

import numpy as np

#: Monday 2026-09-21; Europe puts its clocks back on 25 October, America on 1 November.
FIRST_MS = 1_789_948_800_000
DAY, HOUR = 1440, 60
DAYS = 56
#: Nothing is injected while a series is still being learned.
QUIET_DAYS = 15
KINDS = ("spike", "drop", "stall", "throttle", "leak", "silence", "level")
SHAPES = ("human", "flat", "batch", "sparse")
_ZONES = ("Europe/Berlin", "America/New_York", "Asia/Kolkata", "UTC")
_SHAPE_SHARES = (0.45, 0.2, 0.15, 0.2)


@dataclass(frozen=True)
class Truth:
    """What was injected in minutes [start, end). Until ``calm`` its aftermath is neither right nor wrong to report."""

    kind: str
    start: int
    end: int
    calm: int


@dataclass
class Traffic:
    """One subscription: counts per minute (NaN unknown), which minutes have samples, and the truth."""

    seed: int
    number: int
    shape: str
    zone: str
    counts: dict[str, np.ndarray]
    present: np.ndarray
    covered: np.ndarray
    marks: np.ndarray
    truths: list[Truth] = field(default_factory=list)


def subscription(seed: int, number: int, days: int = DAYS, *, injected: bool = True) -> Traffic:
    """Generate one subscription."""
    rng = np.random.default_rng([seed, number])
    minutes = days * DAY
    shape = str(rng.choice(SHAPES, p=_SHAPE_SHARES))
    zone = str(rng.choice(_ZONES))
    rate = _shape(rng, shape, zone, minutes) * _noise(rng, minutes)
    headroom = rng.uniform(1.3, 3.0)
    capacity = np.full(minutes, headroom * max(30.0, float(np.quantile(rate, 0.999))))
    present = rng.random(minutes) > 0.002
    truths: list[Truth] = []
    limited = np.zeros(minutes, bool)
    if injected:
        for start in _times(rng, minutes):
            truth = _inject(rng, shape, start, rate, capacity, present, limited)
            if truth:
                truths.append(truth)
    arrived = rng.poisson(rate).astype(float)
    queue = _queue(arrived, np.where(np.isnan(capacity), arrived, capacity))
    dispatched = np.maximum(arrived - np.diff(queue, prepend=0.0), 0.0)
    latency = rng.uniform(0.01, 0.3)
    backlog = np.round(queue + rng.poisson(rate * latency * rng.gamma(4.0, 0.25, minutes)))
    truths = [_with_aftermath(truth, queue) for truth in truths]
    counts = {"in": arrived, "out": dispatched, "backlog": backlog, "events": _events(rng, rate, limited)}
    covered = np.ones(minutes, bool)
    outages = np.random.default_rng([seed, 1 << 30])
    for at in outages.integers(0, minutes - 200, 3):
        covered[at : at + outages.integers(10, 120)] = False
    marks = _moves(rng, counts, present, truths)
    known = present & covered
    counts = {name: np.where(known, values, np.nan) for name, values in counts.items()}
    return Traffic(seed, number, shape, zone, counts, known, covered, marks, truths)


def local_minutes(zone: str, minutes: int) -> tuple[np.ndarray, np.ndarray]:
    """Minute of the local day and local weekday of every minute."""
    known = ZoneInfo(zone)
    offsets = [
        datetime.fromtimestamp(FIRST_MS / 1000 + hour * 3600, known).utcoffset().total_seconds() / 60
        for hour in range(-(-minutes // HOUR))
    ]
    at = np.arange(minutes) + np.repeat(offsets, HOUR)[:minutes].astype(int)
    return at % DAY, at // DAY % 7


def _shape(rng: np.random.Generator, shape: str, zone: str, minutes: int) -> np.ndarray:
    minute, weekday = local_minutes(zone, minutes)
    weekend = np.where(weekday >= 5, rng.uniform(0.3, 0.9), 1.0)
    trend = 1 + rng.choice([0.0, rng.uniform(-0.03, 0.05)]) * np.arange(minutes) / (7 * DAY)
    if shape == "flat":
        return np.exp(rng.uniform(np.log(30), np.log(60_000))) * trend
    if shape == "batch":
        base = np.full(minutes, rng.choice([0.0, 0.2]))
        begins, length = rng.integers(0, 22 * HOUR), int(rng.integers(10, 60))
        size, weekdays_only = np.exp(rng.uniform(np.log(100), np.log(10_000))), rng.random() < 0.5
        for start in np.flatnonzero(minute == begins):
            if weekdays_only and weekday[start] >= 5:
                continue
            at = max(0, start + int(rng.normal(0, 4)))
            base[at : at + max(3, int(length * rng.lognormal(0, 0.15)))] += size
        return base
    humps = sum(
        height * np.exp(-0.5 * ((minute - centre * HOUR) / (width * HOUR)) ** 2)
        for height, centre, width in (
            (1.0, rng.uniform(9, 12), 2.0),
            (rng.uniform(0.5, 1.1), rng.uniform(15, 20), 2.5),
        )
    )
    if shape == "sparse":
        return np.exp(rng.uniform(np.log(0.02), np.log(2))) * (0.5 + humps) * weekend
    return (
        np.exp(rng.uniform(np.log(60), np.log(60_000))) * (rng.uniform(0.05, 0.4) + humps) * weekend * trend
    )


def _noise(rng: np.random.Generator, minutes: int) -> np.ndarray:
    """Noise with wide tails that remembers minutes, hours and days."""
    quick = _walk(rng, minutes, rng.uniform(3, 40), rng.uniform(0.02, 0.1))
    slow = _walk(rng, minutes, rng.uniform(120, 360), rng.uniform(0.01, 0.05))
    daily = np.repeat(rng.normal(0, rng.uniform(0.01, 0.06), -(-minutes // DAY)), DAY)[:minutes]
    return np.exp(quick + slow + daily)


def _walk(rng: np.random.Generator, minutes: int, memory: float, sd: float) -> np.ndarray:
    """A stationary AR(1) series of shocks with Student's t of 4 degrees, by a filter of 8 memories' length."""
    kept = np.exp(-1 / memory)
    kernel = kept ** np.arange(int(8 * memory))
    # Its variance is 2.
    shocks = rng.standard_t(4, minutes + len(kernel) - 1) * sd * np.sqrt((1 - kept**2) / 2)
    size = 1 << (len(shocks) + len(kernel)).bit_length()
    full = np.fft.irfft(np.fft.rfft(shocks, size) * np.fft.rfft(kernel, size), size)
    return full[len(kernel) - 1 : len(kernel) - 1 + minutes]


def _times(rng: np.random.Generator, minutes: int) -> list[int]:
    """Beginnings of injections, at least three days apart."""
    found: list[int] = []
    for at in sorted(rng.integers(QUIET_DAYS * DAY, minutes - 2 * DAY, rng.poisson(2.0)).tolist()):
        if not found or at - found[-1] >= 3 * DAY:
            found.append(at)
    return found


def _inject(rng, shape, start, rate, capacity, present, limited) -> Truth | None:
    """Do one thing to the arrays in place. What would change nothing, as a drop of no traffic, is not done."""
    kind = str(rng.choice(KINDS))
    length = {
        "spike": rng.integers(5, 60), "drop": rng.integers(15, 180), "stall": rng.integers(10, 120),
        "throttle": rng.integers(20, 180), "leak": rng.integers(180, 600), "silence": rng.integers(15, 240),
        "level": DAY,
    }[kind]  # fmt: skip
    end = start + int(length)
    span = slice(start, end)
    mean = float(rate[span].mean())
    if kind in ("drop", "stall", "throttle", "leak") and mean < 20:
        return None
    if kind == "level" and (shape == "batch" or mean < 5):
        return None
    if kind == "spike":
        rate[span] += np.maximum(_between(rng, 0.5, 7) * rate[span], 20)
    elif kind == "drop":
        rate[span] *= rng.uniform(0, 0.6)
    elif kind == "stall":
        capacity[span] = rng.uniform(0, 0.7) * rate[span]
    elif kind == "throttle":
        capacity[span] = rng.uniform(0.5, 0.9) * mean
        limited[span] = True
    elif kind == "leak":
        capacity[span] = (1 - rng.uniform(0.01, 0.15)) * rate[span]
    elif kind == "silence":
        present[span] = False
    else:
        factor = _between(rng, 1.4, 3.0) ** rng.choice([1, -1])
        rate[start:] *= factor
        capacity[start:] *= max(factor, 1.0)
        return Truth(kind, start, end, start + 2 * DAY)
    return Truth(kind, start, end, end + HOUR)


def _between(rng: np.random.Generator, low: float, high: float) -> float:
    """A factor, small ones as often as large ones."""
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def _queue(arrived: np.ndarray, capacity: np.ndarray) -> np.ndarray:
    total = np.cumsum(arrived - capacity)
    return total - np.minimum(np.minimum.accumulate(total), 0.0)


def _with_aftermath(truth: Truth, queue: np.ndarray) -> Truth:
    """The backlog that an injection left has to drain before the calm."""
    drained = np.flatnonzero(queue[truth.end :] <= 0)
    until = truth.end + (int(drained[0]) if len(drained) else len(queue)) + HOUR
    return Truth(truth.kind, truth.start, truth.end, max(truth.calm, until))


def _events(rng: np.random.Generator, rate: np.ndarray, limited: np.ndarray) -> np.ndarray:
    """Throttle events: none, at every read under a small limit, or now and then; many while a limiter binds."""
    kind = rng.choice(["none", "small limit", "now and then"], p=[0.5, 0.25, 0.25])
    usual = np.zeros(len(rate))
    if kind == "small limit":
        usual = np.minimum(rate * rng.uniform(0.2, 0.8), 600.0)
    elif kind == "now and then":
        usual = np.where(rng.random(len(rate)) < 0.01, rng.uniform(5, 60), 0.0)
    return rng.poisson(usual + limited * rng.uniform(60, 180)).astype(float)


def _moves(rng, counts, present, truths) -> np.ndarray:
    """Topic moves: two minutes without samples, a minute that counts too little, and a mark."""
    minutes = len(present)
    marks = np.zeros(minutes, bool)
    for at in rng.integers(DAY, minutes - DAY, rng.integers(0, 4)):
        if any(truth.start - DAY <= at < truth.calm + DAY for truth in truths):
            continue
        present[at : at + 2] = False
        marks[at] = marks[at + 2] = True
        for name in ("in", "out", "events"):
            counts[name][at + 2] *= rng.uniform(0, 0.6)
    return marks
