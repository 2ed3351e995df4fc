"""Anomalies of a lake. In: a lake and a filter. Out: rows of ``anomalies`` and the range they cover."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc

from throttlescope.app.pipeline.events import SILENT, Progress
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.subscription_name import SubscriptionName
from throttlescope.ingest.core.times import DAY_MS, MINUTE_MS, check_range
from throttlescope.models.messages.catalogue import sentence

if TYPE_CHECKING:
    from throttlescope.app.config import Settings
    from throttlescope.ingest.lake import Lake


@dataclass(frozen=True)
class AnomalyFilter:
    """Which anomalies; None means any.

    Attributes
    ----------
    subscription : str, optional
        ``persistent://tenant/ns/topic[-partition-N]#sub``; without the suffix every partition.
    start_ms, end_ms : int, optional
        [start, end); by default the last day that the lake has signals of.
    zone : str
        IANA time zone whose weeks are compared.
    """

    cluster: str | None = None
    subscription: str | None = None
    start_ms: int | None = None
    end_ms: int | None = None
    zone: str = "UTC"


@dataclass(frozen=True)
class AnomalyRows:
    """Rows of ``anomalies`` that touch [start_ms, end_ms), in the order of the key and of their beginning."""

    rows: list[dict[str, Any]]
    start_ms: int
    end_ms: int


def select_anomalies(
    lake: Lake,
    wanted: AnomalyFilter,
    settings: Settings,
    *,
    store: bool = False,
    stored: bool = False,
    progress: Progress = SILENT,
    debug: bool = False,
) -> AnomalyRows:
    """Judge here, judge and ``store``, or read what is ``stored``.

    Raises
    ------
    InputError
        The options contradict each other, or as :func:`judge_anomalies`, :func:`store_anomalies`, :func:`read_anomalies`.
    """
    if store and (stored or wanted.subscription is not None):
        raise InputError(
            "--store judges whole clusters",
            got="--store with --stored or --subscription",
            fix="leave one of them out",
        )
    if store:
        return store_anomalies(lake, wanted, settings, progress=progress, debug=debug)
    return read_anomalies(lake, wanted) if stored else judge_anomalies(lake, wanted, progress=progress)


def judge_anomalies(lake: Lake, wanted: AnomalyFilter, *, progress: Progress = SILENT) -> AnomalyRows:
    """Judge in this process, writing nothing.

    Raises
    ------
    InputError
        There are no signals of it, there is no such zone, or it is too much for one process.
    """
    from throttlescope.models.anomaly.apply import find_anomalies

    start_ms, end_ms = _range(lake, wanted)
    parts = _parts(wanted)
    progress.expect(1)
    with progress.step(sentence("steps.anomalies.compare")):
        rows = find_anomalies(lake, start_ms, end_ms, cluster=wanted.cluster, zone=wanted.zone, **parts)
        progress.note(f"{len(rows)} rows")
    return AnomalyRows(rows, start_ms, end_ms)


def store_anomalies(
    lake: Lake, wanted: AnomalyFilter, settings: Settings, *, progress: Progress = SILENT, debug: bool = False
) -> AnomalyRows:
    """Judge whole clusters, on Spark where they are large, and write them; the rows are then read back.

    Raises
    ------
    InputError
        There are no signals, no such cluster or no such zone.
    """
    from throttlescope.app.pipeline.results import executor_to_compare
    from throttlescope.app.pipeline.spark_session import SparkIfNeeded
    from throttlescope.models.anomaly.apply import build_anomalies
    from throttlescope.models.anomaly.calendar import zone_of

    zone_of(wanted.zone)
    start_ms, end_ms = _range(lake, wanted)
    clusters = sorted({file.partition["cluster"] for file in lake.files("signals")})
    if wanted.cluster is not None:
        clusters = [wanted.cluster]
    spark = SparkIfNeeded(settings, debug=debug)
    progress.expect(1)
    with progress.step(sentence("steps.anomalies.compare")):
        executor = executor_to_compare(spark, lake, clusters, start_ms, end_ms, wanted.zone, progress.note)
        written = build_anomalies(
            executor, lake, clusters, start_ms, end_ms, f"anomalies-{uuid.uuid4()}", zone=wanted.zone
        )
        progress.note(f"{written} rows written")
    return read_anomalies(lake, wanted)


def read_anomalies(lake: Lake, wanted: AnomalyFilter) -> AnomalyRows:
    """Read what was stored.

    Raises
    ------
    InputError
        Nothing was stored yet.
    """
    if lake.version("anomalies") is None:
        raise InputError(
            "There are no anomalies in this lake",
            got=lake.root,
            fix="make some with throttlescope anomalies --store",
        )
    start_ms, end_ms = _range(lake, wanted)
    where = (pc.field("end_ms") > start_ms) & (pc.field("start_ms") < end_ms)
    for name, value in (("cluster", wanted.cluster), *_parts(wanted).items()):
        if value is not None:
            where = where & (pc.field(name) == value)
    rows = lake.read("anomalies", where=where)
    order = ("cluster", "namespace", "topic", "partition", "subscription", "start_ms", "signal")
    return AnomalyRows(rows.sort_by([(name, "ascending") for name in order]).to_pylist(), start_ms, end_ms)


def _parts(wanted: AnomalyFilter) -> dict[str, Any]:
    if wanted.subscription is None:
        return {"topic": None, "partition": None, "subscription": None}
    name = SubscriptionName.of(wanted.subscription)
    return {"topic": name.topic, "partition": name.partition, "subscription": name.subscription}


def _range(lake: Lake, wanted: AnomalyFilter) -> tuple[int, int]:
    end_ms = wanted.end_ms
    if end_ms is None:
        partition = None if wanted.cluster is None else {"cluster": [wanted.cluster]}
        files = lake.files("signals", partition=partition)
        if not files:
            raise InputError(
                "There are no signals in this lake"
                + ("" if wanted.cluster is None else f" of {wanted.cluster}"),
                got=lake.root,
                fix="bring some with throttlescope run --lake DIR",
            )
        end_ms = max(file.maximum["minute_ms"] for file in files) + MINUTE_MS
    start_ms = end_ms - DAY_MS if wanted.start_ms is None else wanted.start_ms
    check_range(start_ms, end_ms)
    return start_ms, end_ms
