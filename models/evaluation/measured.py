"""The figures that the package brings. In: nothing. Out: what ``docs/accuracy/`` tells, as data.

Each ``measured.json`` is written by the command that writes its page: ``python -m tests.accuracy --write``,
``python -m tests.lab.simulated``, ``python -m benchmarks.forecasts`` and ``python -m benchmarks.anomalies --page``.
"""

from __future__ import annotations

import functools
import json
from importlib import resources
from typing import Any

#: What was measured, and the package that brings it.
PARTS = {
    "diagnosis": "throttlescope.models.diagnosis",
    "simulator": "throttlescope.models.throttling",
    "forecasts": "throttlescope.models.forecast",
    "anomalies": "throttlescope.models.anomaly",
}


def measured() -> dict[str, Any]:
    """Figures of the diagnosis by set of recordings.

    Returns
    -------
    dict
        ``rules_version``, ``page``, ``targets``, and ``sets``: name of a set to its figures. Shares are dicts of ``count``, ``of``,
        ``value`` and two intervals; a figure that could not be measured is None.
    """
    return measured_of("diagnosis")


@functools.cache
def _text(part: str) -> str | None:
    file = resources.files(PARTS[part]) / "measured.json"
    return file.read_text(encoding="utf-8") if file.is_file() else None


def measured_of(part: str) -> dict[str, Any] | None:
    """Figures of one of :data:`PARTS`, a new copy; None where the package brings none."""
    text = _text(part)
    return None if text is None else json.loads(text)
