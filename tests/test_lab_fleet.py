"""Fleets: what is drawn from a seed, what a script refuses, and what the scraped backlog makes of a fault."""

from __future__ import annotations

import pytest
import yaml
from pydantic import ValidationError

from tests.accuracy.fleets import fleet_figures, fleet_table
from tests.accuracy.recorded import read
from tests.lab.fleet import Fleet, draw
from tests.lab.fleet.draw import BROKER_LIMIT_S, draw_smoke
from tests.lab.fleet.excerpt import write_excerpt
from tests.lab.fleet.play import Played
from tests.lab.fleet.record import record_played
from tests.lab.fleet.sets import FLEET_SETS
from tests.lab.fleet.truth import Found, find_truth
from tests.lab.readback import Series
from tests.lab.soundness import RecordingVoid

START_MS = 1_800_000_000_000
STEP_MS = 15_000


@pytest.mark.parametrize("seed", [1, 2, 3, 106])
def test_a_seed_gives_one_fleet(seed):
    fleet = draw(seed)
    assert fleet == draw(seed)
    assert fleet.subscriptions >= 40
    assert len({scenario.tenant for scenario in fleet.namespaces}) == 3
    kinds = {one.type for scenario in fleet.namespaces for one in scenario.subscriptions}
    assert kinds == {"Exclusive", "Failover", "Shared", "Key_Shared"}
    assert fleet.rate_msg > 1500
    assert any(one.batching for scenario in fleet.namespaces for one in scenario.producers)
    assert fleet.duration_s >= 1800


def test_faults_overlap_and_operations_come_between():
    fleet = draw(2)
    on = [
        sum(fault.start_s <= at_s < fault.until_s for fault in fleet.faults) for at_s in range(300, 400, 20)
    ]
    assert min(on) >= 3
    assert {"move", "unload", "touch_policy", "miss_scrapes"} <= {one.kind for one in fleet.operations}


def test_sets_of_fleets_share_no_seed():
    development, held_out = (FLEET_SETS[name] for name in ("fleet-development", "fleet-held-out"))
    assert not set(development.seeds) & set(held_out.seeds)
    assert len(development.seeds) >= 4
    assert len(held_out.seeds) >= 6
    for found in (development, held_out):
        assert {fleet.profile for fleet in found.fleets} == {"helm", "default"}


def test_a_field_without_effect_is_refused():
    body = draw_smoke(1).model_dump(mode="json", by_alias=True, exclude_unset=True)
    body["namespaces"][0]["profile"] = "helm"
    with pytest.raises(ValidationError, match="the fleet says what happens"):
        Fleet.model_validate(body)


def test_second_wave_drains_before_broker_limits():
    for seed in range(20):
        ends = [fault.until_s for fault in draw(seed).faults if fault.broker_limit is None]
        assert max(ends) <= BROKER_LIMIT_S - 120


def test_a_fault_names_what_is_there():
    body = draw_smoke(1).model_dump(mode="json", by_alias=True, exclude_unset=True)
    body["faults"][0]["stages"][0]["effects"][0]["subscription"] = "nobody"
    with pytest.raises(ValidationError, match="no subscription nobody"):
        Fleet.model_validate(body)


# -- truth ------------------------------------------------------------------------------------


def _fleet(cause: str = "slow_consumers", **effect: object) -> Fleet:
    step = {"action": "set_consumers", "subscription": "billing", "processing_ms": 40}
    side = {"throttled": "throttle"}.get(cause, "consumer_capacity")
    stage = {
        "at_s": 300,
        "steps": [step],
        "effects": [{"subscription": "billing", "side": side, "cause": cause, **effect}],
    }
    return Fleet.model_validate(
        {
            "format": 1, "name": "one", "seed": 0, "version": "4.2.4", "profile": "helm", "scrape_interval_s": 15, "brokers": 2,
            "duration_s": 1500,
            "namespaces": [
                {
                    "format": 1, "name": "checkout", "tenant": "payments", "topics": [{"name": "orders"}],
                    "subscriptions": [
                        {"name": name, "topic": "orders", "type": "Shared", "consumers": 1, "processing_ms": 5}
                        for name in ("billing", "audit")
                    ],
                    "producers": [{"topic": "orders", "rate_msg": 50, "size_bytes": 100}],
                    "timeline": [{"name": "run", "duration_s": 1500}],
                }
            ],
            "faults": [
                {
                    "name": "slow", "kind": "slow_consumers", "namespace": "payments/checkout", "stages": [stage], "until_s": 900,
                    "end": [{**step, "processing_ms": 5}], "within_s": 200,
                }
            ],
        }
    )  # fmt: skip


def _ms(at_s: float) -> int:
    return START_MS + round(1000 * at_s)


def _played(fleet: Fleet) -> Played:
    rows = [
        {
            "fault": "slow",
            "stage": stage,
            "begin_ms": _ms(at_s),
            "applied_ms": _ms(at_s) + 200,
            "error": None,
            "steps": [],
        }
        for stage, at_s in ((0, 300), (None, 900))
    ]
    return Played(fleet, start_ms=_ms(0), end_ms=_ms(1500), stages=rows)


def _series(name: str, subscription: str, value_at) -> Series:
    times = list(range(_ms(5), _ms(1500), STEP_MS))
    labels = {
        "__name__": name, "namespace": "payments/checkout", "topic": "persistent://payments/checkout/orders",
        "subscription": subscription, "instance": "127.0.0.2:8080",
    }  # fmt: skip
    return Series(labels, times, [float(value_at((at - START_MS) / 1000)) for at in times])


def _hill(at_s: float) -> float:
    if at_s < 300:
        return 3
    return 20 * (at_s - 300) if at_s < 900 else max(3, 12_000 - 200 * (at_s - 900))


def _found(fleet: Fleet, billing=_hill, audit=lambda _: 2, **counters) -> Found:
    series = [
        _series("pulsar_subscription_back_log", "billing", billing),
        _series("pulsar_subscription_back_log", "audit", audit),
    ]
    for name, values in counters.items():
        one = _series(f"pulsar_subscription_dispatch_throttled_{name}_events", "billing", values)
        one.labels["reason"] = "subscription"
        series.append(one)
    return find_truth(_played(fleet), series, STEP_MS)


def _rows(found: Found, subscription: str) -> list[tuple[int, int, str]]:
    return [
        ((row["start_ms"] - START_MS) // 1000, (row["end_ms"] - START_MS) // 1000, row["cause"])
        for row in found.rows
        if row["subscription"] == subscription
    ]


def test_cause_counts_if_grown_and_drained():
    found = _found(_fleet(grows_per_s=13))
    assert _rows(found, "billing") == [
        (60, 300, "healthy"),
        (360, 900, "slow_consumers"),
        (1025, 1500, "healthy"),
    ]
    assert _rows(found, "audit") == [(60, 1500, "healthy")]


def test_backlog_without_growth_is_no_truth():
    found = _found(_fleet(grows_per_s=13), billing=lambda _: 3)
    assert [cause for *_, cause in _rows(found, "billing")] == ["healthy", "healthy"]
    assert any("did not grow" in row["reason"] or "grew by" in row["reason"] for row in found.voided)


def test_backlog_without_drain_is_no_truth():
    found = _found(_fleet(grows_per_s=13), billing=lambda at_s: _hill(min(at_s, 899)))
    assert _rows(found, "billing") == [(60, 300, "healthy")]


def test_limiter_without_events_is_no_truth():
    fleet = _fleet("throttled", limiter="subscription.msg", grows_per_s=13)
    assert "throttled" not in {cause for *_, cause in _rows(_found(fleet, msg=lambda _: 7), "billing")}
    assert (360, 900, "throttled") in _rows(_found(fleet, msg=lambda at_s: at_s), "billing")


def test_limit_sharer_is_judged_by_its_backlog():
    fleet = _fleet("throttled", limiter="subscription.msg")
    ticks = {"msg": lambda at_s: at_s}
    # The backlog has to be above a healthy one before it counts as held.
    assert [cause for *_, cause in _rows(_found(fleet, **ticks), "billing")] == [
        "healthy",
        "throttled",
        "healthy",
    ]
    assert _rows(_found(fleet, billing=lambda _: 20, **ticks), "billing") == [(60, 1500, "healthy")]
    between = _found(fleet, billing=lambda at_s: 200 if 500 < at_s < 950 else 3, **ticks)
    assert "throttled" not in {cause for *_, cause in _rows(between, "billing")}


def test_unexplained_healthy_backlog_is_left_out():
    found = _found(_fleet(grows_per_s=13), audit=lambda at_s: 900 if 600 <= at_s < 640 else 2)
    rows = _rows(found, "audit")
    assert rows[0] == (60, 590, "healthy")
    assert rows[-1][1] == 1500
    assert len(rows) == 2
    assert any("nothing explains" in row["reason"] for row in found.voided)


# -- the recording ----------------------------------------------------------------------------


@pytest.mark.long
def test_what_was_played_is_recorded_and_judged(tmp_path):
    fleet = _fleet(grows_per_s=13)
    played = _played(fleet)
    played.about = {"versions": {"broker": "4.2.4"}}
    played.reports = {
        "checkout": {"producers": {"orders": {"scheduled": 100, "persisted": 99}}, "subscriptions": {}}
    }
    played.operations = [
        {"kind": "unload", "at_ms": _ms(400), "done_ms": _ms(401), "topics": ["payments/checkout/orders"]}
    ]
    series = [
        _series("pulsar_subscription_back_log", name, at)
        for name, at in (("billing", _hill), ("audit", lambda _: 2))
    ]
    series += [
        _series("pulsar_out_messages_total", name, lambda at_s: 50 * at_s) for name in ("billing", "audit")
    ]
    folder = record_played(played, series, tmp_path, tmp_path)
    recorded = read(folder)
    assert recorded.truth.num_rows == 4
    assert Fleet.model_validate(yaml.safe_load((folder / "fleet.yaml").read_text())) == fleet
    found = fleet_figures([folder])["helm"]
    assert found["windows"] > 0
    assert found["near_operations"]["windows"] > 0
    assert "| helm | macro-F1 over causes |" in fleet_table({"helm": found})
    beginning = read(write_excerpt(folder, tmp_path / "demo", "retail", until_s=600))
    assert beginning.truth["cluster"].unique().to_pylist() == ["retail"]
    assert max(beginning.truth["end_ms"].to_pylist()) == _ms(600)
    assert max(int(one.timestamps_ms[-1]) for one in beginning.series) < _ms(600)
    assert beginning.about["excerpt_of"] == {"name": fleet.name, "end_ms": _ms(1500)}


def test_slow_producer_voids_the_fleet(tmp_path):
    played = _played(_fleet(grows_per_s=13))
    played.reports = {
        "checkout": {"producers": {"orders": {"scheduled": 100, "persisted": 80}}, "subscriptions": {}}
    }
    series = [_series("pulsar_subscription_back_log", "billing", _hill)]
    with pytest.raises(RecordingVoid, match="below its schedule"):
        record_played(played, series, tmp_path / "out", tmp_path)
    assert not (tmp_path / "out").exists()
