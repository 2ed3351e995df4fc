"""A broker's series in a real Prometheus, hour by hour, and runs into a lake. In: hours. Out: samples at the server, results, rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.ingest.pulsar_series import HOUR_MS, START_MS, STEP_MS, TARGET
from tests.lab.prometheus import write_series
from throttlescope.app.cli.settings import SourceFlags, settings_with
from throttlescope.app.pipeline.request import RunRequest
from throttlescope.app.pipeline.results import RunResult
from throttlescope.app.pipeline.run import run_pipeline
from throttlescope.ingest.lake import Lake

#: What has to be equal, whatever way it came about.
DATA = (
    "series",
    "samples",
    "limits",
    "signals",
    "verdicts",
    "verdict_latest",
    "episodes",
    "incidents",
    "forecasts",
    "anomalies",
)
SCRAPES = HOUR_MS // STEP_MS
#: A target is not scraped on the very millisecond of a full hour.
OFFSET_MS = 2_345


def hour(number: int) -> int:
    """Start of an hour of the scene."""
    return START_MS + number * HOUR_MS


def scene(
    first: int,
    last: int,
    *,
    subscriptions: tuple[str, ...] = ("billing", "audit"),
    skip: range = range(0),
) -> list[tuple[dict[str, str], list[tuple[int, float]]]]:
    """A topic with subscriptions in hours [first, last): the backlog of the first one grows for two hours and drains in the third.

    Parameters
    ----------
    skip : range
        Scrapes, counted from the scene's start, that are left out.
    """
    numbers = [n for n in range(first * SCRAPES, last * SCRAPES) if n not in skip]
    at = [START_MS + OFFSET_MS + n * STEP_MS for n in numbers]
    place = {
        "cluster": "prod", **TARGET, "namespace": "acme/shop", "topic": "persistent://acme/shop/orders", "partition": "0",
    }  # fmt: skip

    def of(name: str, labels: dict[str, str], value: Any) -> tuple[dict[str, str], list[tuple[int, float]]]:
        return {"__name__": name, **labels}, [
            (ms, float(value(n))) for ms, n in zip(at, numbers, strict=True)
        ]

    found = [of("up", TARGET, lambda n: 1.0), of("pulsar_rate_in", place, lambda n: 100.0)]
    found.append(of("pulsar_in_messages_total", place, lambda n: 1500 * n))
    for k, subscription in enumerate(subscriptions):
        labels = {**place, "subscription": subscription}

        def backlog(n: int, k: int = k) -> float:
            phase = n % (3 * SCRAPES)
            rising = min(phase, 2 * SCRAPES) - max(0, phase - 2 * SCRAPES) * 2
            return 0.0 if k else 400.0 * max(0, rising)

        found.append(of("pulsar_subscription_back_log", labels, backlog))
        found.append(of("pulsar_subscription_back_log_no_delayed", labels, backlog))
        found.append(of("pulsar_out_messages_total", labels, lambda n: 1100 * n))
        found.append(of("pulsar_subscription_msg_rate_out", labels, lambda n: 73.0))
        found.append(of("pulsar_subscription_consumers_count", labels, lambda n: 2.0))
        found.append(of("pulsar_subscription_unacked_messages", labels, lambda n: 10.0))
    return found


def put(url: str, first: int, last: int, *, skip: range = range(0), only: range | None = None) -> None:
    """Write hours [first, last) without some scrapes, or only some scrapes of them."""
    for labels, samples in scene(first, last, skip=skip):
        inside = [one for one in samples if only is None or (one[0] - START_MS) // STEP_MS in only]
        write_series(url, [(labels, inside)])


def request(
    lake: Path | str, url: str | None, first: float, last: float, command: str = "run", **options: Any
) -> RunRequest:
    settings = settings_with(None, {"lake": Path(lake)}, SourceFlags(prometheus=url))
    return RunRequest(command, settings, hour(first), hour(last), **options)


def run(session: Any, *arguments: Any, **options: Any) -> RunResult:
    """A run in a session that is there; None: in this process."""
    return run_pipeline(request(*arguments, **options), session=session)


def rows_of(lake: Path | str, table: str) -> list[str]:
    """All rows in one order, as text, without what tells one run from another."""
    rows = Lake(lake).read(table).to_pylist()
    return sorted(repr(sorted((k, v) for k, v in row.items() if k != "run_id")) for row in rows)


def differences(one: Path | str, other: Path | str) -> dict[str, tuple[int, int]]:
    """Rows that only one of two lakes has, by table; empty where they are equal."""
    found = {}
    for table in DATA:
        left, right = rows_of(one, table), rows_of(other, table)
        if left != right:
            found[table] = len(set(left) - set(right)), len(set(right) - set(left))
    return found
