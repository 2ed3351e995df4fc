"""Diagnose one topic now. In: a question, settings, a deadline. Out: a :class:`NowAnswer` of plain tables; nothing is printed or kept.

Prometheus and the admin API are read at once. Then everything is as in a run: the same normalisation, the same functions that
make ``signals`` of samples and limits, the same rules on the same windows. What a run adds is its lake: gates, limits observed
earlier, and a day of what came before.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyarrow as pa

from throttlescope.app.services.diagnose_now.admin import TopicAdminData, read_topic_admin
from throttlescope.app.services.diagnose_now.deadline import Deadline, Waited
from throttlescope.app.services.diagnose_now.question import NowQuestion
from throttlescope.app.services.diagnose_now.shared_limits import sharing
from throttlescope.app.services.diagnose_now.sources import Sources
from throttlescope.app.services.diagnose_now.verdicts import judge
from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.core.compilation import are_compiled
from throttlescope.ingest.core.errors import SourceError
from throttlescope.ingest.core.metrics import BACKLOG
from throttlescope.ingest.core.selector import NAME_LABEL
from throttlescope.ingest.core.times import BLOCK_MS, block_start
from throttlescope.ingest.lake.blocks import KERNELS, load_kernels
from throttlescope.ingest.quality.admin_scope import other_cluster, other_cluster_words
from throttlescope.ingest.sources.prometheus import PrometheusSource
from throttlescope.ingest.sources.remote_read import DECODER, load_decoder
from throttlescope.models.diagnosis.neighbours import QuotaUse, quota_neighbours
from throttlescope.models.diagnosis.partitions import SubscriptionPartitions, over_partitions
from throttlescope.models.diagnosis.slowest import METRICS, SlowConsumers, slowest_consumers
from throttlescope.models.diagnosis.verdict import Verdict
from throttlescope.models.diagnosis.window import SubscriptionKey
from throttlescope.models.messages.catalogue import sentence
from throttlescope.transforms.broker_use import signals_of
from throttlescope.transforms.compile_minutes import MINUTES, compile_minutes
from throttlescope.transforms.minutes import minute_rows
from throttlescope.transforms.promql.source import Series
from throttlescope.transforms.topic_samples import IndexedSource, TopicSamples, read_topic

if TYPE_CHECKING:
    from throttlescope.app.config import Settings

#: Shares of the time: until then samples and answers of the admin API are waited for, and requests are made.
_SAMPLES_UNTIL, _ADMIN_UNTIL, _REQUEST_UNTIL = 0.8, 0.75, 0.65


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
        Rows of ``verdicts``: the windows on the grid inside the requested range.
    signals, limits, topic_stats : pyarrow.Table
        What they rest on, of the whole topic.
    slowest : dict
        Of each subscription partition whose newest verdict is not healthy: its slow consumers.
    neighbours : dict
        Of each one that is limited by a shared limit: who used it.
    partitions : tuple of SubscriptionPartitions
        The newest verdicts, subscription by subscription, on all partitions of the topic.
    notes : tuple of str
        What was not read, and what follows from that.
    """

    question: NowQuestion
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
    question: NowQuestion,
    settings: Settings,
    *,
    cluster: str | None = None,
    override_cluster: bool = False,
    deadline: Deadline | None = None,
    window_ms: int | None = None,
    every_ms: int | None = None,
    note: Callable[[str], None] = lambda text: None,
) -> NowAnswer:
    """Read one topic and judge it, in this process.

    Parameters
    ----------
    question : NowQuestion
    settings : Settings
        Sources, as for a run.
    cluster : str, optional
        One of the settings' clusters; not needed where there is one.
    override_cluster : bool
        The cluster's name replaces the label ``cluster`` instead of filling it.
    deadline : Deadline, optional
        Deadline and cancel check; ten seconds by default. Where functions have to be compiled first, it starts afterwards.
    window_ms, every_ms : int, optional
        Length and distance of windows; the settings' by default.
    note : callable
        Called with a sentence before functions are compiled.

    Raises
    ------
    InputError
        What was requested is not there.
    SourceError
        Prometheus cannot be reached, refuses, or is not ready in time. An admin API that does not answer is a note: without it
        limits are unknown, and verdicts say so.
    CancelledError
    """
    deadline = Deadline() if deadline is None else deadline
    deadline.check()
    if not are_compiled(*KERNELS, *DECODER, *MINUTES):
        note(sentence("diagnose_now.compiling"))
        load_kernels()
        load_decoder()
        compile_minutes()
        deadline = deadline.restarted()
    sources = Sources.of(settings, cluster, override_cluster=override_cluster)
    start_ms, end_ms = question.read_range(round(time.time() * 1000))
    steps_s: dict[str, float] = {}

    pending = None
    if sources.admin is not None:
        admin = sources.admin.within(deadline, _REQUEST_UNTIL)
        pending = Waited(lambda: read_topic_admin(admin, question.topic))

    def read() -> tuple[PrometheusSource, TopicSamples]:
        opened = sources.prometheus(deadline)
        found = read_topic(
            opened.samples, opened.mapping, question.topic, start_ms, end_ms, match=sources.match
        )
        return opened, found

    prometheus, found = Waited(read).result(deadline, _SAMPLES_UNTIL, "Prometheus")
    steps_s["prometheus"] = deadline.passed_s
    admin_data, notes = _admin_data(pending, deadline)
    steps_s["admin"] = deadline.passed_s
    if sources.mapping.cluster is None:
        admin_data, more = _of_this_cluster(admin_data, found)
        notes += more
    backlogs = (one.labels for one in found.series if one.labels["__name__"] == BACKLOG)
    limits, stats = admin_data.of_cluster(found.cluster, backlogs)
    notes += _refused(found)

    source = IndexedSource(found.series)
    hours = block_start(start_ms), end_ms + -end_ms % BLOCK_MS
    newest = {found.cluster: found.span_ms[1]}
    minutes = minute_rows(source, limits, stats, *hours, newest)
    steps_s["minutes"] = deadline.passed_s
    deadline.check()
    neighbours, whole, more = sharing(minutes, prometheus, found, question, hours, deadline)
    notes += more
    signals = signals_of(minutes, neighbours, whole=whole)
    steps_s["signals"] = deadline.passed_s
    judged = judge(
        signals, question, found.span_ms, deadline,
        window_ms=settings.window if window_ms is None else window_ms,
        every_ms=settings.every if every_ms is None else every_ms,
    )  # fmt: skip
    steps_s["verdicts"] = deadline.passed_s
    if judged.left_out:
        notes.append(sentence("diagnose_now.left_out", windows=judged.left_out))
    newest_of = {
        key: one for key, one in judged.newest.items() if question.means(key.partition, key.subscription)
    }
    return NowAnswer(
        question=question,
        cluster=found.cluster,
        start_ms=start_ms,
        end_ms=end_ms,
        newest_ms=found.span_ms[1],
        verdicts=judged.newest_rows(question),
        windows=judged.earlier_rows(),
        signals=signals,
        limits=limits,
        topic_stats=stats,
        slowest=_slowest(newest_of, found, admin_data, stats),
        neighbours=_neighbours(newest_of, signals),
        partitions=tuple(over_partitions([one.to_row() for one in judged.newest.values()])),
        notes=tuple(notes),
        took_s=deadline.passed_s,
        source_requests=found.requests,
        admin_requests=admin_data.requests,
        series=len(found.series),
        samples=found.samples,
        steps_s=steps_s,
    )


# -- the admin API ------------------------------------------------------------------------------


def _admin_data(
    pending: Waited[TopicAdminData] | None, deadline: Deadline
) -> tuple[TopicAdminData, list[str]]:
    if pending is None:
        return TopicAdminData(), [sentence("diagnose_now.no_admin")]
    try:
        admin_data = pending.result(deadline, _ADMIN_UNTIL, "The admin API")
    except SourceError as error:
        return TopicAdminData(), [sentence("diagnose_now.admin_failed", error=error)]
    if not admin_data.failures:
        return admin_data, []
    first = admin_data.failures[0]
    return admin_data, [
        sentence(
            "diagnose_now.admin_incomplete",
            requests=len(admin_data.failures),
            scope=first.scope,
            subject=first.key,
            reason=first.reason,
        )
    ]


def _of_this_cluster(admin_data: TopicAdminData, found: TopicSamples) -> tuple[TopicAdminData, list[str]]:
    """What the admin API returned, unless it is of another cluster than the samples."""
    instances = {one.labels.get("instance", "") for one in found.series}
    other = other_cluster(admin_data.policies, found.cluster, instances)
    if other is None:
        return admin_data, []
    difference = other_cluster_words(other, found.cluster)
    return TopicAdminData(requests=admin_data.requests), [
        sentence("diagnose_now.other_cluster", difference=difference, cluster=found.cluster)
    ]


def _refused(found: TopicSamples) -> list[str]:
    return [
        sentence("diagnose_now.not_placed", series=count, reason=reason)
        for reason, count in sorted(found.refused.items())
    ]


# -- next to the verdicts ----------------------------------------------------------------------


def _slowest(
    newest: dict[SubscriptionKey, Verdict], found: TopicSamples, admin_data: TopicAdminData, stats: pa.Table
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
            stats=admin_data.consumers,
            subscription_type=kinds.get(key),
        )
        for key, one in newest.items()
        if one.cause != "healthy"
    }


def _neighbours(
    newest: dict[SubscriptionKey, Verdict], signals: pa.Table
) -> dict[SubscriptionKey, list[QuotaUse]]:
    """Of a broker's limit only this topic's subscriptions are in the signals, so none is named for it."""
    return {
        key: quota_neighbours(signals, key, one.limiter, one.window_start_ms, one.window_end_ms)
        for key, one in newest.items()
        if one.limiter is not None and one.limiter.startswith("topic.")
    }
