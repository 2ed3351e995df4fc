"""Which change is enough? In: a lake, a window, a lever and a target. Out: one JSON-able document, with progress on the way.

A lever is a key of a change, which is tried over its scale, or :data:`ANY`: then every lever is looked at for the smallest change that
helps, as ``throttlescope recommend`` does. :data:`EXACT` searches nothing: it simulates one change in full, message by message.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from throttlescope.app.services.whatif.scales import Scale, scales
from throttlescope.app.services.whatif.window import read_ground
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.lake import Lake
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.language import DEFAULT_LANGUAGE, use
from throttlescope.models.recommendation import advise
from throttlescope.models.recommendation.smallest import smallest_consumers, smallest_limit
from throttlescope.models.throttling.replay import (
    KEYS,
    Forecast,
    Ground,
    Observed,
    ReplayAnswer,
    parse_change,
    replay,
    rewind,
)

ANY, EXACT = "any", "exact"
LEVERS = (ANY, EXACT, *(key for key in KEYS if key != "rate_msg"))
#: Targets in seconds within which a backlog has to drain.
MIN_TARGET_S, MAX_TARGET_S = 60, 86_400
POINTS = 24
_LOOK_TIMES = 6

Note = Callable[[int, int, str], None]
"""Steps done, steps in all, and what is being done."""


@dataclass(frozen=True)
class Search:
    """What is searched for; the same search has the same name.

    Attributes
    ----------
    lake : str
        Its folder.
    versions : tuple
        Of the tables that it reads: on newer data it is another search.
    selector, cluster : str
        The subscription.
    start_ms, end_ms : int
        The window.
    lever : str
        One of :data:`LEVERS`.
    target_s : int
        The backlog has to drain within it; with :data:`EXACT` the length of the simulation.
    change : str
        With :data:`EXACT`: the change.
    when : str
        With :data:`EXACT`: ``end`` or ``start`` of the window.
    language : str
        Of the sentences in its answer.
    """

    lake: str
    versions: tuple
    selector: str
    cluster: str
    start_ms: int
    end_ms: int
    lever: str
    target_s: int
    change: str = ""
    when: str = "end"
    language: str = DEFAULT_LANGUAGE

    def __post_init__(self) -> None:
        if self.lever not in LEVERS:
            raise InputError("There is no such lever to search", got=self.lever, expected=", ".join(LEVERS))
        if not MIN_TARGET_S <= self.target_s <= MAX_TARGET_S:
            raise InputError(
                "The target is out of range", got=f"{self.target_s} s", expected="from one minute to 24 h"
            )  # fmt: skip

    @property
    def name(self) -> str:
        """A name for addresses, made of everything in it."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:24]

    @property
    def text(self) -> str:
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def of(cls, text: str) -> Search:
        fields = json.loads(text)
        return cls(**{**fields, "versions": tuple(fields["versions"])})


def run_search(search: Search, note: Note) -> dict[str, Any]:
    """Search, and say how far it is.

    Raises
    ------
    InputError
        The window cannot be replayed.
    """
    with use(search.language):
        note(0, POINTS, sentence("label.reading_samples"))
        ground = read_ground(
            Lake(search.lake), search.selector, search.cluster, search.start_ms, search.end_ms
        )
        note(0, POINTS, sentence("label.fitting_window"))
        ground.speed()
        if search.lever == ANY:
            return _any(search, ground, note)
        if search.lever == EXACT:
            return _exact(search, ground, note)
        return _sweep(search, ground, scales(ground)[search.lever], note)


def _any(search: Search, ground: Ground, note: Note) -> dict[str, Any]:
    note(POINTS // 4, POINTS, sentence("steps.whatif.levers"))
    advice = advise(ground.observed, target_s=search.target_s, ground=ground)
    return {
        "lever": ANY,
        "target_s": search.target_s,
        "recommendations": [one.document() for one in advice.recommendations],
        "not_helping": [one.text for one in advice.not_helping],
        "error_share": advice.counterfactuals.error_share,
    }


def _exact(search: Search, ground: Ground, note: Note) -> dict[str, Any]:
    note(POINTS // 4, POINTS, sentence("steps.whatif.exact"))
    change = parse_change(search.change.split())
    if search.when == "start":
        answer = rewind(ground, change)
    else:
        answer = replay(ground.observed, change, ground=ground, horizon_s=search.target_s)
    return {
        "lever": EXACT,
        "change": search.change,
        "when": search.when,
        "look_s": search.target_s,
        "forecasts": {"as it is": _ends(answer.as_is), "changed": _ends(answer.changed)},
        "error_share": ground.speed().error_share,
    }


def _ends(forecast: Forecast) -> dict[str, Any]:
    main = forecast.fitted or forecast.best
    return {
        "drain_s": main.drain_s,
        "earliest_s": forecast.earliest_s,
        "latest_s": forecast.latest_s,
        "held_by": main.held_by,
        "out_msg_per_s": main.out_msg_per_s,
        "peak_entries": int(main.backlog_entries.max()),
        "end_entries": int(main.backlog_entries[-1]),
        "seen": forecast.fitted is not None,
    }


def _sweep(search: Search, ground: Ground, scale: Scale, note: Note) -> dict[str, Any]:
    observed, points = ground.observed, []
    look_s = min(MAX_TARGET_S, _LOOK_TIMES * search.target_s)
    values = scale.values(POINTS)
    steps = len(values) + 1
    for number, value in enumerate(values):
        note(number, steps, f"{scale.key}={value:g}")
        answer = replay(
            observed, parse_change([f"{scale.key}={value:.12g}"]), ground=ground, horizon_s=look_s
        )
        points.append(_point(value, answer))
    note(len(values), steps, sentence("steps.whatif.smallest"))
    return {
        "lever": scale.key,
        "target_s": search.target_s,
        "look_s": look_s,
        "now": scale.now,
        "points": points,
        "enough": _enough(search, observed, scale, ground, points),
        "error_share": ground.speed().error_share,
    }


def _point(value: float, answer: ReplayAnswer) -> dict[str, Any]:
    main = answer.changed.fitted or answer.changed.best
    return {
        "value": value,
        "drain_s": main.drain_s,
        "earliest_s": answer.changed.earliest_s,
        "latest_s": answer.changed.latest_s,
        "held_by": main.held_by,
        "out_msg_per_s": main.out_msg_per_s,
    }


def _enough(
    search: Search, observed: Observed, scale: Scale, ground: Ground, points: list[dict[str, Any]]
) -> float | None:
    """The value nearest to what is with which it drains in time; None: none of those that were tried."""
    if scale.key.endswith((".msg", ".bytes")) and scale.now:
        tried = smallest_limit(observed, scale.key, int(scale.now), search.target_s, ground=ground)
        return None if tried is None else tried.value
    if scale.key == "consumers":
        tried = smallest_consumers(observed, search.target_s, ground=ground)
        return None if tried is None else tried.value
    drain = [
        one["value"] for one in points if one["drain_s"] is not None and one["drain_s"] <= search.target_s
    ]
    if not drain:
        return None
    if scale.now is None:
        # A limit where there is none: the lowest that still lets it drain. Work of consumers: the longest.
        return max(drain) if scale.key == "processing_ms" else min(drain)
    return min(drain, key=lambda value: abs(value - scale.now))
