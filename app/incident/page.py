"""The incident's page. In: an incident and its computed results. Out: blocks: first the answer and what to do, then the evidence."""

from __future__ import annotations

from collections.abc import Sequence

from throttlescope.app.incident import evidence, involved, remedies, summary
from throttlescope.app.incident.computed import ComputedResults
from throttlescope.app.incident.load import Incident
from throttlescope.app.incident.timeline import events
from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.blocks import (
    Block,
    Bullets,
    Grid,
    Heading,
    Link,
    Name,
    Paragraph,
    Plots,
    TextBlock,
    text,
)
from throttlescope.app.presentation.causes import CAUSES, limiter_words
from throttlescope.app.presentation.links.subscription import SubscriptionAddress, SubscriptionPartition
from throttlescope.models.messages.catalogue import sentence


def page(
    incident: Incident,
    computed: ComputedResults,
    *,
    external_url: str | None = None,
    picture: str | None = None,
    no_picture: Sequence[str] = (),
) -> list[Block]:
    """The whole page.

    Parameters
    ----------
    external_url : str, optional
        Where people reach ``throttlescope serve``.
    picture : str, optional
        File with a picture of the plots.
    no_picture : sequence of str
        Why there is none, if one was requested; listed under the missing parts.
    """
    return [
        Heading(1, summary.title(incident)),
        Paragraph(summary.as_of(incident)),
        summary.facts(incident, computed, no_picture),
        *_link(incident, external_url),
        Heading(2, text(sentence("label.timeline"))),
        *_timeline(incident),
        Heading(2, text(sentence("label.plots"))),
        Plots(_caption(incident)),
        *evidence.evidence(incident),
        *evidence.other_findings(incident),
        *evidence.limits(incident),
        *involved.neighbours(incident, computed),
        *involved.consumers(computed),
        *remedies.counterfactuals(computed),
        *remedies.forecasts(computed),
        *remedies.what_to_change(computed),
        *_partitions(incident),
        Heading(2, text(sentence("label.in_this_bundle"))),
        Bullets(_contents(picture)),
    ]


def address(incident: Incident, external_url: str) -> str:
    """The subscription's page of a running ``throttlescope serve``, at the same moment and range."""
    key = incident.key
    end_ms = None if incident.verdict is None else incident.verdict["window_end_ms"]
    own = SubscriptionPartition(key.cluster, key.topic, key.partition, key.subscription)
    return (
        external_url.rstrip("/") + SubscriptionAddress(own, incident.start_ms, incident.end_ms, end_ms).href()
    )


def _link(incident: Incident, external_url: str | None) -> list[Block]:
    if external_url is None:
        return []
    return [
        Paragraph(
            text(
                sentence("label.live_colon"),
                Link(address(incident, external_url), sentence("incident.link")),
                ".",
            )
        )
    ]


def _timeline(incident: Incident) -> list[Block]:
    rows = [
        [
            text(fmt.moment(one.start_ms).removesuffix(" UTC")),
            text("" if one.end_ms is None else fmt.moment(one.end_ms).removesuffix(" UTC")),
            text(one.kind),
            one.words,
        ]
        for one in events(incident)
    ]
    start, end = fmt.moment(incident.start_ms), fmt.moment(incident.end_ms)
    words = [sentence("incident.timeline.range", start=start, end=end)]
    if not incident.minutes.empty:
        first_ms = int(incident.minutes["minute_ms"].iloc[0])
        words.append(sentence("incident.timeline.minutes_from", at=fmt.moment(first_ms)))
    if incident.episode is not None:
        words.append(sentence("incident.timeline.episode"))
    return [
        Paragraph(text(" ".join(words))),
        Grid(
            (
                sentence("label.from_utc_title"),
                sentence("label.until_title"),
                sentence("label.what"),
                sentence("label.in_words"),
            ),
            rows,
        ),
    ]


def _caption(incident: Incident) -> TextBlock:
    if incident.minutes.empty and not incident.verdicts:
        return text(sentence("incident.plots.no_data"))
    return text(sentence("incident.plots.caption"))


def _partitions(incident: Incident) -> list[Block]:
    if not incident.partitions:
        return []
    rows = [
        [
            text(str(row["partition"])),
            text("not judged" if row["cause"] is None else CAUSES[row["cause"]].label),
            text(limiter_words(row["limiter"]) or "-"),
            text(fmt.exact(row["backlog_entries"])),
            text(fmt.moment(row["window_end_ms"]).removesuffix(" UTC")),
        ]
        for row in incident.partitions
    ]
    return [
        Heading(2, text(sentence("label.the_other_partitions"))),
        Paragraph(text(sentence("incident.partitions.hint", partition=incident.key.partition))),
        Grid(
            (
                sentence("label.partition"),
                sentence("label.newest_cause"),
                sentence("label.limiter"),
                sentence("label.ready_backlog_entries"),
                sentence("label.window_s_end_utc_title"),
            ),
            rows,
        ),
    ]


def _contents(picture: str | None) -> list[TextBlock]:
    files = {
        "page": ["incident.html"],
        "picture": [] if picture is None else [picture],
        "verdicts": ["verdicts.json", "evidence.csv"],
        "signals": ["signals.csv"],
        "limits": ["limits.json", "policies.jsonl"],
        "commands": ["queries.promql", "commands.sh"],
        "manifest": ["manifest.json"],
    }
    return [
        text(*_names(names), ": ", sentence(f"incident.files.{what}"))
        for what, names in files.items()
        if names
    ]


def _names(names: Sequence[str]) -> list[Name | str]:
    first, *more = names
    return [Name(first), *(part for name in more for part in (", ", Name(name)))]
