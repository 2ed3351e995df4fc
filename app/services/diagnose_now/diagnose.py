"""Diagnose one topic now. In: what is asked, settings, a deadline. Out: a :class:`NowAnswer` of plain tables; nothing is printed or kept.

Prometheus and the admin API are asked at once. Then everything is as in a run: the same normalisation, the same functions that
make ``signals`` of samples and limits, the same rules on the same windows. What a run adds is its lake: gates, limits observed
earlier, and a day of what came before.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyarrow as pa

from throttlescope.app.services.diagnose_now.admin import SaidOfTopic, ask_topic
from throttlescope.app.services.diagnose_now.deadline import Hurry, Waited
from throttlescope.app.services.diagnose_now.question import NowQuestion
from throttlescope.app.services.diagnose_now.shared_limits import sharing
from throttlescope.app.services.diagnose_now.sources import Sources
from throttlescope.app.services.diagnose_now.verdicts import judge
from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.core.errors import SourceError
from throttlescope.ingest.core.selector import NAME_LABEL
from throttlescope.ingest.core.times import BLOCK_MS, block_start
from throttlescope.ingest.quality.admin_scope import other_cluster, other_cluster_words
from throttlescope.ingest.sources.prometheus import PrometheusSource
from throttlescope.models.diagnosis.neighbours import QuotaUse, quota_neighbours
from throttlescope.models.diagnosis.partitions import SubscriptionPartitions, over_partitions
from throttlescope.models.diagnosis.slowest import METRICS, SlowConsumers, slowest_consumers
from throttlescope.models.diagnosis.verdict import Verdict
from throttlescope.models.diagnosis.window import SubscriptionKey
from throttlescope.models.messages.catalogue import sentence
from throttlescope.transforms.broker_use import signals_of
from throttlescope.transforms.minutes import minute_rows
from throttlescope.transforms.promql.source import Series
from throttlescope.transforms.topic_samples import IndexedSource, TopicSamples, read_topic

if TYPE_CHECKING:
    from throttlescope.app.config import Settings

#: Shares of the time: until then samples and answers of the admin API are waited for, and questions are asked.
_SAMPLES_UNTIL, _ADMIN_UNTIL, _ASK_UNTIL = 0.8, 0.75, 0.65


@dataclass(frozen=True)
class NowAnswer:
    """Why the subscriptions of one topic have, or have not, a backlog.

    Attributes
    ----------
    start_ms, end_ms : int
        Range that was read; whole UTC hours, clipped at now.
    newest_ms : int
        The newest scrape that was seen.
    verdicts : pyarrow.Table
        Rows of ``verdicts``: the newest window of each subscription partition.
    windows : pyarrow.Table
        Rows of ``verdicts``: the windows on the grid inside the range that was asked for.
    signals, limits, topic_stats : pyarrow.Table
        What they rest on, of the whole topic.
    slowest : dict
        Of each subscription partition whose newest verdict is not healthy: its slow consumers.
    neighbours : dict
        Of each one that a shared limit holds: who used it.
    partitions : tuple of SubscriptionPartitions
        The newest verdicts, subscription by subscription, on all partitions of the topic.
    notes : tuple of str
        What was not read, and what follows from that.
    """

    asked: NowQuestion
    cluster: str
    start_ms: int
    end_ms: int
    newest_ms: int
    verdicts: pa.Table
    windows: pa.Table
    signals: pa.Table
    limits: pa.Table
    topic_stats: pa.Table
    slowest: dict[SubscriptionKey, SlowConsumers]
    neighbours: dict[SubscriptionKey, list[QuotaUse]]
    partitions: tuple[SubscriptionPartitions, ...]
    notes: tuple[str, ...]
    took_s: float
    source_requests: int
    admin_requests: int
    series: int
    samples: int
    steps_s: dict[str, float] = field(default_factory=dict)


def diagnose_now(
    asked: NowQuestion,
    settings: Settings,
    *,
    cluster: str | None = None,
    override_cluster: bool = False,
    hurry: Hurry | None = None,
    window_ms: int | None = None,
    every_ms: int | None = None,
) -> NowAnswer:
    """Read one topic and judge it, in this process.

    Parameters
    ----------
    asked : NowQuestion
    settings : Settings
        Sources, as for a run.
    cluster : str, optional
        One of the settings' clusters; not needed where there is one.
    override_cluster : bool
        The cluster's name replaces the label ``cluster`` instead of filling it.
    hurry : Hurry, optional
        Deadline and cancel check; ten seconds by default.
    window_ms, every_ms : int, optional
        Length and distance of windows; the settings' by default.

    Raises
    ------
    InputError
        What is asked for is not there.
    SourceError
        Prometheus cannot be reached, refuses, or is not ready in time. An admin API that does not answer is a note: without it
        limits are unknown, and verdicts say so.
    CancelledError
    """
    hurry = Hurry() if hurry is None else hurry
    hurry.check()
    sources = Sources.of(settings, cluster, override_cluster=override_cluster)
    start_ms, end_ms = asked.read_range(round(time.time() * 1000))
    steps_s: dict[str, float] = {}

    said_by = None
    if sources.admin is not None:
        admin = sources.admin.within(hurry, _ASK_UNTIL)
        said_by = Waited(lambda: ask_topic(admin, asked.topic))

    def read() -> tuple[PrometheusSource, TopicSamples]:
        opened = sources.prometheus(hurry)
        found = read_topic(opened.samples, opened.mapping, asked.topic, start_ms, end_ms, match=sources.match)
        return opened, found

    prometheus, found = Waited(read).result(hurry, _SAMPLES_UNTIL, "Prometheus")
    steps_s["prometheus"] = hurry.passed_s
    said, notes = _said(said_by, hurry)
    steps_s["admin"] = hurry.passed_s
    if sources.mapping.cluster is None:
        said, more = _of_this_cluster(said, found)
        notes += more
    limits, stats = said.of_cluster(found.cluster)
    notes += _refused(found)

    source = IndexedSource(found.series)
    hours = block_start(start_ms), end_ms + -end_ms % BLOCK_MS
    newest = {found.cluster: found.span_ms[1]}
    minutes = minute_rows(source, limits, stats, *hours, newest)
    steps_s["minutes"] = hurry.passed_s
    hurry.check()
    neighbours, whole, more = sharing(minutes, prometheus, found, asked, hours, hurry)
    notes += more
    signals = signals_of(minutes, neighbours, whole=whole)
    steps_s["signals"] = hurry.passed_s
    judged = judge(
        signals, asked, found.span_ms, hurry,
        window_ms=settings.window if window_ms is None else window_ms,
        every_ms=settings.every if every_ms is None else every_ms,
    )  # fmt: skip
    steps_s["verdicts"] = hurry.passed_s
    if judged.left_out:
        notes.append(sentence("diagnose_now.left_out", windows=judged.left_out))
    newest_of = {
        key: one for key, one in judged.newest.items() if asked.means(key.partition, key.subscription)
    }
    return NowAnswer(
        asked=asked,
        cluster=found.cluster,
        start_ms=start_ms,
        end_ms=end_ms,
        newest_ms=found.span_ms[1],
        verdicts=judged.newest_rows(asked),
        windows=judged.earlier_rows(),
        signals=signals,
        limits=limits,
        topic_stats=stats,
        slowest=_slowest(newest_of, found, said, stats),
        neighbours=_neighbours(newest_of, signals),
        partitions=tuple(over_partitions([one.to_row() for one in judged.newest.values()])),
        notes=tuple(notes),
        took_s=hurry.passed_s,
        source_requests=found.requests,
        admin_requests=said.requests,
        series=len(found.series),
        samples=found.samples,
        steps_s=steps_s,
    )


# -- the admin API ------------------------------------------------------------------------------


def _said(said_by: Waited[SaidOfTopic] | None, hurry: Hurry) -> tuple[SaidOfTopic, list[str]]:
    if said_by is None:
        return SaidOfTopic(), [sentence("diagnose_now.no_admin")]
    try:
        said = said_by.result(hurry, _ADMIN_UNTIL, "The admin API")
    except SourceError as error:
        return SaidOfTopic(), [sentence("diagnose_now.admin_failed", error=error)]
    if not said.failures:
        return said, []
    first = said.failures[0]
    return said, [
        sentence(
            "diagnose_now.admin_incomplete",
            requests=len(said.failures),
            scope=first.scope,
            key=first.key,
            reason=first.reason,
        )
    ]


def _of_this_cluster(said: SaidOfTopic, found: TopicSamples) -> tuple[SaidOfTopic, list[str]]:
    """What was said, unless it is of another cluster than the samples."""
    instances = {one.labels.get("instance", "") for one in found.series}
    other = other_cluster(said.policies, found.cluster, instances)
    if other is None:
        return said, []
    difference = other_cluster_words(other, found.cluster)
    return SaidOfTopic(requests=said.requests), [
        sentence("diagnose_now.other_cluster", difference=difference, cluster=found.cluster)
    ]


def _refused(found: TopicSamples) -> list[str]:
    return [
        sentence("diagnose_now.not_placed", series=count, reason=reason)
        for reason, count in sorted(found.refused.items())
    ]


# -- beside the verdicts ------------------------------------------------------------------------


def _slowest(
    newest: dict[SubscriptionKey, Verdict], found: TopicSamples, said: SaidOfTopic, stats: pa.Table
) -> dict[SubscriptionKey, SlowConsumers]:
    kinds = {
        SubscriptionKey(*(row[name] for name in SUBSCRIPTION_KEY_NAMES)): row["subscription_type"]
        for row in stats.select([*SUBSCRIPTION_KEY_NAMES, "subscription_type"]).to_pylist()
    }
    of_key: dict[tuple[str, str], list[Series]] = {}
    for one in found.series:
        if one.labels[NAME_LABEL] in METRICS:
            of_key.setdefault((one.labels["partition"], one.labels["subscription"]), []).append(one)
    return {
        key: slowest_consumers(
            key,
            of_key.get((str(key.partition), key.subscription), ()),
            one.window_start_ms,
            one.window_end_ms,
            stats=said.consumers,
            subscription_type=kinds.get(key),
        )
        for key, one in newest.items()
        if one.cause != "healthy"
    }


def _neighbours(
    newest: dict[SubscriptionKey, Verdict], signals: pa.Table
) -> dict[SubscriptionKey, list[QuotaUse]]:
    """Of a broker's limit only this topic's subscriptions are in the signals, so nobody is named for it."""
    return {
        key: quota_neighbours(signals, key, one.limiter, one.window_start_ms, one.window_end_ms)
        for key, one in newest.items()
        if one.limiter is not None and one.limiter.startswith("topic.")
    }
