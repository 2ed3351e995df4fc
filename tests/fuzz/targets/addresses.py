"""What strangers type into addresses: pages of the web app, parameters of the HTTP API, lakes, servers, names, times.

What a page's address says is written back and read again: it must say the same.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from urllib.parse import quote

from tests.fuzz.mutate import ODD_TEXTS, mutated_bytes, mutated_text
from tests.fuzz.target import Target, UnlikeTwinError
from throttlescope.app.presentation.links.query import parts_of
from throttlescope.app.presentation.links.subscription import SubscriptionAddress
from throttlescope.app.presentation.table_rows import TableQuery
from throttlescope.app.server.api.parameters import Parameters, parse_form
from throttlescope.app.services.promql.errors import ApiError
from throttlescope.app.web.address.alerts import AlertsAddress
from throttlescope.app.web.address.anomalies import AnomaliesAddress
from throttlescope.app.web.address.data_quality import DataAddress
from throttlescope.app.web.address.limits import LimitsAddress
from throttlescope.app.web.address.method import MethodAddress
from throttlescope.app.web.address.promql import PromqlAddress
from throttlescope.app.web.address.rollups import RollupsAddress
from throttlescope.app.web.address.subscriptions import SubscriptionsAddress
from throttlescope.app.web.address.what_if import WhatIfAddress
from throttlescope.ingest.core.errors import InputError, SourceError
from throttlescope.ingest.core.lake_address import LakeAddress
from throttlescope.ingest.core.subscription_name import SubscriptionName
from throttlescope.ingest.core.times import check_range, parse_duration, parse_time
from throttlescope.ingest.sources.access import clean_url, public_url

_PAGES: dict[str, Callable] = {
    page.__name__: page.parse
    for page in (
        AlertsAddress, AnomaliesAddress, DataAddress, LimitsAddress, MethodAddress, PromqlAddress, RollupsAddress, SubscriptionAddress,
        SubscriptionsAddress, WhatIfAddress,
    )
} | {f"export {name}": lambda query, name=name: TableQuery.parse(name, parts_of(query)) for name in ("signals", "verdicts", "ingest_runs")}  # fmt: skip
_KEYS = (
    "cluster", "topic", "partition", "subscription", "from", "to", "at", "zoom", "q", "cause", "view", "own", "page", "rule", "yaml", "kind", "in", "signal",
    "direction", "state", "group", "of", "tab", "run", "checks", "reason", "namespace", "level", "set_by", "use", "without", "set", "query", "step", "by",
    "name", "when", "ahead", "chosen", "job", "broker", "odd",
)  # fmt: skip
_VALUES = (
    "c", "persistent://t/n/x", "-1", "0", "3", "s", "2026-01-02T03:04:05Z", "2026-01-02T04:00:00.250Z", "1767323045", "now", "-6h", "15s", "1m",
    "2026-01-02T03:04:05Z..2026-01-02T04:00:00Z", "throttled", "recent", "open", "closed", "up", "down", "topic", "runs", "verdict", "graph", "table", "end",
    "1h", "24h", "subscription.msg=800 consumers=4", "nothing", "1", "2", "up", "sum(rate(x[5m]))", "deadbeefdeadbeefdeadbeef", "often", "all", "throttled_events",
)  # fmt: skip


def _address(rng: random.Random) -> dict[str, str]:
    pairs = []
    if rng.random() < 0.5:
        pairs = [("cluster", "c"), ("topic", "persistent://t/n/x"), ("partition", "3"), ("subscription", "s")]
    for _ in range(rng.choice((0, 1, 2, 3, 6))):
        value = (
            rng.choice(_VALUES)
            if rng.random() < 0.6
            else mutated_text(rng, (rng.choice(_VALUES), rng.choice(ODD_TEXTS)))
        )
        pairs.append((rng.choice(_KEYS), value))
    rng.shuffle(pairs)
    query = "&".join(f"{name}={quote(value, safe='', errors='surrogatepass')}" for name, value in pairs)
    if rng.random() < 0.3:
        query = mutated_text(rng, (query,), ("&", "=", "%", "%ff", "%00", "+", ";", "?", "#"))
    if rng.random() < 0.01:
        query += "&a=1" * rng.choice((198, 300, 5_000))
    return {"page": rng.choice(list(_PAGES)), "query": query}  # fmt: skip


def _open(content: dict[str, str]) -> None:
    found = _PAGES[content["page"]]("?" + content["query"])
    if isinstance(found, TableQuery):
        return
    href = found.href()
    again = type(found).parse(href.partition("?")[2])
    if again != found:
        raise UnlikeTwinError(f"{found!r:.500} is written as {href[:300]!r} and read as {again!r:.500}")


# -- parameters of the HTTP API ------------------------------------------------------------------

_FORMS = [
    b"query=up&time=1767323045.25&timeout=5s&limit=10&lookback_delta=5m",
    b"query=sum(up)&start=2026-01-02T03:04:05Z&end=2026-01-02T04:04:05.123%2B02:00&step=15",
    b"match[]=up&match%5B%5D=%7B__name__%3D~%22a.%2B%22%7D&start=1&end=2e9&limit=0",
    b"step=1h30m&limit=-1&time=0x1p10&start=inf&end=nan&match[]={}",
]


def _parameters(body: bytes) -> None:
    parameters = Parameters(parse_form(body))
    refusals = []
    for name, read in (
        ("limit", lambda _: parameters.limit()),
        ("match[]", lambda _: parameters.selectors()),
        ("query", parameters.text),
        ("start", parameters.time_ns),
        ("time", lambda name: parameters.time_or(name, 0)),
        ("end", parameters.bound_ms),
        ("step", parameters.duration_ns),
        ("timeout", parameters.duration_ns),
    ):
        try:
            if parameters.text(name):
                read(name)
        except ApiError as error:
            refusals.append(error)
    if refusals:
        raise refusals[0]


# -- places and times -------------------------------------------------------------------------

_READERS: dict[str, tuple[Callable[[str], object], tuple[str, ...]]] = {
    "lake": (LakeAddress.of, ("lake", "s3://bucket/a/b", "s3:/bucket", "gs://b/c", "s3://u:p@b/c", "s3://b/../c", "s3://b?x=1#y", "/a/../b")),
    "server": (lambda text: public_url(clean_url(text)), ("http://prometheus:9090/p/", "https://u:p@h:1/x?y#z", "http://[::1]:9090", "ftp://x", "http://h:99999")),
    "subscription": (lambda text: str(SubscriptionName.of(text)), ("persistent://t/n/x-partition-3#s", "non-persistent://t/n/x#a#b", "t/n/x#s")),
    "time": (lambda text: parse_time(text, now_ms=1_760_000_000_000), ("now", "-6h", "2026-01-02T03:04:05Z", "2026-01-02 03:04+02:00", "1767323045.5", "-1h30m", "20260102", "2026-W01-1")),
    "range": (lambda text: check_range(*(parse_time(part, now_ms=0) for part in [*text.split("|"), "now"][:2])), ("1|2", "2026-01-02T03:04:05Z|2026-01-02T03:04:06Z", "99999999999999|1")),
    "duration": (parse_duration, ("5m", "1h30m", "90s", "1w2d", "10ms")),
}  # fmt: skip


def _place(rng: random.Random) -> dict[str, str]:
    kind = rng.choice(list(_READERS))
    words = (
        "://",
        "/",
        "..",
        "@",
        "?",
        "#",
        ":",
        "[",
        "]",
        "-partition-",
        "s3",
        "%",
        "T",
        "Z",
        "+00:00",
        "W",
        "m",
        "h",
        "|",
    )
    return {"kind": kind, "text": mutated_text(rng, _READERS[kind][1], words)}  # fmt: skip


def _read_place(content: dict[str, str]) -> None:
    _READERS[content["kind"]][0](content["text"])


TARGETS = (
    Target("addresses", "addresses of the web app and its files", _address, _open, (InputError,)),
    Target(
        "parameters",
        "parameters of the HTTP API",
        lambda rng: mutated_bytes(rng, _FORMS),
        _parameters,
        (ApiError,),
        from_bytes=bytes,
        seeds=_FORMS,
    ),
    Target(
        "places",
        "addresses of lakes and servers, names, times, durations",
        _place,
        _read_place,
        (InputError, SourceError),
    ),
)
