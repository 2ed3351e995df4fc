"""Changes of limits as events, with before and after. In: what was read. Out: components."""

from __future__ import annotations

from dash import dcc, html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.causes import set_by_words
from throttlescope.app.presentation.links.subscription import SubscriptionPartition
from throttlescope.app.web.address.limits import LimitsAddress
from throttlescope.app.web.components.grid import NONE
from throttlescope.app.web.components.parts import cause_badge, plain_table, section
from throttlescope.app.web.data.limit_changes import LimitChangeEvent, LimitChanges
from throttlescope.ingest.core.subscription_name import short_text, subscription_text
from throttlescope.models.episodes.before_after import SPAN_MS, Side
from throttlescope.models.messages.catalogue import sentence

_MARKS = {"set": "✚", "removed": "✖", "raised": "▲", "lowered": "▼", "redefined": "≈"}


def changes_section(found: LimitChanges) -> html.Section:
    """The events of the range, or why there are none."""
    title = sentence("limits.changes.title")
    if not found.events:
        return section(
            title,
            [html.P(sentence("limits.changes.none"), className="quiet")],
        )
    shown = len(found.events)
    situation = ("all" if found.total == shown else "newest") + ("" if found.is_whole else "_cut")
    note = sentence(f"limits.changes.note.{situation}", shown=shown, number=fmt.exact(found.total))
    return section(
        title,
        [
            plain_table(
                (
                    sentence("label.seen_zone", zone=fmt.zone_of(found.events[0].event.new_from_ms)), sentence("label.limiter"), sentence("label.before_now"), sentence("label.affected"), sentence("limits.changes.compared"), sentence("label.use_per_limit"), sentence("label.events_per_min"),
                    sentence("label.backlog_entries_title"), sentence("label.published_msg_per_s"), sentence("label.cause"),
                ),
                [_row(event) for event in found.events],
            ),
            html.P(
                sentence("limits.changes.foot", length=fmt.duration(SPAN_MS)),
                className="facts",
            ),
        ],
        note=note,
    )  # fmt: skip


def _row(one: LimitChangeEvent) -> list:
    change, event = one.compared.change, one.event
    key = SubscriptionPartition(
        change.key.cluster, change.key.topic, change.key.partition, change.key.subscription
    )
    old_by, new_by = set_by_words(change.old.set_by), set_by_words(change.new.set_by)
    if change.old.set_by == change.new.set_by:
        set_by = sentence("limits.changes.set_by", now=new_by)
    else:
        set_by = sentence("limits.changes.set_by_other", before=old_by, now=new_by)
    topics = len(event.topics)
    affected = sentence(
        f"limits.changes.affected.{'one_topic' if topics == 1 else 'topics'}",
        limits=fmt.exact(len(event.changes)),
        topics=fmt.exact(topics),
    )
    return [
        html.Span(
            fmt.day_clock(event.new_from_ms),
            title=sentence(
                "limits.changes.seen",
                at=fmt.moment(event.new_from_ms),
                before=fmt.moment(change.old_until_ms),
            ),
        ),
        _lines(
            f"{event.level}.{event.unit}",
            [
                html.Span(_MARKS[change.kind], **{"aria-hidden": "true"}),
                f" {sentence(f'limits.changes.kind.{change.kind}')}",
            ],
            title=set_by,
        ),
        _lines(change.old.text(event.unit), sentence("label.now_limit", limit=change.new.text(event.unit))),
        affected,
        dcc.Link(
            [
                html.Bdi(fmt.name(short_text(change.key.subscription), 60), className="row-name"),
                html.Bdi(fmt.topic_name(change.key.topic, change.key.partition), className="row-place"),
            ],
            href=LimitsAddress(subject=key).href(),
            className="row-link",
            title=fmt.name(
                f"{change.key.cluster}: {subscription_text(change.key.topic, None, change.key.subscription)}"
            ),
        ),
        # Two digits are enough to compare, and 99.6 % reads better as 100 % next to another figure.
        _both(one, "rho", lambda value: fmt.percent(round(value, 2))),
        _both(one, "events_per_min", fmt.short),
        _both(one, "backlog_end_entries", lambda value: fmt.short(round(value))),
        _both(one, "in_msg_per_s", fmt.short),
        _lines(_cause(one.compared.before), ["→ ", _cause(one.compared.after)]),
    ]


def _lines(first, second, *, title: str | None = None) -> html.Div:
    extra = {"title": title} if title else {}
    return html.Div([html.Div(first), html.Div(second)], **extra)


def _both(one: LimitChangeEvent, name: str, words) -> str:
    texts = []
    for side in (one.compared.before, one.compared.after):
        value = getattr(side, name)
        texts.append(NONE if fmt.is_missing(value) else f"{'~' if side.assumed else ''}{words(value)}")
    return " → ".join(texts)


def _cause(side: Side):
    return NONE if side.cause is None else cause_badge(side.cause, side.limiter)
