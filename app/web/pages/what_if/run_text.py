"""Names, units and value format of the what-if page. In: a key and a value. Out: short text; a limit is written per period, as configured."""

from __future__ import annotations

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.whatif import ValueStyle

#: What can be changed, in the order of the page: name and unit.
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
    "load": ("Load", "times the publish rate"),
    "batch_msg": ("Batching", "msg per entry"),
}


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


#: How this page writes values.
PAGE = ValueStyle(
    setting=amount,
    duration=lambda seconds: fmt.duration(1000 * seconds),
    span=lambda seconds: fmt.duration(1000 * seconds),
    msg_rate=fmt.msg_rate,
    entries_rate=lambda value: f"{fmt.short(value)} entries/s",
    moment=fmt.moment,
)
