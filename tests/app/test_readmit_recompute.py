"""Refused rows that are taken back reach all that follows: in the end the lake is the one in which nothing was refused."""

from __future__ import annotations

import json

import pytest

from tests.app.commands import throttlescope
from tests.app.incremental import differences, rows_of, run, scene
from tests.lab.prometheus import running_prometheus, write_series
from throttlescope.ingest.lake import Lake

pytestmark = [pytest.mark.prometheus, pytest.mark.long]

HOURS = 1
CROOKED, NAMESPACE = "billing", "acme/shop"


def put(url: str, *, refused: bool) -> int:
    """Write the scene; where it is to be refused, the subscription whose backlog grows lacks its namespace. Series that lack it."""
    lacking = 0
    for labels, samples in scene(0, HOURS):
        if refused and labels.get("subscription") == CROOKED:
            labels = {name: value for name, value in labels.items() if name != "namespace"}
            lacking += 1
        write_series(url, [(labels, samples)])
    return lacking


@pytest.mark.study
def test_readmitted_rows_leave_no_difference(tmp_path):
    lake, sound = tmp_path / "lake", tmp_path / "sound"
    with running_prometheus() as server:
        put(server.url, refused=False)
        run(None, sound, server.url, 0, HOURS)
    with running_prometheus() as server:
        lacking = put(server.url, refused=True)
        run(None, lake, server.url, 0, HOURS)
    # The sound lake has something to lose, and the other one lost it.
    assert any(CROOKED in row for row in rows_of(sound, "verdicts"))
    assert not any(
        CROOKED in row for table in ("series", "signals", "verdicts") for row in rows_of(lake, table)
    )

    back = throttlescope(
        "quarantine", "readmit", "--reason", "missing_key_label", "--set", f"labels.namespace={NAMESPACE}",
        "--lake", lake, "--format", "json",
    )  # fmt: skip
    assert back.code == 0, back.err
    assert len(json.loads(back.out)["readmitted"]) == lacking
    assert {"signals", "verdicts"} <= differences(lake, sound).keys()

    again = run(None, lake, None, 0, HOURS, command="diagnose")
    assert again.hours_computed["signals"] == HOURS
    assert differences(lake, sound) == {}
    assert not [row for row in Lake(lake).read("quarantine").to_pylist() if row["table"] == "samples"]
