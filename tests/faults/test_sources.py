"""A Prometheus that fails in the middle of a pull: some of the study's faults here, all of them by `make faults`."""

import pytest

from tests.faults.sources import STUDY

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


@pytest.mark.study
def test_failing_source_ends_pull_cleanly(tmp_path):
    done = set()
    with STUDY.opened(1, STUDY.default, tmp_path) as todo:
        for name, act in todo:
            if name in SHORT:
                found = act()
                assert (found.wrong, found.lost, found.doubled) == ([], 0, 0), name
                done.add(name)
    assert done == SHORT
