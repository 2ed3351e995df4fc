"""Labels at ingest validation, and in the exposition. In: the label fields of series; or values for ``/metrics``.

Out: blocks, the catalogue and the quarantine as the lake stores them, CSV; or the text of a scrape, read back by a slow reader.
"""

from __future__ import annotations

import csv
import io
import random
from pathlib import Path

import numpy as np
import pyarrow as pa

from tests.fuzz.mutate import ODD_TEXTS, mutated_bytes
from tests.fuzz.target import BYTE_PARSER_EXECUTIONS, Target, UnlikeTwinError
from tests.fuzz.targets.messages import label_fields
from tests.naive.exposition import read_exposition
from throttlescope.app.presentation.output import write_csv, write_json
from throttlescope.app.server.metrics.families import Family, label_text
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.labels import LabelMapping
from throttlescope.ingest.core.series import DecodedSeries, batch_of
from throttlescope.ingest.lake.blocks import BlockBuffer, sample_rows
from throttlescope.ingest.pull.item import series_rows
from throttlescope.ingest.sources.remote_read_messages import BadLabelsError, read_labels

_AT_MS = 1_760_000_400_000
_KEY = {
    "__name__": "pulsar_subscription_back_log",
    "cluster": "c",
    "namespace": "t/n",
    "topic": "persistent://t/n/x-partition-3",
    "subscription": "s",
}


def _fields(rng: random.Random) -> bytes:
    labels = dict(_KEY) if rng.random() < 0.9 else {"__name__": "up", "instance": "1:8080"}
    for _ in range(rng.choice((0, 1, 1, 2))):
        name = rng.choice((*labels, rng.choice(ODD_TEXTS)))
        labels[name] = rng.choice(ODD_TEXTS)
    if rng.random() < 0.3:
        labels["partition"] = rng.choice(("-1", "0", "3", *ODD_TEXTS))
    content = label_fields(
        {
            name.encode(errors="replace").decode(): value.encode(errors="replace").decode()
            for name, value in labels.items()
        }
    )
    return mutated_bytes(rng, [content], most=40_000) if rng.random() < 0.5 else content


def _ingest_validation(content: bytes) -> None:
    labels = read_labels(content)
    buffer = BlockBuffer(LabelMapping({"exported": "namespace"}, "c"), Path("/nowhere"))
    times, stale = np.array([_AT_MS, _AT_MS + 1], np.int64), np.array([_AT_MS + 2], np.int64)
    buffer.add(batch_of([DecodedSeries(labels, times, np.array([1.0, np.nan]), stale)]))
    for key, rows in buffer.blocks():
        TABLES["samples"].conform(sample_rows("pulsar_subscription_back_log", key, rows))
    series = series_rows(list(buffer.series())).to_pylist()
    for row in series:
        # What leaves the lake again: no cell is a formula, and all of it is text.
        named = dict(row["labels"]) | {"cluster": row["cluster"]}
        stream = io.StringIO()
        write_csv(sorted(named), [named], stream)
        stream.getvalue().encode()
        cells = list(csv.reader(io.StringIO(stream.getvalue(), newline="")))
        if any(cell.startswith(("=", "+", "-", "@", "\t", "\r")) for row in cells for cell in row):
            raise UnlikeTwinError(f"a formula among {cells!r:.300}")
        write_json(named, io.StringIO())
    kept = [refused.row() for refused in buffer.refused.values()]
    common = {"run_id": "r", "observed_ms": _AT_MS, "date": "2025-10-09", "cluster": None}
    pa.Table.from_pylist([row | common for row in kept], schema=TABLES["quarantine"].schema)
    if bool(series) == bool(kept):
        raise UnlikeTwinError("a series is neither stored nor refused, or both")


# -- what a scrape shows -------------------------------------------------------------------------


def _scrape(rng: random.Random) -> dict[str, str]:
    values = {}
    for name in ("cluster", "namespace", "topic", "partition", "subscription"):
        value = rng.choice(ODD_TEXTS)
        if rng.random() < 0.4:
            value = "".join(rng.choice('\\"\n{},= #\r\u2028\u0085ae') for _ in range(rng.randrange(12)))
        values[name] = value
    return values | {"value": rng.choice(("1.0", "nan", "inf", "-inf", "5e-324", "-0.0", "1e308"))}


def _written(content: dict[str, str]) -> None:
    labels = {name: text for name, text in content.items() if name != "value"}
    family = Family(
        "throttlescope_x", 'Help with \\ and "\n', [(label_text(labels), float(content["value"]))]
    )
    text = family.text(10).encode(errors="replace")
    ((name, found, value),) = read_exposition(text)
    expected = {name: text.encode(errors="replace").decode() for name, text in labels.items()}
    if (name, found, repr(value)) != ("throttlescope_x", expected, repr(float(content["value"]))):
        raise UnlikeTwinError(f"{expected!r:.300} is read as {found!r:.300}, {value}")


TARGETS = (
    Target(
        "labels", "labels at ingest validation", _fields, _ingest_validation, (BadLabelsError,), BYTE_PARSER_EXECUTIONS, from_bytes=bytes, seeds=[label_fields(_KEY)],
        warm=lambda: _ingest_validation(label_fields(_KEY)),
    ),
    Target("exposition", "labels in the text of a scrape", _scrape, _written, ()),
)  # fmt: skip
