"""What holds a subscription now, the slow way: its verdicts of a day, one after the other."""

from __future__ import annotations

from collections import Counter

from throttlescope.ingest.core.times import BLOCK_MS, DAY_MS

KEY = ("cluster", "namespace", "topic", "partition", "subscription")
NEWEST = (
    "window_start_ms", "window_end_ms", "side", "cause", "limiter", "confidence", "naive_side", "backlog_entries",
    "backlog_growth_entries",
)  # fmt: skip
MAIN = ("cause", "limiter", "held_ms", "from_ms", "to_ms", "confidence", "peak_entries", "side", "naive_side")


def latest(verdicts: list[dict]) -> list[dict]:
    """Rows of ``verdict_latest`` of rows of ``verdicts`` in any order, sorted by key."""
    ends: dict[str, int] = {}
    for row in verdicts:
        ends[row["cluster"]] = max(ends.get(row["cluster"], 0), row["window_end_ms"])
    by_key: dict[tuple, list[dict]] = {}
    for row in verdicts:
        if row["window_end_ms"] > ends[row["cluster"]] - DAY_MS:
            by_key.setdefault(tuple(row[name] for name in KEY), []).append(row)
    return [
        dict(zip(KEY, key, strict=True)) | _of_one(rows, ends[key[0]]) for key, rows in sorted(by_key.items())
    ]


def _of_one(rows: list[dict], end_ms: int) -> dict:
    # A window that ends where one before it ended says nothing more; of two the longer speaks.
    spoken: list[dict] = []
    for row in sorted(rows, key=lambda row: (row["window_end_ms"], row["window_start_ms"])):
        if not spoken or row["window_end_ms"] > spoken[-1]["window_end_ms"]:
            before_ms = spoken[-1]["window_end_ms"] if spoken else None
            from_ms = row["window_start_ms"] if before_ms is None else max(row["window_start_ms"], before_ms)
            spoken.append(row | {"from_ms": from_ms, "gap": before_ms is None or from_ms > before_ms})
    newest = spoken[-1]
    first = len(spoken) - 1
    while not spoken[first]["gap"] and _says(spoken[first - 1]) == _says(newest):
        first -= 1
    found = {name: newest[name] for name in NEWEST}
    found |= {"since_ms": spoken[first]["from_ms"], "since_at_least": spoken[first]["gap"]}
    return found | {f"main_{name}": value for name, value in _main(spoken, end_ms - 6 * BLOCK_MS).items()}


def _says(row: dict) -> tuple:
    return row["cause"], row["limiter"]


def _main(spoken: list[dict], recent_ms: int) -> dict:
    held: dict[tuple, list[dict]] = {}
    for row in spoken:
        if row["window_end_ms"] > recent_ms:
            held.setdefault(_says(row), []).append(row)
    if not held:
        return dict.fromkeys(MAIN)
    told = []
    for (cause, limiter), rows in held.items():
        naive = Counter(row["naive_side"] for row in rows)
        most = max(naive.values())
        peaks = [row["backlog_entries"] for row in rows if row["backlog_entries"] is not None]
        told.append(
            {
                "cause": cause,
                "limiter": limiter,
                "held_ms": sum(row["window_end_ms"] - max(row["from_ms"], recent_ms) for row in rows),
                "from_ms": min(max(row["from_ms"], recent_ms) for row in rows),
                "to_ms": max(row["window_end_ms"] for row in rows),
                "confidence": round(sum(row["confidence"] for row in rows) / len(rows), 9),
                "peak_entries": max(peaks, default=None),
                "side": min(row["side"] for row in rows),
                "naive_side": min(side for side, count in naive.items() if count == most),
            }
        )
    return min(
        told,
        key=lambda one: (
            one["cause"] == "healthy",
            one["cause"] == "unknown",
            -one["held_ms"],
            -one["to_ms"],
            one["cause"],
            one["limiter"] is None,
            one["limiter"] or "",
        ),
    )
