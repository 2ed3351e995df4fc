"""What to read. In: a user's selectors and a range. Out: the metrics that the source has, each with its matchers.

A selector without a metric name narrows the default set (:data:`throttlescope.ingest.core.metrics.METRICS`), each metric by
the labels that its level has: ``{subscription="s"}`` still brings the topic's input. A selector with a name selects only that metric. A name that the source does not know is an error that suggests a similar one.
"""

from __future__ import annotations

import difflib
import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from throttlescope.ingest.core.errors import EmptyRangeError, InputError
from throttlescope.ingest.core.labels import LabelMapping
from throttlescope.ingest.core.metrics import METRICS
from throttlescope.ingest.core.selector import NAME_LABEL, REGEX, Matcher, Selector, metric_selector
from throttlescope.ingest.core.series import Meter
from throttlescope.ingest.core.times import BLOCK_MS, format_time
from throttlescope.ingest.sources.prometheus_api import PrometheusApi

# Labels that series of a level do not have: a matcher on one of them would leave the level out, and with it the
# topic's input, or the broker's output that a broker limit is compared with.
_OF_CONSUMER = frozenset(("consumer_name", "consumer_id"))
_OF_SUBSCRIPTION = _OF_CONSUMER | {"subscription", "reason"}
_OF_TOPIC = _OF_SUBSCRIPTION | {"namespace", "topic", "partition"}
_LACKS = {
    "consumer": frozenset(),
    "subscription": _OF_CONSUMER,
    "replicator": _OF_SUBSCRIPTION,
    "topic": _OF_SUBSCRIPTION,
    "broker": _OF_TOPIC,
    "target": _OF_TOPIC,
}

_PULSAR = Selector((Matcher(NAME_LABEL, REGEX, "pulsar_.+"),))


@dataclass(frozen=True)
class WantedMetrics:
    """The metrics to read.

    Attributes
    ----------
    selectors_of : dict
        Metric name to the selectors that name its series; several are read one after the other.
    missing : tuple of str
        Metrics of the default set that the source does not have in the range.
    """

    selectors_of: dict[str, tuple[Selector, ...]]
    missing: tuple[str, ...]


def wanted_metrics(
    api: PrometheusApi,
    selectors: Sequence[Selector],
    mapping: LabelMapping,
    start_ms: int,
    end_ms: int,
    meter: Meter,
) -> WantedMetrics:
    """Ask the source which metrics the selectors match.

    Raises
    ------
    InputError
        A named metric is unknown, a selector names no series, or the range holds no Pulsar metric at all.
    """
    found: dict[str, list[Selector]] = {}
    missing: tuple[str, ...] = ()
    for selector in dict.fromkeys(selectors) or (Selector(()),):
        if any(matcher.name == NAME_LABEL for matcher in selector.matchers):
            names = api.metric_names([selector], start_ms, end_ms, meter)
            rest = tuple(m for m in selector.matchers if m.name != NAME_LABEL)
            some = {name: metric_selector(name, rest) for name in names}
        else:
            some = _default_set(api, selector, mapping, start_ms, end_ms, meter)
            missing = tuple(name for name in METRICS if name not in some)
            # A broker's and a target's metrics alone say nothing about what the selector requests.
            if all(METRICS[name].level in ("broker", "target") for name in some):
                some = {}
        if not some:
            raise _nothing(api, selector, start_ms, end_ms, meter)
        for name, narrowed in some.items():
            found.setdefault(name, []).append(narrowed)
    return WantedMetrics({name: tuple(dict.fromkeys(found[name])) for name in sorted(found)}, missing)


def _default_set(
    api: PrometheusApi, selector: Selector, mapping: LabelMapping, start_ms: int, end_ms: int, meter: Meter
) -> dict[str, Selector]:
    """The default metrics that the source has, each narrowed by the matchers that its level has labels for."""
    levels_by_matchers: dict[tuple[Matcher, ...], list[str]] = {}
    for level in dict.fromkeys(metric.level for metric in METRICS.values()):
        unknown = {theirs for theirs, ours in mapping.renames.items() if ours in _LACKS[level]}
        unknown |= _LACKS[level] - set(mapping.renames.values())
        applying = tuple(m for m in selector.matchers if m.name not in unknown)
        levels_by_matchers.setdefault(applying, []).append(level)
    found = {}
    for matchers, levels in levels_by_matchers.items():
        names = [name for name, metric in METRICS.items() if metric.level in levels]
        any_name = Matcher(NAME_LABEL, REGEX, "|".join(re.escape(name) for name in names))
        for name in api.metric_names([Selector((any_name, *matchers))], start_ms, end_ms, meter):
            # A server may list more metrics than were requested.
            if name in METRICS:
                found[name] = metric_selector(name, matchers)
    return found


def has_pulsar_metrics(api: PrometheusApi, start_ms: int, end_ms: int, meter: Meter) -> bool:
    """Whether a source has any metric of Pulsar's in a range."""
    return bool(api.metric_names([_PULSAR], start_ms, end_ms, meter))


def _nothing(api: PrometheusApi, selector: Selector, start_ms: int, end_ms: int, meter: Meter) -> InputError:
    """Why a selector found nothing: the name, the matchers, the range, or the server."""
    between = f"{format_time(start_ms)} to {format_time(end_ms)}"
    name = selector.metric_name
    if (
        name
        and len(selector.matchers) > 1
        and api.metric_names([metric_selector(name)], start_ms, end_ms, meter)
    ):
        return InputError(
            "A selector names no series",
            got=str(selector),
            expected=f"series of {name} between {between}",
            fix="loosen its matchers; they apply to the labels of the source",
        )
    known = api.metric_names([_PULSAR], start_ms, end_ms, meter)
    if known and name:
        near = _near(name, known)
        return InputError(
            "The source does not know a metric",
            got=name,
            expected=f"one of its {len(known)} pulsar_ metrics" if not near else None,
            fix=f"did you mean {near}?" if near else "see throttlescope doctor for the metrics it has",
        )
    if known:
        return InputError(
            "A selector names no series",
            got=str(selector) if selector.matchers else "no selector",
            expected=f"series between {between}",
            fix="loosen its matchers; they apply to the labels of the source",
        )
    now_ms = round(time.time() * 1000)
    if has_pulsar_metrics(api, now_ms - BLOCK_MS, now_ms, meter):
        return EmptyRangeError(
            "The range holds no Pulsar metric",
            got=between,
            expected="a range that the source still keeps; it has some of the last hour",
            fix="choose a later --start, or look at the server's retention",
        )
    return EmptyRangeError(
        "The source has no Pulsar metric",
        got=f"none of the range {between}, none of the last hour",
        expected="metrics named pulsar_...",
        fix="let this Prometheus scrape the brokers' /metrics/ (port 8080), or give another one",
    )


def _near(name: str, known: Iterable[str]) -> str | None:
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return close[0] if close else None
