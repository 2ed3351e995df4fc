"""Changes of limits, one snapshot after the other: the slow twin of ``models/episodes/changes.py``."""

from __future__ import annotations

KEY = ("cluster", "namespace", "topic", "partition", "subscription", "level")


def changes(rows: list[dict]) -> list[tuple]:
    """``(key, unit, old rate, new rate, old_until_ms, new_from_ms, previous_ms, next_ms)`` of every change."""
    found = []
    for key in sorted({tuple(row[name] for name in KEY) for row in rows}):
        mine = sorted(
            (row for row in rows if tuple(row[name] for name in KEY) == key),
            key=lambda row: row["observed_ms"],
        )
        for unit in ("msg", "bytes"):
            own = []
            for number in range(1, len(mine)):
                old, new = mine[number - 1], mine[number]
                if meaning(old, unit) != meaning(new, unit):
                    own.append((old, new))
            for number, (old, new) in enumerate(own):
                previous = own[number - 1][1]["observed_ms"] if number > 0 else None
                following = own[number + 1][0]["observed_ms"] if number + 1 < len(own) else None
                found.append(
                    (key, unit, old[f"rate_{unit}"], new[f"rate_{unit}"], old["observed_ms"], new["observed_ms"],
                     previous, following)
                )  # fmt: skip
    return sorted(found, key=lambda one: (one[5], one[0], one[1]))


def meaning(row: dict, unit: str):
    """What a limit says; without a rate it says nothing, whatever else is written there."""
    if row[f"rate_{unit}"] is None:
        return None
    counts = row["counts"] if unit == "msg" else ""
    return row[f"rate_{unit}"], row["period_s"], row["relative_to_publish"], counts
