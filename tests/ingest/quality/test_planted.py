"""Every check of every gate is made to fail somewhere, and data that is barely valid passes the whole gate."""

import pyarrow as pa
import pytest

from tests.ingest.quality.planted import DOOR_END_MS, HOURS, PLANTED, rows_of_gate
from tests.ingest.quality.rows import HOUR
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import BLOCK_MS
from throttlescope.ingest.lake import Lake, write_data_file
from throttlescope.ingest.quality.gates import GATES


def lake_of(folder, rows):
    """A lake of these rows, also those that ingest validation refuses; a file for each partition, and for each metric, cluster and hour."""
    lake = Lake(folder)
    for table, some in rows.items():
        contract, files = TABLES[table], {}
        own = ("metric_name", "cluster", "block_start_ms") if table == "samples" else contract.partition_by
        for row in some:
            files.setdefault(tuple(row[name] for name in own), []).append(row)
        written = [
            write_data_file(lake.root, table, pa.Table.from_pylist(one, schema=contract.schema))
            for one in files.values()
        ]
        lake.commit(table, written, run_id="planted")
    return lake


@pytest.mark.long
@pytest.mark.parametrize("name", GATES)
def test_each_check_fails_only_at_fault(tmp_path, name):
    gate = GATES[name]
    checks = {check.name: check for _, suite in gate.suites for check in suite}
    # A new check has to be planted; and the name of one that is gone would hide that its successor is not.
    assert set(PLANTED[name]) == set(checks), "plant a fault and a sound neighbour in planted.py"

    lake = lake_of(tmp_path, rows_of_gate(name))
    clusters = [cluster for check in checks for cluster in (check, f"{check}-sound")]
    first, last = HOURS[name]
    how = {"now_ms": DOOR_END_MS} if name == "door" else {}
    result = gate.check(None, lake, clusters, HOUR + first * BLOCK_MS, HOUR + last * BLOCK_MS, "run-1", **how)
    found = {}
    for row in result.failures():
        found.setdefault(row["cluster"], {})[row["check"]] = row["severity"]
    assert {check: found.get(check, {}).get(check) for check in checks} == {
        check.name: check.severity for check in checks.values()
    }
    assert {cluster: failed for cluster, failed in found.items() if cluster not in checks} == {}
