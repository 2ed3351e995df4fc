"""Where following begins on a source that is younger than the hour before this one, asked of a real Prometheus."""

from __future__ import annotations

import pytest

from tests.lab.prometheus import running_prometheus, write_series
from throttlescope.app.config import Settings
from throttlescope.app.pipeline.follow.start import first_hour_ms
from throttlescope.app.pipeline.sources.prometheus import ClusterSource
from throttlescope.ingest.core.times import BLOCK_MS, MINUTE_MS
from throttlescope.ingest.sources.prometheus import open_prometheus

pytestmark = [pytest.mark.prometheus, pytest.mark.long]

HOUR_MS = 1_795_161_600_000


@pytest.mark.parametrize(
    ("first_sample_ms", "begins_ms"),
    [(HOUR_MS + MINUTE_MS, HOUR_MS), (HOUR_MS - MINUTE_MS, HOUR_MS - BLOCK_MS)],
)
def test_young_source_begins_in_this_hour(first_sample_ms, begins_ms):
    labels = {"__name__": "pulsar_subscription_back_log", "cluster": "c"}
    now_ms = HOUR_MS + 5 * MINUTE_MS
    with running_prometheus() as server:
        write_series(
            server.url, [(labels, [(at_ms, 1.0) for at_ms in range(first_sample_ms, now_ms, MINUTE_MS)])]
        )
        source = ClusterSource(open_prometheus(server.url), None, [], Settings(), None, now_ms)
        assert first_hour_ms(source, HOUR_MS - BLOCK_MS, now_ms) == begins_ms
