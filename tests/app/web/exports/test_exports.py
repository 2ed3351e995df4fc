"""Files to take away: they hold what the lake holds, and nothing that a spreadsheet would run."""

from __future__ import annotations

import csv
import io
import zipfile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.app.web.components import find
from tests.app.web.sample_lake import END_MS, HOSTILE_NAME, START_MS
from throttlescope.app.presentation.links.subscription import SubscriptionAddress, SubscriptionPartition
from throttlescope.app.presentation.table_rows import MOST_ROWS, TableQuery, read_rows, time_column
from throttlescope.app.server import app
from throttlescope.app.web.address.subscriptions import SubscriptionsAddress
from throttlescope.app.web.data import newest
from throttlescope.app.web.data.reader import LakeReader
from throttlescope.app.web.pages.subscription.content import read_view
from throttlescope.app.web.pages.subscription.page import page
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.times import MINUTE_MS, format_time
from throttlescope.ingest.lake import Lake


@pytest.fixture(scope="module")
def client(sample_lake):
    return app.create_app(sample_lake).server.test_client()


@pytest.fixture(scope="module")
def keys(sample_lake) -> dict[str, SubscriptionPartition]:
    rows, _ = newest.subscriptions(LakeReader(sample_lake), SubscriptionsAddress(own_topics=True))
    return {
        row["subscription"]: SubscriptionPartition(
            row["cluster"], row["topic"], row["partition"], row["subscription"]
        )
        for row in rows
    }


def query_of(key: SubscriptionPartition, **times: int) -> str:
    names = {"start_ms": "start_ms", "end_ms": "end_ms", "at_ms": "at_ms"}
    return (
        SubscriptionAddress(key, **{names[name]: at_ms for name, at_ms in times.items()})
        .href()
        .split("?", 1)[1]
    )


@pytest.mark.sampled(4)
@pytest.mark.long
@pytest.mark.parametrize("name", sorted(TABLES))
def test_every_table_exports_all_rows(client, sample_lake, name):
    """As Parquet and as CSV."""
    stored = Lake(sample_lake).read(name)
    parquet = pq.read_table(io.BytesIO(client.get(f"/export/table/{name}.parquet").data))
    assert parquet.num_rows == stored.num_rows
    assert parquet.column_names == stored.column_names
    rows = list(csv.reader(io.StringIO(client.get(f"/export/table/{name}.csv").text, newline="")))
    assert rows[0] == stored.column_names
    assert len(rows) == stored.num_rows + 1


@pytest.mark.long
def test_export_filters_by_subscription_and_range(client, keys, sample_lake):
    start_ms, end_ms = END_MS - 30 * MINUTE_MS, END_MS - 10 * MINUTE_MS
    query = query_of(keys["billing"], start_ms=start_ms, end_ms=end_ms)
    got = pq.read_table(io.BytesIO(client.get(f"/export/table/signals.parquet?{query}").data)).to_pylist()
    wanted = [
        row
        for row in Lake(sample_lake).read("signals").to_pylist()
        if (row["cluster"], row["topic"], row["partition"], row["subscription"])
        == tuple(value if name != "partition" else int(value) for name, value in keys["billing"].pairs())
        and start_ms <= row["minute_ms"] < end_ms
    ]
    assert len(wanted) == 20
    assert got == sorted(wanted, key=lambda row: row["minute_ms"])


@pytest.mark.long
def test_subscriptions_export_applies_the_filters(client, reader):
    text = client.get("/export/subscriptions.csv?cause=throttled&view=now").text
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    shown, total = newest.subscriptions(reader, SubscriptionsAddress(causes=("throttled",), view="now"))
    assert len(rows) == total > 0
    assert [row["subscription"] for row in rows] == [row["subscription"] for row in shown]


def test_csv_escapes_spreadsheet_formulas(tmp_path):
    from throttlescope.app.server.exports.routes import _csv

    rows = pa.table(
        {
            "subscription": ['=HYPERLINK("http://x")', "+1", "-2", "@a", "\tb", "plain"],
            "n": [1, 2, 3, 4, 5, -6],
        }
    )
    cells = list(csv.reader(io.StringIO("".join(_csv(rows)), newline="")))[1:]
    assert [cell[0][0] for cell in cells] == ["'"] * 5 + ["p"]
    assert cells[-1][1] == "-6"


def test_csv_in_batches_has_one_header():
    from throttlescope.app.server.exports.routes import _csv

    rows = list(csv.reader(io.StringIO("".join(_csv(pa.table({"a\nb": list(range(12_000))}))), newline="")))
    assert rows[0] == ["a\nb"]
    assert [int(row[0]) for row in rows[1:]] == list(range(12_000))


@pytest.mark.study
def test_hostile_name_is_exported_unchanged(client, keys):
    hostile = next(key for name, key in keys.items() if name == HOSTILE_NAME)
    answer = client.get(f"/export/table/verdicts.parquet?{query_of(hostile)}")
    rows = pq.read_table(io.BytesIO(answer.data)).to_pylist()
    assert {row["subscription"] for row in rows} == {HOSTILE_NAME}
    bundle = client.get(f"/export/incident.zip?{query_of(hostile)}")
    assert bundle.status_code == 200, bundle.text
    assert bundle.headers["Content-Disposition"].isascii()
    assert all(
        name.startswith("incident/") and ".." not in name
        for name in zipfile.ZipFile(io.BytesIO(bundle.data)).namelist()
    )


@pytest.mark.long
def test_verdict_exports_as_json(client, keys):
    got = client.get(f"/export/verdict.json?{query_of(keys['billing'], at_ms=END_MS)}").get_json()
    assert (got["subscription"], got["window_end_ms"], got["cause"]) == ("billing", END_MS, "throttled")
    assert got["evidence"][0]["promql"]
    nothing = client.get(f"/export/verdict.json?{query_of(keys['billing'], at_ms=START_MS - 1)}")
    assert (nothing.status_code, "No verdict" in nothing.text) == (404, True)


@pytest.mark.study
@pytest.mark.long
def test_bundle_times_are_in_utc(client, keys):
    """Also for a browser that chose another time zone."""
    client.set_cookie("throttlescope-zone", "Asia/Kolkata")
    try:
        answer = client.get(f"/export/incident.zip?{query_of(keys['billing'])}")
    finally:
        client.delete_cookie("throttlescope-zone")
    archive = zipfile.ZipFile(io.BytesIO(answer.data))
    text = archive.read("incident/README.md").decode()
    assert "UTC+05:30" not in text
    assert "UTC" in text


@pytest.mark.sampled(2)
@pytest.mark.long
@pytest.mark.parametrize("which", ["subscription", "query"])
def test_exported_notebook_runs(client, keys, sample_lake, which, monkeypatch, tmp_path):
    times = f"from={format_time(START_MS)}&to={format_time(END_MS)}"
    query = (
        query_of(keys["billing"], start_ms=START_MS, end_ms=END_MS)
        if which == "subscription"
        else f"query=vector(1)&step=5m&{times}"
    )
    document = client.get(f"/export/notebook.ipynb?{query}").get_json(force=True)
    (tmp_path / "lake").symlink_to(sample_lake)
    monkeypatch.chdir(tmp_path)
    space: dict = {}
    cells = [cell["source"] for cell in document["cells"] if cell["cell_type"] == "code"]
    for cell in cells:
        # What the browser would get is what runs here: the cells, one after the other; DataFrames have tests of their own.
        if not cell.lstrip("# ").startswith(("Rows", "lake.signals")):
            exec(compile(cell, "cell", "exec"), space)  # noqa: S102
    if which == "subscription":
        assert space["why"].verdict["window_end_ms"] == END_MS
        assert space["why"].verdict["cause"] == "throttled"
        assert len(space["lake"].figures.backlog(space["subscription"], **space["selected"]).data[0].x) == 180
    else:
        assert space["answer"].steps.count == 37


def test_query_text_cannot_become_code(client):
    query = 'query=1"%0Aimport os%0A"""' + f"&from={format_time(START_MS)}&to={format_time(END_MS)}"
    document = client.get(f"/export/notebook.ipynb?{query}").get_json(force=True)
    literal = document["cells"][2]["source"].split("\n")[0]
    assert literal == "query = " + repr('1"\nimport os\n"""')


@pytest.mark.long
@pytest.mark.parametrize(
    ("path", "code", "says"),
    [
        ("table/passwd.csv", 400, "no such table"),
        ("table/..%2Fverdicts.csv", 404, ""),
        ("table/verdicts.exe", 404, ""),
        ("table/signals.csv?from=-6h", 400, "relative"),
        ("table/signals.csv?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z", 400, ""),
        ("table/signals.csv?partition=one", 400, "not a number"),
        ("table/ingest_runs.csv?topic=x", 400, "has no topic"),
        ("verdict.json", 400, "does not name a subscription"),
        ("verdict.json?cluster=a&topic=b&subscription=c", 400, "no window"),
        (
            "incident.zip?cluster=a&topic=persistent://a/b/c&subscription=d",
            400,
            "No backlog of this subscription",
        ),
        ("notebook.ipynb?query=1", 400, "no range"),
        (
            "notebook.ipynb?query=1&from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z&step=0s",
            400,
            "out of range",
        ),
        ("subscriptions.csv?q=nobody-has-this-name", 404, "No subscription"),
        ("subscriptions.csv?cause=bad", 400, "does not exist"),
    ],
)
def test_invalid_export_request_is_explained(client, path, code, says):
    answer = client.get(f"/export/{path}")
    assert answer.status_code == code
    assert says in answer.text
    assert "Traceback" not in answer.text


def test_too_many_rows_are_refused_unread():
    class Endless:
        def files(self, name):
            return [type("File", (), {"rows": MOST_ROWS + 1})()]

    with pytest.raises(InputError, match="oo many rows"):
        read_rows(Endless(), TableQuery(TABLES["verdicts"], {}))


def test_tables_with_times_have_time_column():
    without = {name for name, table in TABLES.items() if time_column(table) is None}
    assert not {name for name in without if {"minute_ms", "window_end_ms"} & set(TABLES[name].schema.names)}
    assert not {"signals", "verdicts", "episodes", "forecasts", "limits", "anomalies"} & without


@pytest.mark.long
def test_downloads_of_subscription_page_exist(client, keys, reader):
    address = SubscriptionAddress(keys["billing"])
    links = [link.href for link in find(page(read_view(reader, address)), "A") if "/export/" in link.href]
    assert len(links) == 6
    for href in links:
        answer = client.get(href)
        assert (answer.status_code, bool(answer.data)) == (200, True), href
