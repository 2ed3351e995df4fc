"""Consumers and partitions. In: :class:`SlowConsumers`, :class:`SubscriptionPartitions`. Out: tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from throttlescope.app.presentation.output import freshness, print_table
from throttlescope.app.presentation.verdicts import subscription_text
from throttlescope.ingest.core import subscription_name
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.units import count, counted, minute_text, number, percent

if TYPE_CHECKING:
    from throttlescope.models.diagnosis.partitions import SubscriptionPartitions
    from throttlescope.models.diagnosis.slowest import SlowConsumers

#: Consumers of one subscription that are shown; the slow ones come first.
_SHOWN = 10


def print_consumers(found: Sequence[SlowConsumers]) -> None:
    """Print a table of consumers for each window in which they were measured, and a line for each in which they were not."""
    for one in found:
        title = sentence(
            "tables.consumers.title",
            subscription=subscription_text(one.key._asdict()),
            start=minute_text(one.start_ms),
            end=minute_text(one.end_ms)[11:],
            summary=one.text,
        )
        if not one.consumers:
            print_table([(sentence("label.consumer_heading"), "left")], [], title=title)
            continue
        print_table(
            [
                (sentence("label.consumer_heading"), "left"),
                (sentence("label.slow_heading"), "left"),
                (sentence("label.acked_msg_per_s_heading"), "right"),
                (sentence("label.dispatched_msg_per_s_heading"), "right"),
                (sentence("label.unacked_msg_heading"), "right"),
                (sentence("label.permits_msg_heading"), "right"),
                (sentence("label.no_permits"), "right"),
                (sentence("label.address"), "left"),
            ],
            [
                [
                    row.called,
                    {True: "slow", False: "-", None: "unknown"}[row.slow],
                    _number(row.ack_msg_rate),
                    _number(row.out_msg_rate),
                    count(row.unacked_msg),
                    count(row.permits),
                    percent(row.permits_exhausted_share),
                    row.address or "-",
                ]
                for row in one.consumers[:_SHOWN]
            ],
            title=title,
            notes=[_note(one.of)],
        )


def _note(consumers: int) -> str:
    if consumers > _SHOWN:
        return sentence("tables.consumers.note_more", more=consumers - _SHOWN)
    return sentence("tables.consumers.note")


def print_partitions(found: Sequence[SubscriptionPartitions], *, now_ms: int) -> None:
    """Print a line per subscription: its worst partition, and how many share that cause."""
    clusters = len({one.cluster for one in found}) > 1
    print_table(
        [
            *(((sentence("label.cluster_heading"), "left"),) if clusters else ()),
            (sentence("label.subscription_heading"), "left"),
            (sentence("label.worst_partition"), "right"),
            (sentence("label.cause_heading"), "left"),
            (sentence("label.limiter_heading"), "left"),
            (sentence("label.confidence_heading"), "right"),
            (sentence("label.backlog_entries_heading"), "right"),
            (sentence("label.of_all"), "right"),
            (sentence("label.share_its_cause"), "right"),
            (sentence("label.all_partitions"), "left"),
        ],
        [
            [
                *((one.cluster,) if clusters else ()),
                subscription_name.subscription_text(
                    one.topic.removeprefix("persistent://"), None, one.subscription
                ),
                "-" if one.worst["partition"] < 0 else str(one.worst["partition"]),
                one.worst["cause"],
                one.worst["limiter"] or "-",
                percent(one.worst["confidence"] or None),
                count(one.worst["backlog_entries"]),
                count(one.backlog_entries),
                f"{len(one.sharing)} of {one.partitions}",
                ", ".join(f"{cause} {number}" for cause, number in one.causes.items()),
            ]
            for one in found
        ],
        title=counted(len(found), "subscription"),
        heads=2 if clusters else 1,
        notes=[
            sentence(
                "tables.partitions.note",
                freshness=freshness(max((one.worst["window_end_ms"] for one in found), default=None), now_ms),
            )
        ],
    )


def _number(value: float | None) -> str:
    return "-" if value is None else number(value)
