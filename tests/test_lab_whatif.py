"""What-if beside the recordings: every intervention that drained something can be asked for, and figures are right by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.lab.sets import SETS
from tests.lab.simulated import whatif
from tests.models.throttling.replay.samples import observed_of
from throttlescope.models.throttling.replay import parse_change
from throttlescope.models.throttling.replay import replay as replayed
from throttlescope.models.throttling.scenario import load_scenario

FOLDERS = SETS["default"].folders
DRAINS = [drain for folder in FOLDERS for drain in whatif.drains(folder)]


def test_every_recorded_drain_is_asked_for() -> None:
    expected = [
        (folder.name, check.subscription)
        for folder in FOLDERS
        for check in load_scenario(folder / "scenario.yaml", named_as_file=False).confirm
        if check.check == "drains"
    ]
    assert [(drain.recording, drain.subscription) for drain in DRAINS] == expected
    assert len(DRAINS) > 20


@pytest.mark.parametrize("drain", DRAINS, ids=lambda drain: f"{drain.recording}-{drain.subscription}")
def test_its_words_say_something(drain: whatif.Drain) -> None:
    assert drain.settings
    assert parse_change(drain.settings).words == " ".join(drain.settings)
    assert drain.start_ms < drain.at_ms
    assert 0 < drain.measured_s < 600


def test_inexpressible_intervention_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "unload.yaml"
    fields = {
        "format": 1,
        "name": "unload",
        "topics": [{"name": "orders"}],
        "subscriptions": [
            {"name": "billing", "topic": "orders", "type": "Shared", "consumers": 1, "processing_ms": 1}
        ],
        "timeline": [
            {"name": "a", "duration_s": 5},
            {"name": "b", "duration_s": 5, "interventions": [{"action": "unload", "topic": "orders"}]},
        ],
    }
    file.write_text(json.dumps(fields))
    scenario = load_scenario(file)
    with pytest.raises(ValueError, match="cannot be said with --set"):
        whatif.settings(scenario, scenario.timeline[1].interventions, "billing")


def test_figures_by_hand() -> None:
    """1,000 entries at 100 msg/s, 50 of which come in the meantime: drained to 0 in 20 s; 25 were measured."""
    observed = observed_of(backlog=[1000.0] * 20, in_msg=250.0)
    answer = replayed(observed, parse_change(["consumers=2", "processing_ms=20"]), drained_below_entries=10)
    drain = replace(DRAINS[0], measured_s=25.0, scrape_s=6.0, nominal_msg_per_s=100.0, kept_aside=False)
    row = whatif.Row(drain, answer, None)
    assert row.drained_at_msg_per_s == pytest.approx(1000 / 25 + 50)
    lines = whatif.summary([row]).splitlines()
    assert "| drains | 1 | 1 | 0 |" in lines
    assert "| of these, off by no more than one scrape | 1 of 1 | 1 of 1 | 0 of 0 |" in lines
    (error,) = [line for line in lines if line.startswith("| with `processing_ms`, median error")]
    assert float(error.split("|")[2].removesuffix(" % ")) == pytest.approx(20, abs=5)
    late = whatif.Row(replace(drain, measured_s=40.0), answer, None)
    assert "| of these, off by no more than one scrape | 0 of 1 |" in whatif.summary([late])
    assert f"| {drain.recording} | {drain.subscription} | tuned |" in whatif.table([row])
