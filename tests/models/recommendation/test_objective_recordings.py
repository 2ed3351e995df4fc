"""The fluid compared with replays of real brokers: a throttled half hour, a slow one, bytes, a longer period."""

from __future__ import annotations

import json

import pytest

from tests.transforms.lakes import lake_of
from tests.transforms.recorded import recording_folder, unmoved_series
from throttlescope.ingest.core.subscription_name import SubscriptionName
from throttlescope.ingest.sources.recording import read_recording
from throttlescope.models.recommendation.slo.check import check
from throttlescope.models.throttling.replay import Ground, read_observed
from throttlescope.transforms.limits import effective_limits

pytestmark = pytest.mark.long

#: Of the peak. The fluid has no bursts and no settling; a replay of a real broker is itself off by a few per cent.
WITHIN_SHARE = 0.1


@pytest.mark.parametrize("name", ["sub-msg-1000", "sub-bytes-large", "sub-bytes-period", "slow-limit-large"])
def test_the_fluid_is_near_the_replay_of_a_real_backlog(tmp_path, name):
    recording = read_recording(recording_folder(name))
    lake = lake_of(
        tmp_path / "lake",
        unmoved_series(name),
        limits=effective_limits(recording.policies.to_pylist(), recording.topic_stats.to_pylist()),
    )
    truth = json.loads((recording_folder(name) / "truth.json").read_text())["rows"]
    row = next(row for row in truth if row["cause"] in ("throttled", "slow_consumers"))
    partition = None if row["partition"] < 0 else row["partition"]
    selector = str(SubscriptionName(row["topic"], partition, row["subscription"]))
    window = read_observed(lake, selector, row["start_ms"], row["end_ms"], row["cluster"])
    history = read_observed(lake, selector, recording.start_ms, row["end_ms"], row["cluster"])
    found = check(Ground(window, history))
    print(f"{name}: {found.fluid_error_share:.4f} of the peak")
    assert found.fluid_error_share < WITHIN_SHARE, found
