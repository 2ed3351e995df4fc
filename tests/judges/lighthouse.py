"""Lighthouse as a judge of the pages. In: a ``lighthouse`` program. Out: a result for the page.

Each page of the web app is opened on the demo's lake, as a desktop computer with an empty cache does, by Lighthouse's own rules for one. Of several visits
the medians count.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from statistics import median

from tests.app.web.browser import chromium_path, running_server
from tests.golden.cases import CLUSTER, END, HELD, PAGES
from tests.judges.demo_lake import demo_lake
from tests.lab.parts import PartMissing
from throttlescope.app.presentation.links.subscription import SubscriptionAddress, SubscriptionPartition
from throttlescope.ingest.core.subscription_name import SubscriptionName
from throttlescope.ingest.core.times import parse_time

VISITS = 3
_VISIT_S = 180
#: Lighthouse's own bounds of "good" on a desktop computer: (its name, what it is called here, good up to, unit).
TIMES = (
    ("first-contentful-paint", "first paint", 934, "ms"),
    ("largest-contentful-paint", "largest paint", 1_200, "ms"),
    ("total-blocking-time", "blocked", 150, "ms"),
    ("cumulative-layout-shift", "shift", 0.1, ""),
)
_SCORES = ("accessibility", "best-practices", "performance")


def run(pages: int | None = None) -> dict:
    """Visit the first ``pages`` pages or all."""
    program, found = lighthouse_program(), {}
    load = os.getloadavg()[0]
    with running_server(str(demo_lake())) as address:
        for name, path in list(addresses().items())[:pages]:
            visits = [visit(program, address + path) for _ in range(VISITS)]
            found[name] = {key: median(one[key] for one in visits) for key in visits[0] if key != "version"}
            version = visits[0]["version"]
    worst = {key: min(one[key] for one in found.values()) for key in _SCORES}
    scores = ", ".join(f"{name} {round(100 * value)}" for name, value in worst.items())
    slowest = ", ".join(
        f"{called} {_shown(median(values))} (worst {_shown(max(values))}; good up to {_shown(good)}) {unit}".strip()
        for key, called, good, unit in TIMES
        if (values := [one[key] for one in found.values()])
    )
    return {
        "version": version,
        "figure": f"{len(found)} pages, {VISITS} visits each, load {load:.1f}: lowest scores {scores}; medians of the pages: {slowest}",
        "details": [
            f"{name}: {', '.join(f'{key} {value:.4g}' for key, value in one.items())}" for name, one in found.items()
        ],
    }  # fmt: skip


def _shown(value: float) -> str:
    """A time in whole milliseconds, a shift with its decimals."""
    return f"{value:,.0f}" if value > 1 else f"{value:.2g}"


def lighthouse_program() -> str:
    """The program: what ``THROTTLESCOPE_LIGHTHOUSE`` names, or ``lighthouse`` in ``PATH``.

    Raises
    ------
    PartMissing
        It or Chromium is not there.
    """
    found = os.environ.get("THROTTLESCOPE_LIGHTHOUSE") or shutil.which("lighthouse")
    if not found or not Path(found).exists():
        raise PartMissing(
            "lighthouse is neither in PATH nor named by THROTTLESCOPE_LIGHTHOUSE: npm install lighthouse"
        )
    if chromium_path() is None:
        raise PartMissing("there is no chromium in PATH")
    return found


def addresses() -> dict[str, str]:
    """Paths of the pages, and of a subscription that is limited."""
    name = SubscriptionName.of(HELD["throttled"])
    key = SubscriptionPartition(CLUSTER, name.topic, -1, name.subscription)
    return {**PAGES, "subscription": SubscriptionAddress(key, at_ms=parse_time(END, now_ms=0)).href()}


def visit(program: str, url: str) -> dict:
    """One visit: its scores (0 to 1) and times."""
    with tempfile.TemporaryDirectory(prefix="throttlescope-lighthouse-") as folder:
        report = Path(folder) / "report.json"
        done = subprocess.run(
            [
                program, url, "--quiet", "--output=json", f"--output-path={report}", "--preset=desktop",
                f"--only-categories={','.join(_SCORES)}", "--chrome-flags=--headless=new --no-sandbox",
            ],
            env={**os.environ, "CHROME_PATH": chromium_path()},
            capture_output=True, text=True, timeout=_VISIT_S, check=False,
        )  # fmt: skip
        if not report.exists():
            raise PartMissing(f"lighthouse wrote no report: {done.stderr.strip()[-300:]}")
        found = json.loads(report.read_text())
    times = {key: found["audits"][key]["numericValue"] for key, *_ in TIMES}
    scores = {name: found["categories"][name]["score"] for name in _SCORES}
    return {"version": found["lighthouseVersion"], **scores, **times}
