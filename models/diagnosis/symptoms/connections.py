"""What happens on the consumers' connections? In: a window. Out: symptoms.

Only the admin API's stats show which producers and consumers share a connection: by their addresses.
"""

from __future__ import annotations

from throttlescope.models.diagnosis import promql
from throttlescope.models.diagnosis import thresholds as t
from throttlescope.models.diagnosis.symptoms.symptom import Symptom, SymptomKind
from throttlescope.models.diagnosis.window import Window

CONNECTION_PAUSED = SymptomKind(
    "connection_paused", ("not_measured", "not_paused", "paused", "paused_at_times"), "share of consumers"
)


def connection_paused(window: Window) -> Symptom:
    """Most consumers are on a connection that the broker paused, in most snapshots, because of what is published through it."""
    paused = window.mean("stats_paused_share")
    if paused is None:
        return CONNECTION_PAUSED.unknown("not_measured")
    holds = paused >= t.MAJORITY_SHARE
    topic, pauses = window.last("stats_pausing_topic"), window.highest("stats_connection_pauses")
    if not paused or topic is None or pauses is None:
        return CONNECTION_PAUSED.answer(
            False, CONNECTION_PAUSED.says("not_paused"), paused, t.MAJORITY_SHARE, window.end_ms
        )
    finding = CONNECTION_PAUSED.says(
        "paused" if holds else "paused_at_times", part=paused, topic=topic, pauses=pauses.value
    )
    query = f"pulsar_publish_rate_limit_times{promql.of_all_partitions(topic, None)}"
    return CONNECTION_PAUSED.answer(holds, finding, paused, t.MAJORITY_SHARE, pauses.at_ms, query)
