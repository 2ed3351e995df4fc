"""Publishing as tables of text, for the terminal and the pages. In: a :class:`Publishing`. Out: title, headings, rows and notes of each table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from throttlescope.app.presentation.causes import set_by_words
from throttlescope.app.queries.publishing import Publishing, PublishTotal, PublishUse, StoppedProducers
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.units import count, number, percent

_LEVELS = {"topic": "topic", "resource_group": "resource group", "broker": "broker"}
#: A page has no room for more; the terminal and JSON have all.
MOST_ROWS = 200


@dataclass(frozen=True)
class PublishTable:
    """One table: its title, (heading, ``left`` or ``right``) of each column, cells, and notes below."""

    title: str
    columns: tuple[tuple[str, str], ...]
    rows: list[list[str]]
    notes: tuple[str, ...] = ()


def tables(found: Publishing, *, most: int | None = None) -> list[PublishTable]:
    """What there is to show; a table without rows says so in its note.

    Parameters
    ----------
    most : int, optional
        Rows of each table; the note says how many there are.
    """
    limited = [
        one for one in found.limits if one.set_by is None or (one.rate_msg, one.rate_bytes) != (None, None)
    ]
    groups = [one for one in limited if one.level == "resource_group"]
    return [
        _stopped(found.stopped, most),
        _limits([one for one in limited if one.level != "resource_group"], found, most),
        _groups(groups, most),
        _totals(sentence("publishing.tenants.title"), found.tenants, most),
        _totals(sentence("publishing.namespaces.title"), found.namespaces, most),
    ]  # fmt: skip


def document(found: Publishing) -> dict[str, Any]:
    """The same for programs."""
    return asdict(found) | {
        "limits": [
            asdict(one) | {"share_msg": one.share_msg, "share_bytes": one.share_bytes} for one in found.limits
        ]
    }


def _limits(rows: Sequence[PublishUse], found: Publishing, most: int | None) -> PublishTable:
    was_read = any(one.level == "topic" for one in found.limits)
    note = "note" if rows else "none" if was_read else "never_read"
    return PublishTable(
        sentence("publishing.limits.title"),
        (
            (sentence("label.limit_of_heading"), "left"), (sentence("label.set_by_heading"), "left"), (sentence("label.msg_per_s"), "right"), (sentence("label.limit_heading"), "right"), (sentence("label.use"), "right"),
            (sentence("label.bytes_per_s"), "right"), (sentence("label.limit_heading"), "right"), (sentence("label.use"), "right"), (sentence("label.pauses_per_min"), "right"),
        ),
        [_limit_cells(one) for one in rows[:most]],
        (sentence(f"publishing.limits.{note}"), *_cut(rows, most)),
    )  # fmt: skip


def _limit_cells(one: PublishUse) -> list[str]:
    unknown = "not known" if one.set_by is None else "-"
    return [
        f"{_LEVELS[one.level]} {one.owner}",
        "-" if one.set_by is None else set_by_words(one.set_by),
        _rate(one.use_msg_per_s),
        unknown if one.rate_msg is None else count(one.rate_msg),
        percent(one.share_msg),
        _rate(one.use_bytes_per_s),
        unknown if one.rate_bytes is None else count(one.rate_bytes),
        percent(one.share_bytes),
        count(one.pauses),
    ]


def _groups(rows: Sequence[PublishUse], most: int | None) -> PublishTable:
    return PublishTable(
        sentence("publishing.groups.title"),
        (
            (sentence("label.resource_group"), "left"), (sentence("label.namespaces"), "left"), (sentence("label.msg_per_s"), "right"), (sentence("label.limit_heading"), "right"), (sentence("label.bytes_per_s"), "right"),
            (sentence("label.limit_heading"), "right"), (sentence("label.enforced"), "left"),
        ),
        [
            [
                one.owner, ", ".join(one.namespaces), _rate(one.use_msg_per_s), _limit(one, one.rate_msg),
                _rate(one.use_bytes_per_s), _limit(one, one.rate_bytes), "publishing only",
            ]
            for one in rows[:most]
        ],
        (sentence(f"publishing.groups.{'note' if rows else 'none'}"), *_cut(rows, most)),
    )  # fmt: skip


def _totals(title: str, rows: Sequence[PublishTotal], most: int | None) -> PublishTable:
    return PublishTable(
        title,
        (
            (sentence("label.name_heading"), "left"), (sentence("label.msg_per_s"), "right"), (sentence("label.limits_sum"), "right"), (sentence("label.bytes_per_s"), "right"), (sentence("label.limits_sum"), "right"),
            (sentence("label.topics"), "right"), (sentence("label.limits_read_of"), "right"), (sentence("label.limited"), "right"), (sentence("label.pauses_per_min"), "right"),
        ),
        [
            [
                one.name, _rate(one.use_msg_per_s), count(one.limit_msg_per_s), _rate(one.use_bytes_per_s),
                count(one.limit_bytes_per_s), count(one.topics), count(one.topics_read), count(one.topics_limited), count(one.pauses),
            ]
            for one in rows[:most]
        ],
        (sentence("publishing.totals.note"), *_cut(rows, most)),
    )  # fmt: skip


def _stopped(rows: Sequence[StoppedProducers], most: int | None) -> PublishTable:
    return PublishTable(
        sentence("publishing.stopped.title"),
        (
            (sentence("label.topic"), "left"), (sentence("label.what_the_quota_does"), "left"), (sentence("label.set_by_heading"), "left"), (sentence("label.backlog_bytes"), "right"),
            (sentence("label.quota_bytes"), "right"), (sentence("label.use"), "right"), (sentence("label.published_msg_per_s_heading"), "right"),
        ),
        [
            [
                one.topic if one.partition < 0 else f"{one.topic}-partition-{one.partition}",
                sentence(f"publishing.stopped.{one.policy}"), set_by_words(one.set_by), count(one.backlog_bytes),
                count(one.quota_bytes), percent(one.share), _rate(one.rate_msg_per_s),
            ]
            for one in rows[:most]
        ],
        (sentence(f"publishing.stopped.{'note' if rows else 'none'}"), *_cut(rows, most)),
    )  # fmt: skip


def _limit(one: PublishUse, rate: int | None) -> str:
    return "not known" if one.set_by is None else count(rate)


def _rate(value: float | None) -> str:
    return "-" if value is None else number(value)


def _cut(rows: Sequence[object], most: int | None) -> tuple[str, ...]:
    if most is None or len(rows) <= most:
        return ()
    return (sentence("publishing.cut", shown=most, rows=len(rows)),)
