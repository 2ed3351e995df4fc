"""The incident's page. In: an incident and its computed results. Out: blocks: first the answer and what to do, then the evidence."""

from __future__ import annotations

from collections.abc import Sequence

from throttlescope.app.incident import evidence, involved, remedies, summary
from throttlescope.app.incident.computed import Worked
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


def page(
    incident: Incident,
    worked: Worked,
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
        summary.facts(incident, worked, no_picture),
        *_link(incident, external_url),
        Heading(2, text("Timeline")),
        *_timeline(incident),
        Heading(2, text("Plots")),
        Plots(_caption(incident)),
        *evidence.evidence(incident),
        *evidence.other_findings(incident),
        *evidence.limits(incident),
        *involved.neighbours(incident, worked),
        *involved.consumers(worked),
        *remedies.counterfactuals(worked),
        *remedies.forecasts(worked),
        *remedies.what_to_change(worked),
        *_partitions(incident),
        Heading(2, text("In this bundle")),
        Bullets(_contents(picture)),
    ]


def address(incident: Incident, external_url: str) -> str:
    """The subscription's page of a running ``throttlescope serve``, at the same moment and range."""
    key = incident.key
    end_ms = None if incident.told is None else incident.told["window_end_ms"]
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
                "Live: ",
                Link(address(incident, external_url), "this subscription and this range in throttlescope"),
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
    words = f"From {fmt.moment(incident.start_ms)} to {fmt.moment(incident.end_ms)}."
    if not incident.minutes.empty:
        first_ms = int(incident.minutes["minute_ms"].iloc[0])
        words += f" Minutes are known from {fmt.moment(first_ms)} on."
    if incident.episode is not None:
        words += " Causes are those of the episode: a cause that flapped for a window or two is left out."
    return [Paragraph(text(words)), Grid(("From (UTC)", "Until", "What", "In words"), rows)]


def _caption(incident: Incident) -> TextBlock:
    if incident.minutes.empty and not incident.verdicts:
        return text("There is no data to plot in this range.")
    return text(
        "Top to bottom: the verdict over time, the backlog in entries, messages in, out and acknowledged with every known limit, "
        "bytes, throttle events, and what the consumers hold, each where it was measured. Times are UTC; the dotted line is the "
        "time of this report."
    )


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
        Heading(2, text("The other partitions")),
        Paragraph(
            text(
                f"This report is about partition {incident.key.partition}, the one with the largest backlog. For another one, select topic-partition-N#subscription."
            )
        ),
        Grid(("Partition", "Newest cause", "Limiter", "Ready backlog (entries)", "Window's end (UTC)"), rows),
    ]


def _contents(picture: str | None) -> list[TextBlock]:
    return [
        text(
            Name("incident.html"), ": this page with plots to zoom into; it needs a browser and no network."
        ),
        *([] if picture is None else [text(Name(picture), ": the same plots as a picture.")]),
        text(
            Name("verdicts.json"),
            ", ",
            Name("evidence.csv"),
            ": every window's verdict and what it rests on.",
        ),
        text(Name("signals.csv"), ": one row per minute; its column minute is UTC."),
        text(
            Name("limits.json"),
            ", ",
            Name("policies.jsonl"),
            ": limits as they were resolved, and the answers of the admin API that they come from, without secrets.",
        ),
        text(
            Name("queries.promql"),
            ", ",
            Name("commands.sh"),
            ": to copy line by line; nothing in them runs by itself.",
        ),
        text(Name("manifest.json"), ": versions, ranges and the SHA-256 of every file."),
    ]
