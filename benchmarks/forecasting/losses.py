"""Forecasts of first losses. In: recordings in which messages were lost. Out: every forecast, and when the loss came."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from benchmarks.forecasting.recordings import SETS, policies_of, samples_of
from throttlescope.models.forecast.forecasts import forecasts_at
from throttlescope.models.forecast.read import views_of_samples
from throttlescope.transforms.deadlines import TopicAnswers

EVERY_MS = 15_000


@dataclass(frozen=True)
class FirstLoss:
    """One forecast of the first loss of a state of a recording, and when a scrape first showed that loss."""

    recording: str
    kind: str
    made_at_ms: int
    predicted_ms: int | None
    low_ms: int | None
    high_ms: int | None
    check_ms: int
    scrape_ms: int
    came_ms: int

    @property
    def ahead_s(self) -> float:
        return (self.came_ms - self.made_at_ms) / 1000

    @property
    def off_s(self) -> float | None:
        """Predicted less real; real is known to one scrape."""
        return None if self.predicted_ms is None else (self.predicted_ms - self.came_ms) / 1000

    @property
    def within_one_check(self) -> bool:
        return self.off_s is not None and abs(self.off_s) * 1000 <= self.check_ms

    @property
    def inside(self) -> bool:
        if self.low_ms is None or self.predicted_ms is None:
            return False
        return self.low_ms <= self.came_ms <= (self.high_ms or self.came_ms) + self.scrape_ms


def first_losses(folder: Path, set_: str, every_ms: int = EVERY_MS) -> list[FirstLoss]:
    """Forecasts from the start of every state in which messages were lost, until they were."""
    about = json.loads((folder / "recording.json").read_text())
    lossy = [state for state in about["states"] if state.get("first_loss_ms")]
    if not lossy:
        return []
    source, limits = samples_of(folder, about["name"])
    views = views_of_samples(source, limits, 0, about["end_ms"] + 3_600_000)
    policies = policies_of(folder, about["name"])
    found = []
    # What was lost once goes on being lost: only the first state of a recording begins without.
    start_ms, came_ms = lossy[0]["start_ms"], lossy[0]["first_loss_ms"]
    for at_ms in range(start_ms + every_ms, came_ms, every_ms):
        answers = TopicAnswers(policies, at_ms)
        for topic in sorted({view.key.topic for view in views}):
            mine = [view for view in views if view.key.topic == topic]
            found += [
                FirstLoss(
                    f"{set_}/{about['name']}", row["kind"], at_ms, row["predicted_ms"], row["low_ms"], row["high_ms"],
                    row["check_interval_ms"], about["scrape_interval_s"] * 1000, came_ms,
                )
                for row in forecasts_at(mine, answers.deadlines(topic), at_ms)
                if row["kind"] != "drain"
            ]  # fmt: skip
    return found


def all_first_losses() -> list[FirstLoss]:
    return [
        loss
        for set_, found in SETS.items()
        for folder in found.folders
        for loss in first_losses(folder, set_)
    ]
