"""The page about the model prints what the simulator gives, and names only tests, settings and recordings that exist."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from docs.generate import throttling_model
from tests.lab.recording import read_samples
from throttlescope.models.throttling import Scenario
from throttlescope.models.throttling.scenario import Limit

TESTS = Path(__file__).parents[1]
EXAMPLES = TESTS / "models" / "throttling" / "test_worked_examples.py"
RECORDINGS = TESTS / "recordings" / "engine"
#: A recording's first seconds belong to what was there before.
SETTLES_MS = 20_000


@pytest.fixture(scope="module")
def page():
    return throttling_model.PAGE.read_text(encoding="utf-8")


def test_every_table_is_on_the_page(page):
    assert sorted(re.findall(r"<!-- simulated: (\w+) -->", page)) == sorted(throttling_model.TABLES)


def test_named_rows_are_worked_examples(page):
    examples = {int(number) for number in re.findall(r"row[-_](\d\d)", EXAMPLES.read_text())}
    named = set()
    for first, last in re.findall(r"\brows? (\d+)(?:(?: to | and )(\d+))?", page):
        named |= {int(first), int(last or first)}
    table = page.split("## Where Pulsar's page")[1].split("## Choosing")[0]
    for cell in re.findall(r"\| ([\d, to]+) \|$", table, re.M):
        named |= {int(number) for number in re.findall(r"\d+", cell)}
    assert len(named) > 30
    assert named <= examples


def test_the_tables_say_what_the_text_says(page):
    debt = {line.split(" | ")[0].strip("| "): line for line in throttling_model.debt().splitlines()}
    assert debt["A0"].count("60") == 9
    assert debt["A"].startswith("| A | 60 | 0 | 0 | 0 | 0 | 0 | 60 |")
    assert "| B | 120 |" in debt["B"]
    assert "| 200 | 0.833 | 0.863 |" in throttling_model.backoff()


def test_single_recordings_match_the_page(page):
    rows = re.findall(r"^\| `([a-z-]+)` \| [^|]+ \| (\d\.\d\d) \|$", page, re.M)
    assert len(rows) == 3
    for name, share in rows:
        assert delivered_share(RECORDINGS / name) == pytest.approx(float(share), abs=0.006), name


def delivered_share(folder: Path) -> float:
    """What the only subscription was sent of its only limit, in the first state."""
    scenario = Scenario.model_validate(yaml.safe_load((folder / "scenario.yaml").read_text()))
    (limit,), (reader,) = scenario.limits, scenario.subscriptions
    state = json.loads((folder / "recording.json").read_text())["states"][0]
    start_ms, end_ms = state["start_ms"] + SETTLES_MS, state["end_ms"]
    metric = "pulsar_out_messages_total" if limit.msg else "pulsar_out_bytes_total"
    (series,) = (
        item
        for item in read_samples(folder)
        if item.labels["__name__"] == metric
        and item.labels.get("subscription") == reader.name
        and "consumer_name" not in item.labels
    )
    seen = [
        (time_ms, value)
        for time_ms, value in zip(series.timestamps_ms, series.values, strict=True)
        if start_ms <= time_ms < end_ms
    ]
    (first_ms, first), (last_ms, last) = seen[0], seen[-1]
    return (last - first) / (last_ms - first_ms) * 1000 / _per_second(limit)


def _per_second(limit: Limit) -> float:
    return (limit.msg or limit.bytes or 0) / limit.period_s
