"""Back-test of forecasts of a lake. In: a lake. Out: a :class:`BackTest`: of forecasts made now of its history, or of those it holds.

Nothing is written.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.app.services.forecast.forecasts import clusters_of
from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.times import BLOCK_MS, MINUTE_MS, block_start
from throttlescope.ingest.lake.duck import from_table
from throttlescope.models.diagnosis.window import SubscriptionKey
from throttlescope.models.forecast.judge import Coverage, ForecastOutcome, coverage, outcome, outcomes
from throttlescope.models.forecast.read import METRICS, traces_of
from throttlescope.models.forecast.residuals import SHIPPED
from throttlescope.models.forecast.stored import LossOutcome, drain_of, loss_outcome
from throttlescope.models.forecast.trace import Trace
from throttlescope.transforms.as_of import KNOWN_FOR_MS
from throttlescope.transforms.promql.lake_source import LakeSampleSource

if TYPE_CHECKING:
    from throttlescope.ingest.lake import Lake

Note = Callable[[str], None]
_KEY = ", ".join(SUBSCRIPTION_KEY_NAMES)
_AT_ONCE = 10_000


@dataclass(frozen=True)
class BackTest:
    """Accuracy of forecasts of a lake's history.

    Attributes
    ----------
    made, expected, never, unknown : int
        Forecasts, and what they said.
    drained_although_never : int
        Said to be never at this rate, and drained before anything was seen to change.
    all : Coverage
    causes : dict of str to Coverage
        By the cause that the verdict of that time names; "no verdict" where there is none.
    expiries, expiries_decided, expiries_inside : int
        Stored forecasts of a loss by TTL; those of them that were decided, and inside their interval.
    seen_by_calibration : list of str
        Clusters that had a part in the calibration: recordings that are shipped. Their figures prove nothing.
    """

    start_ms: int
    end_ms: int
    every_ms: int | None
    made: int
    expected: int
    never: int
    unknown: int
    drained_although_never: int
    all: Coverage
    causes: dict[str, Coverage]
    expiries: int
    expiries_decided: int
    expiries_inside: int
    seen_by_calibration: list[str]

    def to_json(self) -> dict[str, Any]:
        """Plain dicts, lists, numbers and text."""
        return asdict(self)


def back_test_lake(
    lake: Lake,
    *,
    every_ms: int | None,
    cluster: str | None = None,
    start_ms: int | None = None,
    end_ms: int | None = None,
    note: Note = lambda text: None,
) -> BackTest:
    """Hold forecasts against what came.

    The backlog is read from the samples. A forecast is censored where something is seen to change: a limit, the number of
    consumers, the broker. Consumers that only work faster are not seen.

    Parameters
    ----------
    every_ms : int or None
        Forecasts are made all along the history at this distance, each with what was known by then. None: those that
        the lake holds in ``forecasts`` are judged, as they were made.

    Raises
    ------
    InputError
        There is no forecast in the range.
    """
    judged: list[ForecastOutcome] = []
    expiries: list[LossOutcome] = []
    newest = clusters_of(lake, cluster, None)
    first_ms = start_ms if start_ms is not None else 0
    for n, (one, last_ms) in enumerate(sorted(newest.items())):
        note(f"{n + 1} of {len(newest)}: {one}")
        until_ms = last_ms if end_ms is None else min(end_ms, last_ms)
        rows = _stored(lake, one, first_ms, until_ms) if every_ms is None else []
        if every_ms is None and not rows:
            continue
        # Of a fleet only the topics that a forecast was made of are read, and only of that time.
        read = _Read(lake, one, first_ms, until_ms, sorted({row["topic"] for row in rows}) or None)
        traces = traces_of(read.source(), read.limits(), first_ms, until_ms)
        changes, causes = read.changes(), read.causes()
        if every_ms is None:
            judged += _judged_drains(rows, traces, changes, causes)
            expired = read.expired()
            expiries += [
                loss_outcome(row, expired.get(_key(row), []), until_ms)
                for row in rows
                if row["kind"] == "ttl"
            ]
            continue
        for key, trace in traces.items():
            judged += outcomes(
                trace,
                SHIPPED,
                every_ms=every_ms,
                changes_ms=changes.get(key, ()),
                recording=one,
                cause_at=partial(_cause_at, causes.get(key, [])),
            )
    if not judged and not expiries:
        raise InputError(
            "There is no forecast to judge",
            got=f"{lake.root}: {'no stored forecast' if every_ms is None else 'no backlog in the samples'} of this range",
            fix="leave --stored out"
            if every_ms is None
            else "bring more with throttlescope run --lake DIR, or widen --start and --end",
        )
    by_cause: dict[str, list[ForecastOutcome]] = defaultdict(list)
    for item in judged:
        by_cause[item.cause].append(item)
    states = [item.drain.state for item in judged]
    made_ms = [item.drain.made_at_ms for item in judged] + [item.made_at_ms for item in expiries]
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
        expiries=len(expiries),
        expiries_decided=sum(item.inside is not None for item in expiries),
        expiries_inside=sum(bool(item.inside) for item in expiries),
        seen_by_calibration=sorted(set(newest) & set(SHIPPED.made_from)),
    )


def _judged_drains(
    rows: list[dict[str, Any]],
    traces: dict[SubscriptionKey, Trace],
    changes: dict[SubscriptionKey, list[int]],
    causes: dict[SubscriptionKey, list[tuple[int, str]]],
) -> Iterator[ForecastOutcome]:
    """What came of stored drains; one whose samples are gone is not judged."""
    for row in rows:
        key = _key(row)
        if row["kind"] == "drain" and row["method"] == "trend" and key in traces:
            cause = _cause_at(causes.get(key, []), row["made_at_ms"])
            yield outcome(drain_of(row), traces[key], changes.get(key, ()), row["cluster"], "", cause)


def _stored(lake: Lake, cluster: str, start_ms: int, end_ms: int) -> list[dict[str, Any]]:
    rows = lake.read(
        "forecasts", partition={"cluster": [cluster]}, between={"made_at_ms": (start_ms, end_ms - 1)}
    )
    return [row for row in rows.to_pylist() if start_ms <= row["made_at_ms"] < end_ms]


def _key(row: dict[str, Any]) -> SubscriptionKey:
    return SubscriptionKey(*(row[name] for name in SubscriptionKey._fields))


@dataclass(frozen=True)
class _Read:
    """The data that forecasts of a cluster are compared with.

    Attributes
    ----------
    topics : list of str or None
        Those alone, and only in [start_ms, end_ms); None: all topics, over the whole history.
    """

    lake: Lake
    cluster: str
    start_ms: int
    end_ms: int
    topics: list[str] | None

    def source(self) -> LakeSampleSource:
        """Samples of the backlogs in the range."""
        where = (pc.field("cluster") == self.cluster) & pc.field("metric_name").isin(METRICS)
        if self.topics is not None:
            where &= pc.map_lookup(pc.field("labels"), "topic", "first").isin(self.topics)
        catalogue = self.lake.read("series", where=where)
        files = self.lake.files(
            "samples",
            partition={"metric_name": METRICS},
            between={
                "block_start_ms": (block_start(self.start_ms), self.end_ms),
                "cluster": (self.cluster, self.cluster),
            },
        )
        return LakeSampleSource(files, catalogue)

    def limits(self) -> list[dict[str, Any]]:
        """Limits that any time of the range may be joined to, one row for each period that a subscription partition had."""
        between, inside = None, ""
        if self.topics is not None:
            between = {"observed_ms": (self.start_ms - KNOWN_FOR_MS, self.end_ms + KNOWN_FOR_MS)}
            inside = "AND observed_ms BETWEEN $first_ms AND $last_ms AND topic IN (SELECT topic FROM topics)"
        query = f"""
            SELECT DISTINCT {_KEY}, rate_msg, rate_bytes, period_s FROM {{rows}}
            WHERE cluster = $cluster AND (rate_msg IS NOT NULL OR rate_bytes IS NOT NULL) {inside}
        """  # noqa: S608
        return list(self._found("limits", None, between, query))

    def expired(self) -> dict[SubscriptionKey, list[int]]:
        """Ends of minutes in which messages expired, by subscription partition."""
        late = f"SELECT {_KEY}, minute_ms FROM rows WHERE expired_msg_delta > 0"  # noqa: S608
        found: dict[SubscriptionKey, list[int]] = defaultdict(list)
        for row in self._rows("signals", "minute_ms", late):
            found[_key(row)].append(row["minute_ms"] + MINUTE_MS)
        return found

    def changes(self) -> dict[SubscriptionKey, list[int]]:
        """When something was seen to change, by subscription partition: the start of the minute that shows it."""
        # Selected where they lie: nearly all minutes are like the one before.
        changed = f"""
            SELECT {_KEY}, minute_ms FROM rows
            QUALIFY limits_changed OR broker_changed OR counter_resets > 0
                OR consumers <> lag(consumers IGNORE NULLS) OVER (PARTITION BY {_KEY} ORDER BY minute_ms)
        """  # noqa: S608
        found: dict[SubscriptionKey, list[int]] = defaultdict(list)
        for row in self._rows("signals", "minute_ms", changed):
            found[_key(row)].append(row["minute_ms"])
        return found

    def causes(self) -> dict[SubscriptionKey, list[tuple[int, str]]]:
        """Ends of windows from which on another cause holds than before, by subscription partition."""
        others = f"""
            SELECT {_KEY}, window_end_ms, cause FROM rows
            QUALIFY cause IS DISTINCT FROM lag(cause) OVER (PARTITION BY {_KEY} ORDER BY window_end_ms, window_start_ms)
        """  # noqa: S608
        found: dict[SubscriptionKey, list[tuple[int, str]]] = defaultdict(list)
        for row in self._rows("verdicts", "window_end_ms", others):
            found[_key(row)].append((row["window_end_ms"], row["cause"]))
        return found

    def _rows(self, table: str, time_column: str, query: str) -> Iterator[dict[str, Any]]:
        """Rows of the range in the order of time, of which a SELECT from ``rows`` takes some."""
        between, inside = None, "true"
        if self.topics is not None:
            # A window that ended before the first forecast still gives the cause of the backlog then.
            between = {time_column: (self.start_ms - BLOCK_MS, self.end_ms)}
            inside = f"{time_column} BETWEEN $first_ms AND $last_ms AND topic IN (SELECT topic FROM topics)"  # noqa: S608
        rows = f"WITH rows AS (SELECT * FROM {{rows}} WHERE {inside})"  # noqa: S608
        partition = {"cluster": [self.cluster]}
        yield from self._found(table, partition, between, f"{rows} {query} ORDER BY {time_column}")

    def _found(
        self,
        table: str,
        partition: dict[str, list[str]] | None,
        between: dict[str, tuple[int, int]] | None,
        query: str,
    ) -> Iterator[dict[str, Any]]:
        """The rows of a SELECT from ``{rows}`` of a table; ``topics`` limits them to the requested topics."""
        files = self.lake.files(table, partition=partition, between=between)
        values = {"cluster": self.cluster}
        if between is not None:
            (values["first_ms"], values["last_ms"]) = next(iter(between.values()))
        with self.lake.counting(table, files) as connection:
            connection.register("topics", pa.table({"topic": pa.array(self.topics or [], pa.string())}))
            query = query.format(rows=from_table(connection, table, files))
            values = {name: value for name, value in values.items() if f"${name}" in query}
            found = connection.execute(query, values)
            names = [column[0] for column in found.description]
            while part := found.fetchmany(_AT_ONCE):
                for row in part:
                    yield dict(zip(names, row, strict=True))


def _cause_at(spans: list[tuple[int, str]], at_ms: int) -> str:
    """Cause of the newest window that was over by then."""
    place = bisect_right(spans, at_ms, key=lambda span: span[0]) - 1
    return spans[place][1] if place >= 0 else "no verdict"
