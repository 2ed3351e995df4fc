"""What surrounds the table of subscriptions: counts by cause, number of rows, downloads. In: counts and an address. Out: components."""

from __future__ import annotations

from dataclasses import replace

from dash import dcc, html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.causes import CAUSES
from throttlescope.app.presentation.links.paths import SUBSCRIPTIONS_PATH
from throttlescope.app.web.address.subscriptions import SubscriptionsAddress
from throttlescope.app.web.components.parts import downloads
from throttlescope.app.web.components.sentence_parts import sentence_parts
from throttlescope.app.web.components.shell import no_verdicts, panel
from throttlescope.app.web.data.latest import RECENT_MS
from throttlescope.app.web.data.newest import RECENT, CauseCount, ClusterFreshness
from throttlescope.models.messages.catalogue import message, sentence


def cards(counts: list[CauseCount], address: SubscriptionsAddress) -> html.Nav:
    """One card per cause with its counts, the view's first; a click adds the cause to the filter, or removes it."""
    return html.Nav(
        [_card(count, address) for count in counts],
        className="cards",
        **{"aria-label": sentence("overview.cards.label")},
    )


def _card(count: CauseCount, address: SubscriptionsAddress) -> dcc.Link:
    cause = CAUSES[count.cause]
    numbers = {"now": count.now, "recent": count.recent}
    first, second = ("recent", "now") if address.view == RECENT else ("now", "recent")
    return dcc.Link(
        [
            html.Span(
                [html.Span(cause.mark, className="cause-mark", style={"color": cause.colour}), cause.label],
                className="card-label",
            ),
            html.Span(
                _counted(first, html.Strong(fmt.exact(numbers[first]))),
                className="card-first" if numbers[first] else "card-first none",
            ),
            html.Span(_counted(second, fmt.exact(numbers[second])), className="card-second"),
        ],
        href=address.toggled(count.cause).href(),
        className="card chosen" if count.cause in address.causes else "card",
        title=cause.answer,
    )


def _counted(when: str, number: html.Strong | str) -> list:
    return sentence_parts(
        message(f"subscriptions.card.{when}", number=number, length=fmt.duration(RECENT_MS))
    )


def exports(address: SubscriptionsAddress) -> html.Span:
    """The table as it is filtered, as files."""
    query = address.href().removeprefix(SUBSCRIPTIONS_PATH)
    return downloads([(form, f"/export/subscriptions.{form}{query}") for form in ("csv", "parquet")])


def status(address: SubscriptionsAddress, freshness: ClusterFreshness, total: int, lake_path: str) -> object:
    """How many rows are shown, or why there are none and what to do next."""
    if not freshness.subscriptions:
        return no_verdicts(lake_path)
    filtered = bool(address.search or address.causes or address.clusters)
    hidden = 0 if address.own_topics else freshness.own_topics
    everything = dcc.Link(
        sentence("subscriptions.status.show_all"), href=SubscriptionsAddress(view=address.view).href()
    )
    if not total:
        return panel(
            sentence("subscriptions.status.no_match"),
            [sentence("subscriptions.status.no_match_why", number=fmt.exact(freshness.subscriptions))],
            next_step=everything,
        )
    plural = "one" if freshness.subscriptions == 1 else "many"
    if filtered:
        text = sentence(
            f"subscriptions.status.filtered.{plural}",
            shown=fmt.exact(total),
            number=fmt.exact(freshness.subscriptions),
        )
        return [f"{text} ", everything]
    parts = [sentence(f"subscriptions.status.all.{plural}", shown=fmt.exact(total))]
    if hidden:
        text = sentence("subscriptions.status.hidden", number=fmt.exact(hidden))
        parts += [
            f" {text} ",
            dcc.Link(
                sentence("subscriptions.status.show_hidden"), href=replace(address, own_topics=True).href()
            ),
        ]
    return parts
