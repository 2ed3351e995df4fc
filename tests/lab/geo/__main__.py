"""The geo lab's command line: in, a set; out, recordings of two clusters.

``python -m tests.lab.geo record --set development`` resumes: a scenario whose recording exists is skipped. ``show`` prints scenarios.
"""

from __future__ import annotations

from tests.lab.geo.model import ReplicatedTopic
from tests.lab.geo.record import GEO
from tests.lab.geo.sets import GEO_SETS
from tests.lab.parts import broker_jars, java_binary, prometheus_binary
from tests.lab.recorder import Recorder, application


def _truth_of(topic: ReplicatedTopic) -> str:
    limiter = f" {topic.truth.limiter}" if topic.truth.limiter else ""
    return f"{topic.truth.cause}{limiter}"


app = application(
    Recorder(
        "geo",
        GEO_SETS,
        GEO.record,
        lambda: (java_binary(), prometheus_binary(), broker_jars()),
        "two real clusters",
        _truth_of,
    ),
    "Records geo-replication on real clusters.",
)

if __name__ == "__main__":
    app()
