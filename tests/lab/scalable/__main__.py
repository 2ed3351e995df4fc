"""The scalable lab's command line: in, a set; out, recordings of scalable topics.

``python -m tests.lab.scalable record --set development`` resumes: a scenario whose recording exists is skipped. ``show`` prints scenarios.
"""

from __future__ import annotations

from tests.lab.parts import SCALABLE_VERSION, broker_jars, java_binary, prometheus_binary
from tests.lab.recorder import Recorder, application
from tests.lab.scalable.client import compiled_load
from tests.lab.scalable.model import ScalableTopic
from tests.lab.scalable.record import SCALABLE
from tests.lab.scalable.sets import SCALABLE_SETS


def _truth_of(topic: ScalableTopic) -> str:
    return ", ".join(f"{role} {truth.cause}" for role, truth in topic.truth.items())


app = application(
    Recorder(
        "scalable",
        SCALABLE_SETS,
        SCALABLE.record,
        lambda: (java_binary(), prometheus_binary(), broker_jars(SCALABLE_VERSION), compiled_load()),
        "a real broker",
        _truth_of,
    ),
    "Records scalable topics on real brokers.",
)

if __name__ == "__main__":
    app()
