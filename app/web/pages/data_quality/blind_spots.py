"""How fresh each table is, and what is not judged. In: newest times and counts. Out: components, in words."""

from __future__ import annotations

from collections import Counter

from dash import dcc, html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.web.address.method import MethodAddress
from throttlescope.app.web.address.subscriptions import SubscriptionsAddress
from throttlescope.app.web.components.parts import hostile, plain_table, section
from throttlescope.app.web.components.shell import panel
from throttlescope.app.web.data.blind_spots import BlindSpots, Fresh
from throttlescope.app.web.data.latest import STALE_MS

#: Clusters that are listed; the stalest come first.
MOST_CLUSTERS = 200
_MOST_BROKERS = 50
#: What a table says, in words.
_TABLES = {
    "signals": "minutes",
    "verdicts": "verdicts",
    "policies": "limits and policies",
    "forecasts": "forecasts",
    "episodes": "episodes",
    "anomalies": "anomalies",
}


def freshness(found: Fresh, *, recordings: bool) -> list:
    """The newest time of each table of each cluster, the cluster with the oldest minutes first."""
    if not found.clusters:
        return [panel("No data yet.", ["Neither minutes nor verdicts of any cluster are in the lake."])]
    newest = max(max(times.values()) for times in found.clusters.values())
    order = sorted(found.clusters.items(), key=lambda item: (item[1].get("signals", 0), item[0]))
    rows = [
        [hostile(cluster), *(_cell(times.get(table), times.get("signals"), table) for table in found.tables)]
        for cluster, times in order[:MOST_CLUSTERS]
    ]
    parts: list = []
    if recordings:
        parts.append(
            html.P(
                "These are recordings: their times are those of the recording, not of today.",
                className="quiet",
            )
        )
    parts.append(plain_table(("Cluster", *(_TABLES[table] for table in found.tables)), rows))
    if len(order) > MOST_CLUSTERS:
        parts.append(
            html.P(
                f"{fmt.exact(len(order) - MOST_CLUSTERS)} clusters with newer minutes are not listed.",
                className="quiet",
            )
        )
    return [
        section(
            "Newest row by cluster and table",
            parts,
            note=f"newest of all: {fmt.moment(newest)}; in brackets how far behind the cluster's minutes",
        )
    ]


def _cell(at_ms: int | None, signals_ms: int | None, table: str):
    if at_ms is None:
        return html.Span("none", className="quiet")
    words = fmt.moment(at_ms)
    if table == "signals" or signals_ms is None or at_ms >= signals_ms:
        return words
    return [words, html.Span(f" ({fmt.duration(at_ms - signals_ms)})", className="quiet")]


def blind(found: BlindSpots) -> list:
    """What is not judged, or with less evidence, and how much of it this lake saw."""
    return [
        section(
            "What is not judged",
            [
                html.Ul(
                    [
                        _old_brokers(found),
                        _spot(
                            "Non-persistent topics",
                            f"{fmt.exact(found.non_persistent_topics)} seen"
                            + (
                                f", {fmt.exact(found.non_persistent_judged)} subscriptions judged all the same"
                                if found.non_persistent_judged
                                else ""
                            ),
                            "They keep no backlog: what a consumer cannot take is dropped. Their limits are not read, and a verdict "
                            "about them says nothing of the messages that were dropped.",
                            any_=found.non_persistent_topics > 0,
                        ),
                        _spot(
                            "Replicators",
                            f"{fmt.exact(found.replication_series)} series seen"
                            if found.replication_series
                            else "cannot be counted here: their metrics are not read",
                            "Replication to another cluster has a backlog and a limit of its own (pulsar_replication_backlog, "
                            "replicatorDispatchRate). Neither is read, so a replicator that falls behind is not on any page.",
                            any_=found.replication_series > 0,
                        ),
                        _spot(
                            "Topics that are not loaded",
                            f"{fmt.exact(found.gone)} of {fmt.exact(found.judged)} judged subscriptions have no newer verdict than {fmt.duration(STALE_MS)} before their cluster's newest",
                            "A broker exposes only what it has loaded. The backlog of an unloaded topic grows unseen until somebody "
                            "connects: it has no series at all, and never had one if no run saw it. Those counted here were seen once "
                            "and ended, were unloaded, or were filtered out.",
                            any_=found.gone > 0,
                        ),
                        _spot(
                            "Pulsar's own topics",
                            f"{fmt.exact(found.own_topics)} subscriptions seen",
                            [
                                "What waits on topics such as __change_events, or for __compaction, is no incident: their verdicts are "
                                "healthy, their limits are not read, and tables leave them out. ",
                                dcc.Link(
                                    "Show them",
                                    href=SubscriptionsAddress(search="/__", own_topics=True).href(),
                                ),
                            ],
                            any_=found.own_topics > 0,
                        ),
                    ],
                    className="blind",
                ),
                html.P(
                    [
                        "What a missing scrape, limit or consumer metric costs a verdict is measured: ",
                        dcc.Link("with less evidence", href=MethodAddress().href() + "#less"),
                        ".",
                    ]
                ),
            ],
            note="and how much of it this lake saw",
        ),
        *_brokers(found),
    ]


def _spot(title: str, seen: str, words, *, any_: bool) -> html.Li:
    mark, kind = ("▲", "warn") if any_ else ("○", "open")
    return html.Li(
        [
            html.H3([html.Span(mark, className=f"state-mark {kind}"), title]),
            html.P(html.Strong(f"In this lake: {seen}.")),
            html.P(words),
        ]
    )


def _old_brokers(found: BlindSpots) -> html.Li:
    old = [broker for broker in found.brokers if not broker.counts]
    seen = f"{fmt.exact(len(old))} of {fmt.exact(len(found.brokers))} brokers whose version is known"
    if found.clusters_without_version:
        count = len(found.clusters_without_version)
        seen += f"; of {fmt.exact(count)} {'cluster' if count == 1 else 'clusters'} no version is known"
    return _spot(
        "Brokers before 4.0.4",
        seen,
        "They have no throttle counters (pulsar_subscription_dispatch_throttled_*; 4.1 has them from 4.1.0 on). There only use / limit shows a limiter, and without "
        "limits it cannot be determined. Verdicts of such a broker name fewer causes and say what is missing.",
        any_=bool(old or found.clusters_without_version),
    )


def _brokers(found: BlindSpots) -> list:
    if not found.brokers:
        return []
    versions = Counter((broker.version, broker.counts) for broker in found.brokers)
    rows = [
        [
            fmt.name(version, 40),
            html.Span(
                [html.Span("✓", className="state-mark good"), "yes"]
                if counts
                else [html.Span("▲", className="state-mark warn"), "no"],
                className="state",
            ),
            fmt.exact(count),
            _named([broker for broker in found.brokers if broker.version == version]),
        ]
        for (version, counts), count in versions.most_common(_MOST_BROKERS)
    ]
    return [
        section(
            "Broker versions",
            [plain_table(("Version", "Throttle counters", "Brokers", "Which"), rows)],
            note="as the admin API or pulsar_version_info last reported them",
        )
    ]


def _named(brokers: list) -> html.Span:
    shown = ", ".join(f"{fmt.name(one.broker, 60)} ({fmt.name(one.cluster, 40)})" for one in brokers[:3])
    more = f" and {fmt.exact(len(brokers) - 3)} more" if len(brokers) > 3 else ""
    return html.Span(html.Bdi(shown + more), className="cell-long")
