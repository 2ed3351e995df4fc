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
    JudgedFiring,
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
from throttlescope.app.web.components.sentence_parts import sentence_parts
from throttlescope.app.web.components.shell import panel
from throttlescope.app.web.pages.alerts.preview import AlertPreview
from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.core.times import BLOCK_MS
from throttlescope.models.messages.catalogue import message, sentence
from throttlescope.models.messages.units import words

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
    """How often it would have fired, and what it would have missed."""
    fired_range = fmt.between(view.start_ms, view.end_ms)
    if not view.judged:
        not_fired = html.Strong(sentence("alerts.fired.not.strong"))
        return sentence_parts(message("alerts.fired.not", fired=not_fired, range=fired_range))
    fired = html.Strong(
        sentence("alerts.fired.once")
        if len(view.judged) == 1
        else sentence("alerts.fired.times", times=fmt.exact(len(view.judged)))
    )
    if view.kind is None:
        parts = sentence_parts(message("alerts.fired", fired=fired, range=fired_range))
    else:
        counts = html.Strong(_counts(view))
        parts = sentence_parts(message("alerts.fired.judged", fired=fired, counts=counts, range=fired_range))
    return parts if view.missed is None else [*parts, " ", _missed_sum(view)]


def _counts(view: AlertPreview) -> str:
    """``7 real, 1 undecided``."""
    found = Counter(one.outcome for one in view.judged)
    return words().list_separator.join(
        sentence(f"alerts.count.{word.replace(' ', '_')}", number=fmt.exact(found[word]))
        for word in (REAL, NOT_REAL, UNDECIDED)
        if found[word] or word == REAL
    )


def _missed_sum(view: AlertPreview) -> str:
    if not view.real_total:
        return sentence("alerts.missed.none_there")
    missed, backlogs = fmt.exact(len(view.missed)), fmt.exact(view.real_total)
    if view.is_cut:
        return sentence("alerts.missed.at_least", missed=missed, backlogs=backlogs)
    if view.real_total == 1:
        return sentence("alerts.missed.one", missed=missed)
    return sentence("alerts.missed.many", missed=missed, backlogs=backlogs)


def _meaning(view: AlertPreview) -> list:
    if view.kind is None:
        return [html.P(sentence("alerts.meaning.none"), className="quiet")]
    return [html.P(sentence("alerts.meaning", kind=view.kind.words), className="quiet alerts-meaning")]


def _failures(view: AlertPreview) -> list:
    if not view.failures:
        return []
    sentences = [
        sentence_parts(
            message(
                "alerts.failed",
                rule=hostile(name),
                times=fmt.exact(times),
                error=hostile_sentence(error),
            )
        )
        for name, times, error in view.failures[:5]
    ]
    return [panel(sentence("alerts.failed.title"), sentences, tone="orange")]


def _firings(view: AlertPreview) -> html.Section:
    if not view.judged:
        none = html.P(sentence("alerts.firings.none"), className="quiet")
        return section(sentence("label.alert_firings"), [none])
    several = len({one.firing.rule.name for one in view.judged}) > 1
    heads = (
        sentence("label.subscription_then"),
        sentence("label.fired"),
        sentence("label.duration"),
        sentence("label.condition_started"),
        sentence("label.verdict_then"),
        sentence("label.real"),
        sentence("label.labels"),
    )
    rows = [
        [
            _subscription(one, view),
            fmt.moment(one.firing.start_ms),
            _length(one, view),
            fmt.moment(one.firing.active_ms),
            cause_badge(one.main_verdict.cause, one.main_verdict.limiter)
            if one.main_verdict
            else html.Span(sentence("label.none"), className="quiet"),
            _is_real(one.outcome),
            _labels(one, several=several),
        ]
        for one in view.judged[:ROWS]
    ]
    note = None
    if len(view.judged) > ROWS:
        note = sentence("alerts.firings.first", shown=ROWS, firings=fmt.exact(len(view.judged)))
    return section(
        sentence("label.alert_firings"),
        [html.Div(plain_table(heads, rows), className="alerts-table")],
        note=note,
    )


def _subscription(one: JudgedFiring, view: AlertPreview):
    """The subscription at that time; of others what the labels name."""
    labels = key_labels(one.firing.labels)
    key = (
        one.main_verdict.key
        if one.main_verdict
        else tuple(labels.get(name) for name in SUBSCRIPTION_KEY_NAMES)
    )
    row = dict(zip(SUBSCRIPTION_KEY_NAMES, key, strict=True))
    partition = str(row["partition"] if row["partition"] is not None else "-1")
    known = all(row[name] for name in ("cluster", "topic", "subscription"))
    if not known or not partition.removeprefix("-").isdecimal() or len(partition) > 10:
        place = labels.get("topic") or labels.get("namespace") or labels.get("cluster")
        return hostile(place) if place else html.Span(sentence("label.no_subscription"), className="quiet")
    subscription = SubscriptionPartition(row["cluster"], row["topic"], int(partition), row["subscription"])
    end_ms = view.end_ms if one.firing.end_ms is None else one.firing.end_ms
    then = SubscriptionAddress(
        subscription,
        min(one.firing.active_ms, one.firing.start_ms) - BLOCK_MS // 2,
        end_ms + BLOCK_MS // 2,
        one.main_verdict.until_ms if one.main_verdict else None,
    )
    return subscription_link({**row, "partition": int(partition)}, then.href())


def _length(one: JudgedFiring, view: AlertPreview) -> str:
    if one.firing.end_ms is None:
        return f"≥ {fmt.duration(max(0, view.end_ms - one.firing.start_ms))}"
    return fmt.duration(one.firing.end_ms - one.firing.start_ms)


def _is_real(outcome: str | None) -> html.Span:
    """Whether the verdict confirms a firing, as a mark and in words."""
    if outcome is None:
        return html.Span(NONE, title=sentence("alerts.firings.not_judged"))
    return html.Span(
        [
            html.Span(
                _MARKS[outcome], className=f"said said-{outcome.replace(' ', '-')}", **{"aria-hidden": "true"}
            ),
            f" {sentence(f'alerts.outcome.{outcome.replace(chr(32), chr(95))}')}",
        ]
    )


def _labels(one: JudgedFiring, *, several: bool) -> html.Span:
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
                sentence("label.missed_incidents"),
                [
                    panel(
                        sentence("alerts.missed.not_known"),
                        [sentence("alerts.missed.not_known.compute")],
                    )
                ],
            )
        ]
    if not view.missed:
        return []
    hold_ms = min(rule.for_ms for rule in view.requested.alerts)
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
    heads = (
        sentence("label.subscription"),
        sentence("label.main_cause"),
        sentence("label.backlog_started"),
        sentence("label.duration"),
        sentence("label.largest_entries"),
        sentence("label.why"),
    )
    note = sentence("alerts.missed.note")
    if len(view.missed) > ROWS:
        note = sentence("alerts.missed.note_first", shown=ROWS, missed=fmt.exact(len(view.missed)))
    return [
        section(
            sentence("label.missed_incidents"),
            [html.Div(plain_table(heads, rows), className="alerts-table")],
            note=note,
        )
    ]


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
        return sentence("alerts.why.short", hold=fmt.duration(hold_ms))
    if hold_ms:
        return sentence("alerts.why.hold", hold=fmt.duration(hold_ms))
    return sentence("alerts.why.never")
