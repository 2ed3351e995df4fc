"""The command lines of the DAGs, without Airflow: every argument stays one, and the command line knows them all."""

import json
from datetime import datetime, timedelta
from types import SimpleNamespace

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st

from airflow_dags import commands
from airflow_dags.commands import (
    OVERLAP,
    Call,
    Covered,
    Program,
    Report,
    SettingError,
    begins,
    covered,
    read_from,
    reason,
    report,
)
from throttlescope.ingest.pull.watermarks import OVERLAP_MS

START, END = "2026-11-20T08:00:00+00:00", "2026-11-20T09:00:00+00:00"
CALLS = [
    commands.source_freshness(END),
    commands.lake_freshness(END),
    commands.ingest(START, END),
    commands.gates(("samples",), START, END),
    commands.diagnose(START, END),
    commands.forecast(END),
    commands.anomalies(START, END),
    commands.review(START, END),
    commands.backfill("-30d", "now", "6h", "--dry-run"),
]
FULL = {
    "THROTTLESCOPE_COMMAND": "nice -n 5 /opt/ts/bin/throttlescope",
    "THROTTLESCOPE_MASTER": "spark://m:7077",
    "THROTTLESCOPE_LAKE": "/data/my lake",
    "THROTTLESCOPE_CONFIG": "/etc/throttlescope.toml",
    "THROTTLESCOPE_PROMETHEUS": "http://prometheus:9090",
    "THROTTLESCOPE_PULSAR_ADMIN": "http://b1:8080 http://b2:8080",
    "THROTTLESCOPE_RECORDING": "",
}


def test_a_configuration_is_enough():
    line = Program(config="/etc/ts.toml").line(commands.ingest(START, END))
    assert line == [
        "throttlescope", "ingest", "--since-watermark", "--start", START, "--end", END, "--config", "/etc/ts.toml",
    ]  # fmt: skip


def test_everything_can_be_set_by_the_environment():
    program = Program.from_environment(FULL)
    line = program.line(commands.ingest(START, END))
    assert line[:5] == ["nice", "-n", "5", "/opt/ts/bin/throttlescope", "ingest"]
    assert line[line.index("--lake") + 1] == "/data/my lake"
    assert line[line.index("--master") + 1] == "spark://m:7077"
    assert line.count("--pulsar-admin") == 2
    assert "--recording" not in line
    assert Program.from_environment({}) == Program()


def test_only_source_commands_get_addresses():
    program = Program.from_environment(FULL)
    assert "--prometheus" not in program.line(commands.diagnose(START, END))
    fresh = program.line(commands.source_freshness(END))
    assert "--prometheus" in fresh
    assert "--pulsar-admin" not in fresh
    assert "--master" not in fresh


def test_spark_commands_run_on_the_cluster():
    program = Program(spark_submit="spark-submit --master yarn /opt/launch.py", master="spark://m", lake="/l")
    assert program.line(commands.diagnose(START, END))[:5] == [
        "spark-submit", "--master", "yarn", "/opt/launch.py", "diagnose",
    ]  # fmt: skip
    assert "spark://m" not in program.line(commands.diagnose(START, END))
    assert program.line(commands.gates(("samples",), START, END))[:2] == ["spark-submit", "--master"]
    assert program.line(commands.review(START, END))[:2] == ["throttlescope", "review"]


@pytest.mark.parametrize(
    ("program", "call", "told"),
    [
        (Program(), commands.review(START, END), "THROTTLESCOPE_LAKE"),
        (Program(lake="/l"), commands.ingest(START, END), "THROTTLESCOPE_PROMETHEUS"),
        (Program(lake="lake"), commands.review(START, END), "relative: lake"),
        (Program(config="ts.toml"), commands.review(START, END), "relative: ts.toml"),
    ],
)
def test_missing_variable_is_named(program, call, told):
    with pytest.raises(SettingError, match=told) as error:
        program.line(call)
    assert "Fix: " in str(error.value)
    assert "\n" not in str(error.value)


def test_a_lake_may_be_an_address():
    assert Program(lake="s3://bucket/lake").line(commands.review(START, END))[-1] == "s3://bucket/lake"


@given(
    st.lists(
        st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=20), min_size=1
    )
)
def test_filled_in_arguments_stay_unchanged(arguments):
    line = Program(lake="/l").line(Call(("review",)), arguments)
    assert line == ["throttlescope", *arguments, "--lake", "/l"]


def test_diagnosis_looks_for_missed_hours():
    line = Program(lake="/l").line(commands.diagnose(START, END))
    assert line == ["throttlescope", "diagnose", "--missed", "--start", START, "--end", END, "--lake", "/l"]


def test_recording_has_no_watermark():
    line = Program(lake="/l", recordings=("one",)).line(commands.ingest(START, END))
    assert line == [
        "throttlescope",
        "ingest",
        "--start",
        START,
        "--end",
        END,
        "--lake",
        "/l",
        "--recording",
        "one",
    ]


def test_empty_arguments_are_left_out():
    line = Program(lake="/l", prometheus="http://p:1").line(commands.backfill("-1d", "--help", "6h", ""))
    assert line[:5] == ["throttlescope", "backfill", "--start=-1d", "--end=--help", "--chunk=6h"]
    assert "" not in line


@pytest.mark.long
@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.arguments[0])
@pytest.mark.parametrize("recordings", [(), ("one", "two")])
def test_every_flag_exists_in_the_command(call, recordings):
    from throttlescope.app.cli.application import app

    program = Program(
        master="local[2]", lake="/l", config="/c", prometheus="http://p:1", pulsar_admin=("http://a:1",)
    )
    if recordings and call.arguments[0] != "backfill":
        program = Program(lake="/l", recordings=recordings)
    command = typer.main.get_command(app)
    words = [word for word in program.line(call)[1:] if not word.startswith("-")]
    while hasattr(command, "commands") and (words[0] in command.commands or command.name is None):
        command = command.commands[words.pop(0)]
    options = {name for option in command.params for name in (*option.opts, *option.secondary_opts)}
    flags = {word.split("=")[0] for word in program.line(call) if word.startswith("--")}
    assert flags
    assert flags <= options


@pytest.mark.parametrize(
    ("begun", "previous_end", "told"),
    [
        # The first time, or an hour that is run again.
        (START, None, START),
        # Every hour: what is read again for late scrapes was handed on before.
        ("2026-11-20T07:45:00Z", START, START),
        # Three hours were missed.
        ("2026-11-20T04:45:00Z", START, "2026-11-20T05:00:00+00:00"),
        # The source was read up to 05:20 by hand.
        ("2026-11-20T05:05:00Z", START, "2026-11-20T05:00:00+00:00"),
        # A first try was killed in the middle of them.
        ("2026-11-20T07:45:00Z", "2026-11-20T05:00:00+00:00", "2026-11-20T05:00:00+00:00"),
        # The tries before were of runs that failed.
        ("2026-11-20T04:45:00Z", "2026-11-20T08:00:00+00:00", "2026-11-20T05:00:00+00:00"),
        # Run again behind runs of later hours, or without a word of ingest.
        (None, END, START),
    ],
)
def test_missed_hours_are_passed_on(begun, previous_end, told):
    end = previous_end and datetime.fromisoformat(previous_end)
    previous = SimpleNamespace(data_interval_end=end)
    assert read_from(datetime.fromisoformat(START), begun, previous) == told
    if previous_end is None:
        assert read_from(datetime.fromisoformat(START), begun, None) == told


def test_the_overlap_is_that_of_the_watermarks():
    assert timedelta(milliseconds=OVERLAP_MS) == OVERLAP


def test_ingest_start_comes_from_its_report():
    line = {
        "event": "since_watermark",
        "message": "any words",
        "start_ms": 1763624700000,
        "end_ms": 1763629200000,
    }
    assert begins(report(json.dumps(line))) == "2025-11-20T07:45:00+00:00"
    assert begins(report("[1/4] Starting Spark (3.1 s)")) is None
    assert begins(report(json.dumps(line | {"event": "step"}))) is None


@pytest.mark.parametrize("line", ["{", '{"event": 1}', "[1]", '{"message": "no event"}', "plain"])
def test_other_output_is_no_report(line):
    assert report(line) == Report(line)


def test_ingest_reports_where_it_begins(capsys):
    """The name of the event and of its field are those that the command writes."""
    from throttlescope.app.log import LogFormat, set_up, tell

    set_up(LogFormat.json, "ingest")
    try:
        tell("words", event="since_watermark", start_ms=0, end_ms=1)
    finally:
        set_up(LogFormat.text)
    one = report(capsys.readouterr().err.strip())
    assert one.text == "words"
    assert begins(one) == "1970-01-01T00:00:00+00:00"


def events(*ranges):
    return {
        "samples": [
            SimpleNamespace(extra={"start": low, "end": high} if low else {"other": 1})
            for low, high in ranges
        ]
    }


def test_run_covers_all_triggering_events():
    told = events(
        ("2026-11-20T09:00:00+00:00", "2026-11-20T10:00:00+00:00"),
        # The same moments, written in another way.
        ("2026-11-20T07:00:00Z", "2026-11-20T08:00:00Z"),
        (None, None),
    )
    assert covered(told, {}) == Covered("2026-11-20T07:00:00Z", "2026-11-20T10:00:00+00:00")


def test_parameters_come_before_events():
    assert covered(events((START, END)), {"start": "a", "end": "b"}) == Covered("a", "b")


@pytest.mark.parametrize("params", [{}, {"start": None, "end": None}, {"start": START, "end": None}])
def test_run_without_range_reports_it(params):
    with pytest.raises(SettingError, match="start and end"):
        covered(events((None, None)), params)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (
            [
                "[1/3] Reading",
                '{"event": "failed", "message": "Gate samples stopped. "}',
                "INFO ShutdownHookManager",
            ],
            "Gate",
        ),
        (["something", "Killed", ""], "Killed"),
        ([], "printed nothing"),
    ],
)
def test_reason_is_the_report_of_the_failure(lines, expected):
    found = reason(map(report, lines))
    assert expected in found
    assert "\n" not in found
