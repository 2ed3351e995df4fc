"""What the lab says of runs. In: records of a replay. Out: short texts with their units; a rate is written per period, as it is configured."""

from __future__ import annotations

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.whatif import HELD_BY, main
from throttlescope.models.throttling.replay import Change, Forecast, Observed, Outlook, ReplayAnswer
from throttlescope.models.throttling.replay.rebuild import own_limits

#: What can be moved, in the order of the page: name and unit.
LABELS = {
    "subscription.msg": ("Subscription limit, messages", "msg per period"),
    "subscription.bytes": ("Subscription limit, bytes", "B per period"),
    "subscription.period_s": ("Subscription period", "s"),
    "topic.msg": ("Topic limit, messages", "msg per period"),
    "topic.bytes": ("Topic limit, bytes", "B per period"),
    "topic.period_s": ("Topic period", "s"),
    "broker.msg": ("Broker limit, messages", "msg per 1 s"),
    "broker.bytes": ("Broker limit, bytes", "B per 1 s"),
    "consumers": ("Consumers", "connected"),
    "processing_ms": ("Processing time", "ms per message"),
    "load": ("Load", "times what is published"),
    "batch_msg": ("Batching", "msg per entry"),
}
#: What a command line would be told, and what this page has instead.
_SPOKEN = (
    ("add --set processing_ms=N", "give a processing time"),
    ("--set processing_ms=N says", "a processing time says"),
    ("--set: ", "its settings: "),
    ("--set ", ""),
    ("--horizon", "a shorter look ahead:"),
    ("--window", "window"),
    ("--cluster", "cluster in the address"),
)


def spoken(text: str) -> str:
    """A sentence of the command line for this page."""
    for word, instead in _SPOKEN:
        text = text.replace(word, instead)
    return text


def amount(value: float | None, key: str, period_s: float | None = None) -> str:
    """A value in its unit: ``800 msg per 1 s``, ``1 MiB per 10 s``, ``none``."""
    if value is None:
        return "none" if key.endswith((".msg", ".bytes")) else fmt.MISSING
    if key.endswith(".msg"):
        return f"{fmt.exact(value)} msg per {period_s or 1:g} s"
    if key.endswith(".bytes"):
        return f"{fmt.size(value)} per {period_s or 1:g} s"
    if key.endswith("period_s"):
        return f"{value:g} s"
    if key == "processing_ms":
        return f"{value:.3g} ms"
    if key == "load":
        return f"\N{MULTIPLICATION SIGN} {value:g}"
    if key == "rate_msg":
        return fmt.msg_rate(value)
    if key == "batch_msg":
        return f"{value:.3g} msg per entry"
    return fmt.exact(value)


def change_words(observed: Observed, change: Change) -> list[str]:
    """One clause a setting: ``subscription.msg 800 msg per 1 s, was 500``."""
    before, after = own_limits(observed, Change()), own_limits(observed, change)
    clauses = []
    for key, value in change.limits.items():
        level, _, field = key.partition(".")
        old, period_s = before.get(level, {}).get(field), after.get(level, {}).get("period_s")
        was = amount(old, key, before.get(level, {}).get("period_s"))
        clauses.append(f"{key} {amount(value, key, period_s)}, was {was}")
    if change.consumers is not None:
        was = fmt.exact(observed.consumers(observed.subscription))
        clauses.append(f"{fmt.exact(change.consumers)} consumers, was {was}")
    if change.processing_ms is not None:
        clauses.append(f"{amount(change.processing_ms, 'processing_ms')} for a message")
    if change.rate_msg is not None:
        clauses.append(f"{amount(change.rate_msg, 'rate_msg')} published")
    if change.load is not None:
        clauses.append(f"load {amount(change.load, 'load')}")
    if change.batch_msg is not None:
        was = amount(observed.messages_per_entry, "batch_msg")
        clauses.append(f"{amount(change.batch_msg, 'batch_msg')}, was {was}")
    return clauses


def seconds(value: float | None, ahead_s: int) -> str:
    if value is None:
        return f"not within {fmt.duration(1000 * ahead_s)}"
    return fmt.duration(1000 * value)


def drained(forecast: Forecast, ahead_s: int) -> str:
    """When the backlog is gone, or how it goes on."""
    found = main(forecast)
    if found.drain_s == 0:
        return "nothing to drain"
    if found.drain_s is not None:
        least = "" if forecast.fitted is not None or forecast.latest_s is not None else "at the earliest "
        return least + seconds(found.drain_s, ahead_s)
    growth = found.growth_entries_per_s
    way = "grows" if growth > 0.05 else "falls" if growth < -0.05 else ""
    how = f", {way} by {fmt.short(abs(growth))} entries/s" if way else ", stays as it is"
    return f"{seconds(None, ahead_s)}{how}"


def interval(forecast: Forecast, ahead_s: int) -> str:
    """From best to worst of what the samples leave open."""
    if forecast.earliest_s == forecast.latest_s == 0:
        return "-"
    first, last = seconds(forecast.earliest_s, ahead_s), seconds(forecast.latest_s, ahead_s)
    return first if first == last else f"{first} to {last}"


def held_by(answer: ReplayAnswer, outlook: Outlook, change: Change) -> str:
    """What holds the backlog then."""
    if outlook.held_by == "consumers":
        now = answer.observed.consumers(answer.observed.subscription)
        return (
            HELD_BY["consumers"]
            if (now if change.consumers is None else change.consumers)
            else "nobody is connected"
        )
    return HELD_BY.get(outlook.held_by) or _limit(answer.observed, outlook.held_by, change)


def next_brake(answer: ReplayAnswer, outlook: Outlook, change: Change) -> str:
    """What would bind next if that were away, and from which rate on."""
    found = outlook.next_brake
    if found is None:
        if outlook.held_by in ("reads", "arrivals"):
            return "-"
        known = main(answer.changed).used.get("consumers")
        return "not known: the consumers were never seen at their limit" if known == 0 else "-"
    name, msg_per_s = found
    what = "the consumers" if name == "consumers" else _limit(answer.observed, name, change)
    return f"{what}, from {fmt.msg_rate(msg_per_s)} on"


def _limit(observed: Observed, name: str, change: Change) -> str:
    level, _, unit = name.partition(".")
    limit = own_limits(observed, change)[level]
    return f"{name} {amount(limit[unit], name, limit['period_s'])}"
