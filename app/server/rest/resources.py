"""The resources: what each one's items are, what selects them, and how they are read. In: a reader and filters. Out: rows [start, end).

Rows are those that the web pages show, of the same snapshot: ``/export`` takes its rows from here too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from throttlescope.app.server.rest import filters as f
from throttlescope.app.server.rest import items
from throttlescope.app.web.address.limits import LimitsAddress
from throttlescope.app.web.address.subscriptions import SubscriptionsAddress
from throttlescope.app.web.data import limiters, newest
from throttlescope.app.web.data.latest import KEY
from throttlescope.app.web.data.reader import LakeReader, dicts
from throttlescope.app.web.data.snapshot import Snapshot
from throttlescope.app.web.data.table_query import Conditions
from throttlescope.ingest.lake import DataFile

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class RestResource:
    """One resource of the API.

    Attributes
    ----------
    name : str
        Its address, below ``/api/throttlescope/v1``.
    item : pydantic model
        Of one item.
    filters : type of PageFilters
        Its parameters.
    tables : tuple of str
        What its answers are read from; their versions are the version of an answer.
    read : callable
        (reader, filters, start, end) -> rows.
    """

    name: str
    item: type[BaseModel]
    filters: type[f.PageFilters]
    tables: tuple[str, ...]
    read: Callable[[LakeReader, Any, int, int], Rows]


def verdicts(reader: LakeReader, wanted: f.VerdictFilters, start: int, end: int) -> Rows:
    """Verdicts whose window touches the range, the newest window first."""
    where = _causes(wanted, "backlog_entries")
    if wanted.start_ms is not None:
        where.add("window_end_ms > ?", wanted.start_ms)
    if wanted.end_ms is not None:
        where.add("window_start_ms < ?", wanted.end_ms)
    if wanted.window_end_ms is not None:
        where.add("window_end_ms = ?", wanted.window_end_ms)
    if wanted.min_confidence is not None:
        where.add("confidence >= ?", wanted.min_confidence)
    bounds = {"window_end_ms": (_after(wanted.start_ms), None), "window_start_ms": (None, wanted.end_ms)}
    if wanted.window_end_ms is not None:
        bounds["window_end_ms"] = (wanted.window_end_ms, wanted.window_end_ms)
    return _rows(
        reader, "verdicts", where, f"window_end_ms DESC, {KEY}, window_start_ms", start, end, _may_hold(wanted, bounds)
    )  # fmt: skip


def subscriptions(reader: LakeReader, wanted: f.SubscriptionFilters, start: int, end: int) -> Rows:
    """The newest verdict and the recent main cause of every subscription partition, in the order of the page."""
    only = _causes(wanted, "backlog_entries").among("main_cause", wanted.main_cause)
    if wanted.min_confidence is not None:
        only.add("confidence >= ?", wanted.min_confidence)
    if wanted.troubled_only:
        only.add("cause != 'healthy'")
    address = SubscriptionsAddress(search=wanted.search, view=wanted.order, own_topics=wanted.own_topics)
    return newest.subscriptions(reader, address, start=start, end=end, only=only)[0]


def episodes(reader: LakeReader, wanted: f.EpisodeFilters, start: int, end: int) -> Rows:
    """Backlogs that touch the range, the newest first."""
    where = _touching(_causes(wanted, "peak_entries"), wanted)
    bounds = {"start_ms": (None, wanted.end_ms)}
    return _rows(reader, "episodes", where, f"start_ms DESC, {KEY}", start, end, _may_hold(wanted, bounds))


def incidents(reader: LakeReader, wanted: f.IncidentFilters, start: int, end: int) -> Rows:
    """Incidents that touch the range, the newest first; of a subscription those that it is a member of."""
    where = Conditions().among("cluster", wanted.cluster).among("kind", wanted.kind)
    where.among("cause", wanted.cause).among("side", wanted.side).among("limiter", wanted.limiter)
    if wanted.min_backlog_entries is not None:
        where.add("peak_entries >= ?", wanted.min_backlog_entries)
    members = _names(wanted, "m.", with_cluster=False)
    if members.values:
        where.add(f"len([m FOR m IN members IF {members.sql}]) > 0", *members.values)
    _touching(where, wanted)
    order = "start_ms DESC, cluster, kind, shared_with, limiter NULLS FIRST, cause"
    return _rows(reader, "incidents", where, order, start, end, lambda file: True)


def limits(reader: LakeReader, wanted: f.LimitFilters, start: int, end: int) -> Rows:
    """Limiters in force, the most used first."""
    only = Conditions().among("topic", wanted.topic).among("subscription", wanted.subscription)
    only.among("broker", wanted.broker).among("limiter", wanted.limiter)
    only.among("split_part(limiter, '.', 2)", wanted.unit)
    if wanted.min_use_share is not None:
        only.add("share >= ?", wanted.min_use_share)
    address = LimitsAddress(
        clusters=wanted.cluster,
        namespaces=wanted.namespace,
        levels=wanted.level,
        set_by=wanted.set_by,
        without=wanted.include_unset,
    )
    return limiters.limiters(reader, address, start=start, end=end, only=only)[0]


def forecasts(reader: LakeReader, wanted: f.ForecastFilters, start: int, end: int) -> Rows:
    """Forecasts that were made in the range, without one the newest of each cluster; the newest made first, then what comes first."""
    where = _names(wanted).among("kind", wanted.kind).among("method", wanted.method)
    where.among("state", wanted.state)
    if wanted.predicted_before_ms is not None:
        where.add("predicted_ms < ?", wanted.predicted_before_ms)
    source = "{source}"
    if wanted.start_ms is None and wanted.end_ms is None:
        source = "(SELECT * FROM {source} QUALIFY made_at_ms = max(made_at_ms) OVER (PARTITION BY cluster))"
    if wanted.start_ms is not None:
        where.add("made_at_ms >= ?", wanted.start_ms)
    if wanted.end_ms is not None:
        where.add("made_at_ms < ?", wanted.end_ms)
    order = f"made_at_ms DESC, predicted_ms NULLS LAST, {KEY}, kind, method"
    # The newest of a cluster may not be of the selected topic: only a range narrows the files.
    bounds = {"made_at_ms": (wanted.start_ms, wanted.end_ms)}
    may_hold = _within(bounds)
    return _rows(reader, "forecasts", where, order, start, end, may_hold, source)


_JUDGED = ("verdicts", "verdict_latest")

#: By name, in the order of the documentation.
RESOURCES: Mapping[str, RestResource] = {
    one.name: one
    for one in (
        RestResource("verdicts", items.VERDICT, f.VerdictFilters, ("verdicts",), verdicts),
        RestResource("subscriptions", items.SUBSCRIPTION, f.SubscriptionFilters, _JUDGED, subscriptions),
        RestResource("episodes", items.EPISODE, f.EpisodeFilters, ("episodes", "verdicts"), episodes),
        RestResource("incidents", items.INCIDENT, f.IncidentFilters, ("incidents", "verdicts"), incidents),
        RestResource("limits", items.LimitItem, f.LimitFilters, ("limits", "signals", *_JUDGED), limits),
        RestResource("forecasts", items.FORECAST, f.ForecastFilters, ("forecasts", "verdicts"), forecasts),
    )
}


def _rows(
    reader: LakeReader,
    table: str,
    where: Conditions,
    order: str,
    start: int,
    end: int,
    may_hold: Callable[[DataFile], bool],
    source: str = "{source}",
) -> Rows:
    def read(cursor, snapshot: Snapshot) -> Rows:
        files = [file for file in snapshot.files[table] if may_hold(file)]
        stored = source.format(source=snapshot.source(table, files))
        return dicts(
            cursor.execute(
                f"SELECT * FROM {stored} WHERE {where.sql} ORDER BY {order} LIMIT ? OFFSET ?",  # noqa: S608
                [*where.values, end - start, start],
            )
        )

    return reader.read(read)


def _names(wanted: f.NameFilters, of: str = "", *, with_cluster: bool = True) -> Conditions:
    """Conditions on the columns of a key; ``of`` comes before each column's name."""
    where = Conditions()
    if with_cluster:
        where.among(f"{of}cluster", wanted.cluster)
    where.among(f"split_part({of}namespace, '/', 1)", wanted.tenant)
    where.among(f"{of}namespace", wanted.namespace).among(f"{of}subscription", wanted.subscription)
    where.either(
        [
            choice
            for text, parts in wanted.topics
            for choice in (
                (f"{of}topic = ?", [text]),
                (f"{of}topic = ? AND {of}partition = ?", list(parts)),
            )
            if None not in choice[1]
        ]
    )
    if wanted.partition is not None:
        where.add(f"{of}partition = ?", wanted.partition)
    if (named := wanted.named) is not None:
        where.add(f"{of}topic = ? AND {of}subscription = ?", named.topic, named.subscription)
        if named.partition is not None:
            where.add(f"{of}partition = ?", named.partition)
    return where


def _causes(wanted: f.CauseFilters, backlog: str) -> Conditions:
    """Names, causes, and at least so much in the column of the backlog."""
    where = _names(wanted).among("cause", wanted.cause).among("side", wanted.side)
    where.among("limiter", wanted.limiter)
    if wanted.min_backlog_entries is not None:
        where.add(f"{backlog} >= ?", wanted.min_backlog_entries)
    return where


def _touching(where: Conditions, wanted: f.EpisodeFilters | f.IncidentFilters) -> Conditions:
    """What touches the range: one that has not ended reaches to its end."""
    if wanted.open_only:
        where.add("end_ms IS NULL")
    if wanted.start_ms is not None:
        where.add("(end_ms IS NULL OR end_ms > ?)", wanted.start_ms)
    if wanted.end_ms is not None:
        where.add("start_ms < ?", wanted.end_ms)
    return where


def _after(time_ms: int | None) -> int | None:
    return None if time_ms is None else time_ms + 1


Bounds = Mapping[str, tuple[int | None, int | None]]


def _within(bounds: Bounds) -> Callable[[DataFile], bool]:
    """Whether a file may hold rows with these columns in [low, high]; None: no bound."""

    def may_hold(file: DataFile) -> bool:
        return all(
            name not in file.minimum
            or ((low is None or file.maximum[name] >= low) and (high is None or file.minimum[name] <= high))
            for name, (low, high) in bounds.items()
        )

    return may_hold


def _may_hold(wanted: f.NameFilters, bounds: Bounds) -> Callable[[DataFile], bool]:
    """As :func:`_within`, and one of the selected clusters and topics."""
    in_bounds = _within(bounds)
    topics = {text for text, _ in wanted.topics} | {parts[0] for _, parts in wanted.topics}
    if wanted.named is not None:
        topics = {wanted.named.topic}
    chosen = {"cluster": set(wanted.cluster), "topic": topics}

    def may_hold(file: DataFile) -> bool:
        return in_bounds(file) and all(
            not texts
            or name not in file.minimum
            or any(file.minimum[name] <= text <= file.maximum[name] for text in texts)
            for name, texts in chosen.items()
        )

    return may_hold
