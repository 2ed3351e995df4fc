"""When the broker drops messages, or stops producers. In: a view of a subscription, and its deadlines. Out: a :class:`MessageLoss` each.

Three deadlines exist: message TTL expires old messages, a backlog quota by size or by age is exceeded. None acts at the moment when its
threshold is crossed: the broker checks periodically, and no metric says when. So a loss lies between the crossing and one check
later; its median is half a check after the crossing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from throttlescope.ingest.core.times import MINUTE_MS, SECOND_MS
from throttlescope.models.forecast.calibration import ForecastCalibration
from throttlescope.models.forecast.line import TrendLine, newest_line
from throttlescope.models.forecast.oldest import oldest_age_s, seconds_until_age
from throttlescope.models.forecast.subscription_history import SubscriptionHistory
from throttlescope.models.forecast.trace import Trace
from throttlescope.models.messages.catalogue import Message, message
from throttlescope.transforms.deadlines import DeadlineLimit, Deadlines

Kind = Literal["ttl", "quota_size", "quota_age"]

#: With consumers connected and a backlog below this the broker first looks at the oldest message alone, and begins only
#: where that is older than this many times the TTL.
FEW_ENTRIES, OLD_SHARE = 1000, 1.5
#: Points that say what consumers do now, where the newest stretch has fewer.
_LEAST_POINTS = 4


@dataclass(frozen=True, slots=True)
class MessageLoss:
    """One forecast of a deadline.

    Attributes
    ----------
    state : str
        ``expected``, ``never`` at this rate, or ``unknown``.
    low_s, median_s, high_s : float or None
        From now to the check that finds it so. ``high_s`` is None where it may never come; where it is unknown ``low_s``
        is the time before which it cannot come, if that much is known.
    now, threshold : float or None
        In bytes or seconds.
    change_per_s : float or None
        Of the value.
    basis : Message
        What the interval rests on.
    """

    kind: Kind
    limit: DeadlineLimit
    state: Literal["expected", "never", "unknown"]
    now: float | None
    threshold: float
    unit: Literal["bytes", "s"]
    check_ms: int
    basis: Message
    low_s: float | None = None
    median_s: float | None = None
    high_s: float | None = None
    change_per_s: float | None = None
    line: TrendLine | None = None
    line_start_ms: int | None = None


def losses(
    view: SubscriptionHistory, deadlines: Deadlines, calibration: ForecastCalibration
) -> Iterator[MessageLoss]:
    """Forecast every deadline that is configured.

    Parameters
    ----------
    view : SubscriptionHistory
        What was known of the subscription partition; quotas concern the slowest subscription of a topic partition only.
    deadlines : Deadlines
        The policies of its topic.
    calibration : ForecastCalibration
        Makes the interval of what follows a line.
    """
    if not len(view.trace.times_ms) or view.trace.backlog_entries[-1] <= 0:
        return
    if deadlines.ttl is not None and deadlines.ttl.value is not None:
        few = bool(view.consumers) and view.trace.backlog_entries[-1] < FEW_ENTRIES
        age_s = deadlines.ttl.value * (OLD_SHARE if few else 1.0)
        yield _by_age("ttl", deadlines.ttl, age_s, deadlines.expiry_check_ms, view)
    if not view.is_slowest:
        return
    if deadlines.quota_size is not None and deadlines.quota_size.value is not None:
        yield _by_size(deadlines.quota_size, deadlines.quota_check_ms, view, calibration)
    if deadlines.quota_age is not None and deadlines.quota_age.value is not None:
        if deadlines.precise_age:
            yield _by_age(
                "quota_age", deadlines.quota_age, deadlines.quota_age.value, deadlines.quota_check_ms, view
            )
        else:
            yield _by_ledger(deadlines.quota_age, deadlines, view)


def _by_age(
    kind: Kind, limit: DeadlineLimit, age_s: float, check_ms: int, view: SubscriptionHistory
) -> MessageLoss:
    now_s = oldest_age_s(view.trace)
    if now_s is None:
        basis = message("forecast.basis.age_unknown")
        return MessageLoss(kind, limit, "unknown", None, age_s, "s", check_ms, basis)
    line = _recent(view.trace)
    slow, usual, fast = acked_per_s(view.trace, line)
    comes = view.trace.in_entries_per_s or 0.0
    low_s, middle_s, high_s = (
        seconds_until_age(view.trace, age_s, rate, comes) for rate in (slow, usual, fast)
    )
    # When a message came is known to the distance of two samples: it may be that much older.
    low_s = None if low_s is None else max(0.0, low_s - view.trace.step_s)
    check_s = check_ms / SECOND_MS
    basis = message(
        "forecast.basis.age", step_s=view.trace.step_s, usual=usual, slow=slow, fast=fast, check_s=check_s
    )
    # A second older by the second, less what consumers work off.
    change = 1.0 if usual <= 0 else None
    return _between(
        MessageLoss(kind, limit, "never", now_s, age_s, "s", check_ms, basis, change_per_s=change, **_seen(line, view.trace)),
        low_s, middle_s, high_s,
    )  # fmt: skip


def _by_size(
    limit: DeadlineLimit, check_ms: int, view: SubscriptionHistory, calibration: ForecastCalibration
) -> MessageLoss:
    known = ~np.isnan(view.storage_bytes)
    times_s, values = view.trace.times_ms[known] / SECOND_MS, view.storage_bytes[known]
    if not len(values):
        basis = message("forecast.basis.size_unknown")
        return MessageLoss("quota_size", limit, "unknown", None, limit.value, "bytes", check_ms, basis)
    now, line = float(values[-1]), newest_line(times_s, values)
    if now >= limit.value:
        basis = message("forecast.basis.size_exceeded", check_s=check_ms / SECOND_MS)
        return _between(
            MessageLoss("quota_size", limit, "never", now, limit.value, "bytes", check_ms, basis),
            0.0,
            0.0,
            0.0,
        )
    if line is None or line.points < 3:
        basis = message("forecast.basis.size_no_trend")
        return MessageLoss("quota_size", limit, "unknown", now, limit.value, "bytes", check_ms, basis)
    seen = {
        "line": line,
        "line_start_ms": int(times_s[line.first] * SECOND_MS),
        "change_per_s": line.slope_per_s,
    }
    if line.slope_per_s <= 0 or line.is_steady:
        basis = message("forecast.basis.size_not_growing")
        return MessageLoss("quota_size", limit, "never", now, limit.value, "bytes", check_ms, basis, **seen)
    predicted_s = (limit.value - now) / line.slope_per_s
    times = calibration.times(predicted_s, view.trace.step_s, predicted_s / line.span_s)
    basis = message("forecast.basis.size", points=line.points, check_s=check_ms / SECOND_MS)
    found = MessageLoss("quota_size", limit, "never", now, limit.value, "bytes", check_ms, basis, **seen)
    middle_s = predicted_s if times.median_s is None else times.median_s
    return _between(found, times.low_s, middle_s, math.inf if times.high_s is None else times.high_s)


def _by_ledger(limit: DeadlineLimit, deadlines: Deadlines, view: SubscriptionHistory) -> MessageLoss:
    """The age that counts begins when the oldest message's ledger is closed."""
    check_ms, line = deadlines.quota_check_ms, _recent(view.trace)
    if view.topic_age_s is None:
        basis = message("forecast.basis.ledger_open", rollover_min=deadlines.ledger_rollover_ms / MINUTE_MS)
        return MessageLoss(
            "quota_age", limit, "unknown", None, limit.value, "s", check_ms, basis, low_s=limit.value
        )
    _, usual, _ = acked_per_s(view.trace, line)
    after_s = max(0.0, limit.value - view.topic_age_s)
    if usual > 0:
        basis = message("forecast.basis.ledger_moving", check_s=check_ms / SECOND_MS)
    else:
        basis = message("forecast.basis.ledger_idle", check_s=check_ms / SECOND_MS)
    found = MessageLoss(
        "quota_age", limit, "never", view.topic_age_s, limit.value, "s", check_ms, basis, change_per_s=1.0,
        **_seen(line, view.trace),
    )  # fmt: skip
    return _between(found, after_s, after_s, math.inf if usual > 0 else after_s)


def _between(
    found: MessageLoss, low_s: float | None, middle_s: float | None, high_s: float | None
) -> MessageLoss:
    """The loss with its times: from the earliest crossing to the check after the latest."""
    if low_s is None or middle_s is None or high_s is None or math.isinf(middle_s):
        return found
    check_s = found.check_ms / SECOND_MS
    return replace(
        found,
        state="expected",
        low_s=low_s,
        median_s=middle_s + check_s / 2,
        high_s=None if math.isinf(high_s) else high_s + check_s,
    )


def acked_per_s(trace: Trace, line: TrendLine | None) -> tuple[float, float, float]:
    """Entries per second that left the backlog over the newest stretch: in its slowest minute, on average, in its fastest."""
    count = max(_LEAST_POINTS, line.points if line else 0)
    times_s = trace.times_ms[-count:] / SECOND_MS
    gone = np.diff(trace.backlog_entries[-count:])
    came = trace.in_entries[-count:][1:]
    left = np.maximum(np.where(np.isnan(came), 0.0, came) - gone, 0.0)
    seconds = np.diff(times_s)
    if not len(seconds):
        return 0.0, 0.0, 0.0
    rates, entries, length_s = [], 0.0, 0.0
    for one, took_s in zip(left.tolist(), seconds.tolist(), strict=True):
        entries, length_s = entries + one, length_s + took_s
        if length_s >= MINUTE_MS / SECOND_MS:
            rates.append(entries / length_s)
            entries = length_s = 0.0
    usual = float(left.sum() / seconds.sum())
    return min([*rates, usual]), usual, max([*rates, usual])


def _recent(trace: Trace) -> TrendLine | None:
    return newest_line(trace.times_ms / SECOND_MS, trace.backlog_entries)


def _seen(line: TrendLine | None, trace: Trace) -> dict:
    if line is None:
        return {}
    return {"line": line, "line_start_ms": int(trace.times_ms[line.first])}
