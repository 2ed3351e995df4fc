"""How fast the What-if lab answers: a window of 24 h, from a move of a slider to the new curve.

    python -m benchmarks.what_if_page [--runs 15] [--without-browser]

In: how often. Out: JSON on standard output, milliseconds; every figure is the median of the runs, with the slowest. The lake is made
in a temporary folder: 24 h of one subscription, scraped every 15 s, that keeps up with 400 msg/s for 22 h and is held by its limit of 500
msg/s for the last two, when 600 msg/s come.

``first_ms``
    reading the samples and fitting the window, which the first question of a worker waits for
``moved_ms``
    the server's answer to one move, figure and texts, as JSON; with one run and with four, ahead and in the window. ``cpu_median``
    is what it takes of a core, whatever else the machine does
``in_full_ms``
    the same run simulated message by message, 24 h ahead: what the flow saves
``redrawn_ms``
    in Chromium, with the server in processes of its own: from the key that moves the slider to the redrawn curve; target 300 ms
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

from plotly.utils import PlotlyJSONEncoder

from tests.app.web.browser import chromium_path, running_chromium, running_server
from tests.app.web.lab_lake import BILLING, write_lab_lake
from tests.models.throttling.replay.samples import START_MS
from throttlescope.app.services.whatif import warm
from throttlescope.app.web.address.what_if import WhatIfAddress
from throttlescope.app.web.data.what_if import Windows
from throttlescope.app.web.pages.what_if import page
from throttlescope.models.throttling.replay import parse_change, replay

DAY_S = 86_400
HELD_S = 7_200
EVERY_S = 15
TARGET_MS = 300

_WATCH = """
() => {
  const graph = document.querySelector('#what-if-graph .js-plotly-plot');
  const curve = () => JSON.stringify((graph.data.filter((one) => String(one.name || '').startsWith('A')).pop() || {}).y || null);
  window.labMoved = () => { const begun = performance.now(), before = curve();
    return new Promise((done) => { const look = () => curve() !== before
      ? requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - begun)))
      : performance.now() - begun > 90000 ? done(null) : requestAnimationFrame(look); look(); }); };
  document.addEventListener('keydown', () => { window.labAnswer = window.labMoved(); }, true);
}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--without-browser", action="store_true")
    arguments = parser.parse_args()
    warm.now()
    with tempfile.TemporaryDirectory() as folder:
        lake = write_day(Path(folder) / "lake")
        found: dict = {
            "machine": {
                "cores": os.cpu_count(),
                "python": platform.python_version(),
                "load_1min": os.getloadavg()[0],
            },
            "server": server(lake, arguments.runs),
        }
        if not arguments.without_browser and chromium_path() is not None:
            found["browser"] = browser(lake, arguments.runs)
    print(json.dumps(found, indent=2))


def write_day(root: Path) -> str:
    """A day that ends under a limit."""
    lake = write_lab_lake(
        root, seconds=DAY_S - HELD_S, every_s=EVERY_S, then_s=HELD_S, until_s=DAY_S,
        producers=[{"topic": "orders", "rate_msg": 400, "size_bytes": 1024}],
        interventions=[{"action": "set_rate", "topic": "orders", "rate_msg": 600}],
    )  # fmt: skip
    return lake.root


def address(*runs: str, when: str = "end") -> WhatIfAddress:
    end_ms = START_MS + 1000 * DAY_S + 1
    return WhatIfAddress(BILLING, "", end_ms - 1000 * DAY_S, end_ms, when, "24h", runs or ("nothing",))


def server(lake: str, runs: int) -> dict:
    """The callback's own time, without the network."""
    windows = Windows(lake)
    begun = time.perf_counter()
    _answer(windows, address())
    first_ms = 1000 * (time.perf_counter() - begun)
    others = (
        "consumers=8 processing_ms=2",
        "load=2 processing_ms=2",
        "subscription.msg=none processing_ms=2",
    )
    sizes: list[int] = []

    def moves(when: str, *beside: str) -> Callable[[int], None]:
        return lambda number: sizes.append(
            len(
                _answer(
                    windows,
                    address(f"subscription.msg={520 + 7 * number} processing_ms=2", *beside, when=when),
                )
            )
        )

    found = {
        "first_ms": round(first_ms),
        "moved_ms": {
            "one run, 24 h ahead": _timed(moves("end"), runs),
            "one run, in the window": _timed(moves("start"), runs),
            "four runs, 24 h ahead": _timed(moves("end", *others), runs, 100),
            "four runs, in the window": _timed(moves("start", *others), runs, 100),
            "load, 24 h ahead": _timed(
                lambda number: _answer(windows, address(f"load={1 + number / 50}")), runs
            ),
        },
        "sent_bytes": max(sizes),
    }
    window = windows.of(address())
    change = parse_change(["subscription.msg=1200", "processing_ms=2"])
    begun = time.perf_counter()
    replay(window.ground.observed, change, ground=window.ground, horizon_s=DAY_S)
    found["in_full_ms"] = round(1000 * (time.perf_counter() - begun))
    return found


def _answer(windows: Windows, asked: WhatIfAddress) -> str:
    parts = page._runs(windows, urlsplit(asked.href()).query)
    assert parts[0] is not page.no_update, "the runs could not be shown"
    return json.dumps(parts, cls=PlotlyJSONEncoder)


def _timed(move: Callable[[int], object], runs: int, first: int = 0) -> dict:
    taken, worked = [], []
    for number in range(runs):
        begun, begun_cpu = time.perf_counter(), time.process_time()
        move(first + number)
        taken.append(1000 * (time.perf_counter() - begun))
        worked.append(1000 * (time.process_time() - begun_cpu))
    return _summary(taken) | {"cpu_median": round(statistics.median(worked))}


def _summary(taken: list[float]) -> dict:
    return {"median": round(statistics.median(taken)), "slowest": round(max(taken)), "runs": len(taken)}


def browser(lake: str, runs: int) -> dict:
    """From a key on the slider to the redrawn curve."""
    with running_server(lake) as base, running_chromium() as chromium:
        shown = chromium.new_page(viewport={"width": 1440, "height": 900})
        shown.set_default_timeout(120_000)
        found = {}
        for name, asked in (
            ("24 h ahead", address("subscription.msg=150 processing_ms=2")),
            ("in the window", address("subscription.msg=150 processing_ms=2", when="start")),
            (
                "24 h ahead, four runs",
                address("subscription.msg=150 processing_ms=2", "load=0.5", "load=2", "consumers=8"),
            ),
        ):
            shown.goto(base + asked.href())
            shown.wait_for_selector("#what-if-graph .xtick text")
            shown.wait_for_selector("#what-if-runs .plain-table")
            shown.wait_for_timeout(1500)
            shown.evaluate(_WATCH)
            shown.locator(".what-if-control").first.locator("[role=slider]").focus()
            taken, workers_cold = [], []
            for number in range(runs + 4):
                shown.keyboard.press("ArrowRight")
                answer_ms = shown.evaluate("() => window.labAnswer")
                assert answer_ms is not None, "the curve did not change"
                # Each of the two workers reads and fits the window once.
                (workers_cold if number < 4 else taken).append(answer_ms)
                shown.wait_for_timeout(250)
            found[name] = _summary(taken) | {
                "first_four": [round(one) for one in workers_cold],
                "target": TARGET_MS,
            }
        return {"redrawn_ms": found}


if __name__ == "__main__":
    main()
