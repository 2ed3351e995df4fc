"""The simulator's limiters next to the classes of a broker: the same operations, the same state after each."""

from __future__ import annotations

import numpy as np
import pytest

from tests.judges.limiters.judge import differences, run, run_publishing, wrapped_meters
from tests.judges.limiters.operations import CHARGE, NEW, PUBLISH, QUERY, draw_operations, draw_publishing
from tests.judges.limiters.play import NO_ANSWER, play_kernel, play_twin
from tests.judges.limiters.publishing import born_ns, play_publishing
from tests.lab.parts import BROKER_VERSION, PartMissing, broker_jars, javac_binary

HOUR_NS = 3600 * 10**9


@pytest.fixture
def _broker_classes():
    try:
        broker_jars()
        javac_binary()
    except PartMissing as error:
        pytest.skip(str(error))


@pytest.mark.broker
@pytest.mark.usefixtures("_broker_classes")
def test_limiters_equal_those_of_a_broker():
    results = list(run((BROKER_VERSION,), operations=3000))
    assert [result["operations"] for result in results] == [3000, 3000]
    assert [(result["twin"], result["kernel"], result["explained"]) for result in results] == [(0, 0, 0)] * 2


@pytest.mark.study
@pytest.mark.broker
@pytest.mark.usefixtures("_broker_classes")
def test_relative_limits_equal_those_of_a_broker():
    results = list(run((BROKER_VERSION,), operations=3000, relative=True))
    assert [(result["twin"], result["kernel"], result["explained"]) for result in results] == [(0, 0, 0)] * 2


@pytest.mark.study
@pytest.mark.broker
@pytest.mark.usefixtures("_broker_classes")
def test_publish_limiter_equals_that_of_a_broker():
    (result,) = run_publishing((BROKER_VERSION,), operations=3000)
    assert result["waited"] > 200
    assert (result["simulator"], result["explained"]) == (0, 0)


def test_publish_limiter_accepts_every_entry_at_its_time_or_later():
    operations = draw_publishing(5, 1000)
    states, beyond = play_publishing(operations)
    entries = (operations[:, 0] == PUBLISH) & (states[:, 0, 0] >= 0)
    late_ns = (states[:, 0, 0] + born_ns(operations) - operations[:, 1])[entries]
    assert late_ns.min() == 0
    assert (late_ns > 0).sum() > 300
    assert not beyond.any()


def test_differences_are_found_and_explained():
    operations = draw_operations(7, 50)
    states = play_twin("C", operations)
    other = states.copy()
    other[20, 1, 2] += 1
    nothing = np.zeros((50, 2), bool)
    assert differences(other, states, nothing).tolist() == [20]
    explained = nothing.copy()
    explained[20, 1] = True
    assert differences(other, states, explained).tolist() == []


def test_only_products_beyond_64_bits_are_explained():
    def operations(rate):
        rows = [(NEW, 0, rate, 0, 1, 0), (CHARGE, 0, 5, 0, 0, 0), (QUERY, HOUR_NS, 0, 0, 0, 0)]
        return np.array(rows, np.int64)

    for rate, wraps in ((2_562_047, False), (2_562_048, True)):
        played = operations(rate)
        wrapped = wrapped_meters("C", "4.0.7", played, play_twin("C", played))
        assert wrapped[:, 0].tolist() == [False, False, wraps]
        assert not wrapped_meters("C", "4.2.4", played, play_twin("C", played)).any()


@pytest.mark.long
def test_kernel_refills_beyond_64_bits():
    """10 GB an hour: the rate times the microseconds of an hour is 3.6e19."""
    rows = [
        (NEW, 0, 0, 10**10, 3600, 0),
        (CHARGE, 0, 0, 2 * 10**10, 0, 0),
        (QUERY, HOUR_NS * 19 // 10, 0, 0, 0, 0),
    ]
    played = np.array(rows, np.int64)
    twin, kernel = play_twin("C", played, tick_ns=1000), play_kernel("C", played, tick_ns=1000)
    assert twin[2, 1].tolist() == kernel[2, 1].tolist()
    assert twin[2, :, 0].tolist() == [-1, 9 * 10**9]
    assert twin[1, :, 0].tolist() == [NO_ANSWER, NO_ANSWER]
