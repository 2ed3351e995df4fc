"""Involved clients. In: computed results. Out: blocks: the consumers by name, and the other users of the limit."""

from __future__ import annotations

from throttlescope.app.incident.computed import ComputedResults
from throttlescope.app.incident.evidence import limits_at_verdict
from throttlescope.app.incident.load import Incident
from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.blocks import Block, Grid, Heading, Name, Paragraph, TextBlock, text
from throttlescope.app.presentation.causes import limiter_words
from throttlescope.ingest.core.topic_name import part_word
from throttlescope.models.diagnosis.window import SubscriptionKey
from throttlescope.models.messages.catalogue import sentence

#: Rows that are shown; ``throttlescope verdicts --subscription`` lists them all.
MOST = 20


def consumers(computed: ComputedResults) -> list[Block]:
    """Each consumer in the verdict's window, slow ones first."""
    found = computed.consumers
    if found is None:
        return []
    blocks: list[Block] = [
        Heading(2, text(sentence("label.consumers"))),
        Paragraph(text(_sentence(found.text))),
    ]
    if not found.consumers:
        return blocks
    rows = [
        [
            text(Name(one.called)),
            text({True: "yes", False: "no", None: "unknown"}[one.slow]),
            text(fmt.exact(one.ack_msg_rate)),
            text(fmt.exact(one.out_msg_rate)),
            text(fmt.exact(one.unacked_msg)),
            text(fmt.exact(one.permits)),
            text(fmt.percent(one.permits_exhausted_share)),
        ]
        for one in found.consumers[:MOST]
    ]
    heads = (
        sentence("label.consumer"), sentence("label.slow"), sentence("label.acknowledged_msg_per_s"), sentence("label.dispatched_msg_per_s_title"), sentence("label.unacknowledged_msg"), sentence("label.permits_msg_title"),
        sentence("label.time_without_permits"),
    )  # fmt: skip
    return [*blocks, Grid(heads, rows), *_more(len(found.consumers))]


def neighbours(incident: Incident, computed: ComputedResults) -> list[Block]:
    """Users of a shared limit in the verdict's window, largest use first."""
    uses = computed.neighbours or ()
    if len(uses) < 2:
        return []
    limiter = incident.verdict["limiter"]
    counts = next(
        limit.counts for limit in limits_at_verdict(incident) if f"{limit.level}.{limit.unit}" == limiter
    )
    unit = "bytes/s" if limiter.endswith(".bytes") else f"{counts}/s"
    rows = [
        [
            _name(one.key, incident.key),
            text(fmt.exact(one.use_per_s)),
            text(fmt.percent(one.share)),
            text("this one" if one.is_selected else ""),
        ]
        for one in uses[:MOST]
    ]
    words = sentence("incident.users.shared", limiter=limiter_words(limiter), count=len(uses))
    return [
        Heading(2, text(sentence("incident.users.heading"))),
        Paragraph(text(words)),
        Grid(
            (
                sentence("label.subscription"),
                sentence("label.use_in", unit=unit),
                sentence("incident.users.share"),
                "",
            ),
            rows,
        ),
        *_more(len(uses)),
    ]


def _name(key: SubscriptionKey, of: SubscriptionKey) -> TextBlock:
    """The subscription, with its topic if that differs."""
    if (key.topic, key.partition) == (of.topic, of.partition):
        return text(Name(key.subscription))
    partition = "" if key.partition < 0 else f", {part_word(key.topic)} {key.partition}"
    return text(Name(key.subscription), " of ", Name(key.topic), partition)


def _more(count: int) -> list[Block]:
    return [] if count <= MOST else [Paragraph(text(sentence("incident.more_rows", count=count - MOST)))]


def _sentence(words: str) -> str:
    shown = words[:1].upper() + words[1:]
    return shown if shown.endswith(".") else f"{shown}."
