"""The figures that the package brings. In: nothing. Out: ``models/diagnosis/measured.json``, as ``docs/accuracy/diagnosis.md`` tells it.

``python -m tests.accuracy --write`` makes both from recordings of a real broker.
"""

from __future__ import annotations

import json
from importlib import resources
from typing import Any


def measured() -> dict[str, Any]:
    """Figures by set of recordings.

    Returns
    -------
    dict
        ``rules_version``, ``page``, and ``sets``: name of a set to its figures. Shares are dicts of ``count``, ``of``, ``value``
        and two intervals; a figure that could not be measured is None.
    """
    file = resources.files("throttlescope.models.diagnosis") / "measured.json"
    return json.loads(file.read_text(encoding="utf-8"))
