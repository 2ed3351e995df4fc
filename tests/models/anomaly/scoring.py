"""How alarms are judged against what was injected. In: alarms and truths per subscription. Out: event-wise figures.

An alarm is a moment. It is right when it lies inside an injected event, it is not counted when it lies in the aftermath, and it is false
anywhere else. Further alarms inside one event are counted apart as repeats: they make nothing better. No point is adjusted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import median

from tests.models.anomaly.traffic import KINDS, Truth

#: An alarm so shortly after an event's end is still about it.
_GRACE = 5
_WEEK = 7 * 1440


@dataclass
class Score:
    """Counts over any number of subscriptions."""

    events: int = 0
    found: int = 0
    alarms: int = 0
    false: int = 0
    repeats: int = 0
    weeks: float = 0.0
    delays: list[int] = field(default_factory=list)
    by_kind: dict[str, list[int]] = field(default_factory=lambda: {kind: [0, 0] for kind in KINDS})
    delays_by_kind: dict[str, list[int]] = field(default_factory=lambda: {kind: [] for kind in KINDS})

    def add(self, alarms: Iterable[int], truths: Sequence[Truth], minutes: int) -> None:
        """Count one subscription that was judged for so many minutes."""
        self.weeks += minutes / _WEEK
        first: dict[int, int] = {}
        for alarm in sorted(alarms):
            inside = [i for i, truth in enumerate(truths) if truth.start <= alarm < truth.end + _GRACE]
            if inside:
                self.alarms += 1
                self.repeats += inside[0] in first
                # It is known at the end of its minute.
                first.setdefault(inside[0], alarm + 1 - truths[inside[0]].start)
            elif not any(truth.start <= alarm < truth.calm for truth in truths):
                self.alarms += 1
                self.false += 1
        for i, truth in enumerate(truths):
            self.events += 1
            self.by_kind[truth.kind][1] += 1
            if i in first:
                self.found += 1
                self.by_kind[truth.kind][0] += 1
                self.delays.append(first[i])
                self.delays_by_kind[truth.kind].append(first[i])

    @property
    def recall(self) -> float:
        return self.found / self.events if self.events else 0.0

    @property
    def precision(self) -> float:
        """Events found / (events found + false alarms)."""
        return self.found / (self.found + self.false) if self.found else 0.0

    @property
    def f1(self) -> float:
        return 2 * self.found / (self.events + self.found + self.false) if self.found else 0.0

    @property
    def false_per_week(self) -> float:
        return self.false / self.weeks if self.weeks else 0.0

    @property
    def median_delay(self) -> float | None:
        return median(self.delays) if self.delays else None
