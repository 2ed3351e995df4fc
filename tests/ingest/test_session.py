"""The session factory: what it sets, that it is silent, and that its workers are this Python."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest


def test_workers_run_this_python(spark):
    def executable(_):
        yield sys.executable

    assert spark.sparkContext.parallelize([0], 1).mapPartitions(executable).collect() == [sys.executable]


def test_times_are_utc_and_not_shifted(spark):
    row = spark.sql("SELECT date_format(timestamp_millis(0), 'yyyy-MM-dd HH:mm:ss') AS zero").first()
    assert row.zero == "1970-01-01 00:00:00"


def test_a_second_call_gives_the_same_session(spark):
    from throttlescope.ingest.spark.session import spark_session

    assert spark_session(cores=1) is spark


def test_another_thread_gets_the_same_context(spark):
    from concurrent.futures import ThreadPoolExecutor

    from throttlescope.ingest.spark.session import spark_session

    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(spark_session).result()
    assert other.sparkContext is spark.sparkContext


@pytest.mark.spark
def test_run_prints_and_leaves_nothing(tmp_path):
    """Not even when a task fails: its exception is the message, Spark's own words are in the log file."""
    program = """
        import os
        from throttlescope.ingest.spark.session import spark_session, spark_log_file

        before = dict(os.environ)

        def fails(batches):
            raise ValueError("planted")

        session = spark_session(cores=1, driver_memory="512m")
        # What is started from here, a session on a cluster for one, chooses its own Python.
        changed = {name for name in os.environ if os.environ[name] != before.get(name)}
        assert not {name for name in changed if "PYTHON" in name or "JAVA" in name}, changed
        assert session.range(5).count() == 5
        session.range(5).createOrReplaceTempView("five")
        session.sql("SELECT count(*) FROM five").collect()
        try:
            session.range(1).mapInArrow(fails, "id long").collect()
        except Exception as error:
            assert "planted" in str(error)
        else:
            raise SystemExit("the planted fault was lost")
        assert "planted" in spark_log_file().read_text()
        session.stop()
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long
@pytest.mark.parametrize("broken", ["exit 1", "echo 'Error: no memory' >&2; exit 1"])
def test_failed_jvm_start_is_one_line(tmp_path, broken):
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text(f"#!/bin/sh\n{broken}\n")
    java.chmod(0o755)
    (tmp_path / "release").write_text('JAVA_VERSION="17.0.1"\n')
    program = """
        from throttlescope.ingest.core.errors import SourceError
        from throttlescope.ingest.spark.session import spark_session

        try:
            spark_session(cores=1)
        except SourceError as error:
            assert len(str(error).splitlines()) == 1, str(error)
            assert "JAVA_HOME" in str(error), str(error)
            print(error)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        env={
            "JAVA_HOME": str(tmp_path),
            "PATH": "/usr/bin:/bin",
            "THROTTLESCOPE_CACHE": str(tmp_path / "cache"),
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "did not start" in done.stdout, done.stdout + done.stderr
    assert Path(done.stdout.split("whole output is in ")[1].split(";")[0]).exists()
