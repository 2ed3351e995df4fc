"""Forecasts of drains compared with what the recordings show. In: recordings of a real broker. Out: the page's tables, and the calibration.

``python -m benchmarks.forecasts`` recomputes the tables of ``docs/accuracy/forecasts.md`` and ``models/forecast/measured.json``. ``--write`` first makes the calibration that is
shipped (``models/forecast/residuals.py``) out of all recordings but the held-out fleets. ``--print`` only prints the figures, as JSON. Held-out
fleets are judged by the calibration that is shipped, which has seen none of them.

No interval is judged by a recording that it was calibrated with: a recording is judged with a calibration of all others, except those of its
family and those of its name. Each fleet is a family of its own, and each of its subscription partitions counts as a recording. The set that the engine is judged on was
scraped every 2 s, as nobody scrapes in the field: of its samples every seventh is taken (14 s). Calibration takes all seven
ways to do so, judging takes the first.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from itertools import pairwise

from benchmarks.forecasting.losses import FirstLoss, all_first_losses
from benchmarks.forecasting.page import page
from benchmarks.forecasting.recordings import FLEETS, ROOT, Recorded, everything, recorded_fleets
from tests.accuracy.fleets import FLEETS_THAT_JUDGE
from tests.lab.sets import HELD_OUT
from throttlescope.models.forecast.calibration import REACHES, ForecastCalibration, calibrate
from throttlescope.models.forecast.judge import Coverage, ForecastOutcome, coverage, outcomes
from throttlescope.models.forecast.residuals import SHIPPED

PAGE = ROOT / "docs" / "accuracy" / "forecasts.md"
RESIDUALS = ROOT / "models" / "forecast" / "residuals.py"
MEASURED = ROOT / "models" / "forecast" / "measured.json"
EVERY_MS = 15_000
#: Makes intervals that nothing hangs on, where only what was predicted is looked at.
NONE = calibrate([])


def judged(
    items: Sequence[Recorded], calibration: ForecastCalibration, every_ms: int = EVERY_MS
) -> list[ForecastOutcome]:
    found = []
    for one in items:
        found += outcomes(
            one.trace, calibration, every_ms=every_ms, changes_ms=one.changes_ms, recording=one.name, family=one.family,
            cause_at=lambda at_ms, cause=one.cause: cause,
        )  # fmt: skip
    return found


def residuals_of(items: Iterable[Recorded], every_ms: int = EVERY_MS) -> list:
    return [
        replace(outcome.residual, recording=one.unit)
        for one in items
        for outcome in judged([one], NONE, every_ms)
        if outcome.residual is not None
    ]


def without(residuals: list, one: Recorded) -> ForecastCalibration:
    """The calibration of everything but a recording's family and name."""
    return calibrate(
        item
        for item in residuals
        if item.family != one.family and item.recording.split("/")[1] != one.recording
    )


def cross_judged(every_ms: int = EVERY_MS) -> tuple[list[ForecastOutcome], dict[str, ForecastCalibration]]:
    """Every recording, judged with intervals that it had no part in; and these calibrations by recording."""
    items = everything()
    residuals = residuals_of(items)
    found, used = [], {}
    for one in items:
        if one.phase == 0:
            used[one.name] = used.get(one.name) or without(residuals, one)
            found += judged([one], used[one.name], every_ms)
    return found, used


def of_held_out_fleets() -> dict | None:
    """The fleets that no calibration has seen, judged by the shipped one; None before they are recorded."""
    items = recorded_fleets(FLEETS_THAT_JUDGE)
    return asdict(coverage(judged(items, SHIPPED), lambda one: SHIPPED)) if items else None


def part(found: list[ForecastOutcome], used: dict[str, ForecastCalibration], keep) -> Coverage:
    return coverage([one for one in found if keep(one)], lambda one: used[one.recording])


PARTS = {
    "all": lambda one: True,
    HELD_OUT: lambda one: one.recording.startswith(f"{HELD_OUT}/"),
    "shipped": lambda one: one.recording.startswith("shipped/"),
    "diagnosis": lambda one: one.recording.startswith("diagnosis/"),
    "engine": lambda one: one.recording.startswith("engine/"),
    "fleets": lambda one: one.recording.startswith(f"{FLEETS}/"),
}


def figures(found: list[ForecastOutcome], used: dict[str, ForecastCalibration]) -> dict:
    """Everything that the page shows."""
    reaches = {
        f"up to {high:g} times" if math.isfinite(high) else "farther": (low, high)
        for low, high in pairwise((0.0, *REACHES))
    }
    causes = sorted({one.cause for one in found})
    never = [one for one in found if one.drain.state == "never"]
    return {
        "parts": {name: asdict(part(found, used, keep)) for name, keep in PARTS.items()},
        "reaches": {
            name: asdict(
                part(found, used, lambda one, low=low, high=high: low < (one.drain.reach or 0) <= high)
            )
            for name, (low, high) in reaches.items()
        },
        "causes": {
            name: asdict(part(found, used, lambda one, name=name: one.cause == name)) for name in causes
        },
        "held_out_fleets": of_held_out_fleets(),
        "states": {
            state: sum(one.drain.state == state for one in found)
            for state in ("expected", "never", "unknown")
        },
        "never": {
            "forecasts": len(never),
            "recordings": len({one.recording for one in never}),
            "drained": sum(one.after_s is not None for one in never),
            "drained_later_than_a_minute_after_a_change": sum(
                one.after_s is not None and one.since_change_s is not None and one.since_change_s > 60
                for one in never
            ),
            "drained_within_a_minute_of_a_change": sum(
                one.after_s is not None and one.since_change_s is not None and one.since_change_s <= 60
                for one in never
            ),
        },
    }


#: The set that can meet the target, the share that the target wants, and of how many forecasts at least.
JUDGES, WANTED, LEAST = HELD_OUT, 0.9, 200
#: How the held-out set came out the one time that no calibration had seen it, with the intervals that were shipped until then (of the sets
#: shipped and engine). This cannot be measured again: its recordings are part of the calibration now, and what is
#: computed here is cross-validated.
JUDGED_UNSEEN = {"inside": 570, "decided": 662, "wilson": [0.833, 0.885], "clustered": [0.808, 0.906]}


def shipped(found: dict, losses: Sequence[FirstLoss]) -> dict:
    """What ``models/forecast/measured.json`` holds: the figures of the page, six digits."""
    kinds = sorted({one.kind for one in losses})
    return _rounded(
        {
            "page": "docs/accuracy/forecasts.md",
            "target": {"wanted": WANTED, "least_forecasts": LEAST, "judges": JUDGES, "unseen": JUDGED_UNSEEN},
            **{name: found[name] for name in ("parts", "reaches", "causes", "states", "never")},
            "losses": {
                kind: {
                    "recordings": len({one.recording for one in mine}),
                    "forecasts": len(mine),
                    "within_one_check": sum(one.within_one_check for one in mine),
                    "inside": sum(one.inside for one in mine),
                }
                for kind in kinds
                for mine in [[one for one in losses if one.kind == kind]]
            },
        }
    )


def _rounded(value):
    if isinstance(value, dict):
        return {name: _rounded(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(item) for item in value]
    return round(value, 6) if isinstance(value, float) else value


def shipped_calibration() -> ForecastCalibration:
    return calibrate(residuals_of(everything()))


def residuals_text(calibration: ForecastCalibration) -> str:
    """``models/forecast/residuals.py``."""
    lines = [
        '"""How far forecasts of drains were off on the recordings. Written by ``python -m benchmarks.forecasts --write``; not by hand."""',
        "",
        "from __future__ import annotations",
        "",
        "from math import inf",
        "",
        "from throttlescope.models.forecast.calibration import Band, ForecastCalibration",
        "",
        "SHIPPED = ForecastCalibration(",
        "    bands=(",
    ]
    for band in calibration.bands:
        values = ", ".join(f"{name}={_literal(value)}" for name, value in asdict(band).items())
        lines.append(f"        Band({values}),")
    lines += [
        "    ),",
        f"    farthest_reach={_literal(calibration.farthest_reach)},",
        f'    version="{calibration.version}",',
    ]
    # A lake calls a recording by its name alone.
    names = {name.split("/")[1].partition("#")[0] for name in calibration.made_from}
    lines += [
        f"    made_from={_literal(tuple(sorted(names)))},",
        ")",
        "",
    ]
    return "\n".join(lines)


def _literal(value) -> str:
    if isinstance(value, tuple):
        return "(" + "".join(f"{_literal(item)}, " for item in value) + ")"
    return repr(round(value, 4)) if isinstance(value, float) else repr(value)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--write", action="store_true", help="recompute the shipped calibration first")
    parser.add_argument("--print", action="store_true", help="print the figures as JSON and write nothing")
    options = parser.parse_args()
    if options.write:
        RESIDUALS.write_text(residuals_text(shipped_calibration()))
        subprocess.run([sys.executable, "-m", "ruff", "format", "--quiet", str(RESIDUALS)], check=True)
    found = figures(*cross_judged())
    if options.print:
        print(json.dumps(found, indent=1))
    else:
        losses = all_first_losses()
        PAGE.write_text(page(PAGE.read_text(), found, losses, JUDGED_UNSEEN))
        MEASURED.write_text(json.dumps(shipped(found, losses), indent=1) + "\n")


if __name__ == "__main__":
    main()
