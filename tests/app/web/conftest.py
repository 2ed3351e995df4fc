"""What the web app's tests share: one sample lake per run, and readers on it."""

from __future__ import annotations

import pytest

from tests.app.web.sample_lake import write_sample_lake
from throttlescope.app.web.data.reader import LakeReader


@pytest.fixture(scope="session")
def sample_lake(tmp_path_factory) -> str:
    """A lake with every shape that the pages must show; nobody writes to it."""
    return write_sample_lake(tmp_path_factory.mktemp("web") / "lake").root


@pytest.fixture
def reader(sample_lake) -> LakeReader:
    return LakeReader(sample_lake)
