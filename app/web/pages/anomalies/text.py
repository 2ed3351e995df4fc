"""What an anomaly says. In: a row of ``anomalies`` or of a group. Out: words; zero and silence are told apart."""

from __future__ import annotations

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.anomalies import UNITS

#: Signal in words, as in "arrivals above usual".
SIGNALS = {
    "in_msg_rate": "messages in",
    "out_msg_rate": "messages out",
    "backlog_ready_entries": "backlog",
    "throttled_events": "throttle events",
    "samples": "samples",
}
#: Direction: a mark beside its word.
DIRECTIONS = {
    "up": ("▲", "above usual"),
    "down": ("▼", "below usual"),
    "silence": ("◌", "silent"),
}
SHARED = {"topic": "the topic", "limiter": "the limiter", "broker": "the broker", "cluster": "the cluster"}


def what(row: dict) -> str:
    """``messages in above usual``; no samples are no zero."""
    if row["direction"] == "silence":
        return "no samples arrived"
    if row["direction"] == "down" and row["value"] == 0:
        return f"{SIGNALS[row['signal']]} fell to zero"
    return f"{SIGNALS[row['signal']]} {DIRECTIONS[row['direction']][1]}"


def explained(row: dict) -> str:
    """One sentence: what it means that this strayed."""
    if row["direction"] == "silence":
        return (
            "Samples stopped although the cluster was scraped. That is not a zero: the value is unknown. The topic may be "
            "unloaded, the subscription gone, or its metrics are no longer scraped."
        )
    if row["direction"] == "down" and row["value"] == 0:
        return "Samples arrived and said zero: nothing moved. That is not the same as silence."
    return ""


def amount(value: float | None, signal: str) -> str:
    """A value in the unit of its signal."""
    if fmt.is_missing(value):
        return fmt.MISSING
    unit = UNITS.get(signal, "")
    return f"{fmt.short(value)}\N{NO-BREAK SPACE}{unit}" if unit else fmt.short(value)


def usual(row: dict) -> str:
    """The band at the worst minute."""
    if row["high"] is None:
        return "samples every minute" if row["signal"] == "samples" else fmt.MISSING
    return f"{fmt.short(row['low'])} to {amount(row['high'], row['signal'])}"


def state(row: dict) -> str:
    """``open``, ``over`` or ``the new level``."""
    if row["adopted"]:
        return "the new level"
    return "open" if row["state"] == "open" else "over"
