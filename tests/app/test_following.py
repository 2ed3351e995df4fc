"""The parts of following, without a server: samples in memory, changes, new verdicts, and when limits are read."""

from __future__ import annotations

import json
import threading
import time
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.app.commands import throttlescope
from tests.models.diagnosis.test_apply import HOUR_MS, SLOW, THROTTLED, fill, minutes, stored
from throttlescope.app.pipeline.follow.cycle_log import CycleLines, rss_bytes
from throttlescope.app.pipeline.follow.follower import Cycle
from throttlescope.app.pipeline.follow.limits import EVERY_MS, NEW_TOPICS_MS, LimitsWatch
from throttlescope.app.pipeline.follow.loop import _until_next_s, follow
from throttlescope.app.pipeline.follow.signals import HourlySignals, ends_of, first_changes, newly_inside
from throttlescope.app.pipeline.follow.start import RESUMED_MS, resumed_ms
from throttlescope.app.pipeline.follow.verdicts import FILED_MS, judge_changed
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.core.errors import InputError, SourceError
from throttlescope.ingest.core.times import BLOCK_MS, MINUTE_MS, date_of
from throttlescope.ingest.lake import ConflictError, Lake
from throttlescope.ingest.lake.hour_files import replace_hours
from throttlescope.ingest.sources.pulsar_admin import AdminSnapshot, AdminTopic
from throttlescope.models.diagnosis.apply import verdicts_of
from throttlescope.models.diagnosis.window import SubscriptionKey
from throttlescope.transforms.promql.source import Series
from throttlescope.transforms.sample_window import SampleWindow, with_tail

SCHEMA = TABLES["signals"].loose_schema


# -- samples in memory --------------------------------------------------------------------------

times = st.lists(st.integers(0, 40), unique=True).map(sorted)


def series(at, value, stale):
    return Series(
        {"__name__": "m"}, np.array(at, np.int64), np.full(len(at), value), np.array(stale, np.int64)
    )


@given(times, times, times, times, st.integers(0, 40))
def test_answer_replaces_its_range_unless_shorter(old, new, marks, news, since):
    """Fewer samples than are in memory mean that the source lost some; those in memory stay."""
    new, news = [at for at in new if at >= since], [at for at in news if at >= since]
    found = with_tail(series(old, 1.0, marks), series(new, 2.0, news), since)
    tail = [at for at in old if at >= since]
    lost = len(new) < len(tail)
    kept = {at: 1.0 for at in old if lost or at < since}
    added = {at: 2.0 for at in new if not lost or at > old[-1]}
    assert dict(zip(found.timestamps_ms.tolist(), found.values.tolist(), strict=True)) == kept | added
    assert (np.diff(found.timestamps_ms) > 0).all()
    last = marks[-1] if marks else since - 1
    markers = marks + [at for at in news if at > last] if lost else [at for at in marks if at < since] + news
    assert found.stale_ms.tolist() == markers


# -- what changed -------------------------------------------------------------------------------


def table(rows):
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def naive_changes(old, new):
    """Row by row, as dicts."""

    def by_place(rows):
        return {tuple(row[name] for name in (*SUBSCRIPTION_KEY_NAMES, "minute_ms")): row for row in rows}

    before, now = by_place(old), by_place(new)
    found = {}
    for place in before.keys() | now.keys():
        if before.get(place) != now.get(place):
            key = SubscriptionKey(*place[:-1])
            found[key] = min(place[-1], found.get(key, place[-1]))
    return found


@pytest.mark.long
@given(st.data())
def test_changes_match_a_row_comparison(data):
    names = ("billing", "audit")
    old = [row for name in names for row in minutes(name, data.draw(st.integers(0, 6)))]
    new = [dict(row) for name in names for row in minutes(name, data.draw(st.integers(0, 6)))]
    for row in new:
        change = data.draw(st.sampled_from((None, None, None, "value", "null", "text")))
        if change == "value":
            row["backlog_entries"] = (row["backlog_entries"] or 0.0) + 1.0
        elif change == "null":
            row["consumers"] = None
        elif change == "text":
            row["broker"] = "another"
    old_table, new_table = table(old), table(new)
    assert first_changes(old_table, new_table) == naive_changes(old_table.to_pylist(), new_table.to_pylist())


def test_first_read_marks_everything_changed():
    rows = table(minutes("billing", 3) + minutes("audit", 2, first=1))
    changed = first_changes(None, rows)
    assert {key.subscription: at_ms for key, at_ms in changed.items()} == {
        "billing": HOUR_MS, "audit": HOUR_MS + MINUTE_MS,
    }  # fmt: skip
    assert first_changes(rows, rows) == {}


# -- verdicts that are computed again -----------------------------------------------------------


def write_and_judge(lake, rows, before):
    """Signals as a cycle writes them, and what a cycle does with their changes."""
    rows = table(rows)
    replace_hours(
        lake, rows, "signals", run_id="test", time_column="minute_ms", clusters=["prod"], start_ms=HOUR_MS,
        end_ms=HOUR_MS + 2 * BLOCK_MS,
    )  # fmt: skip
    ends_ms = {} if before is None else ends_of(before, {})
    changed = newly_inside(rows, ends_ms) | first_changes(before, rows)
    until_ms = max(rows.column("minute_ms").to_pylist()) + MINUTE_MS
    made = judge_changed(lake, changed, until_ms, "test", window_ms=300_000, every_ms=MINUTE_MS)
    whole = verdicts_of(lake.read("signals"), HOUR_MS, until_ms, every_ms=MINUTE_MS).to_pylist()
    whole.sort(key=lambda row: (row["subscription"], row["partition"], row["window_start_ms"]))
    assert stored(lake) == whole
    return rows, made


@pytest.mark.long
def test_incremental_verdicts_match_full_diagnosis(tmp_path):
    lake, rows = Lake(tmp_path), None
    busy, slow, quiet = (
        minutes("billing", 70, **THROTTLED),
        minutes("audit", 70, **SLOW),
        minutes("search", 70),
    )
    made = []
    for count in (7, 8, 9, 40, 62, 70):
        rows, judged = write_and_judge(lake, busy[:count] + slow[:count] + quiet[:count], rows)
        made.append(judged)
    # A minute more ends one window more of each; whatever came before is not judged again.
    assert made[:3] == [9, 3, 3]
    files = {file.relative_path for file in lake.files("verdicts")}
    # A scrape that came late changes one subscription, twenty minutes back.
    changed = [dict(row) for row in slow]
    changed[50]["backlog_ready_entries"] += 10_000.0
    _, judged = write_and_judge(lake, busy + changed + quiet, rows)
    assert judged == 70 - 50
    kept = {file.relative_path for file in lake.files("verdicts")} & files
    assert kept
    ends = [
        (file.minimum["window_end_ms"] // FILED_MS, file.maximum["window_end_ms"] // FILED_MS)
        for file in lake.files("verdicts")
    ]
    assert all(first == last for first, last in ends)


@pytest.mark.long
def test_vanished_subscription_keeps_overlapping_windows(tmp_path):
    """Windows with at least one of its minutes are still diagnosed."""
    lake = Lake(tmp_path)
    audit = minutes("audit", 20, **SLOW)
    rows, _ = write_and_judge(lake, minutes("billing", 20, **THROTTLED) + audit, None)
    before = [row for row in stored(lake) if row["subscription"] == "audit"]
    for count in (21, 23, 30):
        rows, _ = write_and_judge(lake, minutes("billing", count, **THROTTLED) + audit, rows)
    after = [row for row in stored(lake) if row["subscription"] == "audit"]
    assert after[: len(before)] == before
    # Four windows more have a minute of it.
    assert len(after) == len(before) + 4


# -- limits -------------------------------------------------------------------------------------


class Admin:
    """Answers with what is set on it, and remembers what was requested."""

    def __init__(self):
        self.requests, self.requested_topics, self.rate, self.error, self.cluster = 0, [], 100, None, None

    def collect(self, cluster, topics, publishers=None, progress=None):
        if self.error is not None:
            raise self.error
        self.requests += 1 + len(topics)
        self.requested_topics.append([topic.name for topic in topics])
        at_ms = NOW[0]
        body = json.dumps({"dispatchThrottlingRateInMsg": self.rate})
        rows = [
            {"cluster": cluster, "scope": "topic_dispatch_rate", "key": topic.name, "body": body, "broker": None,
             "observed_ms": at_ms, "date": date_of(at_ms)}
            for topic in topics
        ]  # fmt: skip
        if self.cluster is not None:
            body = json.dumps({"clusterName": self.cluster})
            rows.append(
                {"cluster": cluster, "scope": "broker_configuration_runtime", "key": "b1:8080", "body": body, "broker": "b1:8080",
                 "observed_ms": at_ms, "date": date_of(at_ms)}
            )  # fmt: skip
        policies = pa.Table.from_pylist(rows, schema=TABLES["policies"].loose_schema)
        stats = TABLES["topic_stats"].loose_schema.empty_table()
        return AdminSnapshot(policies, stats, 1 + len(topics), 0, [])


NOW = [0]
ONE, TWO = AdminTopic("persistent://t/n/one", (-1,)), AdminTopic("persistent://t/n/two", (-1,))


@pytest.fixture
def watch(tmp_path):
    NOW[0] = HOUR_MS
    messages = []
    watch = LimitsWatch(Lake(tmp_path), Admin(), "test", messages.append, now_ms=lambda: NOW[0])
    watch.messages = messages
    return watch


def test_limits_are_polled_sooner_for_new_topics(watch):
    def look(*topics, after_ms=0):
        NOW[0] += after_ms
        watch.look("prod", topics)
        watch.end(30)
        return watch.admin.requested_topics[-1]

    watch.look("prod", [ONE], wait_s=30)
    assert watch.admin.requested_topics == [[ONE.name]]
    assert look(ONE, after_ms=MINUTE_MS) == [ONE.name]
    assert watch.rounds == 1
    look(ONE, TWO, after_ms=1)
    assert watch.rounds == 1
    assert look(ONE, TWO, after_ms=NEW_TOPICS_MS) == [TWO.name]
    look(ONE, TWO, after_ms=NEW_TOPICS_MS)
    assert watch.rounds == 2
    assert look(ONE, TWO, after_ms=EVERY_MS) == [ONE.name, TWO.name]


def test_unchanged_limits_are_not_stored_again(watch):
    def rows():
        return watch.lake.read("policies").num_rows

    watch.look("prod", [ONE], wait_s=30)
    assert rows() == 1
    NOW[0] += EVERY_MS
    watch.look("prod", [ONE], wait_s=30)
    assert (watch.rounds, rows()) == (2, 1)
    NOW[0] += EVERY_MS
    watch.admin.rate = 50
    watch.look("prod", [ONE], wait_s=30)
    assert rows() == 2
    NOW[0] += EVERY_MS
    watch.admin.rate = 100
    watch.look("prod", [ONE], wait_s=30)
    assert rows() == 3
    NOW[0] += 6 * BLOCK_MS
    watch.look("prod", [ONE], wait_s=30)
    assert rows() == 4


def test_answers_of_another_cluster_are_not_stored(watch):
    watch.admin.cluster = "staging"
    watch.look("prod", [ONE], scraped={"10.0.0.1:8080"}, wait_s=30)
    assert watch.of_other_cluster
    assert watch.lake.read("policies").num_rows == 0
    assert len(watch.messages) == 1
    assert "belong to cluster staging, the metrics are of prod: its answers are not used" in watch.messages[0]
    NOW[0] += EVERY_MS
    watch.admin.cluster = "prod"
    watch.look("prod", [ONE], scraped={"10.0.0.1:8080"}, wait_s=30)
    assert not watch.of_other_cluster
    assert watch.lake.read("policies").num_rows == 2


def test_admin_outage_is_reported_once(watch):
    watch.look("prod", [ONE], wait_s=30)
    watch.admin.error = SourceError("no answer")
    for _ in range(2):
        NOW[0] += EVERY_MS
        watch.look("prod", [ONE])
        watch.end(30)
    assert len(watch.messages) == 1
    assert "no answer" in watch.messages[0]
    watch.admin.error = None
    NOW[0] += EVERY_MS
    watch.look("prod", [ONE])
    watch.end(30)
    assert len(watch.messages) == 2
    assert "again" in watch.messages[1]


# -- the loop -----------------------------------------------------------------------------------


class Follower:
    """Gives what it was handed, one after the other; then asks to end."""

    def __init__(self, stop, *answers):
        self.stop, self.answers = stop, list(answers)
        self.source = SimpleNamespace(name="prometheus_remote_read http://p")
        self.limits, self.stored, self.latest_updates = None, 0, 0
        self.totals = {"cycles": 0}

    def cycle(self):
        answer = self.answers.pop(0)
        if not self.answers:
            self.stop.set()
        if isinstance(answer, Exception):
            raise answer
        self.totals["cycles"] += 1
        return answer

    def store(self):
        self.stored += 1

    def update_latest(self):
        self.latest_updates += 1


class EndlessFollower(Follower):
    """Gives the same every time, with rests; only somebody else ends it."""

    def __init__(self, *given):
        super().__init__(*given)
        self.begun = threading.Event()

    def cycle(self):
        self.begun.set()
        self.stop.wait(0.01)
        self.totals["cycles"] += 1
        return self.answers[0]


def finished_cycle(**more):
    return Cycle("prometheus_remote_read http://p", HOUR_MS, behind=True, **more)


@pytest.fixture
def short_waits(monkeypatch):
    monkeypatch.setattr("throttlescope.app.pipeline.follow.loop._FIRST_WAIT_S", 0.01)


def test_source_outage_is_retried_and_recovered(capsys, short_waits):
    stop = threading.Event()
    follower = Follower(
        stop, finished_cycle(), SourceError("unreachable"), SourceError("unreachable"), InputError("no Pulsar metric"),
        finished_cycle(newest_sample_ms=HOUR_MS, newest_verdict_ms=HOUR_MS, age_s=7.2, verdicts=3, samples_written=9),
    )  # fmt: skip
    kept = []
    follow([follower], 60_000, CycleLines(as_json=True, quiet=True), stop, kept.append)
    out, err = capsys.readouterr()
    events = [json.loads(line) for line in out.splitlines()]
    assert [event["event"] for event in events] == ["cycle", "away", "away", "away", "back", "cycle", "end"]
    assert [event["wait_s"] for event in events[1:4]] == [0.01, 0.02, 0.04]
    assert (events[5]["age_s"], events[5]["verdicts"]) == (7.2, 3)
    assert events[5]["rss_bytes"] == pytest.approx(rss_bytes(), rel=0.5)
    assert len(err.splitlines()) == 4
    # What is held goes into the lake at the end, and the run's row with it.
    assert (follower.stored, follower.latest_updates, len(kept)) == (1, 1, 2)


def test_notifications_hear_of_judged_episodes(short_waits):
    """Only of cycles that wrote episodes; the others have nothing new to tell."""
    stop = threading.Event()
    follower = Follower(stop, finished_cycle(), finished_cycle(episodes=0), finished_cycle(episodes=2))
    follower.clusters = ["east", "west"]
    heard = []
    follow(
        [follower], 60_000, CycleLines(as_json=True, quiet=True), stop, lambda follower: None, heard.append
    )
    assert heard == [["east", "west"], ["east", "west"]]


def test_source_without_pulsar_metrics_fails(capsys, short_waits):
    stop = threading.Event()
    other = EndlessFollower(stop, finished_cycle())
    refused = Follower(threading.Event(), InputError("no Pulsar metric"), None)
    refuse = refused.cycle
    refused.cycle = lambda: other.begun.wait(60) and refuse()
    with pytest.raises(InputError, match="no Pulsar metric"):
        follow([other, refused], 60_000, CycleLines(as_json=False, quiet=False), stop)
    assert other.stored == 1
    assert "read to" in capsys.readouterr().err


def test_cycles_wait_for_the_minutes_scrapes():
    assert _until_next_s(60_000, HOUR_MS + 6_000) == 60
    assert _until_next_s(60_000, HOUR_MS + 7_000) == 59
    assert _until_next_s(60_000, HOUR_MS) == 6


def test_following_resumes_at_the_lake_end(tmp_path):
    lake = Lake(tmp_path)
    assert resumed_ms(lake, HOUR_MS + MINUTE_MS) == HOUR_MS - BLOCK_MS
    fill(lake, minutes("billing", 3))
    for later_ms, first_ms in (
        (10 * MINUTE_MS, HOUR_MS - BLOCK_MS), (3 * BLOCK_MS, HOUR_MS), (RESUMED_MS + BLOCK_MS, HOUR_MS + RESUMED_MS),
    ):  # fmt: skip
        assert resumed_ms(lake, HOUR_MS + later_ms) == first_ms


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--follow", "60s", "--end", "now"), "without an end"),
        (("--follow", "60s", "--recording", "x"), "without an end"),
        (("--follow", "soon"), "duration"),
        (("--follow", "1h"), "too long"),
        (("--follow", "10ms"), "too short"),
        (("--follow", "60s", "--notify", "nobody"), "no such channel"),
    ],
)
def test_invalid_follow_options_are_refused(tmp_path, arguments, words):
    source = () if "--recording" in arguments else ("--prometheus", "http://127.0.0.1:9")
    outcome = throttlescope("run", *source, *arguments, "--lake", tmp_path / "lake")
    assert outcome.code == 2
    assert words in outcome.line
    assert not (tmp_path / "lake").exists()


def test_source_down_at_start_is_unreachable(tmp_path):
    started_s = time.monotonic()
    outcome = throttlescope(
        "run", "--prometheus", "http://127.0.0.1:9", "--follow", "60s", "--lake", tmp_path / "lake"
    )
    assert outcome.code == 4
    assert "Fix:" in outcome.line
    assert time.monotonic() - started_s < 60


def test_conflicting_commit_is_retried_next_cycle(tmp_path, monkeypatch):
    lake, window = Lake(tmp_path), SampleWindow()
    monkeypatch.setattr(window, "newest_ms", lambda: {"prod": HOUR_MS + BLOCK_MS})
    hourly = HourlySignals(lake, window, "test")
    rows = table(minutes("billing", 10, **THROTTLED))
    monkeypatch.setattr(hourly, "_made", lambda hour_ms, newest_ms: rows)
    monkeypatch.setattr(hourly, "_subscriptions", lambda: set(first_changes(None, rows)))
    with monkeypatch.context() as lost:

        def conflict(*arguments, **named):
            raise ConflictError("another run")

        lost.setattr("throttlescope.app.pipeline.follow.signals.replace_hours", conflict)
        with pytest.raises(ConflictError):
            hourly.build([HOUR_MS])
    assert (hourly.changed, lake.version("signals")) == ({}, None)
    hourly.build([HOUR_MS])
    assert set(hourly.changed.values()) == {HOUR_MS}
    assert lake.read("signals").num_rows == 10
    # Nobody has judged them yet: a cycle that breaks off leaves them to the next one.
    hourly.build([HOUR_MS])
    assert set(hourly.changed.values()) == {HOUR_MS}
    assert lake.version("signals") == 0
