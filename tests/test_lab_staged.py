"""Recordings of three states: the truth of each follows from its own samples."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

from tests.lab.geo.record import GEO
from tests.lab.geo.sets import GEO_SETS
from tests.lab.reads.record import READS
from tests.lab.reads.sets import READS_SETS
from tests.lab.recording import read_samples
from tests.lab.scalable.record import SCALABLE
from tests.lab.scalable.sets import SCALABLE_SETS
from tests.lab.staged.play import StagedPlayed
from tests.lab.staged.record import StagedFamily

FAMILIES = ((GEO, GEO_SETS), (READS, READS_SETS), (SCALABLE, SCALABLE_SETS))
SCENARIOS = {one.name: one for _, sets in FAMILIES for chosen in sets.values() for one in chosen.scenarios}
RECORDINGS = [
    pytest.param(family, folder, id=folder.name)
    for family, sets in FAMILIES
    for chosen in sets.values()
    for folder in chosen.folders
]


def _played(folder: Path, about: dict) -> StagedPlayed:
    """What a recording says of when its states began and which steps failed."""
    played = StagedPlayed(SCENARIOS[about["name"]], about["start_ms"], about["end_ms"], about)
    if "segments" in about:
        # Their numbers are names in JSON.
        numbered = {topic: {int(number): hashes for number, hashes in rows.items()} for topic, rows in about["segments"].items()}  # fmt: skip
        played.about = about | {"segments": numbered}
    errors = {row["topic"]: row["seen"] for row in about["confirmed"] if row["check"] == "applied"}
    for topic, states in itertools.groupby(about["states"], lambda row: row["topic"]):
        for before, state in itertools.pairwise(states):
            row = {"topic": topic, "state": state["name"], "begin_ms": before["end_ms"], "applied_ms": state["start_ms"]}  # fmt: skip
            played.changes.append(row | {"error": None})
        for error in errors.get(topic, ()):
            played.changes.append(row | {"error": error})
    return played


@pytest.mark.long
@pytest.mark.parametrize(("family", "folder"), RECORDINGS)
def test_truth_follows_from_recorded_samples(family: StagedFamily, folder: Path) -> None:
    about = json.loads((folder / "recording.json").read_text())
    found = family.find_truth(_played(folder, about), read_samples(folder))
    assert found.states == about["states"]
    assert found.confirmed == about["confirmed"]
    assert found.rows == json.loads((folder / "truth.json").read_text())["rows"]
    assert found.rows


def test_topic_with_failed_step_has_no_truth() -> None:
    """The other topics of the scenario keep theirs."""
    folder = READS_SETS["development"].folders[0]
    about = json.loads((folder / "recording.json").read_text())
    played, series = _played(folder, about), read_samples(folder)
    whole = READS.find_truth(played, series)
    first = played.scenario.topics[0]
    row = next(row for row in played.changes if row["topic"] == first.name)
    played.changes.append(row | {"error": "RuntimeError: refused"})
    found = READS.find_truth(played, series)
    assert found.rows == [row for row in whole.rows if row["namespace"] != first.namespace] != whole.rows
    (check,) = [row for row in found.confirmed if row["topic"] == first.name]
    assert (check["check"], check["seen"], check["ok"]) == ("applied", ["RuntimeError: refused"], False)
