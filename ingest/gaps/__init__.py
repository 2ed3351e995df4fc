"""Gaps: ranges without samples. In: what a read returned. Out: gaps that are recorded, read again while the source may still fill them, and closed."""

from throttlescope.ingest.gaps.find import MissingStretch, find_missing
from throttlescope.ingest.gaps.gap_table import Gap, due, open_gaps, record, settle
from throttlescope.ingest.gaps.retention import DEFAULT_RETENTION_MS, retention_ms

__all__ = [
    "DEFAULT_RETENTION_MS",
    "Gap",
    "MissingStretch",
    "due",
    "find_missing",
    "open_gaps",
    "record",
    "retention_ms",
    "settle",
]
