"""Results that are computed for a bundle. In: a lake and an incident. Out: forecasts, advice, involved clients, the verdict under today's rules, or why they are missing.

Nothing here may keep a bundle from being made: the page shows in one sentence what could not be computed, and why.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc

from throttlescope.app.incident.advice import AdviceOutcome, advice_within
from throttlescope.app.incident.load import Incident
from throttlescope.ingest.core.errors import ThrottlescopeError
from throttlescope.ingest.core.subscription_name import remote_cluster
from throttlescope.ingest.core.times import format_time
from throttlescope.models.messages.catalogue import sentence

if TYPE_CHECKING:
    from throttlescope.ingest.lake import Lake
    from throttlescope.models.diagnosis.neighbours import QuotaUse
    from throttlescope.models.diagnosis.slowest import SlowConsumers
    from throttlescope.transforms.deadlines import Deadlines


@dataclass(frozen=True)
class RecomputedVerdict:
    """The bundle's verdict under the rules of this version, recomputed from the same minutes.

    Attributes
    ----------
    made_ms : int
        When the verdict was written.
    repaired : bool
        The lake has other values for its minutes by now.
    differences : mapping of str to (then, now)
    rules_version : str
        Of the rules it was recomputed with.
    """

    made_ms: int
    repaired: bool
    differences: Mapping[str, tuple[Any, Any]]
    rules_version: str


@dataclass(frozen=True)
class ComputedResults:
    """Computed results; where a field is None, ``why_not`` has the reason.

    Attributes
    ----------
    forecasts : sequence of dict
        Rows of ``forecasts``, computed at the bundle's time.
    advice : dict
        The facts of :mod:`throttlescope.app.presentation.advice`.
    neighbours : sequence of QuotaUse
        Subscriptions that used the limiter in the verdict's window; empty if it is not shared.
    consumers : SlowConsumers
        The consumers in the verdict's window; None without a reason if the subscription is healthy.
    deadlines : Deadlines
        Policies that may remove messages at the bundle's time; None: no broker's configuration was read.
    """

    forecasts: Sequence[dict[str, Any]] | None
    advice: dict[str, Any] | None
    recomputed: RecomputedVerdict | None
    why_not: Mapping[str, str]
    neighbours: Sequence[QuotaUse] | None = ()
    consumers: SlowConsumers | None = None
    deadlines: Deadlines | None = None


def compute_results(lake: Lake, incident: Incident, *, most_s: float) -> ComputedResults:
    """Compute forecasts, advice and the verdict under today's rules.

    Parameters
    ----------
    most_s : float
        Seconds that the advice may take; 0 leaves it out.
    """
    why_not: dict[str, str] = {}
    forecasts = _try("forecasts", why_not, lambda: _forecasts(lake, incident))
    recomputed = _try("again", why_not, lambda: _recomputed(lake, incident))
    neighbours = _try("neighbours", why_not, lambda: _neighbours(lake, incident))
    consumers = _try("consumers", why_not, lambda: _consumers(lake, incident))
    deadlines = _try("deadlines", why_not, lambda: _deadlines(lake, incident))
    outcome = _advice(lake, incident, most_s)
    if outcome.why_not is not None:
        why_not["advice"] = outcome.why_not
    return ComputedResults(forecasts, outcome.found, recomputed, why_not, neighbours, consumers, deadlines)


def _try(what: str, why_not: dict[str, str], work: Callable[[], Any]) -> Any:
    try:
        return work()
    except ThrottlescopeError as error:
        why_not[what] = error.what
    except Exception as error:
        # Bundles are made during incidents: one failing part must not prevent the others.
        why_not[what] = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
    return None


def _forecasts(lake: Lake, incident: Incident) -> list[dict[str, Any]]:
    from throttlescope.app.presentation.forecast import exported
    from throttlescope.app.services.forecast.forecasts import forecast_lake

    rows, _ = forecast_lake(
        lake, cluster=incident.key.cluster, subscription=str(incident.name), at_ms=incident.at_ms
    )
    mine = [row for row in rows if row["partition"] == incident.key.partition]
    return [exported(row) for row in mine]


def _recomputed(lake: Lake, incident: Incident) -> RecomputedVerdict | None:
    from throttlescope.models.diagnosis.reopen import reopen

    if incident.verdict is None:
        raise ThrottlescopeError("There is no verdict to recompute")
    found = reopen(lake, incident.key, incident.verdict["window_start_ms"])
    return RecomputedVerdict(
        found.made_ms, found.repaired, found.differences, found.again.to_row()["rules_version"]
    )


def _deadlines(lake: Lake, incident: Incident) -> Deadlines | None:
    from throttlescope.models.forecast import policies_near
    from throttlescope.transforms.deadlines import TopicAnswers

    cluster, at_ms = incident.key.cluster, incident.at_ms
    return TopicAnswers(policies_near(lake, [cluster], at_ms, at_ms)[cluster], at_ms).deadlines(
        incident.key.topic
    )


def _neighbours(lake: Lake, incident: Incident) -> list[QuotaUse]:
    from throttlescope.models.diagnosis.neighbours import COLUMNS, quota_neighbours

    verdict = incident.verdict
    if verdict is None or not verdict["limiter"] or verdict["limiter"].startswith("subscription."):
        return []
    start_ms, end_ms = verdict["window_start_ms"], verdict["window_end_ms"]
    where = (pc.field("minute_ms") >= start_ms) & (pc.field("minute_ms") < end_ms)
    if verdict["limiter"].startswith("topic."):
        where &= pc.field("topic") == incident.key.topic
    rows = lake.read(
        "signals",
        columns=list(COLUMNS),
        where=where,
        partition={"cluster": [incident.key.cluster]},
        between={"minute_ms": (start_ms, end_ms - 1)},
        version=incident.versions["signals"],
    )
    return quota_neighbours(rows, incident.key, verdict["limiter"], start_ms, end_ms)


def _consumers(lake: Lake, incident: Incident) -> SlowConsumers | None:
    from throttlescope.app.queries.consumers import of_window

    if incident.verdict is None or incident.verdict["cause"] == "healthy":
        return None
    if remote_cluster(incident.key.subscription) is not None:
        return None
    return of_window(lake, incident.verdict)


def _advice(lake: Lake, incident: Incident, most_s: float) -> AdviceOutcome:
    from throttlescope.app.services.whatif.replay import HISTORY, TARGET, Question

    minute = incident.minute_at(incident.at_ms)
    if minute is None:
        return AdviceOutcome(None, sentence("incident.no_advice.no_minute"))
    if incident.verdict is not None and incident.verdict["cause"] == "healthy":
        return AdviceOutcome(None, sentence("incident.no_advice.healthy"))
    if most_s <= 0:
        return AdviceOutcome(None, "--advice-within is 0")
    question = Question(
        str(incident.name), incident.key.cluster, (), format_time(incident.at_ms), None, HISTORY, TARGET, None
    )  # fmt: skip
    return advice_within(lake.root, question, incident.at_ms, most_s=most_s)
