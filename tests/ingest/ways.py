"""Every kind of HTTP request to a source, and the parts of a Prometheus and of a broker that answer them."""

from __future__ import annotations

import pyarrow as pa

from tests.app.http_server import Answer
from throttlescope.ingest.sources.prometheus_api import PrometheusApi
from throttlescope.ingest.sources.pulsar_admin import PulsarAdmin
from throttlescope.ingest.sources.remote_read import RemoteRead

#: By the reader's name.
PROMETHEUS = {
    "remote read": lambda url, access: RemoteRead(url, access).probe(),
    "API": lambda url, access: PrometheusApi(url, access).query("vector(1)", 0),
    "API, optional": lambda url, access: PrometheusApi(url, access).build_info(),
}
WAYS = PROMETHEUS | {"admin API": lambda url, access: PulsarAdmin([url], access).get("/admin/v2/clusters")}


def healthy(method: str, path: str, headers: dict[str, str]) -> Answer:
    """A right answer to each of them, below any path."""
    if path.endswith("/api/v1/read"):
        return 200, "application/x-protobuf", pa.compress(b"", codec="snappy", asbytes=True)
    if "/admin/" in path:
        return 200, "application/json", b'["lab"]'
    return 200, "application/json", b'{"status": "success", "data": {"resultType": "vector", "result": []}}'
