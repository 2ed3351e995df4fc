"""Counters of this server, summed over its workers. In: requests, cache look-ups, lines of the log. Out: text for ``/metrics``.

Workers are separate processes: each writes its counters into files of one folder, which is created before the workers,
and the worker that is scraped adds them up. The library does that in the folder that its environment variable names while it is
imported, so this module is the only one that imports it.
"""

from __future__ import annotations

import atexit
import logging
import os
import shutil
import tempfile
import time

from flask import Flask, g, request

_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"


def _folder() -> str:
    """A new folder for the counters; removed with the process that created it, not with a worker.

    If one is set already, it belongs to the server that started this process.
    """
    folder, maker = tempfile.mkdtemp(prefix="throttlescope-counts-"), os.getpid()
    os.environ[_VARIABLE] = folder
    atexit.register(lambda: os.getpid() == maker and shutil.rmtree(folder, ignore_errors=True))
    return folder


_FOLDER = _folder()

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest  # noqa: E402
from prometheus_client.multiprocess import MultiProcessCollector  # noqa: E402

_SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 120.0)

# In a separate registry, so that no other metrics of this process are exported.
_REGISTRY = CollectorRegistry()
_REQUESTS = Counter(
    "throttlescope_http_requests", "Requests answered", ("kind", "code"), registry=_REGISTRY
)  # fmt: skip
_REQUEST_SECONDS = Histogram(
    "throttlescope_http_request_duration_seconds", "Time from a request to the start of its answer", ("kind",),
    buckets=_SECONDS, registry=_REGISTRY,
)  # fmt: skip
_LOOKS = Counter(
    "throttlescope_cache_lookups", "Cache look-ups, by result", ("cache", "result"),
    registry=_REGISTRY,
)  # fmt: skip
_SNAPSHOTS = Counter(
    "throttlescope_lake_snapshots", "Snapshots of the lake for the pages, by result", ("result",),
    registry=_REGISTRY,
)  # fmt: skip
_MESSAGES = Counter(
    "throttlescope_log_messages", "Lines of the server's log, by level", ("level",),
    registry=_REGISTRY,
)  # fmt: skip

_KINDS = (
    ("/_dash-update-component", "callback"),
    ("/_dash-", "static"),
    ("/assets/", "static"),
    ("/_favicon", "static"),
    ("/api/", "api"),
    ("/export/", "export"),
    ("/metrics", "metrics"),
    ("/-/", "state"),
    ("/healthz", "state"),
)


def kind_of(path: str) -> str:
    """The group of a request's address, so that there are few label values."""
    return next((kind for start, kind in _KINDS if path.startswith(start)), "page")


def count_lookup(cache: str, *, found: bool) -> None:
    """Count a cache look-up: ``samples`` of PromQL, ``answers`` of pages."""
    _LOOKS.labels(cache, "hit" if found else "miss").inc()


def snapshot_made(*, well: bool) -> None:
    """Count a snapshot of the lake, or a failed one."""
    _SNAPSHOTS.labels("made" if well else "failed").inc()


def count_requests(server: Flask) -> None:
    """Count every answer of a server, and the warnings and errors of its log."""

    @server.before_request
    def begin():
        g.begun_s = time.monotonic()

    @server.after_request
    def end(response):
        kind = kind_of(request.path)
        _REQUESTS.labels(kind, str(response.status_code)).inc()
        # A request that was rejected earlier has no start time.
        if (begun_s := g.get("begun_s")) is not None:
            _REQUEST_SECONDS.labels(kind).observe(time.monotonic() - begun_s)
        return response

    root = logging.getLogger()
    if not any(isinstance(handler, _Counting) for handler in root.handlers):
        # Python prints warnings to stderr only while there is no handler: a counting handler would silence them.
        if not root.handlers and logging.lastResort is not None:
            root.addHandler(logging.lastResort)
        root.addHandler(_Counting(logging.WARNING))


class _Counting(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        _MESSAGES.labels(record.levelname.lower()).inc()


def counters_text() -> str:
    """All counters, in Prometheus' text format."""
    registry = CollectorRegistry()
    MultiProcessCollector(registry, _FOLDER)
    return generate_latest(registry).decode()
