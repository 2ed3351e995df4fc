"""The rules of the runbook, as Prometheus' own tool evaluates them: a run that failed alerts until a later one is done."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.lab.parts import promtool_binary

pytestmark = pytest.mark.prometheus

PAGE = Path(__file__).parents[3] / "docs" / "guides" / "operate.md"
ENDED = "throttlescope_run_last_end_timestamp_seconds"


def rules() -> str:
    (text,) = re.findall(r"```yaml\n(groups:.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return text


def test_runbook_quotes_existing_messages():
    table = PAGE.read_text(encoding="utf-8").partition("## What can fail")[2].partition("\n## ")[0]
    quoted = {
        text
        for text in re.findall(r"`([^`]+)`", table)
        if re.fullmatch(r"[A-Z]?[a-zA-Z]+( [a-zA-Z]+)+", text)
    }
    quoted = {text for text in quoted if not text.startswith(("lake ", "throttlescope "))}
    assert len(quoted) > 8
    root = PAGE.parents[2]
    code = "".join(path.read_text() for room in ("ingest", "app") for path in (root / room).rglob("*.py"))
    assert {text for text in quoted if text not in code} == set()


def fires(folder: Path, alert: str, series: dict[str, float], *, at: str = "1h") -> bool:
    """Whether an alert fires of series that have stayed as they are."""
    (folder / "rules.yml").write_text(rules())
    inputs = [{"series": name, "values": f"{value}+0x120"} for name, value in series.items()]
    test = {
        "rule_files": ["rules.yml"],
        "tests": [
            {
                "interval": "1m",
                "input_series": inputs,
                "alert_rule_test": [{"eval_time": at, "alertname": alert, "exp_alerts": []}],
            }
        ],
    }
    (folder / "test.yml").write_text(yaml.safe_dump(test))
    done = subprocess.run(
        [str(promtool_binary()), "test", "rules", "test.yml"], cwd=folder, capture_output=True, text=True
    )
    # None was expected: one that came is the only thing that it may complain of.
    assert done.returncode == 0 or f"alertname: {alert}" in done.stdout + done.stderr, done.stderr
    return done.returncode != 0


def test_failed_run_alerts_until_next_success(tmp_path):
    def runs(failed_s: float, done_s: float | None) -> dict[str, float]:
        found = {
            'throttlescope_runs_of_a_day{command="run",status="failed"}': 1,
            'throttlescope_runs_of_a_day{command="run",status="gated"}': 0,
            'throttlescope_runs_of_a_day{command="run",status="done"}': 0 if done_s is None else 3,
            f'{ENDED}{{command="run",status="failed"}}': failed_s,
            # Another command that is done says nothing of this one.
            f'{ENDED}{{command="diagnose",status="done"}}': 10_000,
        }
        return found if done_s is None else found | {f'{ENDED}{{command="run",status="done"}}': done_s}

    assert fires(tmp_path, "ThrottlescopeRunsFail", runs(200, 100))
    assert fires(tmp_path, "ThrottlescopeRunsFail", runs(200, None))
    assert not fires(tmp_path, "ThrottlescopeRunsFail", runs(200, 300))


def test_ingest_that_is_behind_alerts(tmp_path):
    mark = 'throttlescope_watermark_timestamp_seconds{cluster="prod"}'
    assert fires(tmp_path, "ThrottlescopeIngestBehind", {mark: -2 * 3600}, at="30m")
    assert not fires(tmp_path, "ThrottlescopeIngestBehind", {mark: 0}, at="30m")


def test_unknown_ingest_alerts(tmp_path):
    """A lake that is gone has no watermark, and a comparison with nothing is nothing."""
    assert fires(tmp_path, "ThrottlescopeIngestBehind", {"up": 1}, at="30m")


def test_unreadable_table_raises_an_alert(tmp_path):
    up = 'throttlescope_metrics_source_up{source="runs"}'
    assert fires(tmp_path, "ThrottlescopeLakeUnreadable", {up: 0})
    assert not fires(tmp_path, "ThrottlescopeLakeUnreadable", {up: 1})
    assert fires(tmp_path, "ThrottlescopeLakeUnreadable", {"up": 0})
