"""A lake as of a moment: every table as it stood, and words where that is not known any more."""

import os
import pickle
import time

import pytest

from tests.ingest.lake.upkeep.made import add, rows_of, sample, table_of, verdict
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.lake import Lake, write_data_file
from throttlescope.ingest.lake import lake as module
from throttlescope.ingest.lake.time_travel import PastLake, lake_as_of
from throttlescope.ingest.lake.upkeep.vacuum import clean_log, delete, unnamed


def now_ms():
    time.sleep(0.003)
    moment = time.time_ns() // 1_000_000
    time.sleep(0.003)
    return moment


@pytest.fixture
def lake(tmp_path):
    """Three versions of verdicts, samples since the second; ``lake.moments`` are between them."""
    lake = Lake(tmp_path)
    lake.moments = [now_ms()]
    for number in range(3):
        old = lake.files("verdicts")
        new = write_data_file(lake.root, "verdicts", table_of("verdicts", [verdict(number)]))
        lake.commit("verdicts", [new], old, run_id=f"r{number}")
        if number == 1:
            add(lake, "samples", [sample()])
        lake.moments.append(now_ms())
    return lake


@pytest.mark.long
def test_every_table_is_read_as_of_then(lake):
    for number, moment in enumerate(lake.moments[1:]):
        then = PastLake(lake.root, moment)
        assert rows_of(then, "verdicts") == rows_of(lake, "verdicts", version=number)
        assert then.version("verdicts") == number
        assert then.read("samples").num_rows == (1 if number else 0)
        assert then.duckdb().sql("SELECT count(*) FROM verdicts").fetchall() == [(1,)]
        assert rows_of(pickle.loads(pickle.dumps(then)), "verdicts") == rows_of(then, "verdicts")  # noqa: S301
    assert PastLake(lake.root, lake.moments[0]).version("verdicts") is None


def test_a_version_is_a_moment_too(lake):
    then = lake_as_of(lake.root, "1", "verdicts", now_ms=now_ms())
    assert (then.version("verdicts"), rows_of(then, "verdicts")) == (1, rows_of(lake, "verdicts", version=1))
    assert then.read("samples").num_rows == 0
    seconds = f"{lake.moments[2] / 1000:.3f}"
    assert lake_as_of(lake.root, seconds, "verdicts", now_ms=now_ms()).version("verdicts") == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("7", "There is no such version of verdicts; got 7; expected 0 to 2"),
        ("2999-01-01", "--as-of lies in the future"),
        ("yesterday", "A time cannot be read"),
    ],
)
def test_unknown_moment_is_refused(lake, text, said):
    with pytest.raises(InputError, match=said):
        lake_as_of(lake.root, text, "verdicts", now_ms=now_ms())


def test_the_past_is_not_written(lake):
    with pytest.raises(InputError, match="A lake as of a moment cannot be written"):
        PastLake(lake.root, lake.moments[1]).upsert(
            "verdicts", table_of("verdicts", [verdict(9)]), run_id="r"
        )
    assert lake.version("verdicts") == 2


def test_what_was_vacuumed_is_said(lake):
    delete(lake, unnamed(lake, 0, now_ms=now_ms() + 1_000, anyway=True))
    with pytest.raises(
        InputError,
        match=r"does not have all files of that moment any more; got 1 of 1 files of verdicts, version 0",
    ):
        PastLake(lake.root, lake.moments[1]).read("verdicts")
    assert rows_of(PastLake(lake.root, lake.moments[3]), "verdicts") == rows_of(lake, "verdicts")


def test_shortened_log_is_not_empty_table(lake, tmp_path):
    for path in (tmp_path / "verdicts" / "_delta_log").glob("*.json"):
        os.utime(path, (1, 1))
    assert clean_log(lake, "verdicts") > 0
    with pytest.raises(InputError, match="The log of verdicts does not reach back that far"):
        PastLake(lake.root, lake.moments[1]).read("verdicts")
    assert rows_of(PastLake(lake.root, lake.moments[3]), "verdicts") == rows_of(lake, "verdicts")


def test_version_of_any_moment_is_found(lake, monkeypatch):
    times = {one["version"]: one["timestamp"] for one in lake._open("verdicts").history()}
    moments = [*lake.moments, *times.values(), min(times.values()) - 1]
    wanted = [max((v for v, at_ms in times.items() if at_ms <= moment), default=None) for moment in moments]
    # Two commits are looked at, then all.
    monkeypatch.setattr(module, "_LOOKED_AT", 2)
    assert [lake.version_at("verdicts", moment) for moment in moments] == wanted
    assert {None, 0, 1, 2} == set(wanted)
