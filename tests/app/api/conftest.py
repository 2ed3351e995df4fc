"""What the tests of the HTTP API share: one lake, a server on it, and a real Prometheus with the same samples."""

from __future__ import annotations

import pytest

from tests.app.api.samples import series, write_all
from tests.app.api.serving import serving
from tests.lab.prometheus import running_prometheus
from tests.transforms.lakes import lake_of
from throttlescope.app.server.app import create_app


@pytest.fixture(scope="session")
def api_lake(tmp_path_factory):
    """A lake of samples only: no limits, no signals, no verdicts."""
    return lake_of(tmp_path_factory.mktemp("api") / "lake", series())


@pytest.fixture(scope="session")
def served(api_lake, tmp_path_factory):
    """``throttlescope serve`` on that lake, as users start it; open to all origins, as Prometheus is."""
    log_file = tmp_path_factory.mktemp("served") / "log"
    with serving(api_lake.root, log_file, "--cors-origin", ".*") as server:
        yield server


@pytest.fixture(scope="session")
def prometheus():
    """A real Prometheus with the same samples."""
    with running_prometheus() as server:
        write_all(server.url)
        yield server


@pytest.fixture(scope="session")
def client(api_lake):
    """Requests without a socket between."""
    return create_app(api_lake.root).server.test_client()
