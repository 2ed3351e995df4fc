"""Scenarios whose recording did not count, and those that were repeated. In: ``dropped.json`` of a set. Out: its counts.

A scenario is dropped when the effect that its script announces was not seen, and may be played again; a repetition that counts replaces it. A set
that was repeated until it counted proves less than one that counted at once, so both numbers are on the page.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Attempts:
    """What became of a set's scenarios.

    Attributes
    ----------
    recordings : int
        Recordings that count.
    dropped : int
        Attempts whose effect was not seen; a scenario may have several.
    voided : int
        Attempts during which the machinery was not sound.
    repeated : int
        Scenarios with an attempt that did not count, which have a recording now.
    missing : tuple of str
        Scenarios with an attempt that did not count, which have none.
    """

    recordings: int
    dropped: int
    voided: int
    repeated: int
    missing: tuple[str, ...]


def attempts_of(dropped_file: Path, recordings: Iterable[str]) -> Attempts:
    """Count the attempts of one set; no file means that none was dropped."""
    rows = json.loads(dropped_file.read_text())["rows"] if dropped_file.exists() else []
    recorded = set(recordings)
    scenarios = {row["scenario"] for row in rows}
    voided = sum(row["status"] == "voided" for row in rows)
    repeated, missing = scenarios & recorded, tuple(sorted(scenarios - recorded))
    return Attempts(len(recorded), len(rows) - voided, voided, len(repeated), missing)
