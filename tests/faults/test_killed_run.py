"""Whole runs that are killed, in short: a file of its own, so that it runs beside the other studies. ``make faults`` runs them all."""

import pytest

from tests.faults import pipeline


@pytest.mark.study
def test_killed_run_repeated_equals_undisturbed(tmp_path):
    scene = pipeline.undisturbed("run of a recording", ("run", "--recording", pipeline.RECORDING), tmp_path)
    assert scene.steps > 8
    kills = ["commit 3 after", f"step {scene.steps - 4}"]
    found = pipeline.killed("one lake", scene, kills, tmp_path / "killed")
    assert (found.counts, found.lost, found.doubled, found.wrong) == (len(kills), 0, 0, [])
