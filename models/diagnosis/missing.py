"""Missing evidence: what would make a verdict surer, and the switch that supplies it. In: a window. Out: rows."""

from __future__ import annotations

from dataclasses import dataclass

from throttlescope.models.diagnosis import thresholds as t
from throttlescope.models.diagnosis.clock import clock_off_s, clock_words
from throttlescope.models.diagnosis.consumers import tracks_unacked
from throttlescope.models.diagnosis.limiters import limits_age_s, read_share
from throttlescope.models.diagnosis.stats_samples import read_stats
from throttlescope.models.diagnosis.symptoms import Symptoms
from throttlescope.models.diagnosis.symptoms.backlog import coverage_share
from throttlescope.models.diagnosis.symptoms.limiters import limits_age_words
from throttlescope.models.diagnosis.window import Window
from throttlescope.models.messages.rounded import share


@dataclass(frozen=True, slots=True)
class MissingEvidence:
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


def missing_evidence(window: Window, symptoms: Symptoms, cause: str) -> tuple[MissingEvidence, ...]:
    """What the rules looked for and did not find.

    A healthy subscription needs no more than its backlog, so only what hides that is named.
    """
    found = []
    seen = coverage_share(window)
    if seen < t.COVERAGE_FULL_SHARE:
        found.append(
            MissingEvidence(
                f"only {share(seen)} of the samples are there",
                "look for failed or late scrapes of the broker in Prometheus: up, scrape_duration_seconds",
            )
        )
    if symptoms.holds("served_twice"):
        found.append(
            MissingEvidence(
                "which of several brokers that show this subscription at the same time serves it",
                "give each cluster a label cluster of its own (--cluster NAME for each source), or read one of them with --match",
            )
        )
    if not window.known("backlog_ready_entries"):
        found.append(
            MissingEvidence(
                "the backlog of the subscription (pulsar_subscription_back_log_no_delayed)",
                "set exposeTopicLevelMetricsInPrometheus=true on the brokers, and let ingest match the metric",
            )
        )
    if cause == "healthy":
        return tuple(found)
    if all(limiter.events is None for limiter in symptoms.limiters):
        found.append(
            MissingEvidence(
                "the throttle counters (pulsar_subscription_dispatch_throttled_*_events)",
                "Pulsar 4.0.4, 4.1.0 or newer has them, with exposeTopicLevelMetricsInPrometheus=true",
            )
        )
    unobserved = list(dict.fromkeys(limiter.level for limiter in symptoms.limiters if not limiter.observed))
    if unobserved:
        found.append(
            MissingEvidence(
                f"the {', '.join(unobserved)} limits: no metric carries them",
                "give --pulsar-admin URL of this cluster, so that the effective limits are read",
            )
        )
    if symptoms.holds("backlog_old") and not any(
        window.known(name) for name in ("subscription_backlog_age_s", "stats_backlog_age_s")
    ):
        found.append(
            MissingEvidence(
                "the age of the subscription's own oldest message; the topic's is that of its slowest subscription",
                "give --pulsar-admin URL, or set exposeSubscriptionBacklogAgeInPrometheus=true on the brokers: Pulsar 4.0.14, 4.2.5, "
                "5.0 or newer",
            )
        )
    if symptoms.holds("limit_observed_later"):
        found.append(
            MissingEvidence(
                "the limits as they were in this window; they were first read after it",
                "run ingest with --pulsar-admin regularly, for example every hour",
            )
        )
    if symptoms.holds("limits_old"):
        found.append(
            MissingEvidence(
                f"the limits that were in force in this window: they were read {limits_age_words(limits_age_s(window))}",
                "read them again with --pulsar-admin, and regularly, for example every hour",
            )
        )
    elif contradicted := [
        one for one in symptoms.limiters if (one.zone, one.activity) == ("far", "continuous")
    ]:
        age_s = limits_age_s(window)
        read = f"; it was read {limits_age_words(age_s)}" if age_s is not None else ""
        found.append(
            MissingEvidence(
                f"the {contradicted[0].name} limit in force: its counter contradicts the one that is known{read}",
                "read the limits again with --pulsar-admin, and let ingest match all that shares the limit",
            )
        )
    partial = dict.fromkeys(limiter.level for limiter in symptoms.limiters if limiter.doubt == "partial")
    found += [_not_all_read(window, level) for level in partial]
    if symptoms.holds("limit_not_in_force"):
        found.append(
            MissingEvidence(
                "the limit that the broker really enforces",
                "read the limits again with --pulsar-admin; limits may have been set on the broker itself",
            )
        )
    if window.known("consumers") and (window.last("consumers") or 0) > 0:
        found += _of_consumers(window)
    off_s = clock_off_s(window)
    if off_s is not None:
        found.append(
            MissingEvidence(
                f"how long ago consumers asked and acknowledged: the broker's clock is {clock_words(off_s)}",
                "set the clocks of brokers and Prometheus by the same time servers (NTP)",
            )
        )
    if cause == "unknown" and symptoms.holds("dispatch_stopped"):
        found.append(
            MissingEvidence(
                "whether the broker reads at all, and whether the backlog is real",
                "look at `pulsar-admin topics stats-internal`; set exposePreciseBacklogInPrometheus=true",
            )
        )
    return tuple(found)


def _not_all_read(window: Window, level: str) -> MissingEvidence:
    """Only part of what shares a limit was read."""
    read = read_share(window, level)
    if level == "topic":
        part = "" if read is None else f": {share(read)} of its subscriptions"
        return MissingEvidence(
            f"only part of this topic's traffic was read{part}; all of it uses the topic's limit",
            "run without --match, or with one that names no subscription",
        )
    if read is None:
        return MissingEvidence(
            "how much of this broker's traffic was read: its own figure (pulsar_broker_rate_out) is not there",
            "let ingest match pulsar_broker_rate_out",
        )
    return MissingEvidence(
        f"only part of this broker's traffic was read: {share(read)}; all of it uses the broker's limit",
        "run without --match, or with one that leaves no namespace of the broker out",
    )


def _of_consumers(window: Window) -> list[MissingEvidence]:
    found = []
    if window.mean("permits_exhausted_share") is None:
        found.append(_permits(window))
        if not tracks_unacked(window) and window.last("subscription_type") in ("Exclusive", "Failover"):
            found.append(
                MissingEvidence(
                    "how much the consumers hold: Exclusive and Failover subscriptions count no unacked messages",
                    "consumer metrics show permits instead; see above",
                )
            )
    if window.last("subscription_type") is None:
        found.append(
            MissingEvidence(
                "the subscription's type: no metric carries it", "give --pulsar-admin URL, it is in the stats"
            )
        )
    return found


def _permits(window: Window) -> MissingEvidence:
    """Permits are not scraped; the admin API's stats may show moments of them."""
    switch = "set exposeConsumerLevelMetricsInPrometheus=true on the brokers: nine more series per consumer"
    samples = read_stats(window).samples
    if samples >= t.STATS_SAMPLES:
        what = f"the permits of the consumers at every scrape (pulsar_consumer_available_permits); the admin API's stats show {samples} moments"
        return MissingEvidence(what, switch)
    return MissingEvidence(
        "the permits of the consumers (pulsar_consumer_available_permits)",
        f"{switch}; or give --pulsar-admin URL to run --follow or now, which sample them from the topics' stats",
    )
