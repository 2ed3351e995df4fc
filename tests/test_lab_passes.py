"""A real broker's requests for redelivery: one pass of the read routine each up to 4.0.8, up to two on 4.2.4."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lab.parts import BROKER_VERSION, PartMissing, broker_jars, java_binary
from tests.lab.passes import measure
from throttlescope.models.throttling.scenario import Broker

pytestmark = [pytest.mark.study, pytest.mark.broker, pytest.mark.timeout(600)]


@pytest.mark.parametrize(("version", "least", "most"), [("4.0.7", 0.9, 1.1), (BROKER_VERSION, 1.2, 2.05)])
def test_requests_have_passes_of_version(version: str, least: float, most: float, tmp_path: Path) -> None:
    try:
        java_binary(), broker_jars(version)
    except PartMissing as missing:
        pytest.skip(f"no Pulsar {version} here: {missing}")
    found = measure(version, 100, tmp_path)
    assert least < found.per_answer < most, found
    assert Broker(version=version).redelivery_requests_flow == (most > 2)
