"""The beginning of a fleet's recording under a name of its own, for the demo: in, a recording's folder; out, another one.

A demo is looked at while faults are on, so it ends before they do. Nothing is changed but the end and the name of the cluster.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.lab.readback import Series
from tests.lab.recording import Recording, read_samples, write_recording


def write_excerpt(folder: Path, out_dir: Path, name: str, until_s: float) -> Path:
    """Write what a recording holds of its first seconds.

    Parameters
    ----------
    folder
        A fleet's recording.
    out_dir, name
        The new folder is ``out_dir/name``; its cluster has that name too.
    until_s
        Seconds from the fleet's start.
    """
    about = json.loads((folder / "recording.json").read_text())
    end_ms = about["start_ms"] + round(1000 * until_s)
    before = lambda rows, at: [row for row in rows if row[at] < end_ms]  # noqa: E731
    origin = {"name": about["name"], "end_ms": about["end_ms"]}
    for unwanted in ("files", "format", "name"):
        del about[unwanted]
    about |= {
        "excerpt_of": origin,
        "end_ms": end_ms,
        "operations": before(about["operations"], "at_ms"),
        "voided": _clipped(about["voided"], end_ms),
        "shared": _clipped(about["shared"], end_ms),
    }
    truth = [
        row | {"cluster": name, "recording": name}
        for row in _clipped(json.loads((folder / "truth.json").read_text())["rows"], end_ms)
    ]
    recording = Recording(
        name,
        about,
        [cut for one in read_samples(folder) if (cut := _cut(one, end_ms)) is not None],
        before(_lines(folder / "policies.jsonl"), "observed_ms"),
        before(_lines(folder / "topic_stats.jsonl"), "observed_ms"),
        before(_lines(folder / "interventions.jsonl"), "at_ms"),
        truth,
        (folder / "fleet.yaml").read_text(),
        "fleet.yaml",
    )
    return write_recording(recording, out_dir)


def _clipped(rows: list[dict[str, Any]], end_ms: int) -> list[dict[str, Any]]:
    return [row | {"end_ms": min(row["end_ms"], end_ms)} for row in rows if row["start_ms"] < end_ms]


def _cut(series: Series, end_ms: int) -> Series | None:
    kept = [n for n, at_ms in enumerate(series.timestamps_ms) if at_ms < end_ms]
    if not kept:
        return None
    return Series(
        series.labels,
        [series.timestamps_ms[n] for n in kept],
        [series.values[n] for n in kept],
        [at_ms for at_ms in series.stale_ms if at_ms < end_ms],
    )


def _lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines() if line]
