"""A matcher that names millions of series: refused within a bound of memory, whichever way they come."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler

import pytest

from tests.app.http_server import listening
from tests.fuzz.targets.messages import chunked_message, frame
from tests.naive.xor import encode_chunk

MOST, PER_FRAME = 20_000, 500
#: Three times what so many series take; a server that never ends would fill any.
MOST_GROWTH_KB = 5 * MOST
START_MS = 1_760_000_400_000

# A process of its own: what was used before would hide what is used now.
_READER = """
import json, resource, sys
from pathlib import Path
from throttlescope.ingest.lake.blocks import BlockBuffer, load_kernels
from throttlescope.ingest.core.errors import SourceError
from throttlescope.ingest.core.labels import LabelMapping
from throttlescope.ingest.core.selector import metric_selector
from throttlescope.ingest.core.series import Meter
from throttlescope.ingest.sources.access import Access
from throttlescope.ingest.sources.remote_read import RemoteRead, load_decoder
url, most, start_ms = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
load_decoder(), load_kernels()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
buffer, said = BlockBuffer(LabelMapping(cluster="c"), Path("nowhere")), ""
try:
    for batch in RemoteRead(url, Access(max_series=most)).read(metric_selector("up"), start_ms, start_ms + 60_000, Meter()):
        buffer.add(batch)
except SourceError as error:
    said = f"{type(error).__name__}: {error}"
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({"said": said, "taken": buffer.samples, "growth_kb": after - before}))
"""


@contextlib.contextmanager
def endless(sent: list[int]) -> Iterator[str]:
    """A Prometheus whose answer never ends: series after series, each with a sample."""
    chunk = encode_chunk([(START_MS + 1_000, 1)])

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.send_header(
                "Content-Type", "application/x-streamed-protobuf; proto=prometheus.ChunkedReadResponse"
            )
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.close_connection = True
            until_s = time.monotonic() + 300
            with contextlib.suppress(OSError):
                while time.monotonic() < until_s:
                    series = [
                        ({"__name__": "up", "instance": f"10.0.0.1:{sent[0] + i}", "job": "a"}, [chunk])
                        for i in range(PER_FRAME)
                    ]
                    body = frame(chunked_message(series))
                    self.wfile.write(f"{len(body):x}\r\n".encode() + body + b"\r\n")
                    sent[0] += PER_FRAME

        def log_message(self, *_: object) -> None:
            pass

    with listening(Handler, waits=False) as url:
        yield url


@pytest.mark.long
def test_read_of_endless_series_is_refused() -> None:
    sent = [0]
    with endless(sent) as url:
        done = subprocess.run(
            [sys.executable, "-c", _READER, url, str(MOST), str(START_MS)], capture_output=True, text=True, timeout=300
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["said"].startswith("TooManySeriesError: ")
    assert "more than 20,000" in told["said"]
    assert "max_series" in told["said"]
    # Nothing was refused before it had to be.
    assert 0 < told["taken"] <= MOST
    assert sent[0] > MOST
    assert told["growth_kb"] < MOST_GROWTH_KB, told
