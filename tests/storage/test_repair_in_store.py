"""lake check and lake repair on a real S3 server: damaged and missing objects are named, and come back from where they were read."""

from __future__ import annotations

import json

import pytest

from tests.app.commands import throttlescope
from tests.storage.test_run_in_store import RECORDING, rows_of
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.lake.upkeep.check import check

#: Two whole runs.
pytestmark = [pytest.mark.study, pytest.mark.spark, pytest.mark.long]
TABLES = ("series", "samples", "limits", "signals", "verdicts", "verdict_latest")


def rows(lake):
    found = {table: rows_of(lake, table) for table in TABLES}
    # Computed again by whole minutes, and not up to the recording's last millisecond.
    episodes = lake.read("episodes").drop_columns(["judged_until_ms"])
    return found | {"episodes": sorted(map(repr, episodes.to_pylist()))}


def test_damage_in_store_is_repaired(object_store, spark):
    root = object_store.lake("damaged")
    outcome = throttlescope("run", "--recording", RECORDING, "--lake", root, "--quiet")
    assert outcome.code == 0, outcome.err
    lake = Lake(root)
    before = rows(lake)
    paths = {
        table: f"{table}/{min(file.relative_path for file in lake.files(table))}"
        for table in ("samples", "series", "verdicts", "verdict_latest")
    }
    content = lake.storage.read(paths["samples"])
    lake.storage.write(paths["samples"], content[:50] + bytes([content[50] ^ 0x40]) + content[51:])
    lake.storage.write(paths["verdicts"], lake.storage.read(paths["verdicts"])[:200])
    lake.storage.delete([paths["series"], paths["verdict_latest"]])
    assert {fault.path for fault in check(lake) if fault.is_of_data_file} == set(paths.values())

    asked = (
        "lake", "repair", "--recording", RECORDING, "--lake", root, "--format", "json", "--quiet",
    )  # fmt: skip
    planned = throttlescope(*asked)
    assert planned.code == 1
    assert {one["table"] for one in json.loads(planned.out)["read"]} == {"samples", "series"}
    done = throttlescope(*asked, "--yes")
    assert done.code == 0, done.out + done.err
    again = Lake(root)
    assert check(again) == []
    assert rows(again) == before
