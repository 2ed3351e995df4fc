"""Texts of the anomalies page: what was unusual, and which kind of nothing was found. Numbers and times are formatted by the page."""

from __future__ import annotations

SENTENCES = {
    "anomalies.search": "search subscription, topic, cluster",
    "anomalies.search.label": "search anomalies by subscription, topic, cluster",
    # Above the list.
    "anomalies.summary.one": (
        "1 anomaly in 1 group: those that overlap in one subscription, or began together and share something."
    ),
    "anomalies.summary.one_group": (
        "{anomalies} anomalies in 1 group: those that overlap in one subscription, or began together and share something."
    ),
    "anomalies.summary.groups": (
        "{anomalies} anomalies in {groups} groups: those that overlap in one subscription, or began together and share something."
    ),
    "anomalies.learning.one": "Not enough history yet for 1 subscription partition ({needed} needed).",
    "anomalies.learning.many": (
        "Not enough history yet for {partitions} subscription partitions ({needed} needed)."
    ),
    "anomalies.learning.one_until": (
        "Not enough history yet for 1 subscription partition ({needed} needed); it is judged from {until} on."
    ),
    "anomalies.learning.many_until": (
        "Not enough history yet for {partitions} subscription partitions ({needed} needed); the first is judged from {until} on."
    ),
    "anomalies.summary.meaning": (
        "An anomaly is a deviation from a subscription's usual pattern at this hour; it is not a diagnosis. {accuracy}"
    ),
    "anomalies.accuracy": "Detection accuracy",
    # Which kind of nothing.
    "anomalies.empty_lake": (
        "The lake {lake} holds nothing. Fill it: throttlescope run --prometheus URL --lake DIR, or throttlescope demo."
    ),
    "anomalies.never": "Anomalies were never computed in this lake.",
    "anomalies.never.compute": (
        "They are computed by the next run, or by throttlescope anomalies --store --lake DIR."
    ),
    "anomalies.never.history": (
        "A subscription is judged once it has {needed} of history; up to {weeks} weeks are compared."
    ),
    "anomalies.show_all": "Show all of this range",
    "anomalies.filtered": "No anomaly matches these filters.",
    "anomalies.filtered.maybe_others": (
        "There may be anomalies of other subscriptions, signals or states in this range."
    ),
    "anomalies.filtered.other_states": "{anomalies} of other states are there.",
    "anomalies.short_history": "More history is needed.",
    "anomalies.short_history.one": (
        "1 subscription partition has less than {needed} of history in this range and cannot be judged yet. {first_judged}"
    ),
    "anomalies.short_history.many": (
        "{partitions} subscription partitions have less than {needed} of history in this range and cannot be judged yet. {first_judged}"
    ),
    "anomalies.short_history.until": "The first of them are judged from {until} on.",
    "anomalies.short_history.no_day": "None of them has a whole day of samples yet.",
    "anomalies.short_history.others": "Nothing was unusual among those that can be judged.",
    "anomalies.not_stored": "Nothing is stored of this range.",
    "anomalies.not_stored.unknown": "Whether anything was judged before, the lake does not say.",
    "anomalies.not_stored.oldest": (
        "The oldest row is of {oldest}. Whether anything was judged before, the lake does not say."
    ),
    "anomalies.not_stored.compute": "Judge it: throttlescope anomalies --store --start T --end T.",
    "anomalies.nothing": "Nothing was unusual.",
    "anomalies.nothing.computed": "Anomalies were computed, and none touches this range.",
    "anomalies.filter.chosen": "selected: a click removes this filter",
    "anomalies.filter.choose": "a click shows only these",
    # Groups.
    "anomalies.group.hidden": "and {anomalies} more.",
    "anomalies.group.hidden_show": "and {anomalies} more. {show}",
    "anomalies.group.show": "Show all of this group",
    "anomalies.group.one": "of one subscription",
    "anomalies.group.one_topic": "of {subscriptions} subscriptions",
    "anomalies.group.topics": "of {subscriptions} subscriptions on {topics} topics",
    "anomalies.group.one_topic_shared": "of {subscriptions} subscriptions, sharing {kind} {name}",
    "anomalies.group.topics_shared": "of {subscriptions} subscriptions on {topics} topics, sharing {kind} {name}",
    "anomalies.group.open_tip": "value, baseline and band of this anomaly",
    # One anomaly.
    "anomalies.what.silence": "no samples arrived",
    "anomalies.what.zero": "{signal} fell to zero",
    "anomalies.means.silence": (
        "Samples stopped although the cluster was scraped. That is not a zero: the value is unknown. The topic may be unloaded, the "
        "subscription gone, or its metrics are no longer scraped."
    ),
    "anomalies.means.zero": "Samples arrived and were zero: nothing moved. That is not the same as silence.",
    "anomalies.usual.samples": "samples every minute",
    "anomalies.share_of_samples": "share of expected samples",
    "anomalies.opened.then": "the subscription at that time",
    "anomalies.no_minutes": "No minutes around it.",
    "anomalies.no_minutes.stored": (
        "The minutes that it was found in are not in the lake any longer, or were never ingested. What was stored is below."
    ),
    "anomalies.chart.silence": "Where the line is missing, no sample arrived. Shaded: the silence.",
    "anomalies.chart.stored_only": (
        "Only what was stored: the weeks before are not in the lake, or in more files than a page reads."
    ),
    "anomalies.chart.band": (
        "Expected and band are recomputed from the weeks that the lake holds now; the upright bar is what was stored at the worst minute, "
        "by which it was judged. Shaded: the anomaly."
    ),
    "anomalies.worst.silence": "unknown: no sample",
    "anomalies.score.silence": "{score:.2f} times the shortest silence that is reported",
    "anomalies.score": "{score:.2f} times the sum that raises an alarm",
    "anomalies.baseline": "{range}, {minutes} minutes known",
    "anomalies.masked": "{share} of the minutes, because of incidents",
    "anomalies.state.adopted": (
        "over: it lasted a day and became the new level; the former one is usual too for {days} days"
    ),
    "anomalies.state.open": "open at the end of what was judged",
    "anomalies.gone": "This anomaly is not in the lake any longer.",
    "anomalies.gone.why": (
        "Judging again with more data may find none, or another beginning. The list below has what is there now."
    ),
    "anomalies.group.cluster": "in {cluster}",
    "anomalies.group.kinds": "{first} and {last}",
    "anomalies.group.span.open": "{range} ({length}, still open)",
    "anomalies.group.span.over": "{range} ({length})",
    "anomalies.what.deviates": "{signal} {direction}",
    "anomalies.unit.entries": "entries",
    "anomalies.unit.events_per_min": "events/min",
}
