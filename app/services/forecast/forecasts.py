"""Forecasts of a lake. In: a lake and a filter. Out: rows of ``forecasts``.

All of it is made here, in this process: the table ``forecasts`` is neither read nor touched.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from throttlescope.app.queries.subscriptions import check_subscription
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.subscription_name import SubscriptionName
from throttlescope.ingest.core.times import BLOCK_MS, MINUTE_MS, format_time
from throttlescope.ingest.spark.task_executor import InProcessExecutor
from throttlescope.models.forecast.apply import (
    LOOK_BACK_MS,
    forecasts_of,
    minutes_of,
    policies_near,
    shares_of,
)

if TYPE_CHECKING:
    from throttlescope.ingest.lake import Lake

Note = Callable[[str], None]


def forecast_lake(
    lake: Lake, *, cluster: str | None = None, subscription: str | None = None, at_ms: int | None = None
) -> tuple[list[dict[str, Any]], int]:
    """Forecast what is in a lake.

    Parameters
    ----------
    subscription : str, optional
        ``persistent://tenant/ns/topic[-partition-N]#sub``; without the suffix every partition. None: all.
    at_ms : int, optional
        When the forecasts are made; the newest minute of each cluster by default.

    Returns
    -------
    rows : list of dict
        Rows of ``forecasts``.
    made_ms : int
        The newest time that they were made at.

    Raises
    ------
    InputError
        There are no signals, none so early, or none that match the filter.
    """
    name = None if subscription is None else SubscriptionName.of(subscription)
    rows = []
    clusters = clusters_of(lake, cluster, at_ms)
    for one, end_ms in clusters.items():
        policies = policies_near(lake, [one], end_ms, end_ms)[one]
        files = lake.files(
            "signals",
            partition={"cluster": [one]},
            between={"minute_ms": (end_ms - LOOK_BACK_MS, end_ms - 1)},
        )
        topic = None if name is None else name.topic
        for share in shares_of(InProcessExecutor(), files, with_policies=bool(policies), topic=topic):
            rows += forecasts_of(minutes_of(share), policies, [end_ms]).to_pylist()
    if name is not None:
        rows = [row for row in rows if _fits(name, row)]
        if not rows:
            # A subscription without a backlog has no forecast.
            check_subscription(lake, str(name))
    return rows, max(clusters.values())


def with_replays(
    lake: Lake, rows: list[dict[str, Any]], *, note: Note = lambda text: None
) -> list[dict[str, Any]]:
    """Add a replay of limits and consumers to every forecast of a drain; a note says what cannot be replayed."""
    from throttlescope.app.services.whatif.replay import Question, answer, read
    from throttlescope.models.forecast.replayed import replay_row

    found = []
    for row in rows:
        found.append(row)
        if row["kind"] != "drain":
            continue
        name = SubscriptionName(
            row["topic"], row["partition"] if row["partition"] >= 0 else None, row["subscription"]
        )
        at = format_time(row["made_at_ms"])
        try:
            question = Question(str(name), row["cluster"], (), at, "30m", "24h", "24h", None)
            found.append(replay_row(answer(read(lake, question, now_ms=row["made_at_ms"])), row))
        except InputError as error:
            note(f"{name} is not replayed: {error.what}")
    return found


def clusters_of(lake: Lake, cluster: str | None, at_ms: int | None) -> dict[str, int]:
    """End of the newest minute of each cluster, or the requested time."""
    files = lake.files("signals", partition=None if cluster is None else {"cluster": [cluster]})
    if not files:
        known = sorted({file.partition["cluster"] for file in lake.files("signals")})
        raise InputError(
            "There are no signals of this cluster" if known else "There are no signals in this lake",
            got=cluster if known else lake.root,
            expected=", ".join(known) if known else None,
            fix=None if known else "make some with throttlescope run --lake DIR",
        )
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    for file in files:
        one = file.partition["cluster"]
        first[one] = min(file.minimum["minute_ms"], first.get(one, file.minimum["minute_ms"]))
        last[one] = max(file.maximum["minute_ms"] + MINUTE_MS, last.get(one, 0))
    if at_ms is None:
        return last
    there = {one: at_ms for one in last if first[one] < at_ms <= last[one] + BLOCK_MS}
    if not there:
        raise InputError(
            "There are no signals at this time",
            got=format_time(at_ms),
            expected=f"{format_time(min(first.values()))} to {format_time(max(last.values()))}",
        )
    return there


def _fits(name: SubscriptionName, row: dict[str, Any]) -> bool:
    return row["subscription"] == name.subscription and name.partition in (None, row["partition"])
