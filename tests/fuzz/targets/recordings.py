"""Recordings. In: the files of a folder, with right checksums or wrong ones. Out: the recording, read whole."""

from __future__ import annotations

import hashlib
import io
import json
import random
import tempfile
from functools import cache
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tests.fuzz.mutate import ODD_TEXTS, mutated_bytes, mutated_json, mutated_text
from tests.fuzz.target import Target
from tests.fuzz.targets.admin_json import ANSWERS
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.selector import metric_selector
from throttlescope.ingest.core.series import Meter
from throttlescope.ingest.sources.recording import read_recording

_NAME = "rec"
_AT_MS = 1_760_000_400_000
_SAMPLES = {
    "labels": pa.map_(pa.string(), pa.string()),
    "timestamps_ms": pa.list_(pa.int64()),
    "values": pa.list_(pa.float64()),
    "stale_ms": pa.list_(pa.int64()),
}
_POLICY = {"scope": "namespace", "key": "t/n", "body": "{}", "broker": "b:8080", "observed_ms": _AT_MS}
_STATS = {
    "topic": "persistent://t/n/x",
    "partition": -1,
    "observed_ms": _AT_MS,
    "body": json.dumps(ANSWERS["/stats"]),
}


def _samples() -> bytes:
    rows = [
        {
            "labels": [("__name__", name), ("topic", "persistent://t/n/x")],
            "timestamps_ms": [_AT_MS + 15_000 * i for i in range(5)],
            "values": [float(i) for i in range(5)],
            "stale_ms": [_AT_MS + 90_000],
        }
        for name in ("pulsar_rate_in", "up")
    ]
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows, schema=pa.schema(list(_SAMPLES.items()))), sink)
    return sink.getvalue()


def _truth() -> dict:
    row = {
        "cluster": _NAME, "namespace": "t/n", "topic": "persistent://t/n/x", "partition": -1, "subscription": "s", "start_ms": _AT_MS,
        "end_ms": _AT_MS + 60_000, "side": "throttle", "cause": "throttled", "limiter": "subscription.msg", "family": "f", "recording": _NAME,
        "kept_aside": False,
    }  # fmt: skip
    return {"format": 1, "rows": [row]}


@cache
def _files() -> dict[str, object]:
    return {"policies.jsonl": _POLICY, "topic_stats.jsonl": _STATS, "truth.json": _truth()}


_PARQUET = _samples()
#: The files of one that is right, without ``recording.json``.
RECORDING = {name: json.dumps(value).encode() for name, value in _files().items()} | {
    "samples.parquet": _PARQUET
}


def with_sums(files: dict[str, bytes]) -> dict[str, bytes]:
    """The files and a ``recording.json`` with their checksums."""
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    return files | {"recording.json": json.dumps({"format": 1, "name": _NAME, "files": sums}).encode()}


def _make(rng: random.Random) -> dict[str, bytes]:
    files = {name: json.dumps(value).encode() for name, value in _files().items()}
    files["samples.parquet"] = _PARQUET
    changed = rng.choice(
        (
            "policies.jsonl",
            "topic_stats.jsonl",
            "truth.json",
            "samples.parquet",
            "recording.json",
            "recording.json",
            "sum",
        )
    )
    if changed == "samples.parquet":
        files[changed] = mutated_bytes(rng, [_PARQUET], most=20_000)
    elif changed in files:
        text = mutated_json(rng, _files()[changed])
        files[changed] = (
            mutated_text(rng, [text], most=200_000).encode(errors="surrogatepass")
            if rng.random() < 0.1
            else text.encode(errors="surrogatepass")
        )
    about = {
        "format": 1,
        "name": _NAME,
        "files": {name: hashlib.sha256(content).hexdigest() for name, content in files.items()},
    }
    if changed == "sum":
        files[rng.choice(list(files))] += b"\n"
    if changed == "recording.json" and rng.random() < 0.2:
        about["files"][rng.choice(ODD_TEXTS)] = "0"
    text = mutated_json(rng, about) if changed == "recording.json" else json.dumps(about)
    return files | {"recording.json": text.encode(errors="surrogatepass")}  # fmt: skip


_folder: list[tempfile.TemporaryDirectory] = []


def _read(files: dict[str, bytes]) -> None:
    if not _folder:
        # In memory, where there is such a place: a hundred thousand recordings are no work for a disk.
        place = "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108
        _folder.append(tempfile.TemporaryDirectory(prefix="fuzz-", dir=place))
    folder = Path(_folder[0].name)
    for name, content in files.items():
        if len(name) > 200:
            continue
        (folder / name).write_bytes(content)
    recording = read_recording(folder)
    for name in recording.metric_names[:3]:
        for batch in recording.source.read(
            metric_selector(name), recording.start_ms, recording.end_ms, Meter()
        ):
            list(batch)


TARGETS = (
    Target("recordings", "folders of recordings", _make, _read, (InputError,), bytes_per_byte=1_024, spare_bytes=8 << 20),
)  # fmt: skip
