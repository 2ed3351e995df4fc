"""What the tests of the REST API share: checked clients on lakes that are only read."""

from __future__ import annotations

import pytest

from tests.app.web.lake_of_limits import write_lake_of_limits
from tests.app.web.rest.contract import CheckedClient
from throttlescope.app.server.app import create_app


@pytest.fixture(scope="session")
def rest(sample_lake) -> CheckedClient:
    """On the lake with every shape of verdict."""
    return CheckedClient(create_app(sample_lake).server.test_client())


@pytest.fixture(scope="session")
def rest_of_limits(tmp_path_factory) -> CheckedClient:
    """On a lake with limits."""
    lake = write_lake_of_limits(tmp_path_factory.mktemp("limits") / "lake")
    return CheckedClient(create_app(lake.root).server.test_client())
