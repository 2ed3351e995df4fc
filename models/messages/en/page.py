"""What every page may show: the frame, faults, an empty lake, ranges, pages of a table. Times and counts are texts of the page."""

from __future__ import annotations

SENTENCES = {
    # The frame.
    "page.skip": "Skip to the content",
    "page.zone_hint": "UTC or this browser's time zone (t)",
    "page.scheme_hint": "light or dark",
    "page.keys.worst": "open the worst subscription of the overview",
    "page.keys.next": "next and previous row of a table",
    "page.keys.range": "the range before, the range after",
    "page.keys.zone": "times in UTC, or in this browser's zone",
    "page.overview_link": "Open the overview",
    # Where the data comes from and how new it is.
    "page.data.none": "no data yet",
    "page.data.up_to": "data up to {at}",
    "page.data.recordings_hint": "times are those of the recordings",
    "page.data.simulated": "{cluster} is simulated data, not measurements",
    "page.data.synthetic": "synthetic: made by the simulator",
    "page.data.synthetic_hint": "nothing of this cluster was measured",
    # What cannot be shown.
    "page.no_verdicts.title": "No verdicts yet.",
    "page.no_verdicts.lake": "The lake {path} has none.",
    "page.no_verdicts.fix": (
        "Fill it: throttlescope run --prometheus URL --pulsar-admin URL --start -6h --end now --lake DIR, or see recordings: throttlescope "
        "demo."
    ),
    "page.no_samples.title": "No samples yet.",
    "page.no_samples.lake": "The lake {path} holds none{consequence}.",
    "page.no_samples.fix": (
        "Fill it: throttlescope ingest --prometheus URL --start -6h --end now --lake DIR, or see recordings: throttlescope demo."
    ),
    "page.not_found.title": "There is no such page.",
    "page.not_found.why": "This app has no page at this address.",
    "page.failed.title": "This page could not be built.",
    "page.failed.why": "The fault is in the server's log. Other pages may still work.",
    # A range and the views of a table.
    "page.range.cut": "longer than {length}: cut to its end",
    "page.view.now": "cause of each subscription in the newest window",
    "page.view.recent": "main cause of each subscription in its cluster's newest {length}",
    "page.chart.save": "save this chart as {form}",
    "page.chart.toggle": "hide or show in all charts of this page",
    # Pages of a table.
    "page.pager.all": "{number} {noun}",
    "page.pager.some": "{first} to {last} of {number} {noun}",
    "page.pager.beyond": "There are {number} {noun}; this page is behind the last.",
    "page.pager.label": "pages of {number} {noun}",
    # What several backlogs share.
    "page.shared.broker": "the broker",
    "page.shared.broker_limiter": "the broker's limit",
    "page.shared.namespace_policy": "a limit of the namespace",
    "page.shared.topic_limiter": "the topic's limit",
}
