"""Capacities estimated from bursts, compared with the consumers' processing times. In: recordings of a set. Out: lines.

``python -m tests.lab.simulated.bursts default|engine tuned|held-out [LAKE]`` prints every subscription whose first state is throttled, with the
interval as it is before ``WIDEST`` is applied. The width that is accepted was chosen with the tuned ones. Without a lake it makes one.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.lab.sets import SETS
from tests.lab.simulated.recorded import scenario_of
from tests.lab.simulated.whatif import WINDOW_MS
from throttlescope.ingest.lake import Lake
from throttlescope.models.throttling.replay import Ground, read_observed
from throttlescope.models.throttling.replay.bursts import burst_interval


def folders(name: str, part: str) -> list[Path]:
    """Recordings of a part of a set that a lake takes together: the others have stats of older brokers."""
    return [
        folder
        for folder in SETS[name].folders
        if scenario_of(folder).kept_aside == (part == "held-out")
        and not folder.name.startswith(("classic", "slot-bucket"))
    ]


def lines(lake: Lake, chosen: Sequence[Path]) -> Iterator[str]:
    """One line per subscription of which bursts say something."""
    for folder in chosen:
        scenario, about = scenario_of(folder), json.loads((folder / "recording.json").read_text())
        state = about["states"][0]
        start_ms = max(state["start_ms"], state["end_ms"] - WINDOW_MS)
        for subscription in scenario.subscriptions:
            selector = f"persistent://{scenario.namespace}/{subscription.reads[0]}#{subscription.name}"
            observed = read_observed(lake, selector, start_ms, state["end_ms"], scenario.name)
            found = _interval(Ground(observed, observed))
            active = observed.active(subscription.name, observed.consumers(subscription.name))
            if found is not None and subscription.processing_ms:
                low, middle, high = found
                nominal = 1000 * active / subscription.processing_ms
                yield f"{folder.name}, {subscription.name}: {low:,.0f}, {middle:,.0f}, {high:,.0f} ({high / low:.2f}); {nominal:,.0f}"


def _interval(ground: Ground) -> tuple[float, float, float] | None:
    rate_msg = ground.arrivals.msg_per_s
    return burst_interval(
        ground.observed,
        lambda took_ms: ground.assumed("unseen", took_ms, rate_msg),
        lambda: (ground.speed().fitted, ground.speed().fastest),
    )


def main(arguments: Sequence[str]) -> None:
    """Print the lines of a part of a set, from a lake that is there or a new one."""
    name, part, *lake = arguments
    if part not in ("tuned", "held-out"):
        raise SystemExit("usage: default|engine tuned|held-out [LAKE]")
    print(
        "recording, subscription: lowest, likeliest, highest msg/s (highest over lowest); by processing time"
    )
    with tempfile.TemporaryDirectory() as made:
        if not lake:
            chosen = [word for folder in folders(name, part) for word in ("--recording", str(folder))]
            command = [
                sys.executable,
                "-m",
                "throttlescope.app.cli",
                "run",
                *chosen,
                "--quiet",
                "--lake",
                made,
            ]
            subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        for line in lines(Lake(lake[0] if lake else made), folders(name, part)):
            print(line, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
