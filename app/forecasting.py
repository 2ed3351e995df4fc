"""Forecasts of a lake, and how earlier ones came true. In: a lake and what is asked for. Out: rows of ``forecasts``, or a :class:`BackTest`.

All of it is made here, in this process: the table ``forecasts`` is neither read nor touched.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc

from throttlescope.ingest.errors import InputError
from throttlescope.ingest.subscription_name import SubscriptionName
from throttlescope.ingest.times import BLOCK_MS, MINUTE_MS, block_start, format_time
from throttlescope.models.diagnosis.window import SubscriptionKey
from throttlescope.models.forecast.apply import COLUMNS, LOOK_BACK_MS, forecasts_of, policies_near
from throttlescope.models.forecast.judge import Coverage, Outcome, coverage, outcomes
from throttlescope.models.forecast.read import BACKLOG, METRICS, traces_of
from throttlescope.models.forecast.residuals import SHIPPED
from throttlescope.transforms.promql.lake_source import LakeSource

if TYPE_CHECKING:
    from throttlescope.ingest.lake import Lake

Note = Callable[[str], None]


@dataclass(frozen=True)
class BackTest:
    """How forecasts of a lake's history came true.

    Attributes
    ----------
    made, expected, never, unknown : int
        Forecasts, and what they said.
    drained_although_never : int
        Said to be never at this rate, and drained before anything was seen to change.
    all : Coverage
    causes : dict of str to Coverage
        By the cause that the verdict of that time names; "no verdict" where there is none.
    seen_by_calibration : list of str
        Clusters that had a part in the calibration: recordings that are shipped. Their figures prove nothing.
    """

    start_ms: int
    end_ms: int
    every_ms: int
    made: int
    expected: int
    never: int
    unknown: int
    drained_although_never: int
    all: Coverage
    causes: dict[str, Coverage]
    seen_by_calibration: list[str]

    def to_json(self) -> dict[str, Any]:
        """Plain dicts, lists, numbers and text."""
        return asdict(self)


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
        There are no signals, not so early, or none of what is asked for.
    """
    name = None if subscription is None else SubscriptionName.of(subscription)
    rows = []
    clusters = _clusters(lake, cluster, at_ms)
    for one, end_ms in clusters.items():
        where = None if name is None else pc.field("topic") == name.topic
        signals = lake.read(
            "signals",
            columns=list(COLUMNS),
            where=where,
            partition={"cluster": [one]},
            between={"minute_ms": (end_ms - LOOK_BACK_MS, end_ms - 1)},
        )
        policies = policies_near(lake, [one], end_ms, end_ms)[one]
        rows += forecasts_of(signals, policies, [end_ms]).to_pylist()
    if name is not None:
        rows = [row for row in rows if _fits(name, row)]
        if not rows:
            _refuse_unknown(lake, name)
    return rows, max(clusters.values())


def with_replays(
    lake: Lake, rows: list[dict[str, Any]], *, note: Note = lambda text: None
) -> list[dict[str, Any]]:
    """Put a replay of limits and consumers beside every forecast of a drain; what cannot be replayed stays alone, and is told."""
    from throttlescope.app.whatif.ask import Question, answer, read
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
            asked = Question(str(name), row["cluster"], (), at, "30m", "24h", "24h", None)
            found.append(replay_row(answer(read(lake, asked, now_ms=row["made_at_ms"])), row))
        except InputError as error:
            note(f"{name} is not replayed: {error.what}")
    return found


def back_test_lake(
    lake: Lake,
    *,
    every_ms: int,
    cluster: str | None = None,
    start_ms: int | None = None,
    end_ms: int | None = None,
    note: Note = lambda text: None,
) -> BackTest:
    """Make forecasts all along a lake's history, each with what was known by then, and see how they came true.

    The backlog is read from the samples. A forecast is censored where something is seen to change: a limit, the number of
    consumers, the broker. Consumers that only work faster are not seen.

    Raises
    ------
    InputError
        There are no samples in the range.
    """
    judged: list[Outcome] = []
    newest = _clusters(lake, cluster, None)
    first_ms = start_ms if start_ms is not None else 0
    for n, (one, last_ms) in enumerate(sorted(newest.items())):
        note(f"{n + 1} of {len(newest)}: {one}")
        until_ms = last_ms if end_ms is None else min(end_ms, last_ms)
        limits = lake.read("limits", where=pc.field("cluster") == one).to_pylist()
        traces = traces_of(_source(lake, one, first_ms, until_ms), limits, first_ms, until_ms)
        changes, causes = _changes(lake, one), _causes(lake, one)
        for key, trace in traces.items():
            judged += outcomes(
                trace,
                SHIPPED,
                every_ms=every_ms,
                changes_ms=changes.get(key, ()),
                recording=one,
                cause_at=partial(_cause_at, causes.get(key, [])),
            )
    if not judged:
        raise InputError(
            "There is no forecast to judge",
            got=f"{lake.root}: no backlog in the samples of this range",
            fix="bring more with throttlescope run --lake DIR, or widen --start and --end",
        )
    by_cause: dict[str, list[Outcome]] = defaultdict(list)
    for item in judged:
        by_cause[item.cause].append(item)
    states = [item.drain.state for item in judged]
    made_ms = [item.drain.made_at_ms for item in judged]
    return BackTest(
        start_ms=min(made_ms),
        end_ms=max(made_ms),
        every_ms=every_ms,
        made=len(judged),
        expected=states.count("expected"),
        never=states.count("never"),
        unknown=states.count("unknown"),
        drained_although_never=sum(
            item.after_s is not None for item in judged if item.drain.state == "never"
        ),
        all=coverage(judged, lambda item: SHIPPED),
        causes={name: coverage(items, lambda item: SHIPPED) for name, items in sorted(by_cause.items())},
        seen_by_calibration=sorted({item.recording for item in judged} & set(SHIPPED.made_from)),
    )


def _clusters(lake: Lake, cluster: str | None, at_ms: int | None) -> dict[str, int]:
    """End of the newest minute of each cluster, or the time that is asked for."""
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


def _source(lake: Lake, cluster: str, start_ms: int, end_ms: int) -> LakeSource:
    catalogue = lake.read(
        "series", where=(pc.field("cluster") == cluster) & pc.field("metric_name").isin(METRICS)
    )
    files = lake.files(
        "samples",
        partition={"metric_name": METRICS},
        between={"block_start_ms": (block_start(start_ms), end_ms), "cluster": (cluster, cluster)},
    )
    return LakeSource(files, catalogue)


def _changes(lake: Lake, cluster: str) -> dict[SubscriptionKey, list[int]]:
    """When something was seen to change, by subscription partition: the start of the minute that shows it."""
    names = [
        *SubscriptionKey._fields,
        "minute_ms",
        "limits_changed",
        "broker_changed",
        "counter_resets",
        "consumers",
    ]
    rows = lake.read("signals", columns=names, partition={"cluster": [cluster]}).sort_by("minute_ms")
    found: dict[SubscriptionKey, list[int]] = defaultdict(list)
    consumers: dict[SubscriptionKey, float] = {}
    for row in rows.to_pylist():
        key = SubscriptionKey(*(row[name] for name in SubscriptionKey._fields))
        before, now = consumers.get(key), row["consumers"]
        others = before is not None and now is not None and now != before
        if row["limits_changed"] or row["broker_changed"] or row["counter_resets"] or others:
            found[key].append(row["minute_ms"])
        if now is not None:
            consumers[key] = now
    return found


def _causes(lake: Lake, cluster: str) -> dict[SubscriptionKey, list[tuple[int, str]]]:
    """Ends of windows and their causes, by subscription partition."""
    names = [*SubscriptionKey._fields, "window_end_ms", "cause"]
    rows = lake.read("verdicts", columns=names, partition={"cluster": [cluster]}).sort_by("window_end_ms")
    found: dict[SubscriptionKey, list[tuple[int, str]]] = defaultdict(list)
    for row in rows.to_pylist():
        key = SubscriptionKey(*(row[name] for name in SubscriptionKey._fields))
        found[key].append((row["window_end_ms"], row["cause"]))
    return found


def _cause_at(spans: list[tuple[int, str]], at_ms: int) -> str:
    """Cause of the newest window that was over by then."""
    place = bisect_right(spans, at_ms, key=lambda span: span[0]) - 1
    return spans[place][1] if place >= 0 else "no verdict"


def _fits(name: SubscriptionName, row: dict[str, Any]) -> bool:
    return row["subscription"] == name.subscription and name.partition in (None, row["partition"])


def _refuse_unknown(lake: Lake, name: SubscriptionName) -> None:
    """Nothing was forecast: say so only if there is no such subscription; one without a backlog has no forecast."""
    labels = lake.read("series", columns=["labels"], where=pc.field("metric_name") == BACKLOG)["labels"]
    known = [dict(one) for one in labels.to_pylist()]
    here = [
        one
        for one in known
        if one.get("topic") == name.topic and one.get("subscription") == name.subscription
    ]
    if not any(name.partition in (None, int(one.get("partition", -1))) for one in here):
        raise InputError(
            "No backlog of this subscription is in the lake",
            got=str(name),
            fix="see throttlescope verdicts for what there is",
        )
