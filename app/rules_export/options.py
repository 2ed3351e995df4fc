"""Options of the export. In: texts of the command line. Out: checked options, or an error about what Prometheus would not accept."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.times import MINUTE_MS, SECOND_MS
from throttlescope.models.diagnosis.thresholds import OLD_S
from throttlescope.transforms.promql.semantics import LOOKBACK_MS

if TYPE_CHECKING:
    from throttlescope.app.rules_export.specification import Specified

#: A rate needs four scrapes, so that it has a value when one is missed and the window's edges are unfavourable.
_SCRAPES = 4
_SHORTEST_WINDOW_MS = 5 * MINUTE_MS
_LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
#: Labels that the rules use.
_OURS = frozenset(
    (
        *SUBSCRIPTION_KEY_NAMES,
        *(
            "level",
            "unit",
            "period_s",
            "scope",
            "events_informative",
            "relative_to_publish",
            "reason",
            "shape",
            "flow",
        ),
        *("cause", "action", "alertname", "severity"),
    )
)


@dataclass(frozen=True)
class ExportOptions:
    """How the rules are written.

    Attributes
    ----------
    external_url : str
        Where people reach ``throttlescope serve``; alerts link to it.
    cluster_label : str
        The label of Pulsar's metrics on this Prometheus that names the cluster as throttlescope does.
    cluster : str or None
        Name of the cluster where that label is missing.
    scrape_interval_ms : int
        How often brokers are scraped.
    interval_ms : int
        How often the rules are evaluated.
    for_ms : int
        How long a cause must hold before its alert fires.
    labels : mapping
        More labels for every alert.
    specified : tuple of Specified
        What clusters and their topic partitions were sized or bought for.
    backlog_age_s : float
        The oldest entry of a backlog may be so old.
    """

    external_url: str = "http://127.0.0.1:8050"
    cluster_label: str = "cluster"
    cluster: str | None = None
    scrape_interval_ms: int = MINUTE_MS
    interval_ms: int = MINUTE_MS
    for_ms: int = 5 * MINUTE_MS
    labels: Mapping[str, str] = field(default_factory=dict)
    specified: tuple[Specified, ...] = ()
    backlog_age_s: float = OLD_S

    def __post_init__(self) -> None:
        _check_url(self.external_url)
        if not _LABEL.fullmatch(self.cluster_label) or self.cluster_label.startswith("__"):
            raise InputError(
                "--cluster-label is not a valid label name",
                got=self.cluster_label,
                expected="letters, digits and _",
            )
        if self.cluster_label in _OURS - {"cluster"}:
            raise InputError("--cluster-label is used for something else", got=self.cluster_label)
        if self.cluster is not None and not self.cluster:
            raise InputError("--cluster is empty", expected="a cluster's name")
        # Beyond half the look-back a single missed scrape or evaluation makes a series vanish.
        for name, value in (("--scrape-interval", self.scrape_interval_ms), ("--interval", self.interval_ms)):
            if not SECOND_MS <= value <= LOOKBACK_MS // 2:
                raise InputError(
                    f"{name} does not work with Prometheus' look-back",
                    got=f"{value / 1000:g} s",
                    expected=f"1 to {LOOKBACK_MS // 2000} s: its look-back is {LOOKBACK_MS // MINUTE_MS} minutes",
                )
        for name in self.labels:
            if not _LABEL.fullmatch(name) or name.startswith("__"):
                raise InputError("--label needs a valid label name", got=name, expected="NAME=VALUE")
            if name in _OURS:
                raise InputError("--label would replace a label of the alerts", got=name)

    @property
    def window_ms(self) -> int:
        """The window of rates and growth, in whole minutes."""
        needed = -(-_SCRAPES * self.scrape_interval_ms // MINUTE_MS) * MINUTE_MS
        return max(_SHORTEST_WINDOW_MS, needed)

    @property
    def window(self) -> str:
        """The same as PromQL writes it."""
        return f"{self.window_ms // MINUTE_MS}m"


def duration_text(span_ms: int) -> str:
    """A duration as Prometheus' configuration writes it."""
    for unit, size in (("h", 3_600_000), ("m", MINUTE_MS), ("s", SECOND_MS)):
        if span_ms and span_ms % size == 0:
            return f"{span_ms // size}{unit}"
    return f"{span_ms}ms" if span_ms else "0s"


def _check_url(url: str) -> None:
    def refused(why: str) -> InputError:
        return InputError(
            f"--external-url {why}",
            got=url,
            expected="http(s)://host[:port][/path], such as https://scope.example",
        )

    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise refused("is no address") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise refused("is no web address")
    if parts.query or parts.fragment:
        raise refused("has a query or a fragment, which would break the links")
    # It is used inside a Go template and inside a link.
    if "{" in url or "}" in url or any(ord(one) <= 32 or one in "\"'<>\\`" for one in url):
        raise refused("has characters that are not allowed in a link")
