"""Missing evidence: what would make a verdict surer, and the switch that supplies it. In: a window. Out: rows."""

from __future__ import annotations

from dataclasses import dataclass

from throttlescope.models.diagnosis import thresholds as t
from throttlescope.models.diagnosis.causes import HEALTHY, UNKNOWN
from throttlescope.models.diagnosis.clock import clock_off_s
from throttlescope.models.diagnosis.consumer_queues import tracks_unacked
from throttlescope.models.diagnosis.limiters import limits_age_s, read_share
from throttlescope.models.diagnosis.stats_samples import read_stats
from throttlescope.models.diagnosis.symptoms import Symptoms
from throttlescope.models.diagnosis.symptoms.backlog import coverage_share
from throttlescope.models.diagnosis.window import Window
from throttlescope.models.messages.catalogue import Message, message


@dataclass(frozen=True, slots=True)
class MissingEvidence:
    """One thing that was not seen.

    Attributes
    ----------
    gap : Message
        What was not seen.
    """

    gap: Message

    @property
    def remedy(self) -> Message:
        """The switch or flag that would supply it."""
        return Message(f"{self.gap.key.rpartition('.')[0]}.fix")

    @property
    def what(self) -> str:
        """What was not seen, in words."""
        return self.gap.text

    @property
    def fix(self) -> str:
        """What would supply it, in words."""
        return self.remedy.text

    def to_row(self) -> dict[str, str]:
        return {"what": self.gap.stored, "fix": self.remedy.stored}


def missing_evidence(window: Window, symptoms: Symptoms, cause: str) -> tuple[MissingEvidence, ...]:
    """What the rules looked for and did not find.

    A healthy subscription needs no more than its backlog, so only what hides that is named.
    """
    found = _of_backlog(window, symptoms)
    if cause == HEALTHY.name:
        return tuple(found)
    # Nothing counts a replicator's throttling, whatever the version.
    if not symptoms.is_replicator and all(limiter.events is None for limiter in symptoms.limiters):
        found.append(_missing("throttle_counters.what"))
    unobserved = list(dict.fromkeys(limiter.level for limiter in symptoms.limiters if not limiter.observed))
    if symptoms.is_replicator:
        # It has one limit, its own, which is stored as that of its cursor.
        unobserved = ["replicator"] if "subscription" in unobserved else []
    if unobserved:
        found.append(
            _missing("limits.what", levels=[message(f"limiting.level.{level}") for level in unobserved])
        )
    if symptoms.holds("backlog_old") and not any(
        window.known(name) for name in ("subscription_backlog_age_s", "stats_backlog_age_s")
    ):
        found.append(_missing("backlog_age.what"))
    found += _of_limits(window, symptoms)
    if window.known("consumers") and (window.last("consumers") or 0) > 0:
        found += _of_consumers(window)
    off_s = clock_off_s(window)
    if off_s is not None:
        found.append(_missing(f"consumer_ages.{'ahead' if off_s > 0 else 'behind'}", off_s=abs(off_s)))
    if cause == UNKNOWN.name and symptoms.holds("dispatch_stopped"):
        found.append(_missing("broker_reads.what"))
    return tuple(found)


def _missing(key: str, **values: object) -> MissingEvidence:
    return MissingEvidence(Message(f"missing.{key}", values))


def _of_backlog(window: Window, symptoms: Symptoms) -> list[MissingEvidence]:
    found = []
    seen = coverage_share(window)
    if seen < t.COVERAGE_FULL_SHARE:
        found.append(_missing("coverage.what", seen=seen))
    if symptoms.holds("served_twice"):
        found.append(_missing("serving_broker.what"))
    if not window.known("backlog_ready_entries"):
        found.append(_missing("backlog.what"))
    return found


def _of_limits(window: Window, symptoms: Symptoms) -> list[MissingEvidence]:
    """Limits that were read at another time, that contradict what is seen, or that others use as well."""
    found = []
    if symptoms.holds("limit_observed_later"):
        found.append(_missing("limits_in_window.what"))
    age_s = limits_age_s(window)
    if symptoms.holds("limits_old"):
        found.append(_missing(f"recent_limits.{_side_of_end(age_s)}", age_s=abs(age_s)))
    elif contradicted := [
        one for one in symptoms.limiters if (one.zone, one.activity) == ("far", "continuous")
    ]:
        limiter = contradicted[0].name
        if age_s is None:
            found.append(_missing("contradicted_limit.what", limiter=limiter))
        else:
            found.append(
                _missing(f"contradicted_limit.{_side_of_end(age_s)}", limiter=limiter, age_s=abs(age_s))
            )
    partial = dict.fromkeys(limiter.level for limiter in symptoms.limiters if limiter.doubt == "partial")
    found += [_not_all_read(window, level) for level in partial]
    if symptoms.holds("limit_not_in_force"):
        found.append(_missing("enforced_limit.what"))
    return found


def _side_of_end(age_s: float) -> str:
    return "before" if age_s >= 0 else "after"


def _not_all_read(window: Window, level: str) -> MissingEvidence:
    """Only part of what shares a limit was read."""
    read = read_share(window, level)
    if level == "topic":
        return _missing("topic_traffic.what") if read is None else _missing("topic_traffic.share", read=read)
    return _missing("broker_rate.what") if read is None else _missing("broker_traffic.what", read=read)


def _of_consumers(window: Window) -> list[MissingEvidence]:
    found = []
    if window.mean("permits_exhausted_share") is None:
        found.append(_permits(window))
        if not tracks_unacked(window) and window.last("subscription_type") in ("Exclusive", "Failover"):
            found.append(_missing("unacked.what"))
    if window.last("subscription_type") is None:
        found.append(_missing("subscription_type.what"))
    return found


def _permits(window: Window) -> MissingEvidence:
    """Permits are not scraped; the admin API's stats may show moments of them."""
    samples = read_stats(window).samples
    if samples >= t.STATS_SAMPLES:
        return _missing("permits_at_scrapes.what", samples=samples)
    return _missing("permits.what")
