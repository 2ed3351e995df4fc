"""The fault suite in short, with a seed: a few instants of each study. ``make faults`` runs them all."""

import json

import pytest

from tests.faults import changes, clocks, commit_protocol, damage, page, readers, study
from tests.faults.__main__ import table
from tests.faults.studies import STUDIES
from tests.lab.prometheus import running_prometheus
from throttlescope.ingest.lake.lake import Lake


def short(one, tmp_path, instants, kept=None):
    return study.run(one, 1, instants, tmp_path, kept)


@pytest.mark.study
@pytest.mark.skipif(
    not changes.can_watch(), reason="the kernel does not tell of another process's calls here"
)
def test_killed_writer_leaves_whole_version(tmp_path):
    """At any system call."""
    line = short(commit_protocol.STUDY, tmp_path, 20)
    assert (line.lost, line.doubled, line.torn, line.wrong) == (0, 0, 0, [])
    assert line.instants >= 20
    # Every operation was killed, and not always before the same call.
    assert len([name for name in line.tally if not name.startswith("before")]) == len(
        commit_protocol.OPERATIONS
    )
    assert len([name for name in line.tally if name.startswith("before")]) >= 4


@pytest.mark.study
@pytest.mark.long
@pytest.mark.skipif(
    not changes.can_watch(), reason="the kernel does not tell of another process's calls here"
)
def test_process_is_killed_before_requested_change(tmp_path):
    paths = [tmp_path / f"file{i}" for i in range(3)]

    def work():
        for path in paths:
            path.write_bytes(b"x")

    whole = changes.run(work, str(tmp_path))
    assert (whole.killed, whole.error) == (False, "")
    assert {(one.call, one.path) for one in whole.changes} == {
        (call, path.name) for path in paths for call in ("openat", "write")
    }
    for path in paths:
        path.unlink()
    ended = changes.run(work, str(tmp_path), kill_before=4)
    assert (ended.killed, ended.changes[-1].call, ended.changes[-1].path) == (True, "write", "file1")
    assert [path.read_bytes() if path.exists() else None for path in paths] == [b"x", b"", None]
    assert "ZeroDivisionError" in changes.run(lambda: 1 / 0, str(tmp_path)).error


@pytest.mark.study
@pytest.mark.long
def test_readers_beside_two_writers_see_whole_versions(tmp_path):
    line = short(readers.STUDY, tmp_path, 100)
    assert (line.torn, line.wrong, line.instants) == (0, [], 100)
    assert line.tally["versions written meanwhile"] > 3


@pytest.mark.study
@pytest.mark.long
def test_damage_is_named_and_repaired(tmp_path):
    """Or its rows are named as lost."""
    line = short(damage.STUDY, tmp_path, 12)
    assert (line.lost, line.doubled, line.torn, line.wrong) == (0, 0, 0, [])
    assert {name.split(":")[0] for name in line.tally} >= {"data file", "commit", "checkpoint", "repair"}


@pytest.mark.spark
@pytest.mark.prometheus
@pytest.mark.study
def test_disordered_intervals_give_the_same_lake(spark, tmp_path):
    """With a clock that jumps."""
    with running_prometheus() as server:
        todo = clocks.instants_of(spark, server.url, 1, tmp_path, hours=2)
        found = next(todo)[1]()
    assert (found.lost, found.doubled, found.wrong) == (0, 0, [])
    assert found.tally["run twice"] == 2
    assert found.tally["clock went back"] > 0


def test_stopped_study_continues(tmp_path):
    done = []

    def found(number):
        done.append(number)
        return study.Found(f"number {number}", lost=number == 2)

    def opened(seed, instants, scratch):
        import contextlib

        return contextlib.nullcontext((f"number {i}", lambda i=i: found(i)) for i in range(100))

    one = study.Study("some", "all of it", 9, opened)
    kept = tmp_path / "kept" / "some-1.jsonl"
    assert short(one, tmp_path, 3, kept).instants == 3
    with kept.open("a") as file:
        file.write('{"instant": "number 3", "cou')
    # What was cut off by a kill does not swallow what comes behind it.
    line = short(one, tmp_path, 5, kept)
    assert (done, line.instants, line.lost, line.holds) == ([0, 1, 2, 3, 4], 5, 1, False)
    assert [text.split()[1] for text in table([line]).splitlines()[1:2]] == ["1"]
    assert short(one, tmp_path, 5, kept).to_json() == line.to_json()
    assert len(done) == 5


def test_the_page_says_what_the_figures_say():
    assert json.loads(page.FIGURES.read_text()).keys() == STUDIES.keys()
    assert page.PAGE.read_text() == page.filled(page.PAGE.read_text())


@pytest.mark.study
def test_lost_rows_are_detected(tmp_path, monkeypatch):
    """The studies can fail: a reader that leaves a file out is found by all of them."""
    files = Lake.files

    def fewer(self, table, **asked):
        found = files(self, table, **asked)
        return found[:-1] if table == "verdicts" else found

    monkeypatch.setattr(Lake, "files", fewer)
    assert short(readers.STUDY, tmp_path / "readers", 100).torn > 0
