"""Limits as a metric, slowly. In: rows of ``limits``. Out: what ``throttlescope_dispatch_limit`` is at one moment.

For each minute and each subscription all snapshots are looked at anew; nothing is kept from one moment to the next.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

MINUTE_MS, HELD_MS, WEEK_MS = 60_000, 7 * 3_600_000, 7 * 24 * 3_600_000
KEY = ("cluster", "namespace", "topic", "partition", "subscription")


def limits_at(rows: Sequence[Mapping], moment_ms: int) -> dict[tuple, float]:
    """Labels (sorted pairs, without the name) and values at a moment that is a whole minute."""
    assert moment_ms % MINUTE_MS == 0
    found = {}
    for key in {tuple(row[name] for name in KEY) for row in rows}:
        mine = [row for row in rows if tuple(row[name] for name in KEY) == key]
        times_ms = sorted({row["observed_ms"] for row in mine})
        before = [time_ms for time_ms in times_ms if time_ms <= moment_ms]
        after = [time_ms for time_ms in times_ms if time_ms > moment_ms]
        speaks = before[-1] if before else None
        if speaks is None or (
            after and moment_ms - speaks > HELD_MS and after[0] - moment_ms < moment_ms - speaks
        ):
            speaks = after[0]
        spoken_ms = speaks
        if abs(spoken_ms - moment_ms) > WEEK_MS:
            continue
        known = before and _content(mine, before[-1]) == _content(mine, spoken_ms)
        for row in mine:
            if row["observed_ms"] == spoken_ms:
                found |= _both_units(row, later=spoken_ms > moment_ms and not known)
    return found


def _content(rows: Sequence[Mapping], time_ms: int) -> list[str]:
    """What a snapshot says."""
    names = (
        "level",
        "rate_msg",
        "rate_bytes",
        "period_s",
        "counts",
        "relative_to_publish",
        "set_by",
        "read_batch_entries",
        "read_size_bytes",
    )
    return sorted(repr([row[name] for name in names]) for row in rows if row["observed_ms"] == time_ms)


def _both_units(row: Mapping, *, later: bool) -> dict[tuple, float]:
    found = {}
    for unit, planned in (("msg", "read_batch_entries"), ("bytes", "read_size_bytes")):
        rate = row[f"rate_{unit}"]
        labels = {name: str(row[name]) for name in (*KEY, "level", "period_s", "set_by")} | {"unit": unit}
        if later:
            labels["limit_observed_later"] = "true"
        if unit == "msg" and row["counts"] == "entries":
            labels["counts"] = "entries"
        if rate is not None:
            labels["events_informative"] = "true" if rate >= (row[planned] or 500) else "false"
            if row["relative_to_publish"]:
                labels["relative_to_publish"] = "true"
        value = float("inf") if rate is None else rate / row["period_s"]
        found[tuple(sorted((name, text) for name, text in labels.items() if text))] = value
    return found


def samples_of(rows: Sequence[Mapping], start_ms: int, end_ms: int) -> dict[tuple, dict]:
    """Samples and staleness markers of each series in [start, end), minute by minute."""
    found: dict[tuple, dict] = {}
    first_ms = -(-start_ms // MINUTE_MS) * MINUTE_MS
    there = set(limits_at(rows, first_ms - MINUTE_MS))
    for moment_ms in range(first_ms, end_ms, MINUTE_MS):
        now = limits_at(rows, moment_ms)
        for labels, value in now.items():
            found.setdefault(labels, {"samples": [], "stale_ms": []})["samples"].append((moment_ms, value))
        for labels in there - now.keys():
            found.setdefault(labels, {"samples": [], "stale_ms": []})["stale_ms"].append(moment_ms)
        there = set(now)
    return found
