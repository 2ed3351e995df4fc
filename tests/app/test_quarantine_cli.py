"""``throttlescope quarantine``: rows are looked at, repaired and taken back by one command; what does not fit says why."""

import json

import pytest

from tests.app.commands import throttlescope
from tests.ingest.quarantine.rows import decoded, hold_refused, refuse, without
from throttlescope.ingest.lake import Lake


@pytest.fixture
def lake(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lake = Lake(tmp_path / "lake")
    refuse(
        lake,
        decoded(without("cluster", subscription="alpha")),
        decoded(without("cluster", subscription="beta\x1b[31m")),
        decoded(without("namespace", subscription="gamma")),
        tmp_path=tmp_path,
    )
    hold_refused(lake, [{"table": "samples", "reason": "missing_metric_name", "row": "no JSON {"}])
    return lake


def run_quarantine(lake, *arguments):
    outcome = throttlescope("quarantine", *arguments, "--lake", lake.root, "--format", "json")
    assert outcome.code == 0, outcome.err
    return json.loads(outcome.out)


@pytest.mark.long
def test_row_is_listed_shown_repaired_and_readmitted(lake):
    rows = run_quarantine(lake, "list", "--reason", "missing_key_label")
    assert len(rows) == 3
    known = [row for row in rows if row["known_repair"]]
    assert [row["known_repair"] for row in known] == ["namespace t/n, as the topic says"]
    own = known[0]["id"]
    shown = run_quarantine(lake, "show", own[:8])
    assert json.loads(shown["row"])["labels"]["subscription"] == "gamma"
    assert shown["door"].startswith("missing_key_label")

    (repaired,) = run_quarantine(lake, "repair", own, "--known")
    assert (repaired["state"], repaired["door"]) == ("repaired", "takes it")
    assert lake.version("samples") is None
    done = run_quarantine(lake, "readmit", own)
    assert (done["readmitted"], done["samples_or_rows_new"]) == ([own], 3)
    assert done["hours"] == {"c": ["2026-11-20T08:00:00Z"]}
    assert run_quarantine(lake, "readmit", own)["samples_or_rows_new"] == 0
    assert own not in {row["id"] for row in run_quarantine(lake, "list")}
    assert own in {row["id"] for row in run_quarantine(lake, "list", "--all")}
    assert run_quarantine(lake, "show", own)["readmitted_run_id"] == done["run_id"]


@pytest.mark.long
def test_readmit_repairs_all_that_fit(lake):
    outcome = throttlescope(
        "quarantine", "readmit", "--all", "--known", "--set", "labels.cluster=prod", "--lake", lake.root
    )
    assert outcome.code == 2  # the row that is no object has no value to set
    assert "no object" in outcome.line
    assert lake.version("samples") is None

    outcome = throttlescope(
        "quarantine",
        "readmit",
        "--reason",
        "missing_key_label",
        "--known",
        "--set",
        "labels.cluster=prod",
        "--lake",
        lake.root,
    )
    assert outcome.code == 0
    assert "3 rows readmitted with 9 new samples or rows" in outcome.out
    assert "throttlescope diagnose" in outcome.out
    assert lake.read("samples").num_rows == 3


@pytest.mark.long
def test_unfit_rows_stay_with_exit_code_2(lake):
    outcome = throttlescope("quarantine", "readmit", "--all", "--known", "--lake", lake.root)
    assert outcome.code == 2
    assert "3 of 4 rows still do not fit" in outcome.line
    reasons = sorted(row["reason"] for row in run_quarantine(lake, "list"))
    assert reasons == ["missing_key_label", "missing_key_label", "row_unreadable"]


@pytest.mark.long
def test_row_can_be_replaced_by_json(lake, tmp_path):
    (bad,) = (row["id"] for row in run_quarantine(lake, "list", "--reason", "missing_metric_name"))
    good = tmp_path / "good.json"
    kept_samples = {"timestamps_ms": [1_795_161_600_000], "values": ["NaN"], "stale_ms": []}
    good.write_text(json.dumps({"labels": without(), "held": kept_samples}))
    assert run_quarantine(lake, "readmit", bad, "--json", good)["readmitted"] == [bad]


@pytest.mark.long
def test_terminal_output_has_no_escape_sequences(lake):
    for arguments in (
        ("list",),
        ("show", run_quarantine(lake, "list", "--reason", "missing_key_label")[1]["id"]),
    ):
        outcome = throttlescope("quarantine", *arguments, "--lake", lake.root)
        assert outcome.code == 0
        assert "\x1b" not in outcome.out


@pytest.mark.long
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("readmit",), "No row is named"),
        (("show", "ffffffff"), "names no refused row"),
        (("list", "--reason", "bad_luck"), "No such reason"),
        (("repair", "--reason", "missing_key_label"), "No repair is given"),
        (("repair", "--reason", "missing_key_label", "--set", "x"), "--set is no pair"),
        (("repair", "--reason", "missing_key_label", "--json", "nowhere.json"), "--json is one row"),
        (("repair", "--reason", "missing_metric_name", "--known"), "no known repair"),
    ],
)
def test_bad_input_is_one_line(lake, arguments, words):
    outcome = throttlescope("quarantine", *arguments, "--lake", lake.root)
    assert outcome.code == 2
    assert words in outcome.line
