"""The gate of verdicts: what contradicts itself and who was passed over is found; a good hour passes."""

import json

import pytest

from tests.ingest.quality.rows import HOUR, failures, hold, signal, verdict
from throttlescope.ingest.core.times import BLOCK_MS, MINUTE_MS
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.quality import check_verdicts

HEALTHY = {"side": "neither", "cause": "healthy", "limiter": None, "evidence": []}


def checked(lake):
    return check_verdicts(None, lake, ["c"], HOUR, HOUR + BLOCK_MS, "run-1")


def test_good_verdicts_pass(tmp_path):
    rows = [verdict(0), verdict(1, **HEALTHY), verdict(2, side="both", cause="both", limiter="broker.bytes")]
    result = checked(hold(Lake(tmp_path), "verdicts", rows))
    assert result.failures() == []
    assert result.rows["observed"][0].as_py() == "1 subscription hours"


@pytest.mark.sampled(3)
@pytest.mark.long
@pytest.mark.parametrize(
    ("check", "stops", "rows"),
    [
        ("window_key_unique", True, [verdict(3, confidence=0.1)]),
        ("window_on_grid", True, [verdict(4, window_start_ms=HOUR + 1)]),
        ("window_on_grid", True, [verdict(4, window_end_ms=HOUR)]),
        ("confidence_is_share", True, [verdict(4, confidence=1.01)]),
        ("confidence_is_share", True, [verdict(4, confidence=float("nan"))]),
        ("side_of_cause", True, [verdict(4, side="both")]),
        ("limiter_where_throttled", True, [verdict(4, limiter=None)]),
        ("limiter_where_throttled", True, [verdict(4, **HEALTHY | {"limiter": "topic.msg"})]),
        ("evidence_given", False, [verdict(4, evidence=[])]),
        ("one_rules_version", False, [verdict(4, rules_version="1")]),
    ],
)
def test_impossible_verdicts_are_found(tmp_path, check, stops, rows):
    result = checked(hold(Lake(tmp_path), "verdicts", [verdict(3), *rows]))
    assert set(failures(result)) == {check}
    assert result.stopped is stops


@pytest.mark.long
def test_skipped_subscription_is_missed(tmp_path):
    """Where its hour was judged."""
    lake = hold(Lake(tmp_path), "signals", [signal(m, subscription="s2") for m in range(60)])
    assert "subscriptions_judged" not in failures(checked(lake))  # the hour was judged for nobody
    hold(lake, "verdicts", [verdict(0)])
    result = checked(lake)
    assert set(failures(result)) == {"subscriptions_judged"}
    assert result.stopped
    example = json.loads(failures(result)["subscriptions_judged"]["example"])
    assert (example["subscription"], example["hour"]) == ("s2", "2026-11-20T08:00:00Z")
    hold(lake, "verdicts", [verdict(0, subscription="s2")])
    assert checked(lake).failures() == []


@pytest.mark.long
def test_partly_judged_hour_passes(tmp_path):
    lake = hold(Lake(tmp_path), "signals", [signal(m, subscription="s2") for m in range(59)])
    hold(lake, "verdicts", [verdict(0)])
    assert checked(lake).failures() == []
    assert MINUTE_MS * 60 == BLOCK_MS
