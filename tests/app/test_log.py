"""What a command says on stderr: words for a person, JSON lines for a machine, and no secret in either."""

from __future__ import annotations

import json
import logging
import subprocess
import sys

import pytest

from throttlescope.app import log
from throttlescope.app.presentation.progress import TerminalProgress


@pytest.fixture
def as_json():
    log.set_up(log.LogFormat.json, "test")
    yield
    log.set_up(log.LogFormat.text)


def lines(capsys):
    return [json.loads(line) for line in capsys.readouterr().err.splitlines()]


def test_text_format_writes_plain_lines(capsys):
    log.set_up(log.LogFormat.text)
    log.tell("one\x1b[31m line", event="note", number=1)
    log.record("run", samples=3)
    # Control characters of foreign names never reach the terminal.
    assert "\x1b" not in (text := capsys.readouterr().err)
    assert text.startswith("one")
    assert text.count("\n") == 1


def test_json_format_writes_one_object_per_line(as_json, capsys):
    with log.about(run_id="r1"):
        log.tell("line one\nline two é", event="step", took_s=1.5)
    log.record("run", samples=3)
    logging.getLogger("somelibrary").warning("of %s", "another")
    logging.getLogger("somelibrary").info("not said")
    first, second, third = lines(capsys)
    assert {name: first[name] for name in ("level", "event", "message", "command", "run_id", "took_s")} == {
        "level": "info", "event": "step", "message": "line one\nline two é", "command": "test", "run_id": "r1", "took_s": 1.5,
    }  # fmt: skip
    assert first["time"].endswith("+00:00")
    assert (second["event"], second["samples"]) == ("run", 3)
    assert "run_id" not in second
    assert (third["event"], third["level"], third["logger"], third["message"]) == (
        "log", "warning", "somelibrary", "of another",
    )  # fmt: skip


def test_secrets_are_hidden(as_json, capsys):
    facts = {"token": "s3cret", "headers": {"X-Key": "s3cret"}, "source": "http://me:s3cret@host/"}
    log.tell("said", event="note", **facts)
    (line,) = capsys.readouterr().err.splitlines()
    assert "s3cret" not in line
    assert json.loads(line)["source"] == "http://host/"


def test_step_records_its_duration(as_json, capsys):
    progress = TerminalProgress(2)
    with progress.step("Reading"):
        progress.note("3 samples")
    (line,) = lines(capsys)
    assert (line["event"], line["step"], line["number"], line["of"], line["note"]) == (
        "step", "Reading", 1, 2, "3 samples",
    )  # fmt: skip
    assert 0 <= line["took_s"] < 60


def test_traceback_stays_in_one_line(as_json, capsys):
    try:
        raise ValueError("why")
    except ValueError:
        logging.getLogger("throttlescope.somewhere").exception("it broke")
    (line,) = lines(capsys)
    assert line["message"] == "it broke"
    assert "ValueError: why" in line["exc_info"]


@pytest.mark.long
@pytest.mark.parametrize("by", ["flag", "environment"])
def test_failed_command_logs_a_json_line(by, tmp_path):
    command = [sys.executable, "-m", "throttlescope.app.cli"]
    flags = ["--log-format", "json"] if by == "flag" else []
    done = subprocess.run(
        [*command, *flags, "verdicts", "--lake", str(tmp_path / "none")],
        capture_output=True,
        text=True,
        env=None if by == "flag" else _environment(THROTTLESCOPE_LOG_FORMAT="json"),
        timeout=300,
        check=False,
    )
    (line,) = [json.loads(one) for one in done.stderr.splitlines()]
    assert (line["event"], line["level"], line["command"]) == ("failed", "error", "verdicts")
    assert line["error"] == "InputError"
    assert line["exit_code"] == done.returncode == 2
    assert line["message"].startswith("throttlescope: ")


def _environment(**more):
    import os

    return os.environ | more
