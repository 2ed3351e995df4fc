"""Estimated ages of backlogs against the broker's own. In: recordings with ages. Out: one row per estimate, and what they add up to.

``python -m tests.accuracy.ages`` prints the table of ``docs/accuracy/ages.md``; ``--held-out`` adds the held-out recordings. The
estimate sees no answer of the admin API: neither the age nor the batch size in it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from tests.accuracy.recorded import read
from tests.accuracy.signals import signals_of
from tests.lab.sets import SETS
from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.core.times import MINUTE_MS, SECOND_MS
from throttlescope.models.backlog_age import BacklogAge, backlog_age
from throttlescope.models.diagnosis.thresholds import COVERAGE_FULL_SHARE

#: A younger backlog is what waits between two scrapes.
LEAST_AGE_S = 30.0


@dataclass(frozen=True)
class JudgedAge:
    """One estimate next to the broker's own age at the same minute's end."""

    recording: str
    subscription: str
    minute_ms: int
    true_s: float
    found: BacklogAge

    @property
    def error_share(self) -> float:
        """Distance from the broker's age, over that age."""
        return abs(self.found.age_s - self.true_s) / self.true_s

    @property
    def is_covered(self) -> bool:
        return self.found.low_s <= self.true_s <= self.found.high_s


def folders(*, held_out: bool) -> list[Path]:
    """Recordings of the set: those for development, or the held-out ones."""
    return [folder for folder in SETS["ages"].folders if (folder.name != "ages-1") == held_out]


def judged(folder: Path) -> Iterator[JudgedAge]:
    """Every minute of a recording whose backlog the broker gave an age of at least :data:`LEAST_AGE_S`."""
    recorded = read(folder)
    seen = signals_of(recorded).to_pandas()
    blind = signals_of(replace(recorded, topic_stats=recorded.topic_stats.slice(0, 0))).to_pandas()
    keys = list(SUBSCRIPTION_KEY_NAMES)
    by_key: dict[tuple, pd.DataFrame] = {
        key: part.sort_values("minute_ms") for key, part in blind.groupby(keys)
    }
    for row in seen[seen["stats_backlog_age_s"].notna()].sort_values([*keys, "minute_ms"]).to_dict("records"):
        minutes = by_key[tuple(row[name] for name in keys)]
        end_ms = row["minute_ms"] + MINUTE_MS
        # The stats are a moment off the minute's end.
        true_s = row["stats_backlog_age_s"] + (end_ms - row["stats_newest_ms"]) / SECOND_MS
        # The recording ends within its last minute: no verdict is made of it.
        if true_s >= LEAST_AGE_S and row["coverage_share"] >= COVERAGE_FULL_SHARE:
            found = backlog_age(minutes[minutes["minute_ms"] < end_ms])
            yield JudgedAge(folder.name, row["subscription"], int(row["minute_ms"]), float(true_s), found)


def table(rows: Iterable[JudgedAge]) -> pd.DataFrame:
    """By subscription and over all: minutes, estimates, median error, covered share, width of the interval, and why there is none."""
    rows = list(rows)
    groups = {
        name: [row for row in rows if row.subscription == name]
        for name in dict.fromkeys(row.subscription for row in rows)
    }
    return pd.DataFrame([_summary(name, part) for name, part in {**groups, "all": rows}.items()])


def _summary(name: str, rows: list[JudgedAge]) -> dict:
    known = [row for row in rows if row.found.age_s is not None]
    reasons = pd.Series([row.found.unknown for row in rows if row.found.unknown], dtype=object).value_counts()
    return {
        "subscription": name,
        "minutes": len(rows),
        "estimates": len(known),
        "oldest_s": max(row.true_s for row in rows),
        "median_error_share": float(np.median([row.error_share for row in known])) if known else np.nan,
        "covered_share": float(np.mean([row.is_covered for row in known])) if known else np.nan,
        "width_share": float(np.median([(row.found.high_s - row.found.low_s) / row.true_s for row in known])) if known else np.nan,
        "unknown": " ".join(f"{reason} {count}" for reason, count in reasons.items()),
    }  # fmt: skip


if __name__ == "__main__":
    pd.set_option("display.width", 220)
    pd.set_option("display.max_columns", 20)
    for part in (False, True) if "--held-out" in sys.argv[1:] else (False,):
        found = [row for folder in folders(held_out=part) for row in judged(folder)]
        if found:
            print("held-out" if part else "development")
            print(table(found).round(3).to_string(index=False))
        if "--rows" in sys.argv[1:]:
            for row in found:
                print(row.subscription, row.minute_ms, round(row.true_s, 1), row.found)
