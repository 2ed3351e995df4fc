"""Answers of the sources themselves, for a page. In: settings and a subscription. Out: a diagnosis of this moment, or what its backlog holds.

Read-only like everything else, and bounded: one at a time in each process, and one that waits for it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from throttlescope.app.presentation.links.subscription import SubscriptionPartition
from throttlescope.app.services.promql.concurrency import ConcurrencyLimit
from throttlescope.app.services.promql.errors import ApiError
from throttlescope.ingest.core.errors import InputError, SourceError
from throttlescope.ingest.core.subscription_name import SubscriptionName
from throttlescope.ingest.core.times import MINUTE_MS

if TYPE_CHECKING:
    from throttlescope.app.config import Settings
    from throttlescope.app.services.analyze_backlog import AnalyzedBacklog
    from throttlescope.app.services.diagnose_now import NowAnswer

#: Including the wait for the concurrency limit.
DEADLINE_S = 15.0
#: The same of an analysis of a backlog; the browser gives up later.
ANALYSIS_DEADLINE_S = 45.0
FOR_MS = 30 * MINUTE_MS


class Live:
    """The sources that a configuration names.

    Parameters
    ----------
    settings : Settings
        At least one cluster has a source: see :meth:`of`.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._concurrency = ConcurrencyLimit(running=1, waiting=1)
        self._analyses = ConcurrencyLimit(running=1, waiting=1)

    @classmethod
    def of(cls, settings: Settings) -> Live | None:
        """None where no cluster has a Prometheus or an admin API."""
        live = cls(settings)
        return live if live.can_diagnose or live.can_analyze else None

    @property
    def can_diagnose(self) -> bool:
        """Whether some cluster has a Prometheus."""
        return any(cluster.prometheus is not None for cluster in self.settings.clusters.values())

    @property
    def can_analyze(self) -> bool:
        """Whether some cluster has an admin API."""
        return any(cluster.pulsar_admin is not None for cluster in self.settings.clusters.values())

    def analyze(
        self, subscription: SubscriptionPartition, *, cancelled: Callable[[], bool]
    ) -> AnalyzedBacklog:
        """What the backlog of one subscription partition holds: its broker reads it from storage.

        Raises
        ------
        InputError
            No admin API of its cluster is configured.
        SourceError
            It does not answer in time or refuses, or too many analyses are requested.
        CancelledError
        """
        from throttlescope.app.services.analyze_backlog import analyze
        from throttlescope.app.services.diagnose_now import Deadline

        partition = None if subscription.partition < 0 else subscription.partition
        name = SubscriptionName(subscription.topic, partition, subscription.subscription)
        try:
            with self._analyses.slot(ANALYSIS_DEADLINE_S / 2) as left_s:
                deadline = Deadline(ANALYSIS_DEADLINE_S / 2 + left_s, cancelled=cancelled)
                return analyze(self.settings, subscription.cluster, name, deadline)
        except ApiError as error:
            raise SourceError(
                "Another backlog is being analyzed by this server",
                got=error.text,
                fix="try again in a moment",
            ) from None

    def diagnose(self, subscription: SubscriptionPartition, *, cancelled: Callable[[], bool]) -> NowAnswer:
        """Why it has a backlog at this moment.

        Raises
        ------
        InputError
            No source of its cluster is configured, or it is not there.
        SourceError
            A source does not answer in time, or too many diagnoses are requested.
        CancelledError
        """
        from throttlescope.app.services.diagnose_now import Deadline, NowQuestion, diagnose_now

        cluster = self._cluster_of(subscription)
        partition = None if subscription.partition < 0 else subscription.partition
        now_ms = round(time.time() * 1000)
        question = NowQuestion(
            subscription.topic, partition, subscription.subscription, now_ms - FOR_MS, now_ms
        )
        try:
            with self._concurrency.slot(DEADLINE_S / 2) as left_s:
                deadline = Deadline(DEADLINE_S / 2 + left_s, cancelled=cancelled)
                answer = diagnose_now(question, self.settings, cluster=cluster, deadline=deadline)
        except SourceError as error:
            if "--deadline" not in (error.fix or ""):
                raise
            raise SourceError(
                error.what,
                got=error.got,
                fix="try again, or on the command line with more time: throttlescope now --deadline 60s",
            ) from error
        except ApiError as error:
            raise SourceError(
                "Another diagnosis is running in this server", got=error.text, fix="try again in a moment"
            ) from None
        if answer.cluster != subscription.cluster:
            raise InputError(
                "The configured Prometheus is another cluster's",
                got=f"cluster {answer.cluster}",
                expected=f"cluster {subscription.cluster}",
                fix="name the cluster in throttlescope.toml as the lake does",
            )
        return answer

    def _cluster_of(self, subscription: SubscriptionPartition) -> str:
        """The name in the configuration; a single cluster may have another name there."""
        known = [name for name, cluster in self.settings.clusters.items() if cluster.prometheus is not None]
        if subscription.cluster in known:
            return subscription.cluster
        if len(known) == 1:
            return known[0]
        raise InputError(
            "No Prometheus of this cluster is configured",
            got=f"cluster {subscription.cluster}",
            expected="one of " + ", ".join(known),
            fix="add it to throttlescope.toml (docs/reference/configuration.md) and start serve again",
        )
