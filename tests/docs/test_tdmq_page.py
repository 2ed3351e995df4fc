"""The page about TDMQ has the figures of its source, every column, and an example that runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from docs.generate import tdmq
from docs.generate.tdmq import cluster_answers, partition_answers
from throttlescope.models.throttling.tdmq.scenario import SHIPPED, ClusterScenario, PartitionScenario
from throttlescope.models.throttling.tdmq.tables import CONTRACTS

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def page():
    return tdmq.PAGE.read_text(encoding="utf-8")


def test_page_has_figures_of_its_source(page):
    assert "**It waits 600 ms.**" in page
    assert "Each node's threshold is then 150 + 1,000 - 750 =\n400**" in page
    assert "**2,000 requests are processed in that second**" in page


def test_every_shipped_scenario_is_used():
    sources = "".join(Path(module.__file__).read_text() for module in (cluster_answers, partition_answers))
    names = [path.stem for path in SHIPPED.glob("*.yaml")]
    assert names
    assert [name for name in names if f'"{name}"' not in sources] == []


def test_fields_that_the_page_names_exist(page):
    gaps = page.split("## What the page does not say")[1].split("## Run your own")[0]
    named = set(re.findall(r"\| `(\w+)` \|$", gaps, re.M))
    fields = {*ClusterScenario.model_fields, *PartitionScenario.model_fields}
    assert named
    assert named <= fields | {"in_flight_requests", "push_messages"}


def test_every_column_is_on_the_page(page):
    for contract in CONTRACTS:
        for column in contract.columns:
            assert f"| `{column.name}` | " in page


@pytest.mark.long
def test_the_example_runs(page):
    (code,) = re.findall(r"```python\n(.*?)```", page, re.S)
    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=dict(os.environ),
        capture_output=True,
        text=True,
        check=True,
    )
    assert "window_start_us" in run.stdout
    assert "[25 rows x 15 columns]" in run.stdout
