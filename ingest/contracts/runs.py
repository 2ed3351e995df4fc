"""Records of runs. In: nothing. Out: the tables of manifests, quality findings, refused rows and their readmissions."""

from __future__ import annotations

import pyarrow as pa

from throttlescope.ingest.contracts.keys import DATE
from throttlescope.ingest.contracts.table import Column, Table

_RUN_ID = Column("run_id", pa.string(), "name of the run")
_CLUSTER = Column("cluster", pa.string(), "cluster concerned; NULL: several", True)

INGEST_RUNS = Table(
    "ingest_runs",
    "The manifest: one run.",
    (
        _RUN_ID,
        _CLUSTER,
        Column("command", pa.string(), "ingest, diagnose, run or demo"),
        Column(
            "source",
            pa.string(),
            "prometheus_remote_read, prometheus_api or recording, with its address; lake where nothing was read",
        ),
        Column("start_ms", pa.int64(), "start of the requested range"),
        Column("end_ms", pa.int64(), "its end, exclusive"),
        Column("started_ms", pa.int64(), "when the run began"),
        Column("finished_ms", pa.int64(), "when it ended"),
        Column("status", pa.string(), "how it ended", words=("done", "failed", "gated")),
        Column("source_requests", pa.int64(), "requests that the source had to serve"),
        Column("admin_requests", pa.int64(), "admin API calls that the brokers had to serve"),
        Column("source_bytes", pa.int64(), "bytes received from the source"),
        Column("series", pa.int64(), "series seen"),
        Column("samples", pa.int64(), "samples received"),
        Column("samples_written", pa.int64(), "samples committed"),
        Column("rows_quarantined", pa.int64(), "rows refused"),
        Column("details", pa.string(), "JSON: repairs, versions, blocks kept, settings without secrets"),
        DATE,
    ),
    key=("run_id",),
    partition_by=("date",),
)

QUALITY = Table(
    "quality",
    "One finding of a check. An error stops the run at its gate, a warning does not.",
    (
        _RUN_ID,
        _CLUSTER,
        Column(
            "gate",
            pa.string(),
            "which gate checked it: door (ingest validation), samples, policies, signals, verdicts",
        ),
        Column("check", pa.string(), "name of the expectation"),
        Column("table", pa.string(), "table checked"),
        Column("severity", pa.string(), "error or warning", words=("error", "warning")),
        Column("success", pa.bool_(), "the expectation was met"),
        Column("observed", pa.string(), "what was found", True),
        Column("expected", pa.string(), "what was expected", True),
        Column("rows", pa.int64(), "rows concerned"),
        Column("example", pa.string(), "one of them, as JSON", True),
        Column("observed_ms", pa.int64(), "when it was checked"),
        DATE,
    ),
    key=("run_id", "gate", "check", "table", "cluster"),
    partition_by=("date",),
)

QUARANTINE = Table(
    "quarantine",
    "Rows that ingest validation refused, whole, with the reason.",
    (
        _RUN_ID,
        _CLUSTER,
        Column("table", pa.string(), "table that the row was meant for"),
        Column("reason", pa.string(), "reason code"),
        Column("row", pa.string(), "the row as JSON"),
        Column("rows", pa.int64(), "samples or rows that it represents"),
        Column("observed_ms", pa.int64(), "when it was refused"),
        DATE,
    ),
    key=("run_id", "table", "reason", "row"),
    partition_by=("date",),
)

READMISSIONS = Table(
    "readmissions",
    "What became of a refused row: it was repaired, refused again, or readmitted. A readmitted row is no longer in "
    "quarantine; here it stays as it was refused.",
    (
        Column("id", pa.string(), "16 hex digits: hash of the run that refused it, the table and the row"),
        Column("refused_run_id", pa.string(), "name of the run that refused it"),
        _CLUSTER,
        Column("table", pa.string(), "table that the row was meant for"),
        Column("reason", pa.string(), "reason code of its last refusal"),
        Column("row", pa.string(), "the row as it was refused, as JSON"),
        Column("repaired", pa.string(), "the row as it was repaired, as JSON; NULL: as it was", True),
        Column("rows", pa.int64(), "samples or rows that it represents"),
        Column("refused_ms", pa.int64(), "when it was refused first"),
        Column("state", pa.string(), "what became of it", words=("repaired", "refused_again", "readmitted")),
        Column("fault", pa.string(), "the fault that ingest validation found last; NULL: none", True),
        Column("readmitted_run_id", pa.string(), "name of the run that readmitted it; NULL: none", True),
        Column("changed_ms", pa.int64(), "when this was written"),
        DATE,
    ),
    key=("id",),
    partition_by=("date",),
)
