"""Recordings: the shipped ones come in whole, faults are named before anything is written."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.ingest.task_threads import TaskThreads
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.metrics import METRICS
from throttlescope.ingest.core.selector import parse_selector
from throttlescope.ingest.core.series import Meter
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.pull.recordings import ingest_recordings
from throttlescope.ingest.sources.recording import altered_files, list_shipped, read_recording

NAME = "sub-msg-small"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    folder = tmp_path / NAME
    shutil.copytree(list_shipped()[NAME], folder)
    return folder


def rewritten(folder: Path, name: str, content: bytes) -> None:
    """Change a file and its checksum with it."""
    (folder / name).write_bytes(content)
    about = json.loads((folder / "recording.json").read_text())
    about["files"][name] = hashlib.sha256(content).hexdigest()
    (folder / "recording.json").write_text(json.dumps(about))


@pytest.mark.long
def test_shipped_recordings_are_whole() -> None:
    shipped = list_shipped()
    assert len(shipped) >= 9
    for name, folder in shipped.items():
        recording = read_recording(folder)
        assert recording.name == name
        assert altered_files(folder, recording.about) == []
        assert {"pulsar_subscription_back_log", "up"} <= set(recording.metric_names)
        assert recording.end_ms - recording.start_ms > 600_000
        for table in (recording.policies, recording.topic_stats, recording.truth):
            assert table.num_rows > 0
            assert set(table["cluster"].to_pylist()) == {name}


@pytest.mark.long
def test_ingested_like_any_source(tmp_path: Path) -> None:
    lake = Lake(tmp_path / "lake")
    names = (NAME, "slow-small")
    recordings = [read_recording(list_shipped()[name]) for name in names]
    result = ingest_recordings(TaskThreads(), lake, [r.folder for r in recordings], "run")
    assert result.clusters == tuple(sorted(names))
    assert result.requests == result.bytes == 0
    assert result.repairs == {}
    assert result.rows_quarantined == 0
    # The broker split partition and topic already: all labels stay as they were scraped.
    expected = {}
    for recording in recordings:
        for row in pq.read_table(recording.folder / "samples.parquet").to_pylist():
            labels = tuple(sorted(row["labels"]))
            if dict(labels)["__name__"] in METRICS:
                expected[labels] = (row["timestamps_ms"], row["values"], row["stale_ms"])
    assert len(expected) == result.series
    catalogue = {row["series_id"]: row for row in lake.read("series").to_pylist()}
    found: dict[tuple, tuple] = {}
    for row in sorted(lake.read("samples").to_pylist(), key=lambda row: row["block_start_ms"]):
        labels = tuple(sorted([*catalogue[row["series_id"]]["labels"], ("__name__", row["metric_name"])]))
        whole = found.setdefault(labels, ([], [], []))
        for i, column in enumerate(("timestamps_ms", "values", "stale_ms")):
            whole[i].extend(row[column])
    assert repr(sorted(found.items())) == repr(sorted(expected.items()))
    for table in ("policies", "topic_stats", "truth"):
        assert lake.read(table).num_rows == sum(getattr(r, table).num_rows for r in recordings)
    before = {
        table: lake.version(table) for table in ("series", "samples", "policies", "topic_stats", "truth")
    }
    again = ingest_recordings(TaskThreads(), lake, [r.folder for r in recordings], "again")
    assert again.samples_written == 0
    assert {table: lake.version(table) for table in before} == before


def with_clusters(copy: Path, clusters: object, row: str | None) -> Path:
    """Let a recording list clusters, and name one in every row."""
    about = json.loads((copy / "recording.json").read_text())
    about["clusters"] = clusters
    (copy / "recording.json").write_text(json.dumps(about))
    for name in ("policies.jsonl", "topic_stats.jsonl"):
        rows = [json.loads(line) for line in (copy / name).read_text().splitlines()]
        lines = [json.dumps(each if row is None else {**each, "cluster": row}) + "\n" for each in rows]
        rewritten(copy, name, "".join(lines).encode())
    truth = json.loads((copy / "truth.json").read_text())
    for each in truth["rows"]:
        each["cluster"] = row or each["cluster"]
    rewritten(copy, "truth.json", json.dumps(truth).encode())
    return copy


def test_several_clusters_are_kept_apart(copy: Path) -> None:
    clusters = [f"{NAME}-east", f"{NAME}-west"]
    recording = read_recording(with_clusters(copy, clusters, clusters[1]))
    assert recording.clusters == tuple(clusters)
    for table in (recording.policies, recording.topic_stats, recording.truth):
        assert set(table["cluster"].to_pylist()) == {clusters[1]}


@pytest.mark.parametrize(
    ("clusters", "row", "words"),
    [
        ([f"{NAME}-east", f"{NAME}-west"], None, "a row of the cluster None"),
        ([f"{NAME}-east"], "sub-msg-small-west", "a row of the cluster 'sub-msg-small-west'"),
        (["elsewhere"], "elsewhere", "clusters ['elsewhere']"),
        ([], None, "clusters []"),
        (NAME, None, "clusters sub-msg-small"),
        ([1], None, "clusters [1]"),
    ],
)
def test_cluster_that_is_not_listed_is_refused(
    copy: Path, clusters: object, row: str | None, words: str
) -> None:
    with pytest.raises(InputError) as caught:
        read_recording(with_clusters(copy, clusters, row))
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_read_as_a_source() -> None:
    recording = read_recording(list_shipped()[NAME])
    middle = (recording.start_ms + recording.end_ms) // 2

    def count(text: str, start_ms: int, end_ms: int) -> int:
        batches = recording.source.read(parse_selector(text), start_ms, end_ms, Meter())
        return sum(len(s.timestamps_ms) + len(s.stale_ms) for b in batches for s in b)

    whole = count("up", recording.start_ms, recording.end_ms)
    assert whole == count("up", recording.start_ms, middle) + count("up", middle, recording.end_ms) > 10
    assert count('{__name__=~"up|pulsar_rate_in"}', recording.start_ms, recording.end_ms) > whole
    assert count('up{job="nope"}', recording.start_ms, recording.end_ms) == 0
    assert count("nope", recording.start_ms, recording.end_ms) == 0


@pytest.mark.parametrize(
    "name", ["samples.parquet", "policies.jsonl", "topic_stats.jsonl", "truth.json", "scenario.yaml"]
)
@pytest.mark.parametrize("fault", ["missing", "altered"])
def test_a_missing_or_altered_file(copy: Path, tmp_path: Path, name: str, fault: str) -> None:
    if fault == "missing":
        (copy / name).unlink()
    else:
        content = bytearray((copy / name).read_bytes())
        content[len(content) // 2] ^= 1
        (copy / name).write_bytes(content)
    lake = Lake(tmp_path / "lake")
    with pytest.raises(InputError) as caught:
        ingest_recordings(TaskThreads(), lake, [list_shipped()["slow-small"], copy], "run")
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "lake").exists()


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("samples.parquet", b"no parquet", "Parquet"),
        ("truth.json", b'{"format": 9, "rows": []}', "format 9"),
        ("truth.json", b'{"format": 1, "rows": [{"cluster": "other"}]}', "other"),
        ("truth.json", b"{", "JSON"),
        (
            "policies.jsonl",
            b'{"scope": "nope", "key": "k", "body": null, "broker": "b", "observed_ms": 1}\n',
            "closed list",
        ),
        ("policies.jsonl", b'{"scope": "namespace"}\n', "key"),
        (
            "topic_stats.jsonl",
            b'{"topic": "persistent://a/b/c", "partition": 0, "observed_ms": 1, "body": "{}"}\n',
            "stats",
        ),
    ],
)
def test_whole_files_with_wrong_content(copy: Path, name: str, content: bytes, words: str) -> None:
    rewritten(copy, name, content)
    with pytest.raises(InputError, match=words):
        read_recording(copy)


def test_samples_that_are_none(copy: Path) -> None:
    table = pq.read_table(copy / "samples.parquet")
    for change, words in (
        (table.drop_columns(["values"]), "columns"),
        (table.slice(0, 0), "no samples"),
        (
            table.set_column(2, "values", pa.array([[1.0]] * table.num_rows, pa.list_(pa.float64()))),
            "more times than values",
        ),
    ):
        path = copy / "changed.parquet"
        pq.write_table(change, path)
        rewritten(copy, "samples.parquet", path.read_bytes())
        path.unlink()
        with pytest.raises(InputError, match=words):
            read_recording(copy)


@pytest.mark.sampled(2)
@pytest.mark.study
@pytest.mark.parametrize(
    ("labels", "times", "words"),
    [
        # 1.2 GB in a file of some kilobytes: each group keeps its text once.
        (
            [[("__name__", "up"), ("long", "x" * 100_000_000)]] * 2,
            [0],
            "labels of more than 1,073,741,824 bytes",
        ),
        ([[("__name__", "up")]], [0] * 9_000_000, "more than 50,000,000 values in a column"),
    ],
)
def test_a_few_bytes_that_decode_to_gigabytes(copy: Path, labels: list, times: list, words: str) -> None:
    fields = {"timestamps_ms": pa.int64(), "values": pa.float64(), "stale_ms": pa.int64()}
    group = pa.table(
        {
            "labels": pa.array(labels, pa.map_(pa.string(), pa.string())),
            **{name: pa.array([times] * len(labels), pa.list_(kind)) for name, kind in fields.items()},
        }
    )
    with pq.ParquetWriter(copy / "samples.parquet", group.schema, compression="zstd") as file:
        for _ in range(6):
            file.write_table(group)
    content = (copy / "samples.parquet").read_bytes()
    assert len(content) < 200_000
    rewritten(copy, "samples.parquet", content)
    with pytest.raises(InputError, match=words):
        read_recording(copy)


def test_folders_that_are_no_recording(copy: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        read_recording(tmp_path / "nope")
    with pytest.raises(InputError, match=rf"name one of its folders: {NAME}"):
        read_recording(tmp_path)
    (copy / "recording.json").write_text("{")
    with pytest.raises(InputError, match="JSON"):
        read_recording(copy)
    (copy / "recording.json").write_text('{"format": 2}')
    with pytest.raises(InputError, match=r"format 2.*update"):
        read_recording(copy)
    (copy / "recording.json").write_text('{"format": 1, "name": "x", "files": {"samples.parquet": ""}}')
    with pytest.raises(InputError, match=r"policies\.jsonl"):
        read_recording(copy)


def test_files_outside_folder_are_not_read(copy: Path) -> None:
    about = json.loads((copy / "recording.json").read_text())
    about["files"]["../secret"] = "0"
    (copy / "recording.json").write_text(json.dumps(about))
    with pytest.raises(InputError, match="outside"):
        read_recording(copy)


def test_twice_the_same_and_none(tmp_path: Path) -> None:
    folder = list_shipped()[NAME]
    with pytest.raises(InputError, match="same name"):
        ingest_recordings(TaskThreads(), Lake(tmp_path / "lake"), [folder, folder], "run")
    with pytest.raises(InputError, match="No recording"):
        ingest_recordings(TaskThreads(), Lake(tmp_path / "lake"), [], "run")
