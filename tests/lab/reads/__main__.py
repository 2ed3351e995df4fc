"""The command line of the lab of read budgets: in, a set; out, recordings.

``python -m tests.lab.reads record --set development`` resumes: a scenario whose recording exists is skipped. ``show`` prints scenarios.
"""

from __future__ import annotations

from tests.lab.parts import broker_jars, java_binary, prometheus_binary
from tests.lab.reads.record import READS
from tests.lab.reads.sets import READS_SETS
from tests.lab.recorder import Recorder, application

app = application(
    Recorder(
        "reads",
        READS_SETS,
        READS.record,
        lambda: (java_binary(), prometheus_binary(), broker_jars()),
        "a real broker",
        lambda topic: topic.truth.cause,
    ),
    "Records read budgets that limit dispatch, on real brokers.",
)

if __name__ == "__main__":
    app()
