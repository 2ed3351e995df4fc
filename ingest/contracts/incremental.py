"""State of incremental runs. In: nothing. Out: the tables ``watermarks`` (how far a source was read), ``gaps`` and ``computed`` (inputs of an hour)."""

from __future__ import annotations

import pyarrow as pa

from throttlescope.ingest.contracts.keys import CLUSTER, DATE
from throttlescope.ingest.contracts.table import Column, Table

#: In place of a name: every cluster of a source, or every metric.
ALL = "*"

_OF_SOURCE = (
    Column("source", pa.string(), "address of the source, without a password"),
    Column("selectors", pa.string(), "requested selectors, sorted; empty: the whole default set"),
    Column("cluster", pa.string(), "cluster of the source; *: several, or not known"),
    Column("metric_name", pa.string(), "metric; *: all of them"),
)
_SOURCE_KEY = ("source", "selectors", "cluster", "metric_name")

WATERMARKS = Table(
    "watermarks",
    "Up to which time a metric of a source was read without a hole. Written after the samples: a run that is killed between the two "
    "leaves an older watermark, and the next one reads the same hours again, which changes nothing. What the source did not have "
    "below the watermark is in `gaps`.",
    (
        *_OF_SOURCE,
        Column("since_ms", pa.int64(), "from here on everything was read"),
        Column("complete_until_ms", pa.int64(), "up to here, exclusive"),
        Column("read_ms", pa.int64(), "when that was read"),
        Column("run_id", pa.string(), "run that read it"),
    ),
    key=_SOURCE_KEY,
)

GAPS = Table(
    "gaps",
    "A range for which a source returned no samples. Open gaps are read again, at growing intervals, as long as the "
    "source may still receive them; a gap that was filled in part is shortened.",
    (
        *_OF_SOURCE,
        Column("start_ms", pa.int64(), "start of what is missing"),
        Column("end_ms", pa.int64(), "its end, exclusive"),
        Column(
            "reason",
            pa.string(),
            "source_down: it could not be reached; no_samples: it had none",
            words=("source_down", "no_samples"),
        ),
        Column(
            "state",
            pa.string(),
            "open: it will be read again; closed: the samples came; lost: the source no longer keeps that time",
            words=("open", "closed", "lost"),
        ),
        Column("found_ms", pa.int64(), "when it was found"),
        Column("run_id", pa.string(), "run that found it"),
        Column("retries", pa.int32(), "how often it was read again"),
        Column("retried_ms", pa.int64(), "when last; NULL: never", True),
        Column("closed_ms", pa.int64(), "when it was closed or lost; NULL: it is open", True),
    ),
    key=(*_SOURCE_KEY, "start_ms"),
)

STAGES = ("signals", "verdicts", "forecasts", "results")

COMPUTED = Table(
    "computed",
    "What one UTC hour of a table was computed from. Files are named by their content, so that equal fingerprints mean equal input: "
    "an hour whose fingerprint has not changed is not computed again. Written after the rows themselves.",
    (
        CLUSTER,
        Column(
            "stage",
            pa.string(),
            "the table; results: episodes, counterfactuals and anomalies",
            words=STAGES,
        ),
        Column("block_start_ms", pa.int64(), "start of the UTC hour"),
        Column("inputs", pa.string(), "fingerprint of what went in: files, limits, rules, settings"),
        Column(
            "outputs",
            pa.string(),
            "fingerprint of the files that came out; NULL: not an hour's own files",
            True,
        ),
        Column("run_id", pa.string(), "run that computed it"),
        Column("computed_ms", pa.int64(), "when"),
        DATE,
    ),
    key=("cluster", "stage", "block_start_ms"),
    partition_by=("cluster", "date"),
)
