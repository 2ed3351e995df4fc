"""The command line's frame: help, usage errors, exit codes, formats; nothing here needs Spark."""

import csv
import io
import json
import os
import pkgutil
import signal
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

import pyarrow as pa
import pytest
import typer

from docs.generate import configuration
from docs.generate.cli import command_paths
from tests.app.commands import throttlescope
from tests.app.http_server import answering, html
from tests.app.lake_of_verdicts import FIVE, HOUR, healthy, lake_with, verdict
from tests.lab.processes import free_port
from throttlescope.app.cli import commands
from throttlescope.app.cli.application import app
from throttlescope.app.cli.serving import check_address
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.errors import GateError, InputError
from throttlescope.ingest.lake import Lake

COMMANDS = (
    "demo",
    "doctor",
    "run",
    "ingest",
    "verdicts",
    "evaluate",
    "serve",
    "quality",
    "recordings",
    "simulate",
)


@pytest.fixture(autouse=True)
def in_empty_folder(tmp_path, monkeypatch):
    """No throttlescope.toml and no ./lake of the machine is met by accident."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)


@pytest.fixture
def lake(tmp_path):
    strange = verdict(2, subscription='=cmd|"\n../x', cluster="other")
    return lake_with(tmp_path / "lake", [verdict(0), verdict(1), healthy(2), strange])


def test_help_names_commands_zone_and_exit_codes():
    outcome = throttlescope("--help")
    assert outcome.code == 0
    for word in (*COMMANDS, "UTC", "Exit codes", "-6h"):
        assert word in outcome.out


def test_every_command_is_listed():
    """Commands are imported by name: one that its module registers and the list lacks would not be there."""
    registered = set()
    for module in pkgutil.iter_modules(commands.__path__, f"{commands.__name__}."):
        family = typer.Typer()
        family.callback()(lambda: None)
        getattr(import_module(module.name), "register", lambda _: None)(family)
        registered |= set(typer.main.get_command(family).commands)
    assert registered == set(typer.main.get_command(app).commands)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("path", [path[1:] for path in command_paths()[1:]])
def test_every_command_and_option_has_help(path):
    outcome = throttlescope(*path, "--help")
    assert outcome.code == 0
    command = typer.main.get_command(app)
    for name in path:
        command = command.commands[name]
    assert command.help
    for option in command.params:
        assert getattr(option, "help", None), f"{' '.join(path)} {option.name}"


@pytest.mark.long
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("runn",), "Did you mean 'run'"),
        (("run", "--promotheus", "x"), "No such option"),
        (("verdicts", "--format", "xml"), "not one of 'table', 'json', 'csv'"),
        (("serve", "--port", "0"), "--port"),
        (("verdicts", "--lake", "nowhere"), "There are no verdicts in this lake"),
        (("verdicts", "--config", "nowhere.toml"), "configuration file does not exist"),
        (("run",), "The start of the range is missing"),
        (("run", "--start", "yesterday"), "A time cannot be read"),
        (
            ("run", "--start", "-1h", "--end", "-2h", "--prometheus", "http://127.0.0.1:1"),
            "not before the end",
        ),
        (("run", "--start", "-1h"), "no source"),
        (("run", "--start", "-1h", "--cluster", "prod"), "names no cluster"),
        (("run", "--start", "-1h", "--prometheus", "127.0.0.1:9090"), "expected http://HOST"),
        (("run", "--start", "-1h", "--prometheus", "http://127.0.0.1:1", "--window", "90s"), "whole minutes"),
        (("run", "--recording", "x", "--prometheus", "http://127.0.0.1:1"), "source of its own"),
        (("serve", "--lake", "nowhere"), "There are no verdicts"),
        (("serve", "--host", "0.0.0.0"), "no login"),  # noqa: S104
    ],
)
def test_usage_errors_exit_with_code_2(arguments, words, tmp_path):
    outcome = throttlescope(*arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.line.startswith("throttlescope: ")
    assert words in outcome.line
    assert not list((tmp_path / "here").iterdir())


def test_no_arguments_show_help_with_code_2():
    outcome = throttlescope()
    assert outcome.code == 2
    assert "Commands:" in outcome.err


@pytest.mark.parametrize(
    ("fault", "code", "words"),
    [
        (GateError("The samples gate stopped the run", got="3 repeated blocks"), 3, "got 3 repeated blocks"),
        (
            ZeroDivisionError("division\nby zero"),
            1,
            "Unexpected ZeroDivisionError: division by zero. Fix: add --debug",
        ),
        (
            RuntimeError(
                "An exception was thrown:\nTraceback (most recent call last):\n  File x\nKeyError: 'y'\n\nJVM stacktrace:\nz"
            ),
            1,
            "Unexpected RuntimeError: KeyError: 'y'. Fix",
        ),
        (KeyboardInterrupt(), 130, "Interrupted"),
    ],
)
def test_each_fault_has_its_exit_code(monkeypatch, lake, fault, code, words):
    def fail(*_, **__):
        raise fault

    monkeypatch.setattr(Lake, "version", fail)
    outcome = throttlescope("verdicts", "--lake", lake.root)
    assert (outcome.code, outcome.out) == (code, "")
    assert words in outcome.line


@pytest.mark.parametrize(("fault", "code"), [(ZeroDivisionError("x"), 1), (GateError("stopped"), 3)])
def test_debug_adds_traceback_and_keeps_code(monkeypatch, lake, fault, code):
    def fail(*_):
        raise fault

    monkeypatch.setattr(Lake, "version", fail)
    outcome = throttlescope("verdicts", "--lake", lake.root, "--debug")
    assert outcome.code == code
    assert "Traceback" in outcome.err
    assert "in read_verdicts" in outcome.err or "in _rows" in outcome.err
    assert outcome.err.splitlines()[-1].startswith("throttlescope: ")


@pytest.mark.long
def test_verdicts_json_has_all_columns(lake):
    rows = json.loads(throttlescope("verdicts", "--lake", lake.root, "--format", "json").out)
    assert len(rows) == 4
    wanted = (
        "cluster namespace topic partition subscription window_start_ms window_end_ms side cause limiter confidence "
        "evidence missing_evidence naive_side rules_version"
    )
    assert set(wanted.split()) <= set(rows[0])
    assert rows[0]["evidence"][0]["text"] == "it uses 98 % of its limit"
    assert rows[-1]["subscription"] == "billing"
    assert rows[0]["subscription"] == '=cmd|"\n../x'
    latest = json.loads(throttlescope("verdicts", "--lake", lake.root, "--format", "json", "--latest").out)
    assert [(row["cluster"], row["cause"]) for row in latest] == [("other", "throttled"), ("prod", "healthy")]


@pytest.mark.long
def test_verdicts_csv_is_safe_in_spreadsheets(lake):
    out = throttlescope("verdicts", "--lake", lake.root, "--format", "csv").out
    rows = list(csv.DictReader(io.StringIO(out, newline="")))
    assert rows[0]["subscription"] == "'=cmd|\"\n../x"
    assert json.loads(rows[0]["evidence"])[0]["symptom"] == "rho"


@pytest.mark.long
def test_verdicts_table_shows_units_and_freshness(lake):
    summary = throttlescope("verdicts", "--lake", lake.root).out
    for words in (
        "2 subscriptions",
        "backlog (entries)",
        "subscription.msg",
        "between (UTC)",
        "Data up to 2026-11-20",
    ):
        assert words in summary
    assert "\\n../x" in summary
    latest = throttlescope("verdicts", "--lake", lake.root, "--latest", "--cluster", "prod").out
    assert "1 verdict" in latest
    assert "healthy" in latest
    since = throttlescope("verdicts", "--lake", lake.root, "--start", str((HOUR + 2 * FIVE) // 1000)).out
    assert "other" in since


@pytest.mark.long
def test_broken_objectives_are_marked_in_verdicts(lake, tmp_path):
    config = tmp_path / "t.toml"
    config.write_text(f'lake = "{lake.root}"\n[objectives]\nbacklog_entries = 1500\n')
    out = throttlescope("verdicts", "--config", config, "--cluster", "prod").out
    assert "backlog > 1,500" in out
    assert "over objective" not in throttlescope("verdicts", "--lake", lake.root).out


@pytest.mark.long
def test_quality_rows_are_printed(lake):
    row = {
        "run_id": "r", "cluster": "prod", "gate": "samples", "check": "block_key_unique", "table": "samples",
        "severity": "error", "success": False, "observed": "3 repeated", "expected": "one row", "rows": 3,
        "example": '{"series_id": "a"}', "observed_ms": HOUR, "date": "2026-11-20",
    }  # fmt: skip
    passed = row | {"check": "values_finite", "success": True}
    lake.upsert("quality", pa.Table.from_pylist([row, passed], schema=TABLES["quality"].schema), run_id="r")
    (found,) = json.loads(throttlescope("quality", "--lake", lake.root, "--format", "json").out)
    assert (found["check"], found["rows"]) == ("block_key_unique", 3)
    assert (
        len(json.loads(throttlescope("quality", "--lake", lake.root, "--format", "json", "--all").out)) == 2
    )
    table = throttlescope("quality", "--lake", lake.root).out
    assert "3 repeated" in table
    assert throttlescope("quality", "--lake", lake.root, "--run", "other", "--format", "json").out == "[]\n"


@pytest.mark.long
def test_doctor_prints_pure_json_and_its_code():
    with answering(html) as url:
        outcome = throttlescope("doctor", "--prometheus", url, "--format", "json")
        table = throttlescope("doctor", "--prometheus", url)
    report = json.loads(outcome.out)
    assert outcome.code == report["exit_code"] == table.code == 4
    assert any("web page" in check["found"] for check in report["checks"])
    assert "failed" in table.out
    assert throttlescope("doctor").code == 2


def test_a_token_flag_reaches_the_source(tmp_path):
    seen = []

    def answer(method, path, headers):
        seen.append(headers.get("Authorization"))
        return html()

    (tmp_path / "token").write_text("abc\n")
    with answering(answer) as url:
        throttlescope("doctor", "--prometheus", url, "--token-file", tmp_path / "token")
    assert seen[0] == "Bearer abc"


def test_documented_configuration_example_is_valid(tmp_path):
    from throttlescope.app.config import load_settings

    page = configuration.PAGE.read_text(encoding="utf-8")
    file = tmp_path / "throttlescope.toml"
    file.write_text(page.split("```toml\n")[1].split("```")[0])
    assert load_settings(file).clusters["pulsar-prod"].labels.namespace == "exported_namespace"


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "localhost"])
def test_loopback_addresses_need_no_permission(host):
    check_address(host)


def test_other_addresses_need_allow_remote():
    with pytest.raises(InputError, match="add --allow-remote"):
        check_address("0.0.0.0")  # noqa: S104
    check_address("0.0.0.0", allow_remote=True)  # noqa: S104
    with pytest.raises(InputError, match="cannot be resolved"):
        check_address("no such host")


@pytest.mark.long
def test_serve_answers_until_ctrl_c(lake):
    port = free_port()
    command = [
        sys.executable,
        "-m",
        "throttlescope.app.cli",
        "serve",
        "--lake",
        lake.root,
        "--port",
        str(port),
    ]
    # Nothing of the real home is seen but the cache: without it the server would compile the simulator, for a minute and behind its own end.
    cache = os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache"))
    process = subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"HOME": lake.root, "XDG_CACHE_HOME": cache},
    )
    try:
        import requests

        deadline = time.monotonic() + 300
        while True:
            try:
                answer = requests.get(f"http://127.0.0.1:{port}/healthz", timeout=5)
                break
            except requests.RequestException:
                assert time.monotonic() < deadline
                assert process.poll() is None, process.stderr.read()
                time.sleep(0.2)
        assert answer.status_code == 200
        # A second one is told that the port is taken.
        taken = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert taken.returncode == 2
        assert "--port" in taken.stderr
        process.send_signal(signal.SIGINT)
        assert process.wait(120) == 0
    finally:
        process.kill()
        process.wait()
