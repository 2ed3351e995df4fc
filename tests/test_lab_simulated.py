"""The simulator beside the recordings: the page is what the code gives, and the figures are right where the answer is known."""

from __future__ import annotations

import math
import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.lab.simulated import fit
from tests.lab.simulated.compare import compare, dispatched_error, drained_s, events_error, minute_edges
from tests.lab.simulated.evidence import cached, cycles, late_reads, read_ages, shared_reads
from tests.lab.simulated.one_line import one_line
from tests.lab.simulated.page import PAGE, missed, parts, plots, renewed
from tests.lab.simulated.pairing import paired
from tests.lab.simulated.plots import kept
from tests.lab.simulated.recorded import Recorded, Track, folders, read, scenario_of
from tests.lab.simulated.simulated import as_recorded, simulated
from tests.lab.simulated.table import Figures, Judged, Row, figures, judge
from throttlescope.models.throttling.scenario import Scenario

FOLDERS = folders()


@pytest.fixture(scope="module")
def judged() -> list[Judged]:
    return [judge(read(folder)) for folder in FOLDERS]


def scenario(**changes) -> Scenario:
    body = {
        "format": 1,
        "name": "by-hand",
        "topics": [{"name": "orders"}],
        "limits": [{"level": "topic", "set_at": "topic", "topic": "orders", "msg": 40}],
        "subscriptions": [
            {"name": "billing", "topic": "orders", "type": "Shared", "consumers": 2, "processing_ms": 20}
        ],
        "producers": [{"topic": "orders", "rate_msg": 60, "size_bytes": 100}],
        "timeline": [
            {"name": "cause", "duration_s": 300},
            {
                "name": "relieved",
                "duration_s": 300,
                "interventions": [
                    {"action": "lift_limit", "level": "topic", "set_at": "topic", "topic": "orders"}
                ],
            },
        ],
        "confirm": [{"check": "drains", "state": "relieved", "subscription": "billing",
                     "below_entries": 100, "within_s": 300}],
    }  # fmt: skip
    return Scenario.model_validate({**body, **changes})


def recorded(tracks: dict[str, Track], at_s: np.ndarray, lead_s: float = 5.0, **changes) -> Recorded:
    end_s = float(at_s[-1]) + 1
    keys = {("orders", -1, name): track for name, track in tracks.items()}
    return Recorded(scenario(**changes), at_s, keys, {"cause": 0.0, "relieved": end_s / 2}, end_s, lead_s, {})


def track(backlog: np.ndarray, out: np.ndarray | None = None, **events: np.ndarray) -> Track:
    counted = {tuple(name.split("_")): values for name, values in events.items()}
    return Track(backlog.astype(float), np.zeros(len(backlog)) if out is None else out.astype(float), counted)


def test_there_are_recordings_of_both_parts() -> None:
    aside = [folder for folder in FOLDERS if scenario_of(folder).kept_aside]
    assert 2 * len(aside) < len(FOLDERS) < 4 * len(aside)


@pytest.mark.long
def test_page_is_what_the_code_gives(judged: list[Judged]) -> None:
    page = PAGE.read_text()
    assert page == renewed(page, parts(judged)), "the page is old: make accuracy"


@pytest.mark.long
def test_pictures_equal_the_code_output(judged: list[Judged]) -> None:
    """And are small."""
    drawn = plots(judged)
    assert set(drawn) == set((PAGE.parent / "simulator").iterdir())
    for file, text in drawn.items():
        assert file.read_text() == text, "the pictures are old: make accuracy"
        assert len(text) < 40_000


@pytest.mark.long
def test_fit_never_reads_what_is_kept_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(fit, "read", lambda folder: opened.append(folder.name) or read(folder))
    assert {item.scenario.name for item in fit.tuned()} == set(opened)
    aside = {folder.name for folder in FOLDERS if scenario_of(folder).kept_aside}
    assert aside
    assert not aside & set(opened)
    # A held-out recording whose samples cannot be read does no harm, because nobody tries.
    source = next(folder for folder in FOLDERS if folder.name in aside)
    shutil.copytree(source, tmp_path / source.name)
    (tmp_path / source.name / "samples.parquet").unlink()
    assert folders(kept_aside=False, root=tmp_path) == []


@pytest.mark.long
def test_fit_refuses_what_is_kept_aside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fit, "folders", lambda *, kept_aside: FOLDERS)
    with pytest.raises(AssertionError):
        fit.tuned()


@pytest.mark.long
def test_fit_recovers_the_recording_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = next(folder for folder in FOLDERS if folder.name == "sub-msg-exclusive")
    source = read(folder)
    made = fit.replace(fit.LAB, read_entry_us=350)
    broker = simulated(source, made)
    seen = Recorded(
        source.scenario, source.at_s, broker, source.began_s, source.end_s, source.lead_s, source.stored
    )
    monkeypatch.setattr(fit, "GRID", {"read_entry_us": (75, 350, 600)})
    found = fit.fit([seen], fit.replace(made, read_entry_us=75))
    assert (found.read_entry_us, found.entry_overhead_bytes) == (350, 30)


def test_simulator_recording_has_no_error() -> None:
    at_s = np.arange(1.0, 600, 2)
    empty = {"billing": track(np.zeros(len(at_s)))}
    made = recorded(empty, at_s)
    made = recorded({"billing": simulated(made)["orders", -1, "billing"]}, at_s)
    found = compare(made, simulated(made))["orders", -1, "billing"]
    assert (found.dispatched, found.backlog, found.same_events) == (0, 0, True)
    assert found.drain is not None
    assert found.drain.error == 0
    assert found.events == {("topic", "msg"): 0}


def test_states_are_simulated_at_recorded_times() -> None:
    at_s = np.arange(1.0, 400, 2)
    seen = recorded({"billing": track(np.zeros(len(at_s)))}, at_s, lead_s=6.5)
    played = as_recorded(seen)
    assert [state.duration_s for state in played.timeline] == [6.5, 200, 200]
    assert played.producers[0].rate_msg == 0
    assert played.timeline[1].interventions[0].rate_msg == 60
    ours = simulated(seen)["orders", -1, "billing"]
    # Consumers that were there before the load get the first messages at once: nothing waits after a second.
    assert ours.backlog_entries[0] <= 60


def test_errors_of_known_courses() -> None:
    at_s = np.arange(0.0, 241, 2)
    backlog = np.where(at_s <= 120, 10 * at_s, np.maximum(0, 1200 - 20 * (at_s - 120)))
    events = at_s / 2
    broker = track(backlog, at_s * 50, subscription_msg=events, topic_msg=0 * events)
    model = track(backlog + 60, at_s * 51, subscription_msg=events * 2, topic_msg=0 * events)
    seen = recorded({"billing": broker}, at_s)
    seen.began_s["relieved"] = 120.0
    found = compare(seen, {("orders", -1, "billing"): model})["orders", -1, "billing"]
    assert found.dispatched == pytest.approx(0.02)
    assert found.backlog == pytest.approx(60 / 1200)
    assert found.drain is not None
    assert found.drain.recorded_s == pytest.approx(55)
    assert found.drain.simulated_s == pytest.approx(58)
    assert found.drain.error == pytest.approx(3 / 55)
    # 60 events instead of 30: 30 too many where 5 are allowed. What never ticked is not judged.
    assert found.events == {("subscription", "msg"): pytest.approx(30 / 5)}
    assert found.per_minute["subscription", "msg"] == (pytest.approx(30), pytest.approx(60))
    assert found.same_events is True


def test_one_sided_counter_is_wrong_reason() -> None:
    at_s = np.arange(0.0, 241, 2)
    zero = np.zeros(len(at_s))
    broker = track(zero, subscription_msg=at_s, topic_msg=zero)
    model = track(zero, subscription_msg=zero, topic_msg=at_s)
    found = compare(recorded({"billing": broker}, at_s), {("orders", -1, "billing"): model})
    assert found["orders", -1, "billing"].same_events is False
    assert set(found["orders", -1, "billing"].events or {}) == {("subscription", "msg"), ("topic", "msg")}


def test_a_broker_without_counters_has_no_events() -> None:
    at_s = np.arange(0.0, 241, 2)
    broker = Track(np.zeros(len(at_s)), at_s, None)
    model = track(np.zeros(len(at_s)), at_s, topic_msg=at_s)
    found = compare(recorded({"billing": broker}, at_s), {("orders", -1, "billing"): model})
    assert found["orders", -1, "billing"].events is None
    assert figures(found.values()).events is None


def test_only_full_minutes_count() -> None:
    """They go from scrape to scrape."""
    at_s = np.arange(1.5, 190, 2)
    edges = minute_edges(at_s)
    assert at_s[edges].tolist() == [1.5, 61.5, 121.5, 181.5]


def test_minutes_without_traffic_do_not_count() -> None:
    assert dispatched_error(np.array([0, 100, 100, 200]), np.array([0, 110, 110, 210])) == pytest.approx(0.05)
    assert dispatched_error(np.zeros(3), np.zeros(3)) is None
    assert dispatched_error(np.zeros(3), np.array([0, 5, 10])) == 1


def test_events_tolerate_a_tenth_or_five() -> None:
    assert events_error(np.array([0, 1000]), np.array([0, 1100])) == pytest.approx(1)
    assert events_error(np.array([0, 10]), np.array([0, 15])) == pytest.approx(1)


def test_drain_ends_when_backlog_stays_low() -> None:
    at_s = np.array([0.0, 2, 4, 6, 8])
    assert drained_s(at_s, np.array([300, 50, 300, 100, 0]), 200) == pytest.approx(5)
    assert drained_s(at_s, np.array([10, 0, 0, 0, 0]), 200) == 0
    assert drained_s(at_s, np.array([300, 300, 300, 300, 300]), 200) is None


def test_model_without_drain_is_infinitely_off() -> None:
    at_s = np.arange(0.0, 241, 2)
    broker = track(np.where(at_s <= 120, 1000, np.maximum(0, 1000 - 20 * (at_s - 120))))
    seen = recorded({"billing": broker}, at_s)
    model = track(np.full(len(at_s), 1000))
    found = compare(seen, {("orders", -1, "billing"): model})["orders", -1, "billing"].drain
    assert found is not None
    assert math.isinf(found.error)


def test_equal_subscriptions_are_compared_by_their_backlogs() -> None:
    at_s = np.arange(0.0, 241, 2)
    small, large = track(np.full(len(at_s), 10)), track(np.full(len(at_s), 1000))
    one = {"name": "billing", "topic": "orders", "type": "Shared", "consumers": 2, "processing_ms": 20}
    keys = [("orders", -1, "audit"), ("orders", -1, "billing")]
    for other, exchanged in (({}, True), ({"consumers": 3}, False)):
        seen = recorded(
            {"audit": small, "billing": large}, at_s, subscriptions=[{**one, "name": "audit", **other}, one]
        )
        found = paired(seen, {keys[0]: large, keys[1]: small})
        assert (found[keys[0]] is small) == exchanged


def test_one_line_model_takes_the_minimum() -> None:
    at_s = np.arange(0.0, 600, 2)
    seen = recorded({"billing": track(np.zeros(len(at_s)))}, at_s)
    found = one_line(seen)["orders", -1, "billing"].backlog_entries
    middle = len(at_s) // 2
    # 60 arrive, 40 are allowed, then 2 consumers of 20 ms do 100.
    assert found[middle] == pytest.approx(20 * at_s[middle], rel=0.01)
    drained = drained_s(at_s[middle:] - at_s[middle], found[middle:], 1)
    assert drained == pytest.approx(20 * 300 / 40, rel=0.02)
    assert found[-1] == 0


def test_one_line_splits_a_shared_limit_evenly() -> None:
    at_s = np.arange(0.0, 600, 2)
    one = {"name": "billing", "topic": "orders", "type": "Shared", "consumers": 2, "processing_ms": 20}
    nothing = track(np.zeros(len(at_s)))
    seen = recorded(
        {"audit": nothing, "billing": nothing},
        at_s,
        subscriptions=[{**one, "name": "audit"}, one],
        confirm=[],
    )
    found = one_line(seen)
    for key in seen.tracks:
        assert found[key].backlog_entries[100] == pytest.approx(40 * at_s[100], rel=0.01)


def test_a_drawn_line_keeps_what_is_seen() -> None:
    xs = np.arange(11.0)
    assert kept(xs, 2 * xs) == [0, 10]
    ys = np.where(xs == 5, 40, 0)
    assert kept(xs, ys) == [0, 4, 5, 6, 10]


def test_age_of_first_miss_is_found() -> None:
    at_s = np.arange(0.0, 401, 2)
    # 60 are published and 40 sent per second: what is sent at 30 s was published at 20 s.
    seen = recorded({"billing": track(20 * at_s, 40 * at_s)}, at_s)
    seen.cache_misses["orders"] = np.where(at_s < 60, 0.0, 20.0)
    ((name, version, age_s),) = read_ages([seen])
    # Told at 59 s: 1200 misses back is half a minute before.
    assert (name, version) == ("by-hand", "4.2.4")
    assert age_s == pytest.approx(29 - 29 * 40 / 60)


def row_of(name: str, *, kept_aside: bool, drain: float) -> Row:
    ours = Figures(0.01, 0.01, drain, 0.5)
    return Row(name, "sub_msg", "C", "4.2.4", kept_aside, ours, ours, True, {})


def test_missed_targets_are_listed_with_figures() -> None:
    both = [row_of("tuned", kept_aside=False, drain=1), row_of("aside", kept_aside=True, drain=0.16)]
    assert missed(both).splitlines()[2:] == [
        "| all | drain | 5.0 % | 16.0 % | 3.2 |",
        "| sub_msg | drain | 15.0 % | 16.0 % | 1.1 |",
    ]


def by_hand(seen: Recorded, ours: dict[str, Track]) -> Judged:
    keyed = {("orders", -1, name): item for name, item in ours.items()}
    return Judged(seen, keyed, {}, row_of("by-hand", kept_aside=False, drain=0))


def test_late_cycle_is_found_on_both_sides() -> None:
    at_s = np.arange(0.0, 601, 2)
    nothing = np.zeros(len(at_s))
    # 40 per cycle: 32 per second are cycles of 1.25 s, 38.4 of 1.042 s.
    confirm = [{"check": "ticks", "state": "cause", "subscription": "billing", "reason": "topic",
                "unit": "msg", "at_least": 1}]  # fmt: skip
    for per_s, found in ((32.0, []), (38.4, [pytest.approx(1000 / 24)])):
        seen = recorded({"billing": track(nothing, per_s * at_s)}, at_s, confirm=confirm)
        rows = cycles([by_hand(seen, {"billing": track(nothing, 32.0 * at_s)})])
        assert [row[3] for row in rows] == found
        assert all(row[:2] == ("by-hand", 40) and row[4] == pytest.approx(250) for row in rows)


def test_ahead_and_behind_are_distinguished() -> None:
    at_s = np.arange(0.0, 401, 2)
    one = {"name": "billing", "topic": "orders", "type": "Shared", "consumers": 2, "processing_ms": 20}
    ahead, behind = track(30 * at_s, 30 * at_s), track(50 * at_s, 10 * at_s)
    seen = recorded(
        {"audit": behind, "billing": ahead}, at_s, subscriptions=[{**one, "name": "audit"}, one], confirm=[]
    )
    seen.cache_misses["orders"] = np.where(at_s < 120, 0.0, 10.0)
    ((name, *found, misses),) = shared_reads([by_hand(seen, {"audit": ahead, "billing": behind})])
    assert (name, misses) == ("by-hand", 10)
    assert found == [pytest.approx((30, 10)), pytest.approx((10, 30))]


@pytest.mark.parametrize("table", [late_reads, cached])
def test_nobody_looks_into_what_is_kept_aside(table) -> None:
    at_s = np.arange(0.0, 401, 2)
    seen = recorded({"billing": track(at_s)}, at_s, kept_aside=True)
    with pytest.raises(ValueError, match="held-out recordings"):
        table([by_hand(seen, {"billing": track(at_s)})])


def test_no_latency_is_at_grid_edge() -> None:
    for name, tried in fit.GRID.items():
        assert min(tried) < getattr(fit.LAB, name) < max(tried), name
