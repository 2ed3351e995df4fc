"""Missing evidence: what would make a verdict surer, and the switch that supplies it. In: a window. Out: rows."""

from __future__ import annotations

from dataclasses import dataclass

from throttlescope.models.diagnosis import thresholds as t
from throttlescope.models.diagnosis.consumers import tracks_unacked
from throttlescope.models.diagnosis.symptoms import Symptoms
from throttlescope.models.diagnosis.symptoms.backlog import coverage_share
from throttlescope.models.diagnosis.window import Window
from throttlescope.models.diagnosis.wording import share


@dataclass(frozen=True, slots=True)
class Missing:
    """One thing that was not seen.

    Attributes
    ----------
    fix : str
        The switch or flag that would supply it.
    """

    what: str
    fix: str

    def to_row(self) -> dict[str, str]:
        return {"what": self.what, "fix": self.fix}


def missing_evidence(window: Window, symptoms: Symptoms, cause: str) -> tuple[Missing, ...]:
    """What the rules looked for and did not find.

    A healthy subscription needs no more than its backlog, so only what hides that is named.
    """
    found = []
    seen = coverage_share(window)
    if seen < t.COVERAGE_FULL_SHARE:
        found.append(
            Missing(
                f"only {share(seen)} of the samples are there",
                "look for failed or late scrapes of the broker in Prometheus: up, scrape_duration_seconds",
            )
        )
    if not window.known("backlog_ready_entries"):
        found.append(
            Missing(
                "the backlog of the subscription (pulsar_subscription_back_log_no_delayed)",
                "set exposeTopicLevelMetricsInPrometheus=true on the brokers, and let ingest match the metric",
            )
        )
    if cause == "healthy":
        return tuple(found)
    if all(limiter.events is None for limiter in symptoms.limiters):
        found.append(
            Missing(
                "the throttle counters (pulsar_subscription_dispatch_throttled_*_events)",
                "Pulsar 4.0.4, 4.1.0 or newer has them, with exposeTopicLevelMetricsInPrometheus=true",
            )
        )
    unobserved = list(dict.fromkeys(limiter.level for limiter in symptoms.limiters if not limiter.observed))
    if unobserved:
        found.append(
            Missing(
                f"the {', '.join(unobserved)} limits: no metric carries them",
                "give --pulsar-admin URL so that the effective limits are read",
            )
        )
    if symptoms.holds("limit_observed_later"):
        found.append(
            Missing(
                "the limits as they were in this window; they were first read after it",
                "run ingest with --pulsar-admin regularly, for example every hour",
            )
        )
    if symptoms.holds("limit_not_in_force"):
        found.append(
            Missing(
                "the limit that the broker really enforces",
                "read the limits again with --pulsar-admin; limits may have been set on the broker itself",
            )
        )
    if window.known("consumers") and (window.last("consumers") or 0) > 0:
        found += _of_consumers(window)
    if cause == "unknown" and symptoms.holds("dispatch_stopped"):
        found.append(
            Missing(
                "whether the broker reads at all, and whether the backlog is real",
                "look at `pulsar-admin topics stats-internal`; set exposePreciseBacklogInPrometheus=true",
            )
        )
    return tuple(found)


def _of_consumers(window: Window) -> list[Missing]:
    found = []
    if window.mean("permits_exhausted_share") is None:
        found.append(
            Missing(
                "the permits of the consumers (pulsar_consumer_available_permits)",
                "set exposeConsumerLevelMetricsInPrometheus=true on the brokers: nine more series per consumer",
            )
        )
        if not tracks_unacked(window) and window.last("subscription_type") in ("Exclusive", "Failover"):
            found.append(
                Missing(
                    "how much the consumers hold: Exclusive and Failover subscriptions count no unacked messages",
                    "consumer metrics show permits instead; see above",
                )
            )
    if window.last("subscription_type") is None:
        found.append(
            Missing(
                "the subscription's type: no metric carries it", "give --pulsar-admin URL, it is in the stats"
            )
        )
    return found
