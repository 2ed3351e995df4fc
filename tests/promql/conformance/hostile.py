"""Hostile texts, each read, planned and evaluated in a child process. In: a number of texts, a seed. Out: what became of them.

A child that dies or says nothing is seen by its parent, which takes a new one and goes on behind the text.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import random
import re
import resource
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.naive.promql import NaiveSeries
from tests.promql.compare import source_of
from tests.promql.conformance.expressions import Writer, whole_language
from tests.promql.conformance.hostile_texts import hostile_text, valid_text
from tests.promql.conformance.outcome import CRASH, our_outcome
from throttlescope.transforms.promql.functions import FUNCTIONS
from throttlescope.transforms.promql.query import Options, instant_query, range_query

LIMIT_S = 1.0
#: Whoever lets strangers ask sets a time-out; a text that meets it has its error.
OPTIONS = Options(timeout_s=0.7)
#: A child that is silent for so long hangs.
SILENCE_S = 30.0
_MEMORY_BYTES = 3 << 30
_NOW_MS = 600_000


def tiny_source():
    """A few series, one with a label value on which a backtracking regex would never end."""
    times = range(0, 600_001, 30_000)
    long = "a" * 5_000 + "!"
    series = [
        NaiveSeries({"__name__": "up", "a": a, "b": "x", "long": long}, [(t, float(t % 7)) for t in times])
        for a in ("1", "2")
    ]
    for name in ("m_total", "gauge", "ctr", "other", "odd"):
        series.append(
            NaiveSeries({"__name__": name, "a": "1", "instance": "i1"}, [(t, t / 1000) for t in times])
        )
    for le in ("0.1", "1", "+Inf"):
        series.append(
            NaiveSeries({"__name__": "lat_bucket", "a": "1", "le": le}, [(t, t / 10) for t in times])
        )
    return source_of(series)


def text_of(seed: int, number: int, family: str = "") -> tuple[str, str]:
    """A text and its family, by its number; of one family where it is named."""
    return hostile_text(random.Random(f"{seed}:{number}"), valid_text, family)  # noqa: S311


def run(
    texts: int, seed: int, workers: int = 2, family: str = "", say: Callable[[str], None] = print
) -> dict:
    """All texts, split among workers."""
    started = time.monotonic()
    bounds = [texts * part // workers for part in range(workers + 1)]
    with ThreadPoolExecutor(workers) as pool:
        parts = list(
            pool.map(
                lambda part: list(_watched(seed, family, bounds[part], bounds[part + 1], say)), range(workers)
            )
        )
    rows = [row for part in parts for row in part]
    slow = [row for row in rows if row["seconds"] >= LIMIT_S or row["class"] == "hang"]
    return {
        "texts": texts,
        "seed": seed,
        "seconds": round(time.monotonic() - started, 1),
        "classes": dict(Counter(row["class"] for row in rows)),
        "families": {
            family: dict(Counter(row["class"] for row in rows if row["family"] == family))
            for family in sorted({row["family"] for row in rows})
        },
        "slowest_s": max(row["seconds"] for row in rows),
        "longest": max(row["length"] for row in rows),
        "slow": len(slow),
        "timed_out": sum("timed out" in row["message"] for row in rows),
        "timeout_s": OPTIONS.timeout_s,
        "trouble": [
            row for row in rows if row["class"] in (CRASH, "died", "hang") or row["seconds"] >= LIMIT_S
        ],
    }


def _watched(seed: int, only: str, first: int, after: int, say: Callable[[str], None]) -> Iterator[dict]:
    context = multiprocessing.get_context("spawn")
    number = first
    while number < after:
        here, there = context.Pipe(duplex=False)
        child = context.Process(target=_child, args=(there, seed, only, number, after), daemon=True)
        child.start()
        there.close()
        try:
            # Warming up compiles what is compiled once.
            _received(here, 600)
            while number < after:
                row = _received(here, SILENCE_S)
                if isinstance(row, str):
                    text, family = text_of(seed, number, only)
                    say(f"{row}: text {number} ({family}): {text[:200]!r}")
                    yield _named(number, text, family, row, SILENCE_S if row == "hang" else 0.0, row)
                    number += 1
                    break
                yield row
                number += 1
                if number % 10_000 == 0:
                    say(f"text {number}")
        finally:
            with contextlib.suppress(ValueError):
                child.kill()
                child.join()
            here.close()


def _received(pipe, patience_s: float):
    """A message, ``hang`` when none comes, ``died`` when none can come."""
    if not pipe.poll(patience_s):
        return "hang"
    try:
        return pipe.recv()
    except EOFError:
        return "died"


def _child(pipe, seed: int, only: str, first: int, after: int) -> None:
    # A text that asks for all memory is a crash of this child, not of the machine.
    status = Path("/proc/self/status").read_text()
    used = int(re.search(r"VmSize:\s+(\d+)", status).group(1)) * 1024
    resource.setrlimit(resource.RLIMIT_AS, (used + _MEMORY_BYTES, resource.getrlimit(resource.RLIMIT_AS)[1]))
    source = tiny_source()
    _warm(source)
    pipe.send("ready")
    for number in range(first, after):
        text, family = text_of(seed, number, only)
        seconds, outcome = _timed(text, source, number)
        if seconds >= LIMIT_S:
            # The machine is shared: only what is slow twice is slow.
            seconds = min(seconds, _timed(text, source, number)[0])
        pipe.send(_named(number, text, family, outcome.error or "result", seconds, outcome.message))


def _timed(text: str, source, number: int):
    # Work, not waiting: the machine is shared, and a hang is seen by its silence.
    started = time.process_time()
    if number % 2:
        outcome = our_outcome(lambda: instant_query(text, source, _NOW_MS, OPTIONS))
    else:
        outcome = our_outcome(lambda: range_query(text, source, 0, _NOW_MS, 60_000, OPTIONS))
    return time.process_time() - started, outcome


def _named(number: int, text: str, family: str, kind: str, seconds: float, message: str) -> dict:
    return {
        "number": number,
        "family": family,
        "class": kind,
        "seconds": round(seconds, 4),
        "length": len(text),
        "text": ascii(text[:300]),
        "message": message[:200],
    }


def _warm(source) -> None:
    """Every function and aggregation once, so that no text pays for the compiler."""
    language = whole_language(0)
    for name in (*language.functions, *language.aggregations):
        for seed in range(3):
            writer = Writer(random.Random(seed), language)  # noqa: S311
            text = str(writer._call(name, 1)) if name in FUNCTIONS else f"{name}(up)"
            our_outcome(lambda text=text: instant_query(text, source, _NOW_MS))
            our_outcome(lambda text=text: range_query(text, source, 0, _NOW_MS, 60_000))
    for number in range(300):
        text = valid_text(random.Random(number))  # noqa: S311
        our_outcome(lambda text=text: range_query(text, source, 0, _NOW_MS, 60_000))


def report(result: dict) -> Iterator[str]:
    """Figures, and every text that gave trouble."""
    yield f"\n{result['texts']} texts of seed {result['seed']} in {result['seconds']} s: {result['classes']}"
    yield f"slowest {result['slowest_s']} s, longest {result['longest']} characters, {result['slow']} of 1 s or more, {result['timed_out']} timed out"
    for family, classes in result["families"].items():
        yield f"  {family}: {classes}"
    for row in result["trouble"]:
        yield f"\n{row['number']} {row['family']} {row['class']} {row['seconds']} s, {row['length']} characters\n  {row['text']}\n  {row['message']}"
