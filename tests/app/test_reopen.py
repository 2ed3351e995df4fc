"""``throttlescope reopen`` on the command line."""

from __future__ import annotations

import json

import pytest

from tests.app.commands import throttlescope
from tests.models.diagnosis.test_apply import HOUR_MS, THROTTLED, fill, minutes
from tests.models.diagnosis.test_reopen import judged, write
from throttlescope.ingest.core.times import format_time
from throttlescope.ingest.lake import Lake

NAME = "persistent://acme/shop/orders-partition-0#billing"


@pytest.fixture
def lake(tmp_path, monkeypatch) -> Lake:
    monkeypatch.chdir(tmp_path)
    lake = Lake(tmp_path / "lake")
    fill(lake, minutes("billing", 60, **THROTTLED) + minutes("billing", 60, partition=1, **THROTTLED))
    write(lake, judged(lake, rules_version="0", cause="slow_consumers", side="consumer_capacity"))
    return lake


@pytest.mark.long
def test_table_shows_stored_and_recomputed_verdicts(lake):
    done = throttlescope("reopen", NAME, "--at", format_time(HOUR_MS + 60_000), "--lake", lake.root)
    assert done.code == 0
    assert "slow_consumers" in done.out
    assert "throttled" in done.out
    assert "Different: side, cause, rules_version." in done.out
    assert "Times are UTC" in done.out


@pytest.mark.long
def test_json_has_verdict_minutes_and_differences(lake):
    done = throttlescope(
        "reopen", NAME, "--at", format_time(HOUR_MS + 60_000), "--lake", lake.root, "--format", "json"
    )
    found = json.loads(done.out)
    assert found["differences"]["cause"] == {"then": "slow_consumers", "now": "throttled"}
    assert len(found["minutes"]) == 5
    assert found["again"]["evidence"][0]["weight"] == "for"


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "at", "message"),
    [
        (NAME, HOUR_MS - 60_000, "no verdict of this subscription at that moment"),
        (NAME.replace("-partition-0", ""), HOUR_MS, "topic-partition-N#sub"),
        ("billing", HOUR_MS, "cannot be read"),
    ],
)
def test_unknown_verdicts_exit_with_code_2(lake, name, at, message):
    done = throttlescope("reopen", name, "--at", format_time(at), "--lake", lake.root)
    assert done.code == 2
    assert message in done.err
    assert done.err.count("\n") == 1
