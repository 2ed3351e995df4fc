"""What is in the backlog of one subscription, on request. In: its name, the admin API, a deadline. Out: counts by partition, and their sum.

The broker reads the backlog from storage, one partition after the other. When the caller no longer waits, no more requests are sent; the one
that is under way ends at the broker's own limit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from throttlescope.app.services.diagnose_now.deadline import CancelledError, Deadline, Waited
from throttlescope.ingest.core.errors import InputError, SourceError
from throttlescope.ingest.core.subscription_name import SubscriptionName, remote_cluster
from throttlescope.ingest.sources.backlog_analysis import FIXES, BacklogAnalysis, analyze_backlog, total
from throttlescope.ingest.sources.policy_answers import MOST_PARTITIONS
from throttlescope.ingest.sources.pulsar_admin import AdminTopic, PulsarAdmin

if TYPE_CHECKING:
    from throttlescope.app.config import Settings

#: The broker's own limits of one partition, unless configured: ``subscriptionBacklogScanMaxEntries``, ``...MaxTimeMs``.
SCAN_ENTRIES, SCAN_S = 10_000, 120.0
_SHORTEST_S, _LONGEST_S = 1.0, 3600.0


@dataclass(frozen=True)
class AnalyzedBacklog:
    """What is in a backlog.

    Attributes
    ----------
    partitions : dict of int to BacklogAnalysis
        By partition, in their order; -1: the topic is not partitioned.
    left_out : tuple of int
        Partitions that were not read before the deadline.
    failures : dict of int to str
        Partitions that did not answer, and why.
    took_s : float
    """

    cluster: str
    name: SubscriptionName
    partitions: dict[int, BacklogAnalysis] = field(default_factory=dict)
    left_out: tuple[int, ...] = ()
    failures: dict[int, str] = field(default_factory=dict)
    took_s: float = 0.0

    @property
    def total(self) -> BacklogAnalysis:
        """The sum over what was read: a lower bound where a partition is, or was not read."""
        found = total(self.partitions.values())
        return replace(found, is_lower_bound=found.is_lower_bound or bool(self.left_out or self.failures))


def analyze(
    settings: Settings,
    cluster: str | None,
    name: SubscriptionName,
    deadline: Deadline,
    note: Callable[[str], None] = lambda _: None,
) -> AnalyzedBacklog:
    """Let the brokers read the backlog of a subscription: of one partition, or of all of them one by one.

    Raises
    ------
    InputError
        The name is a replicator's or of a topic without a backlog, or no admin API is configured.
    SourceError
        Not one partition answered.
    CancelledError
    """
    if remote_cluster(name.subscription) is not None:
        raise InputError(
            "A replicator's backlog cannot be analyzed", got=str(name), expected="a subscription, topic#sub"
        )
    if not name.topic.startswith("persistent://"):
        raise InputError(
            "Only persistent topics have a backlog to read", got=name.topic, expected="persistent://tenant/ns/topic"
        )  # fmt: skip
    if not _SHORTEST_S <= deadline.deadline_s <= _LONGEST_S:
        raise InputError(
            "--deadline: out of range", got=f"{deadline.deadline_s:g}s", expected=f"{_SHORTEST_S:g}s to 1h"
        )
    which, admin = _admin(settings, cluster, deadline)
    topic = AdminTopic(name.topic)
    partitions = _partitions(admin, topic, name, deadline)
    found = AnalyzedBacklog(which, name)
    for number, partition in enumerate(partitions):
        note(f"{number} of {len(partitions)} partitions read")
        # Looked at once: a thread that starts late must not wait for less than nothing.
        left_s = deadline.left_s
        if left_s <= 0:
            return replace(found, left_out=tuple(partitions[number:]), took_s=deadline.passed_s)
        work = Waited(
            lambda partition=partition, left_s=left_s: analyze_backlog(
                admin, topic, partition, name.subscription, left_s
            )
        )
        try:
            found.partitions[partition] = work.result(deadline, 1.0, f"The backlog of {name}")
        except CancelledError:
            raise CancelledError("The analysis was cancelled", fix="start it again") from None
        except SourceError as error:
            if len(partitions) == 1:
                raise _late(error, deadline) from error
            found.failures[partition] = str(error.got or error.what)
    note(f"{len(found.partitions)} of {len(partitions)} partitions read")
    if not found.partitions:
        first = next(iter(found.failures.values()))
        raise SourceError(f"The backlog of {name} was read on no partition", got=first)
    return replace(found, took_s=deadline.passed_s)


def _late(error: SourceError, deadline: Deadline) -> SourceError:
    """An error of waiting says what to do about it here."""
    if deadline.left_s > 0:
        return error
    return SourceError(
        "The broker did not finish reading the backlog",
        got=f"nothing for {deadline.deadline_s:g} s",
        fix=f"allow more time, such as --deadline {round(SCAN_S + 10)}s: the broker itself stops after {SCAN_S:g} s unless configured",
    )


def _admin(settings: Settings, cluster: str | None, deadline: Deadline) -> tuple[str, PulsarAdmin]:
    known = {
        name: one.pulsar_admin for name, one in settings.clusters.items() if one.pulsar_admin is not None
    }
    if cluster is None and len(known) > 1:
        raise InputError(
            "One cluster is read at a time", got=", ".join(known), fix="name it with --cluster NAME"
        )
    name = (
        next(iter(known), None) if cluster is None or (len(known) == 1 and cluster not in known) else cluster
    )
    if name not in known:
        raise InputError(
            "There is no admin API to read",
            got=f"cluster {cluster}" if cluster else "no --pulsar-admin and no cluster in a configuration file",
            fix="add --pulsar-admin URL, or pulsar_admin.urls of the cluster to throttlescope.toml (docs/reference/configuration.md)",
        )  # fmt: skip
    section = known[name]
    access = section.access()
    access = replace(access, timeout_s=max(1.0, min(access.timeout_s, deadline.deadline_s)))
    return name, PulsarAdmin(list(section.urls), access)


def _partitions(
    admin: PulsarAdmin, topic: AdminTopic, name: SubscriptionName, deadline: Deadline
) -> tuple[int, ...]:
    if name.partition is not None:
        return (name.partition,)
    counted = Waited(lambda: admin.partition_count(topic, FIXES)).result(
        deadline, 1.0, f"The partitions of {topic.name}"
    )
    if counted > MOST_PARTITIONS:
        raise SourceError(
            f"The number of partitions of {topic.name} cannot be right", got=str(counted), expected=f"up to {MOST_PARTITIONS}"
        )  # fmt: skip
    return tuple(range(counted)) if counted else (-1,)
