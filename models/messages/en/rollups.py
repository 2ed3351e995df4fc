"""Texts of the roll-ups page: a table of topics, namespaces or brokers, and one of them opened. Numbers and times are formatted by the page."""

from __future__ import annotations

SENTENCES = {
    # The table.
    "rollups.search": "search name, cluster",
    "rollups.status.one": "1 {by}, the worst first. Enter or a click opens one.",
    "rollups.status.many": "{number} {plural}, the worst first. Enter or a click opens one.",
    "rollups.filtered": "No roll-up matches these filters.",
    "rollups.filtered.others": (
        "{partitions} subscription partitions are in the lake; no {by} matches the search and the selected clusters."
    ),
    "rollups.column.worst": (
        "cause of the subscription with the largest backlog that is not healthy; a click opens it"
    ),
    "rollups.column.causes.now": "subscription partitions by the cause of the newest window",
    "rollups.column.causes.recent": "subscription partitions by their main cause in {recent}",
    "rollups.column.backlog.now": (
        "ready entries (batches), not messages, summed over its subscription partitions"
    ),
    "rollups.column.backlog.recent": (
        "ready entries (batches), not messages, summed over its subscription partitions; of each the largest of {recent}"
    ),
    "rollups.column.share": ("largest use / limit of a minute in the newest {length}, and which limiter"),
    "rollups.row.causes.one_topic": "{causes:names}; on 1 topic",
    "rollups.row.causes.topics": "{causes:names}; on {topics} topics",
    "rollups.row.backlog": "{entries} entries, measured for {measured} of {subscriptions}",
    "rollups.row.no_share": "no limit, or none that was observed",
    "rollups.row.share": "{limiter}, used up to {share}",
    "rollups.row.healthy": "all are healthy",
    "rollups.row.worst": "{subscription} on {topic}: {verdict}",
    "rollups.unknown_name": "not known (no scrape named it)",
    # One of them opened.
    "rollups.blind_spots": (
        "Not seen here: topics that no broker has loaded (they have no series), non-persistent topics and replicators "
        "(no throttle counters), and limits of brokers whose runtime configuration could not be read."
    ),
    "rollups.no_cluster": "The lake has no verdicts of the cluster {cluster}.",
    "rollups.no_cluster.so": "So nothing is known of its {plural}.",
    "rollups.no_cluster.open": "Open the table of {plural}",
    "rollups.size.one": " · 1 subscription partition on 1 topic",
    "rollups.size.one_topic": " · {partitions} subscription partitions on 1 topic",
    "rollups.size.topics": " · {partitions} subscription partitions on {topics} topics",
    "rollups.cards": "subscription partitions by cause",
    "rollups.compared.nothing": "no verdicts from 24 h earlier to compare with.",
    "rollups.compared.one": "change compared with 24 h earlier (1 subscription partition then).",
    "rollups.compared.many": "change compared with 24 h earlier ({partitions} subscription partitions then).",
    "rollups.backlog": (
        "Backlog {backlog}: ready entries (batches), summed over all subscription partitions. As of {at}."
    ),
    "rollups.backlog.compared": (
        "Backlog {backlog}, {change} compared with 24 h earlier; ready entries (batches), summed over all subscription partitions. As of {at}."
    ),
    "rollups.backlog.not_measured": "Backlog not measured. As of {at}.",
    "rollups.not_judged": "Nothing of this {by} was judged in the last day of its cluster.",
    "rollups.not_judged.why": (
        "The cluster's newest verdicts end at {at}. It may have been deleted or unloaded (then it has no series), or its name may be "
        "another."
    ),
    "rollups.not_judged.below": "What the lake knows of the range is below.",
    "rollups.members.note": (
        "worst first; backlog in ready entries (batches), its change over the newest window; most used limit in the newest minutes"
    ),
    "rollups.members.note_first": (
        "the worst {shown} of {total}; backlog in ready entries (batches), its change over the newest window; most used limit in the newest "
        "minutes"
    ),
    "rollups.member.started": "started {at}",
    "rollups.member.started_before": "started at or before {at}",
    # Its limits over time.
    "rollups.heat.title": "Use of its limits over time",
    "rollups.heat.note": (
        "use / limit, use summed over all that share it; each cell is the highest minute in {cell}"
    ),
    "rollups.heat.note_first": (
        "use / limit, use summed over all that share it; each cell is the highest minute in {cell}; {shown} of {total} limiters: those that "
        "bound longest, then those used most"
    ),
    "rollups.heat.note_topics": (
        "use / limit, use summed over all that share it; each cell is the highest minute in {cell}; only the {topics} topics whose limits bound "
        "in this range or are used most now were read: there are too many to read all"
    ),
    "rollups.heat.note_first_topics": (
        "use / limit, use summed over all that share it; each cell is the highest minute in {cell}; {shown} of {total} limiters: those that "
        "bound longest, then those used most; only the {topics} topics whose limits bound in this range or are used most now were read: there are "
        "too many to read all"
    ),
    "rollups.heat.empty": "empty: no limit known, or no use measured",
    "rollups.heat.bound": "with a line: the limit bound, by the verdicts of these minutes",
    "rollups.heat.key": "colours and marks",
    "rollups.heat.numbers": "The same in numbers",
    "rollups.heat.none": "No limit is known in this range.",
    "rollups.heat.none.why": (
        "Either none is set, or none was read, or nothing was scraped then: the page of a subscription says which."
    ),
    "rollups.heat.none.read": "Limits come from the admin API: throttlescope run --pulsar-admin URL.",
    # Its backlogs, and what they share.
    "rollups.backlogs.title": "Backlogs in this range",
    "rollups.backlogs.not_known": "No episodes yet.",
    "rollups.backlogs.not_known.compute": (
        "They are computed by the next run, or by throttlescope episodes --store --lake DIR."
    ),
    "rollups.backlogs.none": "None: no subscription of it had a backlog in this range.",
    "rollups.backlogs.counted": (
        "In total {total}, {open} of them not drained, on {partitions} subscription partitions. Time by cause: {causes}."
    ),
    "rollups.backlogs.counted_largest": (
        "In total {total}, {open} of them not drained, on {partitions} subscription partitions. Time by cause, of the largest {largest}: "
        "{causes}."
    ),
    "rollups.backlogs.note": "{shown}, open ones and the largest first",
    "rollups.backlogs.note_first": "the first {shown}, open ones and the largest first",
    "rollups.backlog.not_seen": "not seen since {at}",
    "rollups.incidents.none": "No limiter or broker affected several subscriptions at once.",
    "rollups.incidents.note": "one limiter or broker that affected several at once",
    "rollups.incidents.here": "{subscriptions}, {here} of them here",
    "rollups.by.topic": "topic",
    "rollups.by.namespace": "namespace",
    "rollups.by.broker": "broker",
    "rollups.by_title.topic": "Topic",
    "rollups.by_title.namespace": "Namespace",
    "rollups.by_title.broker": "Broker",
    "rollups.plural.topic": "topics",
    "rollups.plural.namespace": "namespaces",
    "rollups.plural.broker": "brokers",
    "rollups.plural_title.topic": "Topics",
    "rollups.plural_title.namespace": "Namespaces",
    "rollups.plural_title.broker": "Brokers",
    "rollups.back": "← all {plural}",
    "rollups.show_all": "Show all {plural}",
    "rollups.backlogs.nothing_named": "nothing named",
    "rollups.heat.not_bound": "not",
}
