"""Small pieces that several pages show. In: texts and values. Out: components; control characters in names are made visible."""

from __future__ import annotations

from collections.abc import Sequence

import dash_mantine_components as dmc
from dash import dcc, html

from throttlescope.app.pipeline.sources.synthetic_history import CLUSTER as SYNTHETIC
from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.causes import CAUSES, cause_tip
from throttlescope.app.presentation.links.subscription import SubscriptionAddress, SubscriptionPartition
from throttlescope.ingest.core.subscription_name import short_text, subscription_text
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.language import HTML_CODES, STORED_LANGUAGE


def cause_badge(word: str, limiter: str | None = None) -> html.Span:
    """A cause by shape, colour and name, with the limiter that binds; ``word`` is one of ``ingest.contracts.vocabulary.CAUSES``."""
    cause = CAUSES[word]
    return html.Span(
        [
            html.Span(
                cause.mark, className="cause-mark", style={"color": cause.colour}, **{"aria-hidden": "true"}
            ),
            html.Span(cause.label),
            *([html.Span(limiter, className="cause-extra")] if limiter else []),
        ],
        className="cause-badge",
        title=cause_tip(word, limiter),
    )


def synthetic_badge(cluster: str) -> list:
    """A badge where a cluster was made by the simulator; nothing for any other."""
    if cluster != SYNTHETIC:
        return []
    badge = dmc.Badge(
        sentence("page.data.synthetic"), color="orange", variant="light", radius="sm", tt="none"
    )
    return [html.Span(badge, title=sentence("page.data.synthetic_hint"), className="synthetic")]


def hostile(text: str, className: str = "") -> html.Bdi:  # noqa: N803
    """A name from a cluster: made visible, cut when very long, and isolated from the text around it."""
    return html.Bdi(fmt.name(text), title=fmt.name(text, 2_000), className=f"name {className}".strip())


def hostile_sentence(text: str) -> html.Bdi:
    """A sentence with names of a cluster in it."""
    return html.Bdi(fmt.name(text, 600))


def copy_button(text: str, label: str | None = None) -> dmc.CopyButton:
    return dmc.CopyButton(
        label or sentence("label.copy"),
        value=text,
        copiedChildren=sentence("label.copied"),
        size="compact-xs",
        variant="default",
        className="copy",
    )


def section(
    title: str, children: list, *, note: str | None = None, id: str | None = None, tools: object = None
) -> html.Section:
    """A titled part of a page; ``tools`` are at the right end of its title."""
    heading = [html.H2(title)]
    if note:
        heading.append(html.Span(note, className="section-note"))
    if tools is not None:
        heading.append(html.Span(tools, className="section-tools"))
    extra = {"id": id} if id else {}
    return html.Section(
        [html.Div(heading, className="section-head"), *children], className="section", **extra
    )


def downloads(links: list[tuple[str, str]], *, label: str | None = None) -> html.Span:
    """Files of what is shown, as (text, address) below ``/export``."""
    return html.Span(
        [
            html.Span(sentence("label.colon", label=label or sentence("label.download")), className="quiet"),
            # A line can break at the space between two links, and nowhere else.
            *(
                part
                for text, href in links
                for part in (html.A(text, href=href, download="", className="download"), " ")
            ),
        ],
        className="downloads",
    )


def save_buttons(name: str) -> html.Span:
    """Buttons that save the chart of their section as a picture; ``name`` becomes the file's."""
    return html.Span(
        [
            html.Button(
                form.upper(),
                className="chart-save",
                title=sentence("page.chart.save", form=form.upper()),
                **{"data-format": form, "data-name": f"throttlescope-{name}"},
            )
            for form in ("png", "svg")
        ],
        className="chart-saves",
    )


def subscription_link(row: dict, href: str | None = None) -> dcc.Link:
    """A subscription and its topic, leading to its page or another address; ``row`` has the key of any table."""
    if href is None:
        key = SubscriptionPartition(row["cluster"], row["topic"], row["partition"], row["subscription"])
        href = SubscriptionAddress(key).href()
    return dcc.Link(
        [
            html.Bdi(fmt.name(short_text(row["subscription"]), 60), className="row-name"),
            html.Bdi(fmt.topic_name(row["topic"], row["partition"]), className="row-place"),
        ],
        href=href,
        className="row-link",
        title=fmt.name(f"{row['cluster']}: {subscription_text(row['topic'], None, row['subscription'])}"),
    )


def identity(
    key: SubscriptionPartition, *more: object, topic: object = None, part: str | None = None
) -> html.P:
    """Topic, partition and cluster of a subscription, below its name.

    Parameters
    ----------
    more
        What follows.
    topic : Component, optional
        The topic's name, if it is more than text.
    part : str, optional
        Which partition, if it is not named as usual.
    """
    where = f" · {part or fmt.part_name(key.topic, key.partition)} · "
    return html.P(
        [
            html.Span(f"{sentence('label.topic')} ", className="quiet"),
            topic or hostile(key.topic),
            html.Span(where, className="quiet"),
            html.Span(f"{sentence('label.cluster_heading')} ", className="quiet"),
            hostile(key.cluster),
            *synthetic_badge(key.cluster),
            *more,
        ],
        className="identity",
    )


def stored_english(text: str, **properties: object) -> html.Span:
    """Text that is English in every language: names of checks, what a gate found, columns of tables."""
    return html.Span(text, lang=HTML_CODES[STORED_LANGUAGE], **properties)


def run_state(word: str) -> tuple[str, str, str]:
    """How a run ended: a mark, a word and the class of its colour."""
    states = {
        "done": ("✓", sentence("label.done"), "good"),
        "failed": ("✖", sentence("label.failed"), "bad"),
        "gated": ("■", sentence("label.stopped_by_a_gate"), "bad"),
    }
    return states.get(word, ("?", fmt.name(word, 40), "open"))


def view_link(label: str, href: str, *, chosen: bool, title: str | None = None) -> dcc.Link:
    """One of several views of the same data; they are next to each other in an element of class ``views``."""
    more = {"title": title} if title else {}
    return dcc.Link(label, href=href, className="view chosen" if chosen else "view", **more)


def plain_table(head: tuple[str, ...], rows: list[list], *, keys: Sequence[str] | None = None) -> html.Div:
    """A short table without sorting; ``head[0]`` is its name for screen readers.

    Parameters
    ----------
    keys : sequence of str, optional
        What the rows are of: where the table is shown again with other rows, the one with the focus keeps it.
    """
    # Wider than a small screen: the table scrolls in its own box, not the page.
    return html.Div(
        html.Table(
            [
                html.Thead(html.Tr([html.Th(text, scope="col") for text in head])),
                html.Tbody(
                    [
                        html.Tr([html.Td(cell) for cell in row], **({"key": keys[number]} if keys else {}))
                        for number, row in enumerate(rows)
                    ]
                ),
            ],
            className="plain-table",
        ),
        className="table-box",
        tabIndex=0,
        # Not a region: tables of one page may have the same name, landmarks may not.
        role="group",
        **{"aria-label": head[0]},
    )
