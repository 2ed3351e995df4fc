"""Names, units and value format of the what-if page. In: a key and a value. Out: short text; a limit is written per period, as configured."""

from __future__ import annotations

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.whatif import ValueStyle
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.units import words


def lever_labels() -> dict:
    """What can be changed, in the order of the page: name and unit."""
    return {
        "subscription.msg": (
            sentence("label.subscription_limit_messages"),
            sentence("label.unit.msg_per_period"),
        ),
        "subscription.bytes": (sentence("label.subscription_limit_bytes"), sentence("label.b_per_period")),
        "subscription.period_s": (sentence("label.subscription_period"), words().s),
        "topic.msg": (sentence("label.topic_limit_messages"), sentence("label.unit.msg_per_period")),
        "topic.bytes": (sentence("label.topic_limit_bytes"), sentence("label.b_per_period")),
        "topic.period_s": (sentence("label.topic_period"), words().s),
        "broker.msg": (sentence("label.broker_limit_messages"), sentence("label.unit.msg_per_second")),
        "broker.bytes": (sentence("label.broker_limit_bytes"), sentence("label.b_per_1_s")),
        "consumers": (sentence("label.consumers"), sentence("label.unit.connected")),
        "processing_ms": (sentence("label.processing_time"), sentence("label.unit.ms_per_message")),
        "load": (sentence("label.load"), sentence("label.unit.times_publish_rate")),
        "batch_msg": (sentence("label.batching"), sentence("label.unit.msg_per_entry")),
    }


def amount(value: float | None, key: str, period_s: float | None = None) -> str:
    """A value in its unit: ``800 msg per 1 s``, ``1 MiB per 10 s``, ``none``."""
    if value is None:
        return sentence("label.none") if key.endswith((".msg", ".bytes")) else fmt.missing()
    if key.endswith(".msg"):
        return sentence("label.per_seconds", rate=f"{fmt.exact(value)} msg", period=f"{period_s or 1:g}")
    if key.endswith(".bytes"):
        return sentence("label.per_seconds", rate=fmt.size(value), period=f"{period_s or 1:g}")
    if key.endswith("period_s"):
        return f"{value:g} {words().s}"
    if key == "processing_ms":
        return f"{value:.3g} {words().ms}"
    if key == "load":
        return f"\N{MULTIPLICATION SIGN} {value:g}"
    if key == "rate_msg":
        return fmt.msg_rate(value)
    if key == "batch_msg":
        return sentence("what_if_page.amount.msg_per_entry", value=f"{value:.3g}")
    return fmt.exact(value)


#: How this page writes values.
PAGE = ValueStyle(
    setting=amount,
    duration=lambda seconds: fmt.duration(1000 * seconds),
    span=lambda seconds: fmt.duration(1000 * seconds),
    msg_rate=fmt.msg_rate,
    entries_rate=lambda value: sentence("label.entries_per_second", rate=fmt.short(value)),
    moment=fmt.moment,
)
