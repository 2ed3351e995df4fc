"""Random series and random expressions. In: a random generator. Out: data and PromQL text.

The same generator feeds the slow twin, in the part of the language that it knows, and the differential test against a
real Prometheus; a failure is repeated from its seed.
"""

from __future__ import annotations

import math
import random
from itertools import product

from tests.naive.promql import NaiveSeries
from tests.promql.conformance.expressions import Language, Writer

BASE_MS = 1_700_000_000_000
INTERVAL_MS = 15_000
SPAN_MS = 20 * 60_000

#: What the slow twin knows.
TWIN = Language(
    functions=(
        "rate", "increase", "delta", "irate", "changes", "resets", "avg_over_time", "min_over_time", "max_over_time",
        "sum_over_time", "count_over_time", "last_over_time", "abs", "ceil", "floor", "sqrt", "sgn", "absent",
        "timestamp", "clamp", "clamp_min", "clamp_max",
    ),
    aggregations=("sum", "avg", "min", "max", "count", "group"),
    arithmetic=("+", "-", "*", "/", "%"),
    metrics=(*("ctr",) * 3, *("gauge",) * 3, "other", "other", "nothing"),
    base_ms=BASE_MS,
    subqueries=False,
    odd_forms=False,
)  # fmt: skip


def random_series(rng: random.Random, prefix: str = "") -> list[NaiveSeries]:
    """A few metrics with a few series each: counters with resets, gauges, gaps, NaN, Inf, staleness markers, jitter."""
    series = []
    for name in ("ctr", "gauge", "other"):
        labels = list(product(("1", "2"), ("", "x", "y"), ("i1", "i2")))
        rng.shuffle(labels)
        for a, b, instance in labels[: rng.randint(1, 4)]:
            pairs = {"__name__": prefix + name, "a": a, "b": b, "instance": instance}
            times = _times(rng)
            values = _counter(rng, len(times)) if name == "ctr" else _gauge(rng, len(times))
            stale = _stale(rng, times)
            samples = list(zip(times, values, strict=True))
            series.append(NaiveSeries({k: v for k, v in pairs.items() if v}, samples, stale))
    return series


def _times(rng: random.Random) -> list[int]:
    # Exactly aligned times meet window edges, jittered ones do not; both must be right.
    phase = rng.choice((0, 0, rng.randint(1, INTERVAL_MS - 1)))
    jitter = rng.choice((0, 0, 40))
    interval = rng.choice((INTERVAL_MS, INTERVAL_MS, 60_000))
    gap_share = rng.choice((0, 0.1, 0.5))
    times = []
    for at in range(BASE_MS - 6 * 60_000 + phase, BASE_MS + SPAN_MS, interval):
        if rng.random() >= gap_share:
            times.append(at + (rng.randint(0, jitter) if jitter else 0))
    if times and rng.random() < 0.3:
        cut = rng.randrange(len(times))
        times = times[cut:] if rng.random() < 0.5 else times[:cut]
    return times


def _counter(rng: random.Random, count: int) -> list[float]:
    value, out = float(rng.choice((0, 0, 3, 1000))), []
    step = rng.choice((1, 7, 0.1, 1000))
    for _ in range(count):
        if rng.random() < 0.08:
            value = rng.choice((0.0, float(rng.randint(0, 3))))
        value += rng.randint(0, 3) * step
        out.append(value)
    return out


def _gauge(rng: random.Random, count: int) -> list[float]:
    odd = rng.choice((0, 0, 0.2))
    plain = (0.0, 1.0, -1.0, 0.1, 2.5, 3.0, 1000.0, -7.25)
    strange = (math.nan, math.inf, -math.inf, -0.0, 1e16, -1e16, 1e308)
    return [rng.choice(strange) if rng.random() < odd else rng.choice(plain) for _ in range(count)]


def _stale(rng: random.Random, times: list[int]) -> list[int]:
    if not times or rng.random() < 0.5:
        return []
    taken = set(times)
    chosen = (rng.choice(times) + rng.randint(1, INTERVAL_MS) for _ in range(rng.randint(1, 3)))
    return sorted({at for at in chosen if at not in taken})


def random_buckets(rng: random.Random, prefix: str = "") -> list[NaiveSeries]:
    """A classic histogram in one or two groups: counts mostly rise with ``le``, a bound may be missing, odd or twice."""
    series = []
    for a in rng.sample(("1", "2"), rng.randint(1, 2)):
        bounds = ["0.1", "0.5", "1", "2.5", "+Inf"]
        if rng.random() < 0.3:
            bounds = ["-1", "0", *bounds]
        if rng.random() < 0.15:
            bounds.pop()
        if rng.random() < 0.15:
            bounds.append(rng.choice(("", "much", "1.0", "1e0", "NaN")))
        times = _times(rng)
        rises = [rng.choice((0, 0, 1, 3)) for _ in bounds]
        level = [0.0] * len(bounds)
        rows: list[list[tuple[int, float]]] = [[] for _ in bounds]
        for at in times:
            below = 0.0
            for index, rise in enumerate(rises):
                below += rng.randint(0, rise) if rise else 0
                level[index] += below
                # A bucket that was scraped a little earlier than its neighbour.
                rows[index].append((at, level[index] - (1 if rng.random() < 0.02 else 0)))
        for bound, samples in zip(bounds, rows, strict=True):
            labels = {"__name__": f"{prefix}lat_bucket", "a": a, "b": "x", "le": bound}
            series.append(NaiveSeries({k: v for k, v in labels.items() if v}, samples))
        series.append(
            NaiveSeries(
                {"__name__": f"{prefix}lat_sum", "a": a, "b": "x"}, [(at, v * 0.3) for at, v in rows[-1]]
            )
        )
    return series


def _one_after_the_other(rng: random.Random, prefix: str) -> list[NaiveSeries]:
    """Two metrics with the same labels of which one begins where the other ends, or a little before."""
    times = list(range(BASE_MS - 6 * 60_000, BASE_MS + SPAN_MS, rng.choice((INTERVAL_MS, 5_000, 1_500))))
    cut = rng.randrange(len(times) // 4, len(times))
    labels = {"a": "1", "instance": "i1"}
    values = (5e-324, 1.7976931348623157e308, 2.0**53 + 1, 0.1 + 0.2, -0.0, 7.0, 1e-7, 1e21, -3.0)
    early = [(at, rng.choice(values)) for at in times[:cut]]
    late = [(at, rng.choice(values)) for at in times[cut - rng.choice((0, 0, 3)) :]]
    stale = [times[cut]] if rng.random() < 0.7 and cut < len(times) else []
    return [
        NaiveSeries(labels | {"__name__": f"{prefix}early"}, early, stale),
        NaiveSeries(labels | {"__name__": f"{prefix}late"}, late),
    ]


def random_data(rng: random.Random, prefix: str = "") -> list[NaiveSeries]:
    """What :func:`random_series` gives, a counter with a counter's name, a histogram, odd labels and odd times; sorted by labels."""
    series = random_series(rng, prefix)
    for one in random_series(rng, prefix):
        name = one.labels["__name__"].removeprefix(prefix)
        if name == "ctr":
            series.append(
                NaiveSeries(one.labels | {"__name__": f"{prefix}reqs_total"}, one.samples, one.stale_ms)
            )
        if name == "gauge":
            odd = rng.choice(
                (
                    {"__type__": "gauge", "__unit__": "s"},
                    {"utf 8": "\u00e4"},
                    {"b": "x\ny"},
                    {"b": 'q"\\'},
                    {},
                )
            )
            labels = one.labels | odd | {"__name__": f"{prefix}odd"}
            series.append(NaiveSeries(labels, one.samples, one.stale_ms))
    series += random_buckets(rng, prefix)
    series += _one_after_the_other(rng, prefix)
    by_labels = {tuple(sorted(one.labels.items())): one for one in series if one.samples or one.stale_ms}
    return [by_labels[key] for key in sorted(by_labels)]


def random_vector(rng: random.Random, depth: int, prefix: str = "", language: Language = TWIN) -> str:
    """An expression that gives an instant vector."""
    return str(Writer(rng, language, prefix).vector(depth))


def random_scalar(rng: random.Random, depth: int, prefix: str = "", language: Language = TWIN) -> str:
    """An expression that gives a scalar."""
    return str(Writer(rng, language, prefix).scalar(depth))
