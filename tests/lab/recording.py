"""Writes a recording: in, everything one scenario left behind; out, a folder that appears whole or not at all."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.lab.machine_paths import masked
from tests.lab.readback import Series

FORMAT = 1
LAB_VERSION = "1"
SAMPLES_SCHEMA = pa.schema(
    [
        ("labels", pa.map_(pa.string(), pa.string())),
        ("timestamps_ms", pa.list_(pa.int64())),
        ("values", pa.list_(pa.float64())),
        ("stale_ms", pa.list_(pa.int64())),
    ]
)


@dataclass
class Recording:
    """The content of a recording's folder.

    ``more`` are further files of JSON lines by name. With ``several_clusters`` series have their labels ``cluster`` already, and rows of
    policies, topic stats and truth name theirs; ``about["clusters"]`` lists them.
    """

    name: str
    about: dict[str, Any]
    series: list[Series]
    policies: list[dict[str, Any]]
    topic_stats: list[dict[str, Any]]
    interventions: list[dict[str, Any]]
    truth: list[dict[str, Any]]
    scenario_yaml: str
    script_name: str = "scenario.yaml"
    more: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    several_clusters: bool = False


def write_recording(recording: Recording, out_dir: Path) -> Path:
    """Write the folder ``out_dir/<name>`` and return it.

    The label ``cluster`` of every series, also of those that have none as scraped (``up``), is the recording's name,
    so that recordings never mix in one lake; where a recording has several clusters, it begins with that name. All other labels are as scraped. Paths of this machine, which the
    broker's configuration names, are masked.
    """
    out_dir.mkdir(parents=True, exist_ok=True)
    staging, folder = out_dir / f".{recording.name}.part", out_dir / recording.name
    shutil.rmtree(staging, ignore_errors=True)
    staging.mkdir()
    pq.write_table(_samples(recording), staging / "samples.parquet", compression="zstd", compression_level=15)
    _write_lines(staging / "policies.jsonl", recording.policies)
    _write_lines(staging / "topic_stats.jsonl", recording.topic_stats)
    _write_lines(staging / "interventions.jsonl", recording.interventions)
    for name, rows in recording.more.items():
        _write_lines(staging / name, rows)
    (staging / recording.script_name).write_text(recording.scenario_yaml)
    (staging / "truth.json").write_text(
        json.dumps({"format": FORMAT, "rows": recording.truth}, indent=1) + "\n"
    )
    files = {path.name: _sha256(path) for path in sorted(staging.iterdir())}
    about = {"format": FORMAT, "name": recording.name, **recording.about, "files": files}
    (staging / "recording.json").write_text(masked(json.dumps(about, indent=1)) + "\n")
    shutil.rmtree(folder, ignore_errors=True)
    staging.rename(folder)
    return folder


def read_samples(folder: Path) -> list[Series]:
    """Read the series of a recording back."""
    rows = pq.read_table(folder / "samples.parquet").to_pylist()
    return [Series(dict(row["labels"]), row["timestamps_ms"], row["values"], row["stale_ms"]) for row in rows]


def altered_files(folder: Path) -> list[str]:
    """Return the names of files that are missing or differ from their checksum."""
    expected = json.loads((folder / "recording.json").read_text())["files"]
    return [
        name
        for name, digest in expected.items()
        if not (folder / name).exists() or _sha256(folder / name) != digest
    ]


def _samples(recording: Recording) -> pa.Table:
    if not recording.several_clusters:
        for item in recording.series:
            item.labels["cluster"] = recording.name
    ordered = sorted(recording.series, key=lambda item: sorted(item.labels.items()))
    columns = {
        "labels": [sorted(item.labels.items()) for item in ordered],
        "timestamps_ms": [item.timestamps_ms for item in ordered],
        "values": [item.values for item in ordered],
        "stale_ms": [item.stale_ms for item in ordered],
    }
    return pa.table(columns, schema=SAMPLES_SCHEMA)


def _write_lines(file: Path, rows: Iterable[dict[str, Any]]) -> None:
    with file.open("w") as out:
        for row in rows:
            out.write(masked(json.dumps(row)) + "\n")


def _sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
