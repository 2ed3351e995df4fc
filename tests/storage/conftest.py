"""One real S3 server for the tests of this folder, and an environment that names it."""

from __future__ import annotations

import os

import pytest

from tests.lab.object_store import ObjectStore, running_object_store
from tests.lab.parts import PartMissing, object_store_jars
from throttlescope.ingest.lake.object_store import TIMEOUT_VARIABLE


@pytest.fixture(scope="session")
def _object_store(tmp_path_factory):
    try:
        object_store_jars()
    except PartMissing as missing:
        pytest.skip(str(missing))
    with running_object_store(tmp_path_factory.mktemp("object-store")) as store:
        yield store


@pytest.fixture
def object_store(_object_store: ObjectStore, monkeypatch) -> ObjectStore:
    """The running server, named by the environment of this process."""
    for name in [name for name in os.environ if name.startswith("AWS_")] + [TIMEOUT_VARIABLE]:
        monkeypatch.delenv(name, raising=False)
    for name, value in _object_store.environment.items():
        monkeypatch.setenv(name, value)
    return _object_store


def pytest_collection_modifyitems(items):
    for item in items:
        if "_object_store" in getattr(item, "fixturenames", ()):
            item.add_marker("store")
