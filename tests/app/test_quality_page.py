"""The offline page of what the gates found: every check is listed, names are never markup, and nothing is fetched or run."""

import json
from html.parser import HTMLParser

import pyarrow as pa
import pytest

from tests.app.commands import throttlescope
from throttlescope.app.incident.quality_page.report import examples, summarize_gates
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.quality.gates import GATES

HOSTILE = '</code><script>alert("x")</script>\x1b[31m'


def finding(
    check="block_key_unique", gate="samples", table="samples", run="run-1", success=True, at=1, **changes
):
    return {
        "run_id": run, "cluster": None if success else HOSTILE, "gate": gate, "check": check, "table": table,
        "severity": "error", "success": success, "observed": None if success else f"2 faults of {HOSTILE}", "expected": "none",
        "rows": 0 if success else 2, "observed_ms": 1_795_161_600_000 + at, "date": "2026-11-20",
        "example": None if success else json.dumps({"topic": HOSTILE, "others": [{"topic": "other"}]}),
    } | changes  # fmt: skip


@pytest.fixture
def lake(tmp_path):
    lake = Lake(tmp_path / "lake")
    rows = [
        finding(), finding(run="run-2", success=False, at=2), finding("rows_present", run="run-2", observed="4 blocks", at=2),
        finding("admin_api_answers", "door", "policies", success=False, severity="warning"),
    ]  # fmt: skip
    lake.upsert("quality", pa.Table.from_pylist(rows, schema=TABLES["quality"].loose_schema), run_id="r")
    refused = {
        "run_id": "run-2", "cluster": None, "table": "samples", "reason": "missing_key_label", "row": HOSTILE, "rows": 7,
        "observed_ms": 1, "date": "2026-11-20",
    }  # fmt: skip
    lake.upsert(
        "quarantine", pa.Table.from_pylist([refused], schema=TABLES["quarantine"].loose_schema), run_id="r"
    )
    return lake


class _Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.fetched, self.words = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.fetched += [value for name, value in attributes if name in ("src", "href", "srcset", "action")]

    def handle_data(self, data):
        self.words.append(data)


def write_page(lake, tmp_path, *arguments):
    out = tmp_path / "page.html"
    outcome = throttlescope("quality", "page", "--lake", lake.root, "--out", out, "--force", *arguments)
    assert outcome.code == 0, outcome.err
    return out.read_text()


def test_page_lists_every_check_and_fetches_nothing(lake, tmp_path):
    text = write_page(lake, tmp_path)
    page = _Page(text)
    words = " ".join(page.words)
    for gate in GATES.values():
        for _, checks in gate.suites:
            assert all(check.name.replace("_", " ") in words for check in checks)
    assert "admin api answers" in words
    assert "script" not in page.tags
    assert all(place.startswith("#") or place == "data:," for place in page.fetched)
    for unwanted in ("url(", "@import", HOSTILE, "\x1b"):
        assert unwanted not in text


def test_failed_checks_have_their_rows(lake, tmp_path):
    words = " ".join(_Page(write_page(lake, tmp_path)).words)
    assert "2 of 2 rows, the worst first" in words
    assert "other" in words
    assert "4 blocks, 2026-11-20" in words
    assert "missing key label" in words


@pytest.mark.long
def test_page_shows_newest_checks_or_one_run(lake, tmp_path):
    def state(text):
        return "stops a run if not" in text

    assert not state(write_page(lake, tmp_path, "--run", "run-2"))
    assert state(write_page(lake, tmp_path, "--run", "run-1"))


def test_lake_without_checks_is_reported(tmp_path):
    words = " ".join(_Page(write_page(Lake(tmp_path / "empty"), tmp_path)).words)
    assert "no gate has checked anything yet" in words
    assert "not checked" in words


@pytest.mark.long
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--out", "page.html", "--run", "none"), "No gate has checked anything in this run"),
        (("--out", "there.html"), "there already"),
        (("--out", "nowhere/page.html"), "cannot be written"),
    ],
)
def test_bad_input_leaves_files_unchanged(lake, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there.html").write_text("mine")
    outcome = throttlescope("quality", "page", "--lake", lake.root, *arguments)
    assert outcome.code == 2
    assert words in outcome.line
    assert (tmp_path / "there.html").read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lake", "there.html"]


@pytest.mark.parametrize("text", [None, "", "no JSON", "[1]", '{"others": 5}'])
def test_examples_of_any_form_are_shown(text):
    assert all(isinstance(one, dict) for one in examples(text))


def test_check_state_is_its_worst_cluster():
    rows = [
        finding("x"),
        finding("block_key_unique", success=False, cluster="a"),
        finding("block_key_unique", success=False, cluster="b", rows=9),
    ]
    (samples,) = [gate for gate in summarize_gates(rows) if gate.name == "samples"]
    assert samples.state == "error"
    (check,) = [
        check for table in samples.tables for check in table.checks if check.name == "block_key_unique"
    ]
    assert [one.cluster for one in check.findings] == ["b", "a"]
    assert {gate.state for gate in summarize_gates([])} == {"not checked"}
