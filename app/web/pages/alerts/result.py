"""What a preview found, the sums first. In: a view. Out: components; labels and names are shown, never obeyed."""

from __future__ import annotations

from collections import Counter

from dash import html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.links.subscription import SubscriptionAddress, SubscriptionPartition
from throttlescope.app.rules_export.preview.firings import (
    NOT_REAL,
    REAL,
    UNDECIDED,
    JudgedFirings,
    key_labels,
)
from throttlescope.app.web.components.grid import NONE
from throttlescope.app.web.components.parts import (
    cause_badge,
    hostile,
    hostile_sentence,
    plain_table,
    section,
    subscription_link,
)
from throttlescope.app.web.components.shell import panel
from throttlescope.app.web.pages.alerts.preview import AlertPreview
from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.core.times import BLOCK_MS

ROWS = 200
_MARKS = {REAL: "✓", NOT_REAL: "✗", UNDECIDED: "?"}


def answer(view: AlertPreview) -> list:
    """Sums, what they mean, each firing, and what was missed."""
    return [
        html.P(_sums(view), className="alerts-answer", id="alerts-answer"),
        *_meaning(view),
        *_failures(view),
        _firings(view),
        *_missed(view),
    ]


def _sums(view: AlertPreview) -> list:
    count = len(view.judged)
    over = fmt.between(view.start_ms, view.end_ms)
    if not count:
        return [html.Strong("It would not have fired"), f" from {over}."]
    times = "once" if count == 1 else f"{fmt.exact(count)} times"
    said = Counter(one.said for one in view.judged)
    parts = [html.Strong(f"It would have fired {times}")]
    if view.kind is not None:
        known = [
            f"{fmt.exact(said[word])} {words}"
            for word, words in ((REAL, "real"), (NOT_REAL, "not real"), (UNDECIDED, "undecided"))
            if said[word] or word == REAL
        ]
        parts += [": ", html.Strong(", ".join(known))]
    if view.missed is not None:
        real = fmt.exact(view.real_total)
        at_least = "at least " if view.is_cut else ""
        backlogs = "backlog" if view.real_total == 1 else "backlogs"
        parts += [
            f"; {at_least}{fmt.exact(len(view.missed))} of {real} {backlogs} of that kind would have gone unnoticed"
            if view.real_total
            else "; no backlog of that kind was there to be noticed"
        ]
    return [*parts, f", from {over}."]


def _meaning(view: AlertPreview) -> list:
    if view.kind is None:
        return [
            html.P(
                "Verdicts speak of the backlog of a subscription; of this alert they say nothing, so no firing is called real or not.",
                className="quiet",
            )
        ]
    return [
        html.P(
            [
                f"Real: the verdict that held longest from when the condition began until the alert ended names {view.kind.words}. "
                "Undecided: that verdict is unknown, or nothing was judged then. Unnoticed: a backlog whose main cause is of that kind "
                "and during which the alert did not fire for its subscription.",
            ],
            className="quiet alerts-meaning",
        )
    ]


def _failures(view: AlertPreview) -> list:
    if not view.failures:
        return []
    sentences = [
        [hostile(name), f" failed {fmt.exact(times)} times, first at ", hostile_sentence(error)]
        for name, times, error in view.failures[:5]
    ]
    return [panel("Some evaluations failed; the alert kept its state then.", sentences, tone="orange")]


def _firings(view: AlertPreview) -> html.Section:
    if not view.judged:
        return section("Firings", [html.P("None in this range.", className="quiet")])
    several = len({one.firing.rule.name for one in view.judged}) > 1
    heads = ("Subscription, then", "Fired", "For", "Condition since", "Verdict then", "Real", "Labels")
    rows = [
        [
            _who(one, view),
            fmt.moment(one.firing.start_ms),
            _length(one, view),
            fmt.moment(one.firing.active_ms),
            cause_badge(one.then.cause, one.then.limiter)
            if one.then
            else html.Span("none", className="quiet"),
            _said(one.said),
            _labels(one, several=several),
        ]
        for one in view.judged[:ROWS]
    ]
    note = f"the first {ROWS} of {fmt.exact(len(view.judged))}" if len(view.judged) > ROWS else None
    return section("Firings", [html.Div(plain_table(heads, rows), className="alerts-table")], note=note)


def _who(one: JudgedFirings, view: AlertPreview):
    """The subscription at that time; of others what the labels name."""
    labels = key_labels(one.firing.labels)
    key = one.then.key if one.then else tuple(labels.get(name) for name in SUBSCRIPTION_KEY_NAMES)
    row = dict(zip(SUBSCRIPTION_KEY_NAMES, key, strict=True))
    partition = str(row["partition"] if row["partition"] is not None else "-1")
    known = all(row[name] for name in ("cluster", "topic", "subscription"))
    if not known or not partition.removeprefix("-").isdecimal() or len(partition) > 10:
        place = labels.get("topic") or labels.get("namespace") or labels.get("cluster")
        return hostile(place) if place else html.Span("no subscription", className="quiet")
    subscription = SubscriptionPartition(row["cluster"], row["topic"], int(partition), row["subscription"])
    end_ms = view.end_ms if one.firing.end_ms is None else one.firing.end_ms
    then = SubscriptionAddress(
        subscription,
        min(one.firing.active_ms, one.firing.start_ms) - BLOCK_MS // 2,
        end_ms + BLOCK_MS // 2,
        one.then.until_ms if one.then else None,
    )
    return subscription_link({**row, "partition": int(partition)}, then.href())


def _length(one: JudgedFirings, view: AlertPreview) -> str:
    if one.firing.end_ms is None:
        return f"≥ {fmt.duration(max(0, view.end_ms - one.firing.start_ms))}"
    return fmt.duration(one.firing.end_ms - one.firing.start_ms)


def _said(said: str | None) -> html.Span:
    if said is None:
        return html.Span(NONE, title="verdicts say nothing of this alert")
    return html.Span(
        [
            html.Span(
                _MARKS[said], className=f"said said-{said.replace(' ', '-')}", **{"aria-hidden": "true"}
            ),
            f" {said}",
        ]
    )


def _labels(one: JudgedFirings, *, several: bool) -> html.Span:
    left_out = {*SUBSCRIPTION_KEY_NAMES, *(() if several else ("alertname",)), *one.firing.rule.labels}
    shown = [
        (name, value)
        for name, value in one.firing.labels.items()
        if name not in left_out or (several and name == "alertname")
    ]
    parts: list = []
    for name, value in shown[:12]:
        parts += [html.Code([html.Bdi(fmt.name(name, 60)), "=", hostile(value)]), " "]
    return html.Span(parts or NONE)


def _missed(view: AlertPreview) -> list:
    if view.kind is None:
        return []
    if view.missed is None:
        return [
            section(
                "Unnoticed",
                [
                    panel(
                        "No episodes yet.",
                        [
                            "Backlogs from start to drain are made by the next run, or by throttlescope episodes --store --lake DIR. "
                            "Without them nobody can say what the alert would have missed."
                        ],
                    )
                ],
            )
        ]
    if not view.missed:
        return []
    hold_ms = min(rule.for_ms for rule in view.asked.alerts)
    rows = [
        [
            _episode_link(row, view),
            cause_badge(row["cause"], row["limiter"]),
            fmt.moment(row["start_ms"]),
            _episode_length(row, view),
            fmt.short(row["peak_entries"]),
            _why(row, hold_ms, view),
        ]
        for row in view.missed[:ROWS]
    ]
    heads = ("Subscription", "Main cause", "Backlog since", "Duration", "Largest, entries", "Why")
    note = "backlogs of the kind without a firing, earliest first"
    if len(view.missed) > ROWS:
        note += f"; the first {ROWS} of {fmt.exact(len(view.missed))}"
    return [section("Unnoticed", [html.Div(plain_table(heads, rows), className="alerts-table")], note=note)]


def _episode_link(row: dict, view: AlertPreview):
    key = SubscriptionPartition(row["cluster"], row["topic"], row["partition"], row["subscription"])
    end_ms = row["end_ms"] or view.end_ms
    then = SubscriptionAddress(
        key, row["start_ms"] - BLOCK_MS // 4, max(end_ms, row["start_ms"]) + BLOCK_MS // 4
    )
    return subscription_link(row, then.href())


def _episode_length(row: dict, view: AlertPreview) -> str:
    if row["end_ms"] is None:
        return f"≥ {fmt.duration(max(0, view.end_ms - row['start_ms']))}"
    return fmt.duration(row["end_ms"] - row["start_ms"])


def _why(row: dict, hold_ms: int, view: AlertPreview) -> str:
    length_ms = (row["end_ms"] or view.end_ms) - row["start_ms"]
    if length_ms <= hold_ms:
        return f"not longer than the rule's for, {fmt.duration(hold_ms)}"
    return (
        f"the expression did not hold for {fmt.duration(hold_ms)}"
        if hold_ms
        else "the expression did not hold"
    )
