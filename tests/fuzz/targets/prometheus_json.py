"""JSON answers of a Prometheus. In: status, content type and body. Out: every question of ours, asked of that answer."""

from __future__ import annotations

import random
from pathlib import Path

from tests.fuzz.mutate import mutated_json, mutated_text
from tests.fuzz.target import Target
from tests.fuzz.targets.answers import FixedAdapter
from throttlescope.ingest.core.errors import ThrottlescopeError
from throttlescope.ingest.core.labels import LabelMapping
from throttlescope.ingest.core.selector import metric_selector, parse_selector
from throttlescope.ingest.core.series import Meter
from throttlescope.ingest.lake.blocks import BlockBuffer
from throttlescope.ingest.pull.plan import interval_of, measure
from throttlescope.ingest.pull.pull import named_cluster
from throttlescope.ingest.pull.wanted_metrics import WantedMetrics, wanted_metrics
from throttlescope.ingest.sources.prometheus import PrometheusSource
from throttlescope.ingest.sources.prometheus_api import PrometheusApi

START_MS, END_MS = 1_760_000_400_000, 1_760_001_000_000
_SELECTOR = parse_selector('pulsar_rate_in{cluster="c"}')
_METRIC = {
    "__name__": "pulsar_rate_in",
    "cluster": "c",
    "namespace": "t/n",
    "topic": "persistent://t/n/x",
    "instance": "1:8080",
    "job": "b",
}
_S = START_MS // 1000
_MATRIX = [
    {"metric": _METRIC, "values": [[_S + 15 * i, str(i)] for i in range(4)]},
    {"metric": {"__name__": "up", "instance": "1:8080", "job": "b"}, "values": [[_S, "1"], [_S + 15.001, "NaN"]]},
    {"metric": {"__name__": "h"}, "histograms": [[_S, {"count": "1"}]]},
]  # fmt: skip
_VECTOR = [{"metric": _METRIC, "value": [_S, "3"]}, {"metric": {}, "value": [_S + 0.5, "+Inf"]}]
_CONFIG = 'global:\n  scrape_interval: 15s\n  external_labels:\n    cluster: c\n    replica: "1"\nscrape_configs: []\n'
_DATA = {
    "matrix": {"resultType": "matrix", "result": _MATRIX},
    "vector": {"resultType": "vector", "result": _VECTOR},
    "values": ["pulsar_rate_in", "up", "c"],
    "series": [_METRIC],
    "info": {"version": "3.5.0", "storageRetention": "15d"},
    "config": {"yaml": _CONFIG},
    "targets": {"activeTargets": [{"labels": {"job": "b"}, "health": "up", "scrapeInterval": "15s"}]},
}


def _read(api: PrometheusApi) -> None:
    buffer = BlockBuffer(LabelMapping(cluster="c"), Path("/nowhere"))
    for batch in api.read(_SELECTOR, START_MS, END_MS, Meter()):
        buffer.add(batch)
    list(buffer.blocks())


def _labels(api: PrometheusApi) -> None:
    external = api.external_labels()
    if any(not isinstance(text, str) or len(text) > 100_000 for pair in external.items() for text in pair):
        raise TypeError("an external label that is no text")


_ASKED = {
    "read": ("matrix", _read),
    "vector": ("vector", lambda api: api.query("up", END_MS)),
    "measure": (
        "vector",
        lambda api: measure(
            api, WantedMetrics({"up": (metric_selector("up"),)}, ()), START_MS, END_MS, Meter()
        ),
    ),
    "interval": ("vector", lambda api: interval_of(api, START_MS, END_MS, Meter())),
    "wanted": (
        "values",
        lambda api: wanted_metrics(api, [], LabelMapping(), START_MS, END_MS, Meter()),
    ),
    "cluster": (
        "values",
        lambda api: named_cluster(PrometheusSource(api, api), START_MS, END_MS, Meter()),
    ),
    "series": ("series", lambda api: api.series(_SELECTOR, START_MS, END_MS)),
    "build": ("info", lambda api: (api.build_info().get("version"), api.runtime_info().get("x"))),
    "external": ("config", _labels),
    "targets": ("targets", lambda api: [target.get("labels") for target in api.targets()]),
}


def _make(rng: random.Random) -> dict[str, str]:
    asked = rng.choice(list(_ASKED))
    data = _DATA[_ASKED[asked][0]]
    if asked == "external" and rng.random() < 0.7:
        data = {
            "yaml": mutated_text(
                rng, [_CONFIG], (": ", "- ", "&a ", "*a", "[*a,*a,*a]", "2001-13-45", "!!int x")
            )
        }
    status = rng.choice(("200",) * 12 + ("400", "422", "503", "500", "404", "301"))
    answer = {"status": "success", "data": data}
    if status != "200":
        answer = {"status": "error", "errorType": "execution", "error": "query timed out"}
    kind = rng.choice(("application/json",) * 10 + ("text/html", "", "application/json; charset=utf-16"))
    return {"asked": asked, "status": status, "kind": kind, "body": mutated_json(rng, answer)}


class _Server:
    """The one API that all executions ask."""

    def __init__(self) -> None:
        self.api = PrometheusApi("http://fuzz:9090")
        self.adapter = FixedAdapter()
        session = self.api._client._session
        for prefix in list(session.adapters):
            session.mount(prefix, self.adapter)


_server: list[_Server] = []


def _ask(content: dict[str, str]) -> None:
    if not _server:
        _server.append(_Server())
    server = _server[0]
    server.adapter.body = content["body"].encode(errors="surrogatepass")
    server.adapter.kind, server.adapter.status = content["kind"], int(content["status"])
    _ASKED[content["asked"]][1](server.api)


TARGETS = (
    Target(
        "prometheus-json",
        "JSON answers of Prometheus' API",
        _make,
        _ask,
        (ThrottlescopeError,),
        from_bytes=lambda content: {
            "asked": list(_ASKED)[content[0] % len(_ASKED)] if content else "read",
            "status": "200",
            "kind": "application/json",
            "body": content[1:].decode(errors="replace"),
        },
        # JSON becomes objects: a list of empty lists takes 28 times its text.
        bytes_per_byte=1_024,
    ),
)  # fmt: skip
