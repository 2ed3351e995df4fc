"""How fresh each table is, and what is not judged. In: newest times and counts. Out: components, in words."""

from __future__ import annotations

from collections import Counter

from dash import dcc, html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.web.address.method import MethodAddress
from throttlescope.app.web.address.subscriptions import SubscriptionsAddress
from throttlescope.app.web.components.parts import hostile, plain_table, section
from throttlescope.app.web.components.sentence_parts import sentence_parts
from throttlescope.app.web.components.shell import panel
from throttlescope.app.web.data.blind_spots import BlindSpots, Fresh
from throttlescope.app.web.data.latest import STALE_MS
from throttlescope.models.messages.catalogue import message, sentence

#: Clusters that are listed; the stalest come first.
MOST_CLUSTERS = 200
_MOST_BROKERS = 50


def _tables() -> dict:
    """Contents of a table, as the head of its column."""
    return {
        "signals": sentence("label.minutes"),
        "verdicts": sentence("label.verdicts"),
        "policies": sentence("label.limits_and_policies"),
        "forecasts": sentence("label.forecasts_heading"),
        "episodes": sentence("label.episodes"),
        "anomalies": sentence("label.anomalies_heading"),
    }


def freshness(found: Fresh, *, recordings: bool) -> list:
    """The newest time of each table of each cluster, the cluster with the oldest minutes first."""
    if not found.clusters:
        return [panel(sentence("data_quality.no_data"), [sentence("data_quality.no_data.why")])]
    newest = max(max(times.values()) for times in found.clusters.values())
    order = sorted(found.clusters.items(), key=lambda item: (item[1].get("signals", 0), item[0]))
    rows = [
        [hostile(cluster), *(_cell(times.get(table), times.get("signals"), table) for table in found.tables)]
        for cluster, times in order[:MOST_CLUSTERS]
    ]
    parts: list = []
    if recordings:
        parts.append(html.P(sentence("data_quality.freshness.recordings"), className="quiet"))
    parts.append(
        plain_table((sentence("label.cluster"), *(_tables()[table] for table in found.tables)), rows)
    )
    if len(order) > MOST_CLUSTERS:
        parts.append(
            html.P(
                sentence("data_quality.freshness.more", clusters=fmt.exact(len(order) - MOST_CLUSTERS)),
                className="quiet",
            )
        )
    return [
        section(
            sentence("data_quality.freshness.title"),
            parts,
            note=sentence("data_quality.freshness.note", newest=fmt.moment(newest)),
        )
    ]


def _cell(at_ms: int | None, signals_ms: int | None, table: str):
    if at_ms is None:
        return html.Span(sentence("label.none"), className="quiet")
    words = fmt.moment(at_ms)
    if table == "signals" or signals_ms is None or at_ms >= signals_ms:
        return words
    return [words, html.Span(f" ({fmt.duration(at_ms - signals_ms)})", className="quiet")]


def blind(found: BlindSpots) -> list:
    """What is not judged, or with less evidence, and how much of it this lake saw."""
    less = dcc.Link(sentence("data_quality.blind.cost.less"), href=MethodAddress().href() + "#less")
    spots = [
        _old_brokers(found),
        _non_persistent(found),
        _replicators(found),
        _not_loaded(found),
        _own_topics(found),
    ]
    return [
        section(
            sentence("data_quality.blind.title"),
            [
                html.Ul(spots, className="blind"),
                html.P(sentence_parts(message("data_quality.blind.cost", less=less))),
            ],
            note=sentence("data_quality.blind.note"),
        ),
        *_brokers(found),
    ]


def _spot(title: str, seen: str, means, *, any_: bool) -> html.Li:
    """One blind spot: how much of it the lake saw, and what it means."""
    mark, kind = ("▲", "warn") if any_ else ("○", "open")
    return html.Li(
        [
            html.H3([html.Span(mark, className=f"state-mark {kind}"), title]),
            html.P(html.Strong(seen)),
            html.P(means),
        ]
    )


def _old_brokers(found: BlindSpots) -> html.Li:
    old = [broker for broker in found.brokers if not broker.counts]
    old_count, known = fmt.exact(len(old)), fmt.exact(len(found.brokers))
    unknown = len(found.clusters_without_version)
    if not unknown:
        seen = sentence("data_quality.old_brokers.seen", old=old_count, known=known)
    elif unknown == 1:
        seen = sentence("data_quality.old_brokers.seen_one_unknown", old=old_count, known=known)
    else:
        seen = sentence(
            "data_quality.old_brokers.seen_unknown", old=old_count, known=known, clusters=fmt.exact(unknown)
        )
    return _spot(
        sentence("data_quality.old_brokers"),
        seen,
        sentence("data_quality.old_brokers.means"),
        any_=bool(old or unknown),
    )


def _non_persistent(found: BlindSpots) -> html.Li:
    topics = fmt.exact(found.non_persistent_topics)
    seen = sentence("data_quality.non_persistent.seen", topics=topics)
    if found.non_persistent_judged:
        seen = sentence(
            "data_quality.non_persistent.seen_judged",
            topics=topics,
            judged=fmt.exact(found.non_persistent_judged),
        )
    return _spot(
        sentence("data_quality.non_persistent"),
        seen,
        sentence("data_quality.non_persistent.means"),
        any_=found.non_persistent_topics > 0,
    )


def _replicators(found: BlindSpots) -> html.Li:
    seen = sentence("data_quality.replicators.not_read")
    if found.replication_series:
        seen = sentence("data_quality.replicators.seen", series=fmt.exact(found.replication_series))
    return _spot(
        sentence("data_quality.replicators"),
        seen,
        sentence("data_quality.replicators.means"),
        any_=found.replication_series > 0,
    )


def _not_loaded(found: BlindSpots) -> html.Li:
    seen = sentence(
        "data_quality.not_loaded.seen",
        gone=fmt.exact(found.gone),
        judged=fmt.exact(found.judged),
        age=fmt.duration(STALE_MS),
    )
    return _spot(
        sentence("data_quality.not_loaded"),
        seen,
        sentence("data_quality.not_loaded.means"),
        any_=found.gone > 0,
    )


def _own_topics(found: BlindSpots) -> html.Li:
    show = dcc.Link(
        sentence("data_quality.own_topics.show"),
        href=SubscriptionsAddress(search="/__", own_topics=True).href(),
    )
    return _spot(
        sentence("data_quality.own_topics"),
        sentence("data_quality.own_topics.seen", subscriptions=fmt.exact(found.own_topics)),
        sentence_parts(message("data_quality.own_topics.means", show=show)),
        any_=found.own_topics > 0,
    )


def _brokers(found: BlindSpots) -> list:
    if not found.brokers:
        return []
    versions = Counter((broker.version, broker.counts) for broker in found.brokers)
    rows = [
        [
            fmt.name(version, 40),
            html.Span(
                [html.Span("✓", className="state-mark good"), sentence("label.yes")]
                if counts
                else [html.Span("▲", className="state-mark warn"), sentence("label.no")],
                className="state",
            ),
            fmt.exact(count),
            _named([broker for broker in found.brokers if broker.version == version]),
        ]
        for (version, counts), count in versions.most_common(_MOST_BROKERS)
    ]
    return [
        section(
            sentence("label.broker_versions"),
            [
                plain_table(
                    (
                        sentence("label.version"),
                        sentence("label.throttle_counters"),
                        sentence("label.brokers"),
                        sentence("label.which"),
                    ),
                    rows,
                )
            ],
            note=sentence("data_quality.versions.note"),
        )
    ]


def _named(brokers: list) -> html.Span:
    shown = ", ".join(f"{fmt.name(one.broker, 60)} ({fmt.name(one.cluster, 40)})" for one in brokers[:3])
    more = f" {sentence('label.and_more', number=fmt.exact(len(brokers) - 3))}" if len(brokers) > 3 else ""
    return html.Span(html.Bdi(shown + more), className="cell-long")
