"""A Prometheus that fails in the middle of a pull: some of the study's faults here, all of them by `make faults`."""

import pytest

from tests.faults.sources import STUDY
from tests.faults.study import run

pytestmark = pytest.mark.prometheus

#: One of each kind of end: asked again in vain, asked again with success, refused at once, without an end, gone.
SHORT = {
    "remote_read: 429, stays",
    "remote_read: half an answer, once",
    "remote_read: wrong checksum, stays",
    "remote_read: an endless answer, stays",
    "remote_read: the server is killed",
    "api: 500, stays",
    "api: half an answer, stays",
    "api: an answer that trickles, stays",
}


def test_a_source_that_fails_ends_a_pull_as_it_should(tmp_path):
    done = set()
    with STUDY.opened(1, STUDY.default, tmp_path) as todo:
        for name, act in todo:
            if name in SHORT:
                found = act()
                assert (found.wrong, found.lost, found.doubled) == ([], 0, 0), name
                done.add(name)
    assert done == SHORT


@pytest.mark.study
def test_every_fault_of_the_source_ends_as_it_should(tmp_path):
    line = run(STUDY, 1, STUDY.default, tmp_path)
    assert line.wrong == []
    assert (line.lost, line.doubled, line.torn) == (0, 0, 0)
    assert line.instants == STUDY.default
    assert line.tally["parts gone on from"] > 0
