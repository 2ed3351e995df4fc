"""All figures of some windows. In: judged windows and truth. Out: an :class:`Evaluation`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa

from throttlescope.ingest.contracts.vocabulary import CAUSES, SIDES
from throttlescope.ingest.core.errors import InputError
from throttlescope.models.diagnosis.causes import CAUSE_OF
from throttlescope.models.evaluation.alarm import Alarm, alarm_of
from throttlescope.models.evaluation.baselines import CAUSE_OF_SIDE, majority
from throttlescope.models.evaluation.calibration import Calibration, calibration_of
from throttlescope.models.evaluation.delays import Delay, Delays, delays, summary
from throttlescope.models.evaluation.flips import Flips, flips_of
from throttlescope.models.evaluation.judged import JudgedWindow
from throttlescope.models.evaluation.scores import Scores, scores_of
from throttlescope.models.evaluation.settled import THROTTLED_SIDES, Settled, settled_windows
from throttlescope.models.evaluation.shares import Share, share_of


@dataclass(frozen=True)
class JudgedRule:
    """What one rule is worth, ours or a simpler one. A rule that only knows sides is taken to mean their usual cause.

    Attributes
    ----------
    healthy_called_throttled : Share
        Healthy windows whose side was called ``throttle`` or ``both``.
    healthy_answered : Share
        Healthy windows that were not ``unknown``.
    """

    cause: Scores
    side: Scores
    healthy_called_throttled: Share
    healthy_answered: Share
    alarm: Alarm


@dataclass(frozen=True)
class Part:
    """All figures of some windows.

    Attributes
    ----------
    ours : JudgedRule
    baselines : dict of str to JudgedRule
        By name, see :mod:`throttlescope.models.evaluation.baselines`.
    limiter_right : Share
        Of the windows that are throttled and were called so, those with the right level and unit.
    after_change, after_relief, new : Delays
        Time to a right verdict after a cause began, after it ended (healthy again), and after a subscription came.
    """

    windows: int
    states: int
    recordings: int
    families: int
    ours: JudgedRule
    baselines: dict[str, JudgedRule]
    limiter_right: Share
    calibration: Calibration
    flips: Flips
    after_change: Delays
    after_relief: Delays
    new: Delays


@dataclass(frozen=True)
class Evaluation:
    """Figures of all recordings, of the held-out set, and of the others.

    Attributes
    ----------
    truth_rows_without_windows : int
        Ranges of truth in which no settled window lies.
    windows_not_settled : int
        Windows that no range of truth holds whole; only the time to a right verdict looks at them.
    """

    rules_versions: list[str]
    truth_rows: int
    truth_rows_without_windows: int
    windows_not_settled: int
    all: Part
    kept_aside: Part
    not_kept_aside: Part

    def to_json(self) -> dict[str, Any]:
        """Plain dicts, lists, numbers and text."""
        return asdict(self)


def evaluate(judged: Sequence[JudgedWindow], truth: pa.Table) -> Evaluation:
    """Compare what was said with what was made to happen.

    Parameters
    ----------
    judged : sequence of JudgedWindow
        Windows; they may slide and overlap.
    truth : pyarrow.Table
        Rows of ``truth``.

    Raises
    ------
    InputError
        There is no truth, its ranges overlap, or no window is settled.
    """
    settled, rows_used, not_settled = settled_windows(judged, truth)
    if not settled:
        raise InputError(
            "No verdict can be judged",
            got=f"{len(judged)} windows, {truth.num_rows} rows of truth",
            expected="windows that lie whole inside one range of truth of their subscription",
            fix="build signals over the recordings' ranges, for example with `throttlescope demo`",
        )
    after = delays(judged, truth)
    return Evaluation(
        rules_versions=sorted({window.judged.rules_version for window in settled}),
        truth_rows=truth.num_rows,
        truth_rows_without_windows=truth.num_rows - rows_used,
        windows_not_settled=not_settled,
        all=part_of(settled, after),
        kept_aside=part_of(
            [window for window in settled if window.kept_aside], [one for one in after if one.kept_aside]
        ),
        not_kept_aside=part_of(
            [window for window in settled if not window.kept_aside],
            [one for one in after if not one.kept_aside],
        ),
    )


def part_of(windows: Sequence[Settled], after: Sequence[Delay] = ()) -> Part:
    """All figures of some settled windows, and of the times to a right verdict that belong to them."""
    throttled = [
        window
        for window in windows
        if window.true_limiter is not None and window.judged.side in THROTTLED_SIDES
    ]
    changed = [one for one in after if not one.is_new]
    return Part(
        windows=len(windows),
        states=len({window.state for window in windows}),
        recordings=len({window.recording for window in windows}),
        families=len({window.family for window in windows}),
        ours=_rule(windows, lambda w: w.judged.cause, lambda w: w.judged.side),
        baselines=_baselines(windows),
        limiter_right=share_of(throttled, lambda w: w.judged.limiter == w.true_limiter),
        calibration=calibration_of(windows),
        flips=flips_of(windows),
        after_change=summary([one for one in changed if one.cause != "healthy"]),
        after_relief=summary([one for one in changed if one.cause == "healthy"]),
        new=summary([one for one in after if one.is_new]),
    )


def _baselines(windows: Sequence[Settled]) -> dict[str, JudgedRule]:
    names = sorted({name for window in windows for name in window.judged.baselines})
    found = {
        name: _rule(
            windows,
            lambda w, name=name: CAUSE_OF_SIDE[w.judged.baselines[name]],
            lambda w, name=name: w.judged.baselines[name],
        )
        for name in names
    }
    if windows:
        most = majority(window.true_cause for window in windows)
        found["majority"] = _rule(windows, lambda w: most, lambda w: CAUSE_OF[most].side)
    return found


def _rule(
    windows: Sequence[Settled], cause: Callable[[Settled], str], side: Callable[[Settled], str]
) -> JudgedRule:
    healthy: Iterable[Settled] = [window for window in windows if window.is_healthy]
    return JudgedRule(
        cause=scores_of(windows, CAUSES, lambda w: w.true_cause, cause),
        side=scores_of(windows, SIDES, lambda w: w.true_side, side),
        healthy_called_throttled=share_of(healthy, lambda w: side(w) in THROTTLED_SIDES),
        healthy_answered=share_of(healthy, lambda w: side(w) != "unknown"),
        alarm=alarm_of(windows, side),
    )
