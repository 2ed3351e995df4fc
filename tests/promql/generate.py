"""Random series and random well-typed expressions. In: a random generator. Out: data and PromQL text.

The same generator feeds the slow twin and the differential test against a real Prometheus; a failure is repeated from
its seed.
"""

from __future__ import annotations

import math
import random
from itertools import product

from tests.naive.promql import NaiveSeries

BASE_MS = 1_700_000_000_000
INTERVAL_MS = 15_000
SPAN_MS = 20 * 60_000

RANGE_FUNCTIONS = (
    "rate", "increase", "delta", "irate", "changes", "resets", "avg_over_time", "min_over_time", "max_over_time",
    "sum_over_time", "count_over_time", "last_over_time",
)  # fmt: skip
ARITHMETIC = ("+", "-", "*", "/", "%")
COMPARISONS = ("==", "!=", ">", "<", ">=", "<=")
AGGREGATIONS = ("sum", "avg", "min", "max", "count", "group")
LABELS = ("a", "b", "instance")


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


def random_vector(rng: random.Random, depth: int, prefix: str = "") -> str:
    """An expression that gives an instant vector."""
    if depth <= 0 or rng.random() < 0.15:
        return _leaf(rng, prefix)
    inner = lambda: random_vector(rng, depth - 1, prefix)  # noqa: E731
    kind = rng.randrange(10)
    if kind < 2:
        return _aggregation(rng, inner())
    if kind == 2:
        return f"{inner()} {rng.choice(ARITHMETIC)} {_matching(rng)}{inner()}".join("()")
    if kind == 3:
        return (
            f"{inner()} {rng.choice(COMPARISONS)} {rng.choice(('', 'bool '))}{_matching(rng)}{inner()}".join(
                "()"
            )
        )
    if kind == 4:
        return f"{inner()} {rng.choice(('and', 'or', 'unless'))} {_on(rng)}{inner()}".join("()")
    if kind == 5:
        sides = [inner(), random_scalar(rng, depth - 1, prefix)]
        rng.shuffle(sides)
        op = rng.choice((*ARITHMETIC, *COMPARISONS, *(f"{c} bool" for c in COMPARISONS)))
        return f"{sides[0]} {op} {sides[1]}".join("()")
    if kind == 6:
        return f"-{inner()}"
    if kind == 7:
        name = rng.choice(("abs", "ceil", "floor", "sqrt", "sgn", "absent", "timestamp"))
        # timestamp of a selector is a leaf of its own: with both @ and offset it is refused.
        return f"{name}(0 + {inner()})" if name == "timestamp" else f"{name}({inner()})"
    if kind == 8:
        name = rng.choice(("clamp", "clamp_min", "clamp_max"))
        scalars = [random_scalar(rng, depth - 2, prefix) for _ in range(2 if name == "clamp" else 1)]
        return f"{name}({inner()}, {', '.join(scalars)})"
    return f"vector({random_scalar(rng, depth - 1, prefix)})"


def random_scalar(rng: random.Random, depth: int, prefix: str = "") -> str:
    """An expression that gives a scalar."""
    number = rng.choice(("0", "1", "-1", "2.5", "1e3", "0.1", "100", "Inf", "NaN", "5m"))
    if depth <= 0 or rng.random() < 0.6:
        return rng.choice((number, number, number, "time()"))
    if rng.random() < 0.4:
        return f"scalar({random_vector(rng, depth - 1, prefix)})"
    op = rng.choice((*ARITHMETIC, "> bool", "== bool"))
    return f"({random_scalar(rng, depth - 1, prefix)} {op} {random_scalar(rng, depth - 1, prefix)})"


def _leaf(rng: random.Random, prefix: str) -> str:
    selector = _selector(rng, prefix)
    if rng.random() < 0.45:
        length = rng.choice(("15s", "20s", "1m", "90s", "5m", "7m30s"))
        return f"{rng.choice(RANGE_FUNCTIONS)}({selector}[{length}]{_shift(rng)})"
    if rng.random() < 0.1:
        return (
            f"timestamp({selector}{rng.choice(('', ' offset 1m', ' offset -30s', ' @ start()', ' @ end()'))})"
        )
    return selector + _shift(rng)


def _shift(rng: random.Random) -> str:
    if rng.random() < 0.75:
        return ""
    at = rng.choice((" @ start()", " @ end()", f" @ {BASE_MS / 1000 + 137.5:.3f}", ""))
    return rng.choice((" offset 1m", " offset -30s", " offset 7s", "")) + at


def _selector(rng: random.Random, prefix: str) -> str:
    matchers = []
    if rng.random() < 0.3:
        matchers.append(f'a{rng.choice(("=", "!="))}"{rng.choice("12")}"')
    if rng.random() < 0.3:
        matchers.append(f'b{rng.choice(("=", "!=", "=~", "!~"))}"{rng.choice(("", "x", "x|y", ".*", ".+"))}"')
    if rng.random() < 0.1:
        return (
            '{__name__=~"'
            + prefix
            + rng.choice(("ctr|gauge", ".*r"))
            + '"'
            + "".join("," + m for m in matchers)
            + "}"
        )
    name = prefix + rng.choice(("ctr", "ctr", "ctr", "gauge", "gauge", "gauge", "other", "other", "nothing"))
    return name + ("{" + ",".join(matchers) + "}" if matchers else "")


def _aggregation(rng: random.Random, inner: str) -> str:
    labels = rng.sample(LABELS, rng.randint(0, 2))
    clause = rng.choice(("", f"by ({', '.join(labels)}) ", f"without ({', '.join(labels)}) "))
    return f"{rng.choice(AGGREGATIONS)} {clause}({inner})"


def _on(rng: random.Random) -> str:
    if rng.random() < 0.5:
        return ""
    labels = rng.sample(LABELS, rng.choice((0, 1, 2, 3, 3, 3)))
    if rng.random() < 0.7:
        return f"on ({', '.join(labels)}) "
    return f"ignoring ({', '.join(label for label in LABELS if label not in labels)}) "


def _matching(rng: random.Random) -> str:
    on = _on(rng)
    if not on or rng.random() < 0.5:
        return on
    matched = on[on.index("(") + 1 : on.index(")")].split(", ")
    free = [label for label in LABELS if label not in matched]
    include = rng.sample(free, rng.randint(0, min(1, len(free))))
    return on + f"{rng.choice(('group_left', 'group_right'))} ({', '.join(include)}) "
