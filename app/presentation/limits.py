"""Which limits are known for a subscription, and whether their throttle events prove anything.

In: minutes of ``signals``. Out: one ``KnownLimit`` per level and unit, and step lines for the charts.

A throttle event says that a read plan was trimmed. Where one period of the limit holds less than
one read plans for, every read of a healthy subscription is trimmed too, and events prove nothing
(a message limit below the read batch, a byte limit below the read size).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.causes import set_by_words
from throttlescope.ingest.contracts.vocabulary import LEVELS, UNITS
from throttlescope.ingest.core.subscription_name import remote_cluster
from throttlescope.models.diagnosis.thresholds import READ_BATCH_ENTRIES_5, READ_SIZE_BYTES
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.limiting import limiter
from throttlescope.models.messages.units import plural


@dataclass(frozen=True)
class KnownLimit:
    """One limiter as the newest minute of a window knows it.

    Attributes
    ----------
    rate : int or None
        Messages or bytes per period; None: no limit of this kind.
    period_s : int or None
    counts : str
        ``messages`` or ``entries``: what a message limit counts.
    set_by : str or None
        None: not observed, so there may be one.
    planned : int
        What one read plans for, in messages (entries) or bytes.
    use_share_max : float or None
        Largest use / limit of the window, over all that share the limit.
    changed : bool
        It was another one earlier in the window.
    lifted_ms : int or None
        When it was first seen to be gone; the other fields are then those that it had.
    """

    level: str
    unit: str
    rate: int | None
    period_s: int | None
    counts: str
    set_by: str | None
    planned: int
    use_share_max: float | None
    changed: bool
    lifted_ms: int | None = None
    of_replicator: bool = False

    @property
    def name(self) -> str:
        return limiter(f"{self.level}.{self.unit}", of_replicator=self.of_replicator)

    @property
    def per_second(self) -> float | None:
        return None if self.rate is None else self.rate / (self.period_s or 1)

    @property
    def events_prove(self) -> bool:
        """Whether an event of this limiter shows more than that the broker read; a replicator's has no events."""
        return not self.of_replicator and self.rate is not None and self.rate >= self.planned

    def amount(self) -> str:
        """As configured: ``50 msg per 1 s``."""
        if self.rate is None:
            return sentence("label.not_observed") if self.set_by is None else sentence("label.none")
        if self.unit == "bytes":
            rate = fmt.size(self.rate)
            if self.rate % 1024:
                # Set in thousands: the figure that was typed is the one to look for in a policy.
                rate = f"{fmt.exact(self.rate)}\N{NO-BREAK SPACE}B ({rate})"
        else:
            unit = sentence("label.unit.entries") if self.counts == "entries" else "msg"
            rate = f"{fmt.exact(self.rate)}\N{NO-BREAK SPACE}{unit}"
        return sentence("label.per_seconds", rate=rate, period=self.period_s or 1)

    def speed(self) -> str:
        """Per second: ``50 msg/s``, ``1 MiB/s``."""
        if self.unit == "bytes":
            return fmt.size_rate(self.per_second)
        if self.counts == "entries" and self.per_second is not None:
            return sentence("label.entries_per_second", rate=fmt.short(self.per_second))
        return fmt.msg_rate(self.per_second)

    def who(self) -> str:
        return sentence("label.not_observed") if self.set_by is None else set_by_words(self.set_by)

    def proof(self) -> str:
        """What its throttle events are worth, in words."""
        if self.of_replicator:
            return sentence("known_limits.of_replicator")
        if self.rate is None:
            unknown = self.set_by is None
            return sentence("known_limits.not_observed") if unknown else sentence("known_limits.none")
        if self.unit == "bytes":
            period, planned = fmt.size(self.rate), fmt.size(self.planned)
        else:
            period, planned = (
                fmt.exact(self.rate),
                f"{self.planned}\N{NO-BREAK SPACE}{plural(self.counts, self.planned)}",
            )
        if self.events_prove:
            return sentence("known_limits.evidence", period=period, planned=planned)
        return sentence("known_limits.no_evidence", period=period, planned=planned)


def known_limits(
    minutes: pd.DataFrame, subscription: str, *, since_ms: int | None = None
) -> list[KnownLimit]:
    """Every level and unit; six rows, or none where there are no minutes. A replicator has one limit of its own, so two rows.

    Parameters
    ----------
    subscription : str
        Whose minutes they are.
    since_ms : int, optional
        A limit that was lifted after this is shown as it was; without it the newest minute alone counts.
    """
    if minutes.empty:
        return []
    of_replicator = remote_cluster(subscription) is not None
    levels = ("subscription",) if of_replicator else LEVELS
    found = [known_limit(minutes, level, unit, since_ms=since_ms) for level in levels for unit in UNITS]
    return [replace(one, of_replicator=of_replicator) for one in found]


def known_limit(minutes: pd.DataFrame, level: str, unit: str, *, since_ms: int | None = None) -> KnownLimit:
    """One of :func:`known_limits`; there has to be a minute."""
    rates = _rate(minutes, level, unit)
    at, lifted_ms = len(minutes) - 1, None
    if since_ms is not None and pd.isna(rates.iat[at]):
        set_at = (rates.notna() & (minutes["minute_ms"] >= since_ms)).to_numpy()[:-1].nonzero()[0]
        if len(set_at):
            at, lifted_ms = int(set_at[-1]), int(minutes["minute_ms"].iat[int(set_at[-1]) + 1])
    periods_s = minutes[f"limit_{level}_period_s"].astype(float)
    use = minutes[f"rho_{level}_{unit}"].astype(float).max()
    read_size, read_batch = (minutes[name].iat[at] for name in ("read_size_bytes", "read_batch_entries"))
    return KnownLimit(
        level,
        unit,
        _whole(rates.iat[at]),
        _whole(periods_s.iat[at]),
        # Of one column at a time: a row of all columns would be copied as objects.
        _text(minutes["limit_counts"].iat[at]) or "messages",
        _text(minutes[f"limit_{level}_set_by"].iat[at]),
        planned_read(read_size, read_batch, unit),
        None if pd.isna(use) else float(use),
        _changes(rates) or _changes(periods_s),
        lifted_ms,
    )


def _changes(values: pd.Series) -> bool:
    """Whether there are two different values, missing being one."""
    found = values.to_numpy(dtype=float)
    return not bool(((found == found[0]) | (np.isnan(found) & np.isnan(found[0]))).all())


def limit_lines(minutes: pd.DataFrame, unit: str) -> dict[str, pd.Series]:
    """Per level the limit per second at each minute; levels that never had one are left out.

    A message limit that counts entries is turned into messages by the minute's messages per entry, and is
    missing where that is not known. A limit relative to the publish rate lets that rate through on top;
    a broker's limit never is.
    """
    lines = {}
    relative = _flag(minutes["relative_to_publish"])
    publish = minutes[f"in_{unit}_rate_5m"].astype(float)
    for level in LEVELS:
        line = _rate(minutes, level, unit) / minutes[f"limit_{level}_period_s"].astype(float)
        if unit == "msg":
            entries = minutes["limit_counts"] == "entries"
            line = line.where(~entries, line * minutes["messages_per_entry"].astype(float))
        if level != "broker":
            line = line.where(~relative, line + publish)
        if line.notna().any():
            lines[level] = line
    return lines


def shared_use(minutes: pd.DataFrame, level: str, unit: str) -> pd.Series:
    """Use of one limiter per second, summed over all that share it: rho x limit / period."""
    limit = _rate(minutes, level, unit) / minutes[f"limit_{level}_period_s"].astype(float)
    use = minutes[f"rho_{level}_{unit}"].astype(float) * limit
    if unit == "msg":
        entries = minutes["limit_counts"] == "entries"
        use = use.where(~entries, use * minutes["messages_per_entry"].astype(float))
    return use


def is_relative(minutes: pd.DataFrame) -> bool:
    """Whether a limit was added to the publish rate in any minute."""
    return bool(_flag(minutes["relative_to_publish"]).any())


def events_prove(minutes: pd.DataFrame, level: str, unit: str) -> pd.Series:
    """Per minute whether events of this limiter are evidence: True, False, or NA where the limit is not known."""
    # A counter of the minute in which a limit was lifted still counted under it, and may be scraped a minute later.
    limit = _rate(minutes, level, unit).ffill(limit=2)
    if unit == "bytes":
        planned = minutes["read_size_bytes"].astype(float).fillna(READ_SIZE_BYTES)
    else:
        planned = minutes["read_batch_entries"].astype(float).fillna(READ_BATCH_ENTRIES_5)
    return (limit >= planned).astype("boolean").mask(limit.isna())


def planned_read(read_size_bytes: float | None, read_batch_entries: float | None, unit: str) -> int:
    """What one read plans for, in entries or bytes; the larger of Pulsar's defaults where it was not read."""
    if unit == "bytes":
        return _whole(read_size_bytes) or READ_SIZE_BYTES
    return _whole(read_batch_entries) or READ_BATCH_ENTRIES_5


def _rate(minutes: pd.DataFrame, level: str, unit: str) -> pd.Series:
    """The limit per period; zero or less is no limit to the broker."""
    rate = minutes[f"limit_{level}_{unit}"].astype(float)
    return rate.where(rate > 0)


def _flag(column: pd.Series) -> pd.Series:
    # Flags are numbers in some tables and truth values in others; missing is not set.
    return column.astype("float64").fillna(0) > 0


def _whole(value: object) -> int | None:
    return None if pd.isna(value) else int(value)


def _text(value: object) -> str | None:
    return None if pd.isna(value) else str(value)
