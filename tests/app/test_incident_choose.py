"""Which partition, moment and range a bundle tells."""

from __future__ import annotations

import pytest

from throttlescope.app.incident.selection import (
    LONGEST_MS,
    IncidentSelection,
    episode_of,
    moment,
    one_cluster,
    span,
    verdict_at,
    worst,
)
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.times import BLOCK_MS, DAY_MS, MINUTE_MS
from throttlescope.models.diagnosis.window import SubscriptionKey

T = 1_795_000_200_000
NAME = "persistent://acme/shop/orders#billing"
KEYS = [SubscriptionKey("prod", "acme/shop", "persistent://acme/shop/orders", i, "billing") for i in range(3)]


def episode(key=KEYS[0], start=0, end=30, peak=25, entries=900.0, **changes) -> dict:
    """An episode in minutes from T; ``end`` None: not drained after 60 minutes."""
    over_ms = T + (60 if end is None else end) * MINUTE_MS
    row = {
        "start_ms": T + start * MINUTE_MS, "since_ms": T + start * MINUTE_MS, "end_ms": None if end is None else over_ms,
        "over_until_ms": over_ms, "known_until_ms": over_ms, "peak_ms": T + peak * MINUTE_MS, "peak_entries": entries,
        "cause": "throttled", "limiter": "topic.msg",
    }  # fmt: skip
    return {**key._asdict(), **row, **changes}


def windows(verdicts: str) -> list[dict]:
    """Windows of 5 minutes from T: T throttled, h healthy, s slow consumers."""
    causes = {"T": ("throttled", "topic.msg"), "h": ("healthy", None), "s": ("slow_consumers", None)}
    return [
        {"window_end_ms": T + (i + 1) * 5 * MINUTE_MS, "cause": causes[one][0], "limiter": causes[one][1]}
        for i, one in enumerate(verdicts)
    ]


def minute(ms: int) -> float:
    return (ms - T) / MINUTE_MS


def test_worst_partition_has_largest_open_backlog():
    rows = [
        episode(KEYS[0], entries=9000.0),
        episode(KEYS[1], end=None, entries=100.0),
        episode(KEYS[2], end=None, entries=200.0),
    ]
    assert worst(KEYS, rows, []) == KEYS[2]
    assert worst(KEYS, rows[:1], []) == KEYS[0]


def test_worst_partition_without_episodes_uses_backlog():
    newest = [
        {**key._asdict(), "backlog_ready_entries": value}
        for key, value in zip(KEYS, (5.0, 7.0, None), strict=True)
    ]
    assert worst(KEYS, [], newest) == KEYS[1]
    # None knows anything: the first.
    assert worst(KEYS, [], []) == KEYS[0]


def test_ambiguous_cluster_is_refused():
    with pytest.raises(InputError, match="everal clusters"):
        one_cluster([KEYS[0], KEYS[0]._replace(cluster="other")], IncidentSelection(NAME))
    with pytest.raises(InputError, match="no data of this subscription"):
        one_cluster([], IncidentSelection(NAME))


def test_ongoing_cause_is_reported_now():
    assert (
        minute(moment(IncidentSelection(NAME), episode(end=None), windows("TTTTTs"), T + 31 * MINUTE_MS))
        == 31
    )


def test_past_backlog_is_reported_at_its_peak():
    verdicts = windows("hTTTTThhh")
    assert (
        minute(
            moment(IncidentSelection(NAME), episode(start=4, end=31, peak=26), verdicts, T + 45 * MINUTE_MS)
        )
        == 25
    )
    # None names the cause up to the peak: the last one that does.
    assert (
        minute(
            moment(IncidentSelection(NAME), episode(start=4, end=31, peak=5), verdicts, T + 45 * MINUTE_MS)
        )
        == 30
    )
    # At the peak another cause than the main one was the verdict.
    assert (
        minute(moment(IncidentSelection(NAME), episode(cause="redelivery"), verdicts, T + 45 * MINUTE_MS))
        == 25
    )
    # None names it at all, and the peak has no cause.
    quiet = episode(cause="redelivery", peak=5)
    assert minute(moment(IncidentSelection(NAME), quiet, verdicts, T + 45 * MINUTE_MS)) == 45


def test_selected_moment_is_reported():
    selected = IncidentSelection(NAME, at_ms=T + 12 * MINUTE_MS)
    verdicts = windows("hTTTTThhh")
    assert moment(selected, episode(), verdicts, T + 45 * MINUTE_MS) == selected.at_ms
    assert minute(verdict_at(verdicts, selected.at_ms)["window_end_ms"]) == 10
    assert verdict_at(verdicts, T) is None


def test_episode_contains_the_selected_moment():
    rows = [episode(start=0, end=30), episode(start=50, end=80)]
    assert episode_of(KEYS[0], rows, IncidentSelection(NAME, at_ms=T + 20 * MINUTE_MS)) is rows[0]
    assert episode_of(KEYS[0], rows, IncidentSelection(NAME, at_ms=T + 40 * MINUTE_MS)) is None
    assert episode_of(KEYS[0], rows, IncidentSelection(NAME)) is rows[1]
    assert episode_of(KEYS[1], rows, IncidentSelection(NAME)) is None


def test_range_adds_margins_around_the_episode():
    start_ms, end_ms, was_cut = span(IncidentSelection(NAME), episode(), T + 25 * MINUTE_MS, T + DAY_MS)
    assert (T - start_ms, minute(end_ms), was_cut) == (2 * BLOCK_MS, 40, False)
    # Nothing is known behind the end of the data.
    assert minute(span(IncidentSelection(NAME), episode(), T + 25 * MINUTE_MS, T + 33 * MINUTE_MS)[1]) == 33


@pytest.mark.parametrize("at_day", [0, 3, 20, 29.9])
def test_long_episode_is_cut_around_moment(at_day):
    long = episode(end=30 * 24 * 60)
    at_ms = T + int(at_day * DAY_MS)
    start_ms, end_ms, was_cut = span(IncidentSelection(NAME), long, at_ms, T + 31 * DAY_MS)
    assert was_cut
    assert end_ms - start_ms <= LONGEST_MS
    assert start_ms < at_ms <= end_ms


def test_range_after_the_data_is_refused():
    with pytest.raises(InputError, match="ends before it begins"):
        span(IncidentSelection(NAME, start_ms=T + DAY_MS), None, T, T + MINUTE_MS)
