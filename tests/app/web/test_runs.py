"""Runs of one subscription agree with the newest verdicts of all; the naive twin walks over every minute."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from throttlescope.app.presentation.cause_runs import runs
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.models.diagnosis.standing import RECENT_MS, standing

KEY = {
    "cluster": "c",
    "namespace": "t/n",
    "topic": "persistent://t/n/a",
    "partition": -1,
    "subscription": "s",
}


def verdict(start_minute: int, end_minute: int, cause: str = "healthy", limiter: str | None = None) -> dict:
    return KEY | {
        "window_start_ms": start_minute * MINUTE_MS,
        "window_end_ms": end_minute * MINUTE_MS,
        "side": "neither",
        "cause": cause,
        "limiter": limiter,
        "confidence": 0.5,
        "evidence": [],
        "missing_evidence": [],
        "naive_side": "neither",
        "rules_version": "x",
        "backlog_entries": float(end_minute),
        "backlog_growth_entries": None,
        "date": "1970-01-01",
    }


def test_overlapping_windows_form_consecutive_runs():
    """Each window counts for its newest part."""
    rows = [verdict(end - 5, end, "throttled" if end > 10 else "healthy") for end in range(5, 16)]
    first, second = runs(rows)
    assert (first.start_ms, first.end_ms, first.cause) == (0, 10 * MINUTE_MS, "healthy")
    assert (second.start_ms, second.end_ms, second.cause) == (10 * MINUTE_MS, 15 * MINUTE_MS, "throttled")
    assert (first.follows_gap, second.follows_gap) == (True, False)
    assert (second.windows, second.backlog_entries) == (5, 15.0)


def test_gap_or_other_limiter_ends_run():
    rows = [
        verdict(0, 5, "throttled", "topic.msg"),
        verdict(5, 10, "throttled", "broker.msg"),
        verdict(20, 25, "throttled", "broker.msg"),
    ]
    found = runs(rows)
    assert [(run.start_ms // MINUTE_MS, run.end_ms // MINUTE_MS) for run in found] == [
        (0, 5),
        (5, 10),
        (20, 25),
    ]
    assert [run.follows_gap for run in found] == [True, False, True]


_windows = st.lists(
    st.tuples(
        st.integers(0, 60),
        st.integers(1, 12),
        st.sampled_from(
            [("healthy", None), ("throttled", "topic.msg"), ("throttled", "broker.msg"), ("unknown", None)]
        ),
    ),
    min_size=1,
    max_size=25,
    unique_by=lambda window: (window[0], window[0] + window[1]),
)


def cause_by_minute(rows: list[dict]) -> list[tuple[int, tuple | None]]:
    """The naive implementation: for each minute, the first window in order of end that covers it."""
    ordered = sorted(rows, key=lambda row: (row["window_end_ms"], row["window_start_ms"]))
    minutes = []
    for minute in range(0, 80):
        # A window speaks only for what comes after all windows that end before it.
        spoken, reached = None, -1
        for row in ordered:
            start, end = row["window_start_ms"] // MINUTE_MS, row["window_end_ms"] // MINUTE_MS
            if max(start, reached) <= minute < end:
                spoken = (row["cause"], row["limiter"])
                break
            reached = max(reached, end)
        minutes.append((minute, spoken))
    return minutes


@given(_windows)
def test_runs_match_walk_over_minutes(windows):
    rows = [verdict(start, start + length, *what) for start, length, what in windows]
    said = dict.fromkeys(range(80))
    for run in runs(rows):
        for minute in range(run.start_ms // MINUTE_MS, run.end_ms // MINUTE_MS):
            assert said[minute] is None, "runs overlap"
            said[minute] = (run.cause, run.limiter)
    assert list(said.items()) == cause_by_minute(rows)


@given(_windows)
@examples(60)
@pytest.mark.long
def test_newest_verdicts_match_the_runs(windows):
    rows = [verdict(start, start + length, *what) for start, length, what in windows]
    other = [row | {"subscription": "other"} for row in rows[: len(rows) // 2]]
    columns = "subscription, cause, limiter, since_ms, since_at_least, window_end_ms, main_cause, main_limiter, main_held_ms"
    newest = max(row["window_end_ms"] for row in rows)
    verdicts = pa.Table.from_pylist(rows + other, schema=TABLES["verdicts"].loose_schema)
    latest = standing(verdicts, newest).select(columns.split(", ")).to_pylist()
    found = {row["subscription"]: tuple(row.values())[1:] for row in latest}
    for name, own in (("s", rows), ("other", other)):
        if not own:
            assert name not in found
            continue
        stretches = runs(own)
        last = stretches[-1]
        assert found[name][:5] == (last.cause, last.limiter, last.start_ms, last.follows_gap, last.end_ms)
        lasted: dict = {}
        for run in stretches:
            if run.end_ms > newest - RECENT_MS:
                pair = (run.cause, run.limiter)
                lasted[pair] = lasted.get(pair, 0) + run.end_ms - max(run.start_ms, newest - RECENT_MS)
        # Trouble before what is not known, and that before health.
        for passed_over in (("unknown", "healthy"), ("healthy",), ()):
            candidates = {pair: ms for pair, ms in lasted.items() if pair[0] not in passed_over}
            if candidates:
                break
        assert lasted[found[name][5:7]] == found[name][7] == max(candidates.values())
        assert found[name][5:7] in candidates
