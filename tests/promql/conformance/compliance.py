"""The compliance list compared with a live Prometheus 3.5. In: a checkout of prometheus/compliance. Out: per query, how equal the answers are.

Ours must be equal to the bit, or across series to 1e-12; ties of ``topk`` and ``bottomk`` may fall otherwise. The
tolerance of the official tester is 1e-5; how many queries would need it is counted.
"""

from __future__ import annotations

import contextlib
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import yaml

from tests.lab.prometheus import write_arrays
from tests.promql.conformance.demo import END_MS, as_written, demo_series
from tests.promql.conformance.outcome import Outcome, difference, same_but_for_ties
from tests.promql.conformance.targets import Ours, Target, server
from tests.promql.conformance.through_lake import OursInLake
from throttlescope.transforms.promql.source import MemorySource

QUERIES = Path("promql/promql-test-queries.yml")
#: The official tester's range query.
STEP_MS = 10_000
LENGTH_MS = 10 * 60_000
ACROSS_SERIES, OFFICIAL = 1e-12, 1e-5
#: Labels that decide the shard of a series of the demo service, which has no topic.
SHARD_LABELS = ("instance", "type", "path")
_TIES = re.compile(r"\b(topk|bottomk)\b")

#: What stands for a placeholder in the list's templates; the list itself names them only.
ARGUMENTS = {
    "range": ("1s", "15s", "1m", "5m", "15m", "1h"),
    "offset": ("1m", "5m", "10m"),
    "simpleAggrOp": ("sum", "avg", "max", "min", "count", "stddev", "stdvar"),
    "simpleTimeAggrOp": ("sum", "avg", "max", "min", "count", "stddev", "stdvar", "absent", "last"),
    "topBottomOp": ("topk", "bottomk"),
    "quantile": ("-0.5", "0.1", "0.5", "0.75", "0.95", "0.90", "0.99", "1", "1.5"),
    "arithBinOp": ("+", "-", "*", "/", "%", "^"),
    "compBinOp": ("==", "!=", "<", ">", "<=", ">="),
    "binOp": ("+", "-", "*", "/", "%", "^", "==", "!=", "<", ">", "<=", ">="),
    "simpleMathFunc": ("abs", "ceil", "floor", "exp", "sqrt", "ln", "log2", "log10", "round"),
    "extrapolatedRateFunc": ("delta", "rate", "increase"),
    "clampFunc": ("clamp_min", "clamp_max"),
    "instantRateFunc": ("idelta", "irate"),
    "dateFunc": ("day_of_month", "day_of_week", "days_in_month", "hour", "minute", "month", "year"),
}


def queries(checkout: Path) -> list[tuple[str, bool]]:
    """All queries of the list with their templates filled in, and whether the list says that they fail."""
    cases = yaml.safe_load((checkout / QUERIES).read_text())["test_cases"]
    return [
        (text, bool(case.get("should_fail")))
        for case in cases
        for text in _filled(str(case["query"]), case.get("variant_args") or [])
    ]


def _filled(template: str, names: list[str]) -> Iterator[str]:
    if not names:
        yield template
        return
    for value in ARGUMENTS[names[0]]:
        yield from _filled(template.replace("{{." + names[0] + "}}", value), names[1:])


def run(checkout: Path, seed: int, say: Callable[[str], None] = print, *, through_lake: bool = False) -> dict:
    """Every query on jittered and on aligned data, in memory or through a lake."""
    asked = queries(checkout)
    result: dict = {
        "seed": seed,
        "through": "lake" if through_lake else "memory",
        "queries": len(asked),
        "listed_failures": sum(f for _, f in asked),
        "sets": {},
    }
    for scrapes in ("jittered", "aligned"):
        started = time.monotonic()
        series = demo_series(seed, scrapes)
        with server() as theirs:
            samples = write_arrays(theirs.url, [as_written(one) for one in series])
            result["server"] = theirs.version()
            with contextlib.ExitStack() as stack:
                ours: Target = Ours(MemorySource(series))
                if through_lake:
                    ours = stack.enter_context(OursInLake(series, SHARD_LABELS))
                    result |= {"shards": ours.shards, "blocks": ours.blocks}
                rows = [_row(text, listed, ours, theirs) for text, listed in asked]
        result["sets"][scrapes] = {
            "series": len(series),
            "samples": samples,
            "seconds": round(time.monotonic() - started, 1),
            "rows": rows,
        }
        counted = Counter(row["verdict"] for row in rows)
        say(f"{scrapes}: {len(series)} series, {samples} samples; {dict(counted)}")
    return result


def _row(text: str, listed: bool, ours: Target, theirs: Target) -> dict:
    asked = (text, END_MS - LENGTH_MS, END_MS, STEP_MS)
    real, mine = theirs.query(*asked), ours.query(*asked)
    verdict, trouble = judged(text, mine, real)
    return {
        "text": text,
        "listed_failure": listed,
        "server_error": real.error,
        "filled": real.filled,
        "verdict": verdict,
        "trouble": trouble,
    }


def judged(text: str, mine: Outcome, real: Outcome) -> tuple[str, str]:
    """``bits``, ``1e-12``, ``ties``, ``1e-5`` or ``differs``, and the first difference where it is one of the last two."""
    if difference(mine, real) is None:
        return "bits", ""
    if difference(mine, real, ACROSS_SERIES) is None:
        return "1e-12", ""
    if _TIES.search(text) and same_but_for_ties(mine, real):
        return "ties", ""
    trouble = difference(mine, real, ACROSS_SERIES) or ""
    return ("1e-5" if difference(mine, real, OFFICIAL) is None else "differs"), trouble


def equal(rows: list[dict]) -> int:
    """How many queries have an answer that counts as equal."""
    return sum(row["verdict"] in ("bits", "1e-12", "ties") for row in rows)


def report(result: dict) -> Iterator[str]:
    """Figures and every difference."""
    for scrapes, one in result["sets"].items():
        rows = one["rows"]
        filled = sum(row["filled"] for row in rows)
        yield f"\n== {scrapes}: {equal(rows)} of {len(rows)} equal; {filled} answers with values =="
        for row in rows:
            if row["trouble"]:
                yield f"[{row['verdict']}] {row['text']}\n      {row['trouble'][:300]}"
        surprises = [row["text"] for row in rows if row["listed_failure"] != bool(row["server_error"])]
        yield f"the server itself does not fail as listed: {surprises}"
