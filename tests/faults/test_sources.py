"""Every fault of a Prometheus that pulls are held against, each once: the study itself, in its short form (`make faults` repeats it)."""

import pytest

from tests.faults.sources import STUDY
from tests.faults.study import run

pytestmark = pytest.mark.prometheus


def test_every_fault_of_the_source_ends_as_it_should(tmp_path):
    line = run(STUDY, 1, STUDY.default, tmp_path)
    assert line.wrong == []
    assert (line.lost, line.doubled, line.torn) == (0, 0, 0)
    assert line.instants == STUDY.default
    assert line.tally["parts gone on from"] > 0
