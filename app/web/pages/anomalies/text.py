"""What an anomaly shows. In: a row of ``anomalies`` or of a group. Out: text; zero and silence are distinguished."""

from __future__ import annotations

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.anomalies import UNITS
from throttlescope.models.messages.catalogue import sentence


def signal_words() -> dict:
    """Signal in words, as in "arrivals above usual"."""
    return {
        "in_msg_rate": sentence("label.messages_in"),
        "out_msg_rate": sentence("label.messages_out"),
        "backlog_ready_entries": sentence("label.backlog"),
        "throttled_events": sentence("label.throttle_events"),
        "samples": sentence("label.samples"),
    }


def direction_words() -> dict:
    """Direction: a mark and its word."""
    return {
        "up": ("▲", sentence("label.above_usual")),
        "down": ("▼", sentence("label.below_usual")),
        "silence": ("◌", sentence("label.silent")),
    }


def shared_words() -> dict:
    return {
        "topic": sentence("label.the_topic"),
        "limiter": sentence("label.the_limiter"),
        "broker": sentence("label.the_broker"),
        "cluster": sentence("label.the_cluster"),
    }


def what(row: dict) -> str:
    """``messages in above usual``; no samples are no zero."""
    if row["direction"] == "silence":
        return sentence("anomalies.what.silence")
    if row["direction"] == "down" and row["value"] == 0:
        return sentence("anomalies.what.zero", signal=signal_words()[row["signal"]])
    return sentence(
        "anomalies.what.deviates",
        signal=signal_words()[row["signal"]],
        direction=direction_words()[row["direction"]][1],
    )


def explained(row: dict) -> str:
    """What this deviation means; empty where its name says it."""
    if row["direction"] == "silence":
        return sentence("anomalies.means.silence")
    if row["direction"] == "down" and row["value"] == 0:
        return sentence("anomalies.means.zero")
    return ""


def unit(signal: str) -> str:
    """The unit of a signal; empty where it has none."""
    if signal == "backlog_ready_entries":
        return sentence("anomalies.unit.entries")
    if signal == "throttled_events":
        return sentence("anomalies.unit.events_per_min")
    return UNITS.get(signal, "")


def amount(value: float | None, signal: str) -> str:
    """A value in the unit of its signal."""
    if fmt.is_missing(value):
        return fmt.missing()
    text = unit(signal)
    return f"{fmt.short(value)}\N{NO-BREAK SPACE}{text}" if text else fmt.short(value)


def usual(row: dict) -> str:
    """The band at the worst minute."""
    if row["high"] is None:
        return sentence("anomalies.usual.samples") if row["signal"] == "samples" else fmt.missing()
    return sentence("label.range_words", low=fmt.short(row["low"]), high=amount(row["high"], row["signal"]))


def state(row: dict) -> str:
    """``open``, ``over`` or ``the new level``."""
    if row["adopted"]:
        return sentence("label.the_new_level")
    return sentence("label.open") if row["state"] == "open" else sentence("label.over")
