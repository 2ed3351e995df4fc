"""The quarantine: rows whole, reasons closed, counts right."""

import json
import re
from pathlib import Path

import pytest

import throttlescope.ingest
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.quarantine import REASONS, Quarantine


def test_a_row_is_kept_whole_and_counted():
    quarantine = Quarantine("run-1")
    row = {"labels": {"topic": 'a "quoted"\n../topic'}, "bytes": b"\xff"}
    quarantine.refuse("samples", "missing_key_label", row, cluster="c", stands_for=3)
    quarantine.refuse("samples", "missing_key_label", row, cluster="c", stands_for=4)
    quarantine.refuse("policies", "policy_unreadable", {"x": 1})
    assert quarantine.refused == 8
    assert quarantine.counts() == {"missing_key_label": 7, "policy_unreadable": 1}
    table = quarantine.rows()
    assert table.schema == TABLES["quarantine"].schema
    first = table.to_pylist()[0]
    assert (first["rows"], first["cluster"], first["run_id"]) == (7, "c", "run-1")
    assert json.loads(first["row"])["labels"] == row["labels"]


def test_nothing_refused_is_an_empty_table():
    assert Quarantine("run-1").rows().num_rows == 0


@pytest.mark.parametrize(("table", "reason"), [("sample", "missing_key_label"), ("samples", "bad luck")])
def test_words_are_closed(table, reason):
    with pytest.raises(InputError, match=r"No such (table|reason)"):
        Quarantine("run-1").refuse(table, reason, {})


def test_every_label_reason_is_listed():
    source = (Path(throttlescope.ingest.__file__).parent / "core" / "labels.py").read_text()
    used = set(re.findall(r'LabelError\(\s*"(\w+)"', source))
    assert used
    assert used <= set(REASONS)
