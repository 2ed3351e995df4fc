"""What executors report about themselves, and how missing parts are reported. On a local session; on a cluster in tests/cluster."""

import os
import time

import pytest

from throttlescope.ingest.core.errors import InputError, SourceError
from throttlescope.ingest.spark import executors
from throttlescope.ingest.spark.executors import (
    ask_executors,
    check_shared_folder,
    on_this_machine,
    parallelism,
)


def test_executors_say_what_they_are(spark):
    found = ask_executors(spark, 2)
    assert len(found) == 2
    assert {row["python"] for row in found} == {executors._python()}
    assert str(os.getpid()) not in {row["pid"] for row in found}
    assert (parallelism(spark), on_this_machine(spark)) == (2, True)


def test_another_version_there_is_told(spark, monkeypatch):
    monkeypatch.setattr(executors, "_version", lambda: "99")
    with pytest.raises(InputError, match=r"another throttlescope.*expected 99.*spark package"):
        ask_executors(spark)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            "PythonException ... ModuleNotFoundError: No module named 'throttlescope'\n at",
            "no module throttlescope",
        ),
        (
            'java.io.IOException: Cannot run program "./environment/bin/python": error=2',
            "environment/bin/python",
        ),
        ("[PYTHON_VERSION_MISMATCH] Python in worker has different version: 3.12", "another Python"),
    ],
)
def test_what_executors_lack_is_one_line(said, told):
    error = executors._explained(RuntimeError(said))
    assert isinstance(error, InputError)
    assert told in str(error)
    assert len(str(error).splitlines()) == 1


def test_another_fault_stays_what_it_is():
    fault = RuntimeError("out of memory")
    assert executors._explained(fault) is fault


def test_cluster_without_executors_fails(spark):
    def waits(batches):
        time.sleep(60)
        yield from batches

    began_s = time.monotonic()
    with pytest.raises(SourceError, match=r"gave no executor.*none in 1 s") as caught:
        executors._in_time(spark, waits, "id long", 1, wait_s=1)
    assert time.monotonic() - began_s < 50
    assert caught.value.exit_code == 4
    assert spark.range(3).count() == 3


def test_a_folder_that_all_see_leaves_nothing(spark, tmp_path):
    (tmp_path / "lake").mkdir()
    check_shared_folder(spark, tmp_path / "lake")
    check_shared_folder(spark, tmp_path / "not" / "yet")
    assert [entry.name for entry in tmp_path.rglob("*")] == ["lake"]
    assert list((tmp_path / "lake").iterdir()) == []


def test_executors_with_another_disk_are_told(spark, tmp_path, monkeypatch):
    looker = executors._looker
    monkeypatch.setattr(executors, "_looker", lambda path: looker(path + "-elsewhere"))
    with pytest.raises(InputError, match="Executors do not see the lake's folder"):
        check_shared_folder(spark, tmp_path / "lake")
    assert list(tmp_path.iterdir()) == []
