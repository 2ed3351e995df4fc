"""One real Spark cluster for all tests of this folder: a master and two workers of a core each."""

from __future__ import annotations

import pytest

from tests.conftest import ONE_JIT_STAGE
from tests.lab.spark_cluster import running_spark_cluster


@pytest.fixture(scope="session")
def cluster():
    # Executors inherit the environment of their workers, and say to their logs what they picked up.
    with pytest.MonkeyPatch.context() as while_starting:
        while_starting.setenv("JDK_JAVA_OPTIONS", ONE_JIT_STAGE)
        with running_spark_cluster(workers=2, max_lifetime_s=1500) as running:
            while_starting.undo()
            yield running
