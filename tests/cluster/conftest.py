"""One real Spark cluster for all tests of this folder: a master and two workers of a core each."""

from __future__ import annotations

import pytest

from tests.lab.spark_cluster import running_spark_cluster


@pytest.fixture(scope="session")
def cluster():
    with running_spark_cluster(workers=2, max_lifetime_s=1500) as running:
        yield running
