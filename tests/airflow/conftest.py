"""An Airflow of the tests' own, and a Prometheus for it to read. In: nothing. Out: fixtures that end with their module."""

from __future__ import annotations

import time

import pytest

from tests.airflow.own_airflow import PYTHON, Source, airflow_in, feed, prepare, smallest_recording
from tests.lab.prometheus import running_prometheus
from throttlescope.ingest.core.times import block_start


@pytest.fixture(scope="module")
def airflow(tmp_path_factory):
    if not PYTHON.exists():
        pytest.skip(f"no Airflow in {PYTHON}: make airflow-env")
    return airflow_in(tmp_path_factory.mktemp("airflow"))


@pytest.fixture(scope="module")
def database(airflow):
    """The database of Airflow, with the pools of the DAGs."""
    prepare(airflow)


@pytest.fixture(scope="module")
def source():
    end_ms = block_start(int(time.time() * 1000))
    with running_prometheus() as server:
        feed(server.url, smallest_recording(), end_ms)
        yield Source(server.url, end_ms)
