"""``throttlescope rules``: what it prints, what it refuses and with which exit code."""

from __future__ import annotations

import json
import subprocess

import numpy as np
import pytest

from tests.app.commands import throttlescope
from tests.lab.parts import promtool_binary
from tests.transforms.lakes import lake_of
from throttlescope.ingest.lake import Lake
from throttlescope.transforms.promql.source import Series
from throttlescope.transforms.rules import RULES_FILE

START_MS = 1_789_999_200_000
MINUTE_MS = 60_000

CHAIN = """
groups:
- name: chain
  rules:
  - {record: all:m, expr: sum without (i) (m)}
  - {record: all:twice, expr: "all:m * 2"}
  - {alert: Much, expr: "all:twice > 5", for: 2m, labels: {severity: page}}
"""


@pytest.fixture(autouse=True)
def in_empty_folder(tmp_path, monkeypatch):
    """No throttlescope.toml and no ./lake of the machine is met by accident."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)


@pytest.fixture
def lake(tmp_path):
    times = START_MS + np.arange(10) * MINUTE_MS
    values = np.arange(10, dtype=float)
    series = [Series({"__name__": "m", "cluster": "c", "i": i}, times, values) for i in "ab"]
    lake_of(tmp_path / "lake", series)
    return tmp_path / "lake"


@pytest.fixture
def rules(tmp_path):
    def write(text, name="some.rules.yml"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


def run(lake, *arguments):
    return throttlescope("rules", "run", "--lake", lake, "--start", START_MS // 1000, *arguments)


@pytest.mark.long
def test_check_counts_rules_in_valid_files(rules):
    outcome = throttlescope("rules", "check", rules(CHAIN), RULES_FILE)
    assert (outcome.code, outcome.err) == (0, "")
    assert "2 of 2 files are good" in outcome.out
    found = json.loads(throttlescope("rules", "check", rules(CHAIN), "--format", "json").out)
    assert [(row["groups"], row["recording_rules"], row["alerting_rules"]) for row in found] == [(1, 2, 1)]
    assert [(row["fault"], row["promtool_accepts"], row["remarks"]) for row in found] == [(None, True, [])]


@pytest.mark.long
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("groups: [{name: g, rule: []}]", ["line 1", "'rule'", "write rules"]),
        (
            "groups: [{name: g, rules: [{record: a, expr: x}, {record: a, expr: y}]}]",
            ["the rule comes twice"],
        ),
        (
            "groups: [{name: g, rules: [{record: a, expr: b}, {record: b, expr: a}]}]",
            ["a reads b reads a", "Prometheus would load this"],
        ),
        ("groups: [{name: g, rules: [{record: a, expr: 'sum('}]}]", ["rule 1 'a'", "PromQL"]),
        (
            "groups: [{name: g, rules: [{record: a, expr: 'm[5m]'}]}]",
            ["range vector", "Prometheus would load this"],
        ),
        ("groups: [", ["cannot be read as YAML"]),
    ],
)
def test_invalid_rule_file_exits_with_code_2(rules, lake, text, words):
    path = rules(text)
    outcome = throttlescope("rules", "check", path)
    assert (outcome.code, outcome.out) == (2, "")
    assert all(word in outcome.line for word in words), outcome.line
    before = Lake(lake).version("samples")
    outcome = run(lake, "--rules", path)
    assert (outcome.code, outcome.out) == (2, "")
    assert words[0] in outcome.line
    assert Lake(lake).version("samples") == before


def test_check_continues_after_an_invalid_file(rules):
    outcome = throttlescope("rules", "check", rules("groups: ["), "no-such.yml", rules(CHAIN, "good.yml"))
    assert outcome.code == 2
    assert len(outcome.err.splitlines()) == 2
    assert "1 of 3 files are good" in outcome.out


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("record: a, expr: 'limitk(1, x)'", "limitk: promtool and Prometheus want --enable-feature"),
        ("alert: A, expr: x, labels: {v: '{{ $value }}'}", "the label v is a template that rules run cannot"),
    ],
)
def test_check_reports_prometheus_differences(rules, rule, words):
    path = rules(f"groups: [{{name: g, rules: [{{{rule}}}]}}]")
    outcome = throttlescope("rules", "check", path)
    assert outcome.code == 0
    assert words in outcome.out


@pytest.mark.prometheus
def test_promtool_agrees_with_the_remarks(rules):
    for rule, accepts in (
        ("record: a, expr: 'limitk(1, x)'", False),
        ("alert: A, expr: x, labels: {v: '{{ $value }}'}", True),
    ):
        path = rules(f"groups: [{{name: g, rules: [{{{rule}}}]}}]")
        (row,) = json.loads(throttlescope("rules", "check", path, "--format", "json").out)
        done = subprocess.run(
            [str(promtool_binary()), "check", "rules", str(path)], capture_output=True, check=False
        )
        assert row["promtool_accepts"] == (done.returncode == 0) == accepts


def test_export_signals_gives_the_shipped_file():
    assert throttlescope("rules", "export", "--signals").out == RULES_FILE.read_text()


@pytest.mark.long
def test_run_writes_chained_rules_and_alerts(rules, lake):
    outcome = run(lake, "--end", START_MS // 1000 + 600, "--rules", rules(CHAIN), "--format", "json")
    assert outcome.code == 0
    assert "Evaluating rules" in outcome.line
    found = json.loads(outcome.out)
    assert (found["start"], found["end"]) == ("2026-09-21T14:00:00Z", "2026-09-21T14:10:00Z")
    assert (found["spans"], found["evaluations"], found["failures"]) == (1, 30, 0)
    assert [(rule["name"], rule["kind"], rule["samples"], rule["markers"]) for rule in found["rules"]] == [
        ("all:m", "recording", 10, 0),
        ("all:twice", "recording", 10, 0),
        # Twice twice the minute is above 5 from minute 2 on: pending for 2 minutes, then firing.
        ("Much", "alerting", 16, 1),
    ]
    series = {row["metric_name"]: dict(row["labels"]) for row in Lake(lake).read("series").to_pylist()}
    assert series["all:twice"] == {"cluster": "c"}
    assert series["ALERTS"] == {
        "cluster": "c",
        "severity": "page",
        "alertname": "Much",
        "alertstate": "firing",
    } or (series["ALERTS"]["alertstate"] == "pending")
    version = Lake(lake).version("samples")
    again = run(lake, "--end", START_MS // 1000 + 600, "--rules", rules(CHAIN), "--quiet")
    assert (again.code, again.err) == (0, "")
    assert "3 rules from 2026-09-21 14:00 to 2026-09-21 14:10 UTC" in again.out
    assert Lake(lake).version("samples") == version


@pytest.mark.long
def test_run_counts_failures_and_continues(rules, lake):
    path = rules(
        "groups: [{name: g, rules: [{record: a, expr: 'm * ignoring (i) m'}, {record: b, expr: 'sum(m)'}]}]"
    )
    outcome = run(lake, "--end", START_MS // 1000 + 300, "--rules", path, "--quiet")
    assert outcome.code == 0
    assert "failed first at 2026-09-21T14:00:00Z: " in outcome.out
    found = json.loads(run(lake, "--end", START_MS // 1000 + 300, "--rules", path, "--format", "json").out)
    failed, other = found["rules"]
    assert (failed["failures"], failed["samples"]) == (5, 0)
    assert failed["first_error"].startswith("2026-09-21T14:00:00Z: ")
    assert (other["failures"], other["samples"], other["first_error"]) == (0, 5, None)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--lake", "nowhere", "--start", "-1h"], "There are no samples in this lake"),
        (["--lake", "nowhere"], "The start of the range is missing"),
        (["--lake", "nowhere", "--start", "-1h", "--interval", "0s"], "--interval must be more than 0"),
        (["--lake", "nowhere", "--start", "-1h", "--rules", "no.yml"], "A rules file cannot be read"),
    ],
)
def test_run_refuses_invalid_options(arguments, words):
    outcome = throttlescope("rules", "run", *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert words in outcome.line


def test_run_refuses_a_reversed_range(rules, lake):
    outcome = run(lake, "--end", START_MS // 1000 - 60, "--quiet")
    assert outcome.code == 2
    assert "The start is not before the end" in outcome.line
