"""Windows with everything that is said of them. In: ``signals``. Out: verdicts, each with its grade and with what simpler rules say.

The verdict is :func:`~throttlescope.models.diagnosis.verdict.diagnose`'s own; its grade of evidence is not stored in the lake, so
windows are judged here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.models.diagnosis.apply import WINDOW_MS
from throttlescope.models.diagnosis.verdict import Verdict, diagnose
from throttlescope.models.diagnosis.window import (
    MinuteColumns,
    SubscriptionKey,
    Window,
    by_subscription,
    check_grid,
    windows,
)
from throttlescope.models.evaluation.baselines import baseline_sides


@dataclass(frozen=True, slots=True)
class JudgedWindow:
    """One window of one subscription partition, [start_ms, end_ms).

    Attributes
    ----------
    grade : str
        Grade of the evidence, ``A`` to ``D``; empty where no cause is named.
    missing : tuple of str
        The switches that the verdict names as missing.
    baselines : mapping of str to str
        Name of a simpler rule to the side that it names.
    """

    key: SubscriptionKey
    start_ms: int
    end_ms: int
    side: str
    cause: str
    limiter: str | None
    confidence: float
    grade: str
    missing: tuple[str, ...]
    rules_version: str
    baselines: Mapping[str, str]


def judge(signals: pa.Table, *, window_ms: int = WINDOW_MS, every_ms: int = MINUTE_MS) -> list[JudgedWindow]:
    """Judge all windows of some subscriptions.

    Parameters
    ----------
    signals : pyarrow.Table
        Rows of ``signals`` in any order.
    window_ms, every_ms : int
        Length of a window and distance between the starts of two, on the epoch grid.

    Returns
    -------
    list of Judged
        By subscription partition and time. The first windows of a subscription begin before its first minute, as they do in a
        run; the rules see what is missing.
    """
    check_grid(window_ms, every_ms)
    if not signals.num_rows:
        return []
    bounds = pc.min_max(signals.column("minute_ms")).as_py()
    return [
        judged(window)
        for key, mine in by_subscription(signals)
        for window in windows(
            key,
            MinuteColumns(mine),
            window_ms=window_ms,
            every_ms=every_ms,
            first_start_ms=bounds["min"] - window_ms,
            end_ms=bounds["max"] + MINUTE_MS,
        )
    ]


def judged(window: Window) -> JudgedWindow:
    """Judge one window."""
    verdict = diagnose(window)
    return JudgedWindow(
        key=verdict.key,
        start_ms=verdict.window_start_ms,
        end_ms=verdict.window_end_ms,
        side=verdict.side,
        cause=verdict.cause,
        limiter=verdict.limiter,
        confidence=verdict.confidence,
        grade=_grade(verdict),
        missing=tuple(one.fix for one in verdict.missing_evidence),
        rules_version=verdict.rules_version,
        baselines=baseline_sides(window) | {"naive rule": verdict.naive_side},
    )


def _grade(verdict: Verdict) -> str:
    # The first standing is the named one, unless its confidence was too low to name it.
    first = verdict.standings[0]
    return first.grade if first.cause == verdict.cause else ""
