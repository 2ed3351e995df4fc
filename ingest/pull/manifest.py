"""A run's manifest: in, what the run counted; out, its row of ``ingest_runs``.

The row says what was requested, what the sources had to serve for it, what was computed, and how the run ended - also for a
run that failed.
"""

from __future__ import annotations

import json
import re
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import pyarrow as pa

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import date_of

_SECRET = re.compile(
    r"token|password|passwd|secret|authorization|credential|cookie|api_?key|header", re.IGNORECASE
)
# Where a secret is kept is no secret.
_PLACE = re.compile(r"_(file|env|path)$", re.IGNORECASE)
_HIDDEN = "(hidden)"


def new_run_id(now_ms: int | None = None) -> str:
    """A name for a run: its UTC time, so that names sort as runs began, and 24 random bits against equal times."""
    now_ms = _now_ms() if now_ms is None else now_ms
    moment = datetime.fromtimestamp(now_ms / 1000, UTC)
    return f"{moment:%Y%m%dT%H%M%S}.{now_ms % 1000:03d}Z-{secrets.token_hex(3)}"


@dataclass
class RunManifest:
    """Collects a run's counts.

    Attributes
    ----------
    command : str
        ``ingest``, ``run`` or ``demo``.
    source : str
        Kind of source and its address; a user and password in it are left out.
    start_ms, end_ms : int
        The requested range.
    cluster : str, optional
        The one cluster concerned; None where there are several.
    details : dict
        Whatever else tells what happened, as JSON can hold it. Values of names that look like secrets are left out.
    """

    command: str
    source: str
    start_ms: int
    end_ms: int
    cluster: str | None = None
    run_id: str = field(default_factory=new_run_id)
    started_ms: int = field(default_factory=lambda: _now_ms())
    source_requests: int = 0
    admin_requests: int = 0
    source_bytes: int = 0
    series: int = 0
    samples: int = 0
    samples_written: int = 0
    rows_quarantined: int = 0
    details: dict[str, Any] = field(default_factory=dict)

    def row(self, status: str, finished_ms: int | None = None) -> pa.Table:
        """The row of ``ingest_runs``.

        Parameters
        ----------
        status : str
            ``done``, ``failed`` or ``gated``.
        """
        contract = TABLES["ingest_runs"]
        values = {column.name: getattr(self, column.name, None) for column in contract.columns} | {
            "source": without_credentials(self.source),
            "finished_ms": _now_ms() if finished_ms is None else finished_ms,
            "status": status,
            "details": json.dumps(
                without_secrets(self.details), sort_keys=True, default=str, ensure_ascii=False
            ),
            "date": date_of(self.started_ms),
        }
        return contract.conform(pa.Table.from_pylist([values], schema=contract.loose_schema))


def without_secrets(value: Any, name: str = "") -> Any:
    """The same structure with every value hidden whose name, or that of a mapping around it, looks like a secret's."""
    if isinstance(value, Mapping):
        around = name if _is_secret(name) else ""
        return {key: without_secrets(inner, around or str(key)) for key, inner in value.items()}
    if value not in (None, "") and not isinstance(value, bool) and _is_secret(name):
        return _HIDDEN
    if isinstance(value, list | tuple):
        return [without_secrets(inner, name) for inner in value]
    return without_credentials(value) if isinstance(value, str) else value


def _is_secret(name: str) -> bool:
    return bool(_SECRET.search(name)) and not _PLACE.search(name)


def without_credentials(text: str) -> str:
    """A URL without its user and password; other text as it is."""
    head, mark, tail = text.rpartition(" ")  # a source is a kind, a blank, and an address
    parts = urlsplit(tail)
    if "@" not in parts.netloc or not parts.scheme:
        return text
    return head + mark + urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
