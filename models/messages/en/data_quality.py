"""Texts of the data page: runs, gates, refused rows, freshness, blind spots and a past verdict. Numbers and times are formatted by the page."""

from __future__ import annotations

SENTENCES = {
    "data_quality.title": "Data quality and runs",
    "data_quality.search": "search subscription, topic, cluster",
    "data_quality.search.label": "search the subscription whose verdict is opened",
    "data_quality.parts": "parts of this page",
    # Runs.
    "data_quality.no_run": "No run yet.",
    "data_quality.no_run.manifest": "The lake {lake} holds no manifest of a run.",
    "data_quality.no_run.start": (
        "Every run writes one: throttlescope run --prometheus URL --pulsar-admin URL --lake DIR, or throttlescope demo."
    ),
    "data_quality.runs.note": "newest first; click a time to open its run",
    "data_quality.runs.samples": "Samples, new of received",
    "data_quality.runs.requests": "{source} to the source, {admin} to the admin API",
    "data_quality.runs.not_checked": "nothing was checked",
    "data_quality.unknown_run": "There is no such run.",
    "data_quality.unknown_run.why": (
        "The lake has none that is named {run}. It may have been opened from another lake's link."
    ),
    "data_quality.run.source_requests": "requests to the source",
    "data_quality.run.admin_requests": "calls of the admin API",
    "data_quality.run.gates": "what its gates found",
    "data_quality.run.refused": "what it refused",
    "data_quality.run.details": "Details: sources, what was repaired or kept, versions, settings",
    "data_quality.run.details_unreadable": "The details cannot be read: {details}",
    "data_quality.run.no_details": "None were stored.",
    # Gates.
    "data_quality.not_checked": "No gate has checked anything.",
    "data_quality.not_checked.run": "No gate has checked anything of run {run}.",
    "data_quality.not_checked.why": (
        "Gates check what a run read before anything is computed from it. A run that failed earlier has no findings, and throttlescope "
        "run --follow judges without gates."
    ),
    "data_quality.gates.counts": "{passed} passed, warnings: {warnings}, errors: {errors}.",
    "data_quality.gates.counts_run": (
        "{passed} passed, warnings: {warnings}, errors: {errors}, of run {run}."
    ),
    "data_quality.gates.passed": "✓ Every check passed.",
    "data_quality.gates.all_runs": "Findings of all runs",
    "data_quality.gates.note": (
        "an error stops its run before anything is computed; with a warning the run continues, and the verdict's evidence contains it"
    ),
    # Refused rows.
    "data_quality.refused.none": "Nothing was refused.",
    "data_quality.refused.none_run": "Nothing was refused by run {run}.",
    "data_quality.refused.none.why": (
        "Every row that runs read was valid. Refused rows are stored whole, with the reason."
    ),
    "data_quality.refused.all": "All that was refused",
    "data_quality.refused.lost": "Rows lost with it",
    "data_quality.refused.unknown_reason": "a reason that this version does not know",
    "data_quality.refused.repair": (
        "A refused row can be repaired and validated again: throttlescope quarantine readmit. Fix what is wrong at the source; the next run "
        "replaces what it reads. {command} {copy}"
    ),
    "data_quality.refused.counts.note": "a refused row does not fail its run",
    "data_quality.refused.none_for_reason": "No row was refused for that reason.",
    "data_quality.refused.selected": "Selected: {reason}.",
    "data_quality.refused.title": "Refused rows: {reason}",
    "data_quality.refused.note": "newest first",
    "data_quality.refused.note_run": "newest first; refused by run {run}",
    # Freshness.
    "data_quality.no_data": "No data yet.",
    "data_quality.no_data.why": "Neither minutes nor verdicts of any cluster are in the lake.",
    "data_quality.freshness.recordings": (
        "These are recordings: their times are those of the recording, not of today."
    ),
    "data_quality.freshness.more": "{clusters} clusters with newer minutes are not listed.",
    "data_quality.freshness.title": "Newest row by cluster and table",
    "data_quality.freshness.note": (
        "newest of all: {newest}; in brackets how far behind the cluster's minutes"
    ),
    # Blind spots.
    "data_quality.blind.title": "What is not judged",
    "data_quality.blind.note": "and how much of it this lake saw",
    "data_quality.blind.cost": (
        "How much accuracy a missing scrape, limit or consumer metric costs is measured: {less}."
    ),
    "data_quality.blind.cost.less": "with less evidence",
    "data_quality.old_brokers": "Brokers before 4.0.4",
    "data_quality.old_brokers.seen": "In this lake: {old} of {known} brokers whose version is known.",
    "data_quality.old_brokers.seen_one_unknown": (
        "In this lake: {old} of {known} brokers whose version is known; of 1 cluster no version is known."
    ),
    "data_quality.old_brokers.seen_unknown": (
        "In this lake: {old} of {known} brokers whose version is known; of {clusters} clusters no version is known."
    ),
    "data_quality.old_brokers.means": (
        "They have no throttle counters (pulsar_subscription_dispatch_throttled_*; 4.1 has them from 4.1.0 on). There only use / limit shows "
        "a limiter, and without limits it cannot be determined. Verdicts of such a broker name fewer causes and say what is missing."
    ),
    "data_quality.non_persistent": "Non-persistent topics",
    "data_quality.non_persistent.seen": "In this lake: {topics} seen.",
    "data_quality.non_persistent.seen_judged": (
        "In this lake: {topics} seen, {judged} subscriptions judged all the same."
    ),
    "data_quality.non_persistent.means": (
        "They keep no backlog: what a consumer cannot take is dropped. Their limits are not read, and a verdict about them does not cover "
        "the messages that were dropped."
    ),
    "data_quality.replicators": "Replicators",
    "data_quality.replicators.seen": "In this lake: {series} series seen.",
    "data_quality.replicators.not_read": (
        "In this lake: no series of them. Nothing is replicated, or the brokers do not expose it (replicationMetricsEnabled)."
    ),
    "data_quality.replicators.means": (
        "A replicator is judged as a subscription is, by its own backlog and its own limit. Whether a publish limit of the remote cluster or a "
        "slow way there holds it back is known only where the remote cluster's metrics are in this lake too."
    ),
    "data_quality.not_loaded": "Topics that are not loaded",
    "data_quality.not_loaded.seen": (
        "In this lake: {gone} of {judged} judged subscriptions have no newer verdict than {age} before their cluster's newest."
    ),
    "data_quality.not_loaded.means": (
        "A broker exposes only what it has loaded. The backlog of an unloaded topic grows unseen until a client connects: it has no "
        "series at all, and never had one if no run saw it. Those counted here were seen once and ended, were unloaded, or were filtered out."
    ),
    "data_quality.own_topics": "Pulsar's own topics",
    "data_quality.own_topics.seen": "In this lake: {subscriptions} subscriptions seen.",
    "data_quality.own_topics.means": (
        "What waits on topics such as __change_events, or for __compaction, is no incident: their verdicts are healthy, their limits are not "
        "read, and tables leave them out. {show}"
    ),
    "data_quality.own_topics.show": "Show them",
    "data_quality.versions.note": "as the admin API or pulsar_version_info last reported them",
    # A past verdict.
    "data_quality.choose": "Which subscription?",
    "data_quality.choose.none": "No subscription matches these words.",
    "data_quality.choose.note": "{shown} of {total}",
    "data_quality.choose.note_more": "{shown} of {total}: search to see others",
    "data_quality.windows.none": "No verdict of this subscription is stored.",
    "data_quality.windows.none_then": ("No verdict of this subscription is stored within hours of {at}."),
    "data_quality.windows.none.why": (
        "It was not judged then, or the hour was judged again with other windows."
    ),
    "data_quality.windows.newest": "Its newest windows",
    "data_quality.windows.note": "{windows} here; judged by rules {rules:names}",
    "data_quality.windows.note_newest": "the newest {windows}; judged by rules {rules:names}",
    "data_quality.windows.note_nearest": "the nearest {windows}; judged by rules {rules:names}",
    "data_quality.reopened.title": "Then, and today",
    "data_quality.reopened.rule": "Rule that named it",
    "data_quality.reopened.same": "Today's rules give the same verdict for the same minutes.",
    "data_quality.reopened.same_newer": (
        "Today's rules are newer and give the same verdict for the same minutes."
    ),
    "data_quality.reopened.differs": (
        "Today's rules give a different verdict for the same minutes: {differences:names}."
    ),
    "data_quality.reopened.written": "Written {at} from version {version} of the minutes.",
    "data_quality.reopened.repaired": (
        "The minutes have been repaired since; both columns judge those of then."
    ),
    "data_quality.reopened.evidence_then": "Evidence that was stored",
    "data_quality.reopened.evidence_today": "What today's rules see",
    "data_quality.minutes.title": "The minutes it saw",
    "data_quality.minutes.none": "None: nothing of this window was scraped.",
    "data_quality.minutes.use": "use of {limiter}",
    "data_quality.minutes.note": (
        "{rows} rows of signals as they were then, {range}; in and out are messages in the minute, no permits is a share of the consumers' "
        "samples"
    ),
    "data_quality.windows.rules": "rules {version}",
    "data_quality.run.entries": "{number} entries",
}
