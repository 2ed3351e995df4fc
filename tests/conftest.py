"""What all tests share. In: options and environment variables of a test run. Out: one Spark session, the number of examples of a property test,
failures for required parts that were skipped, one worker for all that uses Spark, and a table of processor time.
"""

from __future__ import annotations

import gc
import os
import re
from collections import Counter
from functools import cache

import hypothesis
import pytest

# What is imported and collected stays until the end: the garbage collector need not look at thousands of tests again and again.
gc.disable()

#: Share of its examples that a property test tries, from $THROTTLESCOPE_EXAMPLES: a quarter in `make check` and `make test`, all of them elsewhere.
EXAMPLES_SHARE = float(os.environ.get("THROTTLESCOPE_EXAMPLES", "1"))

# Numba compiles inside the first example, and two cores are shared with servers: a deadline would only find that.
hypothesis.settings.register_profile(
    "throttlescope", deadline=None, print_blob=True, max_examples=max(5, round(100 * EXAMPLES_SHARE))
)
hypothesis.settings.load_profile("throttlescope")

# A configuration of the person who runs the tests must not change what they see.
os.environ.pop("THROTTLESCOPE_CONFIG", None)
# And so must their language.
os.environ["LC_ALL"] = "C.UTF-8"
#: A test's queries are short: the JIT's second stage costs more than it gives, six of the 17 processor seconds of a session that counts five rows.
ONE_JIT_STAGE = "-XX:TieredStopAtLevel=1"
# For the JVMs of Spark that commands start; those that the tests start themselves get it as an option.
os.environ.setdefault("SPARK_SUBMIT_OPTS", ONE_JIT_STAGE)

#: Markers whose tests may not be skipped, from $THROTTLESCOPE_REQUIRE: ``broker,prometheus,browser,airflow,cluster,store``.
REQUIRED = frozenset(filter(None, os.environ.get("THROTTLESCOPE_REQUIRE", "").split(",")))

#: Markers of tests that start servers or whole commands, and wait for them.
WAITING = ("spark", "prometheus", "store", "long")


@pytest.fixture(scope="session")
def _spark_session():
    # Imported here: a run without Spark tests does not pay for it.
    from throttlescope.ingest.spark.session import spark_session

    session = spark_session(
        "throttlescope-tests",
        # Two tasks at once are enough to find what breaks side by side, and leave a core to servers under test.
        cores=2,
        # The largest table of a test is a few MB; a test that needs more has a fault of its own.
        driver_memory="1g",
        # A parallel collector costs more than it gives as well.
        java_options=(ONE_JIT_STAGE, "-XX:+UseSerialGC"),
        conf={
            # One partition more than one, so that a test which forgets to sort can fail.
            "spark.sql.shuffle.partitions": "2",
            # The plan a test reads is the plan that runs.
            "spark.sql.adaptive.enabled": "false",
        },
    )
    yield session
    session.stop()


@pytest.fixture
def spark(_spark_session):
    """The session of the whole run, made when first asked for and left clean after each test."""
    yield _spark_session
    for table in _spark_session.catalog.listTables():
        _spark_session.catalog.dropTempView(table.name)
    _spark_session.catalog.clearCache()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker("spark")
    if EXAMPLES_SHARE < 1:
        _leave_out_sampled_cases(config, items)
    _put_waiting_files_first(items)


def _put_waiting_files_first(items):
    """Files with servers, whose workers wait for seconds, before those that only compute: at the end of a run each worker then has something to do."""
    waiting = {item.path for item in items if any(item.get_closest_marker(name) for name in WAITING)}
    items.sort(key=lambda item: item.path not in waiting)


def _leave_out_sampled_cases(config, items):
    """Of each test marked ``sampled(n)`` keep the first of every n cases."""
    cases, left_out = Counter(), []
    for item in items:
        if marker := item.get_closest_marker("sampled"):
            test = item.nodeid.partition("[")[0]
            if cases[test] % marker.args[0]:
                left_out.append(item)
            cases[test] += 1
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        dropped = set(map(id, left_out))
        items[:] = [item for item in items if id(item) not in dropped]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """With ``--dist loadfile`` one worker gets all files that use Spark: each JVM and its warm-up cost ten processor seconds."""
    if config.getoption("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    uses_spark = re.compile(r"mark\.spark\b|[(,] *_?spark(_session)? *[,)]").search

    @cache
    def group_of(file: str) -> str:
        return "spark" if uses_spark((config.rootpath / file).read_text(encoding="utf-8")) else file

    class OneWorkerForSpark(LoadFileScheduling):
        def _split_scope(self, nodeid):
            return group_of(super()._split_scope(nodeid))

    return OneWorkerForSpark(config, log)


def pytest_addoption(parser):
    parser.addoption(
        "--cpu-times",
        type=int,
        default=0,
        metavar="N",
        help="list the N files and the N tests with the most processor seconds, child processes included",
    )


def processor_s() -> float:
    """Processor seconds of this process and of its ended children. Unlike elapsed time, a busy machine hardly changes them."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def pytest_unconfigure():
    # DuckDB's library complains of what is left at the end.
    gc.unfreeze()


class LastReport:
    """Processor time at the last report: the next one gets what was used since."""

    cpu_s = 0.0


def pytest_collection_finish():
    gc.freeze()
    gc.enable()
    LastReport.cpu_s = processor_s()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    # An attribute of a report reaches the process that prints, also from the workers of xdist.
    report.cpu_s, LastReport.cpu_s = processor_s() - LastReport.cpu_s, processor_s()
    required = sorted(REQUIRED & {marker.name for marker in item.iter_markers()})
    if report.skipped and required and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = (
            f"{', '.join(required)} is required here (THROTTLESCOPE_REQUIRE) and was skipped: {reason}"
        )
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    report = yield
    if report.skipped and REQUIRED:
        report.outcome = "failed"
        report.longrepr = f"a whole file was skipped although THROTTLESCOPE_REQUIRE is set: {report.longrepr}"
    return report


def pytest_terminal_summary(terminalreporter, config):
    rows = config.getoption("--cpu-times")
    if not rows:
        return
    files, tests = Counter(), Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            if cpu_s := getattr(report, "cpu_s", 0.0):
                files[report.nodeid.partition("::")[0]] += cpu_s
                tests[report.nodeid] += cpu_s
    terminalreporter.section(f"processor seconds, {sum(files.values()):.0f} in all")
    for found in (files, tests):
        for name, cpu_s in found.most_common(rows):
            terminalreporter.write_line(f"{cpu_s:8.2f} {name}")
        terminalreporter.write_line("")
