"""The screen: every window that it judges has the very row that the rules give, and no window is lost or judged twice."""

from __future__ import annotations

import random
from collections.abc import Iterable

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from tests.models.diagnosis.scenes import HEALTHY, KEY, START_MS, growing, scene
from tests.models.diagnosis.test_cases import CASES, UP, sub
from tests.models.diagnosis.test_properties import a_window
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.contracts.vocabulary import LIMITERS
from throttlescope.ingest.core.times import MINUTE_MS, date_of
from throttlescope.models.diagnosis.apply import verdicts_of
from throttlescope.models.diagnosis.bearing import BEARING
from throttlescope.models.diagnosis.causes import RULES
from throttlescope.models.diagnosis.evidence import WEIGHTS
from throttlescope.models.diagnosis.healthy_fast_path import COLUMNS, FastAnswer, WindowGrid, judge
from throttlescope.models.diagnosis.healthy_fast_path.quiet_evidence import SHOWN
from throttlescope.models.diagnosis.window import Window

SIGNALS = TABLES["signals"].loose_schema
END_MS = START_MS + 5 * MINUTE_MS


def rows_of(windows: Iterable[Window]) -> pa.Table:
    """Rows of ``signals``: each window is a subscription of its own."""
    rows = []
    for number, window in enumerate(windows):
        names = list(window.columns)
        for values in zip(*(window.columns[name] for name in names), strict=True):
            row = dict(zip(names, values, strict=True)) | KEY._asdict()
            row |= {"subscription": f"{KEY.subscription}-{number:05d}", "date": date_of(row["minute_ms"])}
            rows.append(row)
    return pa.Table.from_pylist(rows, schema=SIGNALS)


def compare(
    rows: pa.Table, start_ms: int, end_ms: int, *, length: int = 5, every: int = 5, **how
) -> FastAnswer:
    """Judge with the screen and with the rules, and hold one against the other."""
    window_ms, every_ms = length * MINUTE_MS, every * MINUTE_MS
    grid = WindowGrid.of(start_ms, end_ms - window_ms + 1, window_ms, every_ms)
    # No more columns than it says that it needs.
    answer = judge(rows.select(COLUMNS), grid, **how)
    wanted = verdicts_of(rows, start_ms, end_ms, window_ms=window_ms, every_ms=every_ms).to_pylist()
    by_place = {place(row): row for row in wanted}
    judged = answer.verdicts.to_pylist()
    for row in judged:
        assert row == by_place[place(row)]
    left = [(*key, at_ms) for key, starts_ms in answer.left for at_ms in starts_ms]
    # Each window once, here or there.
    assert sorted([*map(place, judged), *left]) == sorted(by_place)
    assert [place(row) for row in judged] == sorted(map(place, judged))
    TABLES["verdicts"].conform(answer.verdicts)
    return answer


def place(row: dict) -> tuple:
    return (*(row[name] for name in KEY._fields), row["window_start_ms"])


#: What quiet subscriptions look like.
QUIET = [
    {},
    {"in_rate": 0.0, "out_rate": 0.0, "ack_rate": 0.0, "backlog": 0.0, "flow_age_s": 9000.0},
    {"in_rate": 20.0, "out_rate": 20.0, "limits": sub(50, 0.4, 20.0)},
    {"limits": {"subscription.bytes": {"limit": 1_000_000, "rho": 0.1, "events": 98.0}}},
    {"limits": {"topic.msg": {"limit": 5000, "rho": 0.42}, "broker.bytes": {"limit": 10**8, "rho": 0.9}}},
    {"limits": {"subscription.msg": {"limit": 50, "rho": 0.4, "events": 2.0},
                "subscription.bytes": {"limit": 10**6, "rho": 0.4, "events": 2.0},
                "topic.msg": {"limit": 60, "rho": 0.7, "events": 9.0, "duty": 0.3}}},
    {"in_rate": 485.0, "out_rate": 485.0, "limits": sub(500, 0.97, 1.0)},
    {"in_rate": 5000.0, "out_rate": 5000.0, "per_entry": 100.0, "backlog": 300.0},
    {"in_rate": 500.0, "out_rate": 500.0, "backlog": 2345.0},
    {"limits_observed": False},
    {"counters": False},
    {"kind": "Exclusive", "consumers": 1.0, "unacked": 0.0},
    {"kind": "Failover", "consumers": 3.0, "starved": 0.1},
    {"kind": None, "per_entry": None, "permits": None, "starved": None},
    {"consumers": 0.0, "backlog": 0.0, "in_rate": 0.0, "out_rate": 0.0},
    {"in_rate": 30.0, "out_rate": 30.0, "per_entry": 7.0, "counts": "entries",
     "limits": {"topic.msg": {"limit": 333, "rho": 0.333, "events": 0.01}}},
    {"limits": {"subscription.msg": {"limit": 600, "period_s": 60, "rho": 0.3, "events": 0.02}}},
    {"limits": {"subscription.msg": {"limit": 90_000, "period_s": 600, "rho": 0.3, "events": 0.02}}},
]  # fmt: skip


def test_quiet_windows_are_judged_and_no_other():
    windows = [scene(**changes) for changes in QUIET] + [scene(**UP), scene(**UP, limits=sub(100, 0.99, 1.0))]
    answer = compare(rows_of(windows), START_MS, END_MS)
    assert answer.verdicts.num_rows == len(QUIET)
    assert set(answer.verdicts["cause"].to_pylist()) == {"healthy"}
    assert [starts_ms for _, starts_ms in answer.left] == [[START_MS], [START_MS]]


@pytest.mark.long
def test_cases_are_judged_as_the_rules_do():
    answer = compare(rows_of([scene(**case.scene) for case in CASES]), START_MS, END_MS, at_once=7)
    healthy = sum(case.verdict[1] == "healthy" and case.verdict[3] == 0.95 for case in CASES)
    assert 5 <= answer.verdicts.num_rows <= healthy


@pytest.mark.long
@examples(20)
@given(st.integers(0, 2**32))
def test_whatever_a_window_holds(seed):
    compare(rows_of([a_window(seed + i) for i in range(20)]), START_MS, END_MS)


#: What a window may have that is otherwise quiet; some of it is on this side of a bound, some beyond.
ODD = {
    "backlog": (99.0, 101.0, 480.0, None),
    "delayed": (3.0, 120.0),
    "per_entry": (7.5, None, 0.0),
    "unacked": (3.0, 700.0, 1800.0, None),
    "permits": (0.0, 900.0, -3.0, None),
    "starved": (0.3, 0.5, 0.6, None),
    "consumers": (0.0, 1.0, 5.0, None),
    "kind": ("Key_Shared", "Exclusive", "Failover", None),
    "coverage": (0.8, 0.75, 0.4),
    "own_age_s": (60.0, 1800.0, 9e4),
    "stats_age_s": (60.0, 9e4),
    "topic_age_s": (60.0, 9e4),
    "mark_delete_age_s": (9e4, None),
    "ack_age_s": (9e4, None),
    "expired": (1.0, None),
    "evictions": (1.0, None),
    "resets": (1,),
    "moved": (True,),
    "brokers": (2, None),
    "limits_observed": (False,),
    "observed_later": (True,),
    "limits_age_s": (86_400.0, 86_401.0, -90_000.0),
    "read_batch": (500, 50, None),
    "exempt": (True, None),
    "broker_read": (0.1, None),
    "topic_read": (0.5, None),
    "limit_changed": (True,),
    "relative": (True,),
    "counts": ("entries",),
    "counters": (False,),
}


def about_quiet(rng: random.Random) -> Window:
    """A window close to the bounds of what is quiet, with gaps."""

    def some(*values):
        return rng.choice(values)

    rate = some(0.0, 0.003, 20.0, 97.0, 480.0, 5000.0) * some(1.0, 1.0, rng.random())
    limits = {}
    for name in rng.sample(LIMITERS, some(0, 1, 1, 2, 6)):
        limits[name] = {
            "limit": some(10, 50, 99, 100, 500, 10**6, 10**8),
            "period_s": some(1, 1, 10, 60, 600),
            "rho": some(0.0, 0.004, 0.4, 0.85, 0.9, 0.995, 1.2, 1.3, rng.random(), None),
            "events": some(0.0, 0.01, 1.0, 20.0, rng.random() * 30),
            "duty": some(0.0, 0.5, 0.8, 1.0, None),
        }
    given = {
        "in_rate": rate,
        "out_rate": rate * some(1.0, 0.99),
        "backlog": [rng.choice([0.0, 4.0, 60.4, 99.0, 100.0, rate * 9]) for _ in range(5)],
        "limits": limits,
    }
    for name in rng.sample(sorted(ODD), some(0, 1, 1, 2, 4)):
        value = some(*ODD[name])
        still = name in ("limits_observed", "counters") or rng.random() < 0.6
        given[name] = value if still else [some(value, HEALTHY[name]) for _ in range(5)]
    window = scene(**given)
    if rng.random() < 0.3:
        kept = sorted(rng.sample(range(5), rng.randrange(1, 5)))
        columns = {name: [values[i] for i in kept] for name, values in window.columns.items()}
        return Window(KEY, window.start_ms, window.end_ms, columns, 0, len(kept))
    return window


@pytest.mark.long
@examples(30)
@given(st.integers(0, 2**32))
def test_screen_is_exact_at_its_bounds(seed):
    rng = random.Random(seed)  # noqa: S311
    compare(rows_of([about_quiet(rng) for _ in range(40)]), START_MS, END_MS)


@pytest.mark.long
def test_boundary_windows_cover_both_sides():
    rng = random.Random(1)  # noqa: S311
    answer = compare(rows_of([about_quiet(rng) for _ in range(400)]), START_MS, END_MS)
    assert 40 < answer.verdicts.num_rows < 360


def hours(seed: int, minutes: int = 130) -> pa.Table:
    """Subscriptions over two hours, quiet and not, with gaps, one born late; in a random order."""
    rng = random.Random(seed)  # noqa: S311
    rows = []
    for number in range(8):
        first = rng.choice([0, 0, 57, 61])
        while first < minutes:
            window = scene(
                **rng.choice([*QUIET, {"limits": sub(100, 0.99, 1.0), "backlog": growing(900, 9)}])
            )
            for i in range(5):
                row = {name: values[i] for name, values in window.columns.items()} | KEY._asdict()
                row |= {"subscription": f"s{number}", "minute_ms": START_MS + (first + i) * MINUTE_MS}
                row["backlog_ready_entries"] = rng.choice([0.0, 3.0, 40.0, None])
                row["date"] = date_of(row["minute_ms"])
                if rng.random() < 0.97:
                    rows.append(row)
            first += rng.choice([5, 5, 5, 30])
    rng.shuffle(rows)
    return pa.Table.from_pylist(rows, schema=SIGNALS)


@pytest.mark.long
@pytest.mark.parametrize(("length", "every"), [(5, 5), (5, 1), (1, 1), (2, 3), (15, 5), (60, 60), (10, 20)])
def test_windows_of_other_lengths_that_slide(length, every):
    rows = hours(length * 100 + every)
    answer = compare(rows, START_MS, START_MS + 130 * MINUTE_MS, length=length, every=every, at_once=3)
    assert answer.verdicts.num_rows > 0 or length == 60


def test_duplicate_minutes_are_left_to_rules():
    rows = rows_of([scene(), scene()])
    answer = judge(
        pa.concat_tables([rows, rows.slice(0, 1)]), WindowGrid.of(START_MS, END_MS, 300_000, 300_000)
    )
    assert [key.subscription for key, _ in answer.left] == ["billing-00000"]
    assert answer.verdicts["subscription"].to_pylist() == ["billing-00001"]


def test_no_rows_no_verdicts():
    answer = judge(SIGNALS.empty_table(), WindowGrid.of(START_MS, END_MS, 300_000, 300_000))
    assert answer.verdicts.num_rows == 0
    assert answer.left == []


def test_screen_knows_all_symptoms_of_healthy():
    """A new symptom of healthy windows has to be known to the screen, or make it leave the window to the rules."""
    bearing = {
        (row.symptom, row.holds)
        for row in BEARING
        if any("healthy" in causes.split() or causes == "*" for causes in row[2 : 2 + len(WEIGHTS)])
    }
    leaves = {
        "backlog_present", "backlog_old", "backlog_growing", "backlog_draining", "backlog_sawtooth", "backlog_delayed", "expiring",
        "evicting", "consumer_queue_full", "counters_restarted", "limit_changed", "limit_not_in_force",
        # Looked for only where there is a backlog.
        "publishing_burst",
    }  # fmt: skip
    assert bearing == set(SHOWN) | {(symptom, True) for symptom in leaves}


def test_screen_knows_causes_without_backlog():
    names = [rule.__name__ for rule in RULES]
    without = {
        "not_enough_seen", "healed_by_loss", "segment_blocked", "no_consumers", "delayed_delivery", "micro_burst_throttled", "healthy",
    }  # fmt: skip
    need_a_backlog = {
        "blocked_on_unacked", "throttled", "hung_consumers", "dispatch_stopped", "filter_rejects", "redelivery",
        "key_shared_blocked", "publish_burst", "draining", "acks_behind", "read_limit", "cold_reads", "phantom_backlog",
        "slow_consumers", "topic_moved", "no_cause_found", "snapshot_markers",
        "permits_drifted", "slower_after_reconnects", "dispatch_contention",
        "connection_paused",
    }  # fmt: skip
    assert set(names) == without | need_a_backlog
