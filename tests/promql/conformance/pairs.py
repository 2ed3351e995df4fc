"""Random data and random queries on a real Prometheus 3.5 and on ours. In: a number of pairs, a seed. Out: how equal the answers are.

Series are written to the server in the order of their labels, so that its storage order, in which it sums, is the
order in which we sum. A pair is repeated from the seed and its number.
"""

from __future__ import annotations

import contextlib
import json
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from tests.naive.promql import NaiveSeries
from tests.promql.conformance.expressions import CHOOSING, Piece, Writer, whole_language
from tests.promql.conformance.notation import duration_ms
from tests.promql.conformance.outcome import (
    CRASH,
    UNSUPPORTED,
    Outcome,
    difference,
    elements_by_time,
    same_but_for_ties,
)
from tests.promql.conformance.targets import Ours, Server, Target, server
from tests.promql.generate import BASE_MS, random_data
from throttlescope.ingest.core.errors import InputError
from throttlescope.transforms.promql import ast
from throttlescope.transforms.promql.functions import MATRIX, SCALAR, STRING, VECTOR
from throttlescope.transforms.promql.parse import parse
from throttlescope.transforms.promql.semantics import LOOKBACK_MS, SUBQUERY_STEP_MS

#: Allowed between sums over series.
RELATIVE = 1e-12
#: What shows the order of series, which inside a range query is Prometheus' own: last digits of sums, and which of the
#: equal numbers 0 and -0 is taken.
BY_ORDER = frozenset(("sum", "avg", "stddev", "stdvar", "min", "max", *CHOOSING))
PAIRS_PER_DATA = 50
PAIRS_PER_SERVER = 500
_LENGTH_MS = 12 * 60_000
_SUBQUERY_STEP = re.compile(r"\[\w+:(\w*)\]")
_REACH_MS = 20 * 60_000
#: The first sample lies six minutes before it.
_EARLY_BASE_MS = 6 * 60_000


#: First and last time, step and look-back.
Asked = tuple[int, int, int, int]


@dataclass(frozen=True)
class Pair:
    """One query of one data set; ``step_ms`` 0 is an instant query."""

    number: int
    piece: Piece
    start_ms: int
    end_ms: int
    step_ms: int
    lookback_ms: int

    @property
    def asked(self) -> Asked:
        return self.start_ms, self.end_ms, self.step_ms, self.lookback_ms

    @property
    def data(self) -> int:
        return self.number // PAIRS_PER_DATA


def pair(seed: int, number: int, depth: int = 5) -> Pair:
    """A pair by its number."""
    rng = random.Random(f"{seed}:{number}")  # noqa: S311
    data = number // PAIRS_PER_DATA
    base_ms = base_of(data)
    writer = Writer(rng, whole_language(base_ms), prefix(data))
    kind, piece = piece_of(rng, writer, depth)
    lookback_ms = rng.choice((15_000, 60_000, 600_000, 1_000)) if rng.random() < 0.1 else LOOKBACK_MS
    # Before the data too; around 1970 that is below zero.
    start_ms = base_ms + rng.choice(
        (0, 0, 0, 0, rng.randint(0, 300_000), rng.randint(0, 300_000), rng.randint(-400_000, 0))
    )
    if rng.random() < (0.9 if kind in (MATRIX, STRING) else 0.25):
        return Pair(number, piece, start_ms, start_ms, 0, lookback_ms)
    step_ms = rng.choice((15_000, 15_000, 60_000, 47_000, 7_000, 1_500, 240_000))
    length_ms = min(rng.choice((_LENGTH_MS, _LENGTH_MS, 0, rng.randint(0, _LENGTH_MS))), 200 * step_ms)
    return Pair(number, piece, start_ms, start_ms + length_ms, step_ms, lookback_ms)


def piece_of(rng: random.Random, writer: Writer, depth: int) -> tuple[str, Piece]:
    """A random query and its kind."""
    kind = rng.choices((VECTOR, SCALAR, MATRIX, STRING), (90, 5, 4, 1))[0]
    make = {VECTOR: writer.vector, SCALAR: writer.scalar, MATRIX: writer.matrix, STRING: writer.string}[kind]
    return kind, make(rng.randint(0, depth))


def base_of(data: int) -> int:
    """Most data are of 2023; every fourth server's begin in 1970."""
    server_number = data * PAIRS_PER_DATA // PAIRS_PER_SERVER
    return BASE_MS if server_number % 4 != 3 else _EARLY_BASE_MS


def data_of(seed: int, data: int) -> list[NaiveSeries]:
    """A data set by its number."""
    by_ms = base_of(data) - BASE_MS
    return [
        NaiveSeries(one.labels, [(t + by_ms, v) for t, v in one.samples], [t + by_ms for t in one.stale_ms])
        for one in random_data(random.Random(f"{seed}:data:{data}"), prefix(data))  # noqa: S311
    ]


def prefix(data: int) -> str:
    """What the metric names of a data set begin with."""
    return f"s{data}_"


def judged(piece: Piece, mine: Outcome, real: Outcome) -> tuple[str, str]:
    """``bits``, ``1e-12``, ``ties`` or ``differs``; and for the last the first difference."""
    # sort orders the rows of an instant vector; others come in no order that anybody promises.
    ordered = real.kind == "vector" and str(piece).startswith("sort_by_label")
    if difference(mine, real, ordered=ordered) is None:
        return "bits", ""
    trouble = difference(mine, real, RELATIVE, ordered=ordered)
    if trouble is None:
        return "1e-12", ""
    if any(word in str(piece).lower() for word in CHOOSING) and same_but_for_ties(mine, real):
        return "ties", ""
    return "differs", trouble


@dataclass(frozen=True)
class DataSet:
    """Series as both sides know them.

    Attributes
    ----------
    written : list of NaiveSeries
        For the server, in the order of their labels.
    ours : context manager
        Gives the target that answers for us.
    """

    written: list[NaiveSeries]
    ours: contextlib.AbstractContextManager[Target]


@dataclass(frozen=True)
class Draw:
    """Where pairs and data come from: :data:`IN_MEMORY`, or those of a lake (``lake_pairs``)."""

    pair: Callable[[int, int, int], Pair]
    data: Callable[[int, int], DataSet]


def _in_memory(seed: int, data: int) -> DataSet:
    series = data_of(seed, data)
    return DataSet(series, contextlib.nullcontext(Ours.over(series)))


IN_MEMORY = Draw(pair, _in_memory)


def run_part(
    seed: int, first: int, after: int, depth: int, shrink: bool = True, draw: Draw = IN_MEMORY
) -> list[dict]:
    """The pairs of a range of numbers, on a server of their own."""
    rows = []
    with server() as theirs, contextlib.ExitStack() as stack:
        data, ours, memory = -1, None, None
        for number in range(first, after):
            one = draw.pair(seed, number, depth)
            if one.data != data:
                data = one.data
                found = draw.data(seed, data)
                theirs.write(found.written)
                stack.close()
                ours = stack.enter_context(found.ours)
                memory = Ours.over(found.written)
            row = _row(one, ours, theirs, shrink=shrink)
            if row["verdict"] == "differs":
                # Whether it is the evaluator, or how its work was shared out.
                row["in_memory"] = judged(
                    one.piece,
                    memory.query(str(one.piece), *one.asked),
                    theirs.query(str(one.piece), *one.asked),
                )
            rows.append(row)
    return rows


def _row(one: Pair, ours: Target, theirs: Server, *, shrink: bool) -> dict:
    asked = one.asked
    real, mine = theirs.query(str(one.piece), *asked), ours.query(str(one.piece), *asked)
    verdict, trouble = judged(one.piece, mine, real)
    if verdict == "differs" and _among_its_answers(one.piece, asked, mine, theirs):
        verdict, trouble = "varies", ""
    if verdict == "differs" and _as_its_instants(one, mine, real, theirs):
        verdict, trouble = "order", ""
    row = {
        "number": one.number,
        "times": asked,
        "text": str(one.piece),
        "verdict": verdict,
        "filled": real.filled,
        "kind": real.kind,
        "server_error": real.error,
        "ours_error": mine.error,
        "notes": bool(real.warnings or real.infos),
    }
    if verdict == "differs":
        small = _shrunk(one, ours, theirs) if shrink and mine.error != UNSUPPORTED else one.piece
        real, mine = theirs.query(str(small), *asked), ours.query(str(small), *asked)
        row |= {
            "small": str(small),
            "trouble": judged(small, mine, real)[1] or trouble,
            "cause": _cause(small, asked, ours, theirs),
        }
    return row


def _among_its_answers(piece: Piece, asked: Asked, mine: Outcome, theirs: Server) -> bool:
    """Whether the server gives our answer too at another request.

    Inside a range query Prometheus hands some series on in the random order of a Go map: which elements limitk and the
    ties of topk choose, and the last digit of a sum, then change from call to call.
    """
    return any(judged(piece, mine, theirs.query(str(piece), *asked))[0] != "differs" for _ in range(100))


def _as_its_instants(one: Pair, mine: Outcome, real: Outcome, theirs: Server) -> bool:
    """Whether our range answer is, step by step and to the bit, what the server's own instant queries give.

    An instant query hands series on in storage order, a range query in another: sums then differ in their last digits,
    and deviations of large numbers in more.
    """
    if (
        mine.error
        or real.error
        or not one.step_ms
        or (mine.warnings, mine.infos) != (real.warnings, real.infos)
    ):
        return False
    if "start()" in str(one.piece) or "end()" in str(one.piece):
        return False
    for time_ms in range(one.start_ms, one.end_ms + 1, one.step_ms):
        rows = ((labels, tuple(p for p in points if p[0] == time_ms)) for labels, points in mine.rows)
        here = Outcome("vector", tuple(row for row in rows if row[1]))
        instant = theirs.query(str(one.piece), time_ms, time_ms, 0, one.lookback_ms)
        if difference(here, instant, notes=False) is not None:
            return False
    return True


def _cause(small: Piece, asked: Asked, ours: Target, theirs: Server) -> str:
    """The innermost piece that is equal but for its last digits or its choice among ties: it explains what is around it.

    Empty where every piece is equal to the bit, or one differs for good. A piece is asked at the query's steps and at those
    of the subqueries in it.
    """
    # limitk and limit_ratio look at no value: last digits inside of them explain nothing.
    by_value = not any(word in str(small).lower() for word in ("limitk", "limit_ratio"))
    for piece in sorted([*small.inner, small], key=lambda found: len(str(found))):
        if piece.kind not in (VECTOR, SCALAR):
            continue
        for grid in (asked, *_subquery_grids(small, asked)):
            mine, real = (target.query(str(piece), *grid) for target in (ours, theirs))
            verdict, _ = judged(piece, mine, real)
            if verdict == "differs":
                chosen = _takes_any(piece, mine, real, grid, ours, theirs)
                return f"any element: {piece}" if chosen else ""
            if verdict == "ties" or (verdict != "bits" and by_value):
                return f"{verdict}: {piece}" if piece is not small or grid is not asked else ""
    return ""


def _subquery_grids(small: Piece, asked: Asked) -> Iterator[Asked]:
    start_ms, end_ms, _, lookback_ms = asked
    for text in dict.fromkeys(_SUBQUERY_STEP.findall(str(small))):
        inner_ms = duration_ms(text) if text else SUBQUERY_STEP_MS
        # As far back as windows and offsets of these queries reach, and on the multiples of the step.
        first_ms = (start_ms - _REACH_MS) // inner_ms * inner_ms
        last_ms = min(end_ms + _REACH_MS, first_ms + 10_000 * inner_ms)
        yield first_ms, last_ms, inner_ms, lookback_ms


def _takes_any(
    piece: Piece, mine: Outcome, real: Outcome, asked: Asked, ours: Target, theirs: Server
) -> bool:
    """Whether a piece is a limitk of equal vectors, of which both sides took as many elements: any will do."""
    if not str(piece).lower().startswith("limitk") or mine.error or real.error:
        return False
    vectors = [part for part in piece.parts if isinstance(part, Piece) and part.kind == VECTOR]
    if len(vectors) != 1 or isinstance(piece.parts[-1], Piece):
        return False
    of_ours, of_theirs = (target.query(str(vectors[0]), *asked) for target in (ours, theirs))
    if judged(vectors[0], of_ours, of_theirs)[0] != "bits":
        return False
    whole, found, wanted = (elements_by_time(one) for one in (of_theirs, mine, real))
    return found.keys() == wanted.keys() and all(
        len(found[t]) == len(wanted[t]) and found[t] <= whole.get(t, set()) for t in found
    )


def _shrunk(one: Pair, ours: Target, theirs: Server, tries: int = 150) -> Piece:
    """A smaller query of the same times that still differs."""
    asked = one.asked
    piece, shrinking = one.piece, True
    while shrinking:
        shrinking = False
        for less in sorted(piece.smaller(), key=lambda found: len(str(found))):
            if tries <= 0:
                return piece
            tries -= 1
            real, mine = theirs.query(str(less), *asked), ours.query(str(less), *asked)
            if len(str(less)) < len(str(piece)) and judged(less, mine, real)[0] == "differs":
                piece, shrinking = less, True
                break
    return piece


def run(
    pairs: int,
    seed: int,
    workers: int,
    depth: int,
    say: Callable[[str], None] = print,
    *,
    draw: Draw = IN_MEMORY,
    kept: Path | None = None,
) -> dict:
    """All pairs; each worker has a server of its own.

    ``kept`` is a folder of finished parts: a run that was stopped goes on where it was.
    """
    started = time.monotonic()
    parts = [
        (seed, first, min(first + PAIRS_PER_SERVER, pairs), depth, True, draw)
        for first in range(0, pairs, PAIRS_PER_SERVER)
    ]
    rows: list[dict] = []
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        for done in [pool.submit(_kept_part, kept, *part) for part in parts]:
            rows += done.result()
            say(f"{len(rows)} pairs: {dict(Counter(row['verdict'] for row in rows))}")
    return {
        "pairs": pairs,
        "seed": seed,
        "depth": depth,
        "data_sets": -(-pairs // PAIRS_PER_DATA),
        "seconds": round(time.monotonic() - started, 1),
        "counts": counts(rows),
        "used": used(rows),
        "differences": [row for row in rows if row["verdict"] == "differs"],
        "tolerated": [row for row in rows if row["verdict"] in ("1e-12", "ties", "varies", "order")],
    }


def _kept_part(kept: Path | None, seed: int, first: int, after: int, *options) -> list[dict]:
    file = kept and kept / f"{seed}-{first}-{after}.json"
    if file and file.exists():
        return json.loads(file.read_text())
    rows = run_part(seed, first, after, *options)
    if file:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(rows))
    return rows


def counts(rows: list[dict]) -> dict[str, int]:
    """The figures of a run."""
    return {
        **{
            verdict: sum(row["verdict"] == verdict for row in rows)
            for verdict in ("bits", "1e-12", "ties", "varies", "order", "differs")
        },
        "explained": sum(bool(row.get("cause")) for row in rows),
        "by_order": sum(row["verdict"] == "1e-12" and bool(_words(row["text"]) & BY_ORDER) for row in rows),
        "filled": sum(row["filled"] for row in rows),
        "empty": sum(not row["filled"] and not row["server_error"] for row in rows),
        "failed": sum(row["server_error"] == "execution" for row in rows),
        "refused_by_both": sum(row["server_error"] == "bad_data" for row in rows),
        "with_notes": sum(row["notes"] for row in rows),
        "instant": sum(not row["times"][2] for row in rows),
        "crashes": sum(row["ours_error"] == CRASH for row in rows),
        "refused_by_us": sum(row["ours_error"] == UNSUPPORTED for row in rows),
    }


def used(rows: list[dict]) -> dict[str, int]:
    """How many pairs with a filled answer use each function, aggregation and operator."""
    found: Counter[str] = Counter()
    for row in rows:
        if row["filled"]:
            found.update(_words(row["text"]))
    return dict(sorted(found.items()))


def _words(text: str) -> set[str]:
    try:
        tree = parse(text)
    except InputError:
        return set()
    words = set()
    for node in ast.walk(tree):
        match node:
            case ast.Call(function=name):
                words.add(name)
            case ast.Aggregate(op=op) | ast.Binary(op=op):
                words.add(op)
            case ast.Subquery():
                words.add("subquery")
        if getattr(node, "at", None) is not None:
            words.add("@")
        if getattr(node, "offset_ms", 0):
            words.add("offset")
    return words


def report(result: dict) -> Iterator[str]:
    """Figures and every difference."""
    yield f"\n{result['pairs']} pairs of seed {result['seed']} in {result['seconds']} s: {result['counts']}"
    yield f"in filled answers: {result['used']}"
    for row in sorted(result["differences"], key=lambda row: row["ours_error"] == UNSUPPORTED):
        yield f"\n{row['number']} {row['times']}\n  {row['text'][:600]}\n  small: {row['small'][:400]}\n  {row['trouble'][:500]}"
        if row["cause"]:
            yield f"  explained by {row['cause'][:300]}"
        yield f"  in memory: {row['in_memory'][0]} {row['in_memory'][1][:300]}"
