"""The evaluator against a real Prometheus 3.5: what is read and what is not, and random queries of the whole language.

``THROTTLESCOPE_PROMQL_CASES`` sets how many random pairs of data and query are tried (default 1,500),
``THROTTLESCOPE_PROMQL_SEED`` which; ``python -m tests.promql.conformance random`` runs ten thousand and makes what
differs small.
"""

from __future__ import annotations

import os
import random
import re

import pytest

from tests.examples import share
from tests.promql.conformance import lake_pairs, pairs
from tests.promql.conformance.hostile import text_of
from tests.promql.conformance.outcome import BAD_DATA, UNSUPPORTED, difference
from tests.promql.conformance.targets import Ours
from tests.promql.conformance.targets import server as running_server
from tests.promql.generate import BASE_MS, random_data
from tests.promql.test_parse import NO_PROMQL, READ_AS, WRONG_KINDS
from throttlescope.transforms.promql.functions import FUNCTIONS, MATRIX

pytestmark = pytest.mark.prometheus

_PAIRS = int(os.environ.get("THROTTLESCOPE_PROMQL_CASES", str(round(1500 * share()))))
_LAKE_PAIRS = max(100, _PAIRS // 5)
_SEED = int(os.environ.get("THROTTLESCOPE_PROMQL_SEED", "0"))
_END_MS = BASE_MS + 12 * 60_000
#: Depth and length are bounded here; Go's stack grows.
_OUR_LIMITS = ("nested too deeply", "too long a chain", "text is too long")
#: What Prometheus 3.5 reads although it means nothing (an offset of NaN, two signs, a range of no millisecond), and the
#: replacement character, which it takes for broken UTF-8.
_ODDITIES = re.compile(r"offset\s*[-+]?\s*(NaN|[-+])|5e-324|\ufffd", re.IGNORECASE)
_WINDOWS = sorted(
    name for name, function in FUNCTIONS.items() if function.takes == (MATRIX,) and function.supported
)


@pytest.fixture(scope="module")
def server():
    with running_server() as prometheus:
        yield prometheus


@pytest.fixture(scope="module")
def datasets(server):
    """Random series, each set under its own metric names, here and on the server."""
    sets = []
    for number in range(6):
        series = random_data(random.Random(f"{_SEED}:windows:{number}"), f"w{number}_")  # noqa: S311
        server.write(series)
        sets.append((f"w{number}_", Ours.over(series)))
    return sets


def unsupported(server, text):
    return server.query(text, BASE_MS, _END_MS, 60_000).error == BAD_DATA


@pytest.mark.parametrize("text", [text for text, *_ in NO_PROMQL + WRONG_KINDS])
def test_what_we_refuse_to_read_prometheus_refuses(server, text):
    assert unsupported(server, text)


@pytest.mark.parametrize("text", [text for text, _ in READ_AS])
def test_what_we_read_prometheus_reads(server, text):
    # Some of these texts fail, and a range or a string has no steps: what counts is that they can be read.
    outcome = server.query(text, BASE_MS, BASE_MS, 0)
    assert outcome.error != BAD_DATA, outcome.message


def test_random_queries():
    """Answers, errors, warnings and infos of the whole language, with series in the same order on both sides."""
    rows = pairs.run_part(_SEED, 0, _PAIRS, depth=5)
    unexplained = [row for row in rows if row["verdict"] == "differs" and not row["cause"]]
    assert not unexplained, f"{len(unexplained)} of {_PAIRS} differ:\n" + "\n".join(
        f"pair {row['number']} of seed {_SEED}, {row['times']}: {row['text']}\n"
        f"    small: {row['small']}\n    {row['trouble']}"
        for row in unexplained[:20]
    )
    figures = pairs.counts(rows)
    assert figures["crashes"] == 0
    # What differs in its last digit, or in the sign of zero, depends on the order of series.
    assert figures["1e-12"] == figures["by_order"]
    # Empty answers agree too easily, and errors have to be met too.
    assert figures["filled"] > _PAIRS * 0.5
    assert figures["failed"] > _PAIRS * 0.01


def test_random_queries_through_a_lake():
    """The same over shards and spans, where equal names and labels stand in many topics."""
    rows = pairs.run_part(_SEED, 0, _LAKE_PAIRS, depth=5, draw=lake_pairs.THROUGH_LAKE)
    unexplained = [row for row in rows if row["verdict"] == "differs" and not row["cause"]]
    assert not unexplained, "\n".join(
        f"pair {row['number']} of seed {_SEED}, {row['times']}: {row['text']}\n"
        f"    small: {row['small']}\n    {row['trouble']}\n    in memory: {row['in_memory']}"
        for row in unexplained[:20]
    )
    figures = pairs.counts(rows)
    assert figures["crashes"] == 0
    assert figures["filled"] > _LAKE_PAIRS * 0.5
    assert figures["failed"] > 0


@pytest.mark.sampled(3)
@pytest.mark.parametrize("function", _WINDOWS)
def test_functions_of_a_range_have_prometheus_bits(datasets, server, function):
    answered = 0
    for prefix, ours in datasets:
        for length in ("15s", "1m", "5m", "7m30s"):
            for name in ("ctr", "reqs_total", "gauge", "other", "odd"):
                text = f"{function}({prefix}{name}[{length}])"
                asked = (text, BASE_MS, _END_MS, 15_000)
                real = server.query(*asked)
                assert difference(ours.query(*asked), real) is None, text
                answered += real.filled
    assert answered > 20


@pytest.mark.parametrize(
    "text",
    ["time() ^ 2", "1.5 ^ -7", "(-2) ^ 3", "(-2) ^ 0.5", "0 ^ -1", "vector(7) ^ 0.5", "vector(3) ^ vector(5)", "2 ^ 1000 ^ 2"],
)  # fmt: skip
def test_powers(server, text):
    asked = (text, BASE_MS, _END_MS, 60_000)
    assert difference(Ours.over(()).query(*asked), server.query(*asked)) is None


def test_parsers_refuse_the_same_hostile_texts(server):
    """The parser compared with Prometheus' own, on texts that are wrong in small ways; nothing is stored on either side."""
    ours, found, refusals = Ours.over(()), [], 0
    for number in range(1500):
        text, family = text_of(_SEED, number)
        if family in ("growing_labels", "endless_subquery") or len(text) > 20_000 or not text.isprintable():
            # Expensive on the server, or nothing that JSON or a form carries unchanged.
            continue
        if _ODDITIES.search(text):
            continue
        mine, real = ours.query(text, BASE_MS, BASE_MS, 0), server.query(text, BASE_MS, BASE_MS, 0)
        refusals += real.error == BAD_DATA
        if any(limit in mine.message for limit in _OUR_LIMITS):
            continue
        if (mine.error in (BAD_DATA, UNSUPPORTED)) != (real.error == BAD_DATA):
            found.append(
                f"{number} {text[:300]!r}\n    ours {mine.error} {mine.message[:200]}\n    theirs {real.error} {real.message[:200]}"
            )
    assert not found, f"{len(found)} texts:\n" + "\n".join(found[:20])
    assert refusals > 500
