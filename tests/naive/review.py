"""Flips and the use of limits, counted the obvious way. In: rows of verdicts and signals. Out: counts to compare with."""

from __future__ import annotations

from collections import defaultdict

from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.contracts.vocabulary import LIMITERS


def key_of(row):
    return tuple(row[name] for name in SUBSCRIPTION_KEY_NAMES)


def by_key(rows):
    found = defaultdict(list)
    for row in rows:
        found[key_of(row)].append(row)
    return found


def new_parts(rows):
    """Windows in the order of their ends, each with the time [low, high) that none before it covered."""
    covered_ms = None
    for row in sorted(rows, key=lambda row: (row["window_end_ms"], row["window_start_ms"])):
        low = row["window_start_ms"] if covered_ms is None else max(row["window_start_ms"], covered_ms)
        if low < row["window_end_ms"]:
            yield row, low
            covered_ms = row["window_end_ms"]


def flips(verdicts):
    """Changes of the cause, and the time over which they were counted, in ms."""
    count = length_ms = 0
    for rows in by_key(verdicts).values():
        before = None
        for row, low in new_parts(rows):
            if before is not None and before["window_end_ms"] == low:
                count += row["cause"] != before["cause"]
                length_ms += row["window_end_ms"] - low
            before = row
    return count, length_ms


def owner_of(row, level, broker):
    if level == "broker":
        return broker or ""
    partition = row["topic"] + ("" if row["partition"] < 0 else f"-partition-{row['partition']}")
    return partition if level == "topic" else f"{partition}#{row['subscription']}"


def limit_uses(signals, verdicts):
    """(cluster, limiter, owner) to (rate, members, held ms, near minutes, minutes, largest share)."""
    members = defaultdict(lambda: defaultdict(list))
    for row in signals:
        for limiter in LIMITERS:
            level, name = limiter.split(".")[0], limiter.replace(".", "_")
            owner = owner_of(row, level, row["broker"])
            members[row["cluster"], limiter, owner][key_of(row)].append(
                (row["minute_ms"], row[f"limit_{name}"], row[f"rho_{name}"])
            )
    held_ms = defaultdict(int)
    brokers = {(*key_of(row), row["minute_ms"]): row["broker"] for row in signals}
    for rows in by_key(verdicts).values():
        for row, low in new_parts(rows):
            if row["limiter"] is not None and row["side"] in ("throttle", "both"):
                broker = brokers.get((*key_of(row), row["window_end_ms"] - 60_000))
                owner = owner_of(row, row["limiter"].split(".")[0], broker)
                held_ms[row["cluster"], row["limiter"], owner] += row["window_end_ms"] - low
    found = {}
    for name, of in members.items():
        of = {key: rows for key, rows in of.items() if any(limit is not None for _, limit, _ in rows)}
        if not of:
            continue
        newest = max((at, limit) for rows in of.values() for at, limit, _ in rows if limit is not None)
        shares = {key: [rho for _, _, rho in rows if rho is not None] for key, rows in of.items()}
        found[name] = (
            newest[1],
            len(of),
            held_ms.get(name, 0),
            max(sum(rho >= 0.9 for rho in mine) for mine in shares.values()),
            max(len(mine) for mine in shares.values()),
            max((rho for mine in shares.values() for rho in mine), default=None),
        )
    return found
