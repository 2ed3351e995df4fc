"""What an anomaly shows. In: a row of ``anomalies`` or of a group. Out: text; zero and silence are distinguished."""

from __future__ import annotations

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.anomalies import UNITS
from throttlescope.models.messages.catalogue import sentence

#: Signal in words, as in "arrivals above usual".
SIGNALS = {
    "in_msg_rate": "messages in",
    "out_msg_rate": "messages out",
    "backlog_ready_entries": "backlog",
    "throttled_events": "throttle events",
    "samples": "samples",
}
#: Direction: a mark and its word.
DIRECTIONS = {
    "up": ("▲", "above usual"),
    "down": ("▼", "below usual"),
    "silence": ("◌", "silent"),
}
SHARED = {"topic": "the topic", "limiter": "the limiter", "broker": "the broker", "cluster": "the cluster"}


def what(row: dict) -> str:
    """``messages in above usual``; no samples are no zero."""
    if row["direction"] == "silence":
        return sentence("anomalies.what.silence")
    if row["direction"] == "down" and row["value"] == 0:
        return sentence("anomalies.what.zero", signal=SIGNALS[row["signal"]])
    return f"{SIGNALS[row['signal']]} {DIRECTIONS[row['direction']][1]}"


def explained(row: dict) -> str:
    """What this deviation means; empty where its name says it."""
    if row["direction"] == "silence":
        return sentence("anomalies.means.silence")
    if row["direction"] == "down" and row["value"] == 0:
        return sentence("anomalies.means.zero")
    return ""


def amount(value: float | None, signal: str) -> str:
    """A value in the unit of its signal."""
    if fmt.is_missing(value):
        return fmt.missing()
    unit = UNITS.get(signal, "")
    return f"{fmt.short(value)}\N{NO-BREAK SPACE}{unit}" if unit else fmt.short(value)


def usual(row: dict) -> str:
    """The band at the worst minute."""
    if row["high"] is None:
        return sentence("anomalies.usual.samples") if row["signal"] == "samples" else fmt.missing()
    return f"{fmt.short(row['low'])} to {amount(row['high'], row['signal'])}"


def state(row: dict) -> str:
    """``open``, ``over`` or ``the new level``."""
    if row["adopted"]:
        return "the new level"
    return "open" if row["state"] == "open" else "over"
