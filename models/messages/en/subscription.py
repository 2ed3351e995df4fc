"""The page of one subscription: titles, hints, notes and empty states. Times, counts and names are texts of the page."""

from __future__ import annotations

_ACCURACY = (
    "On {recordings} recordings of a real broker, rules {version} named the right cause in {right} of {of} windows "
    "(95\N{NO-BREAK SPACE}% interval: {low} to {high})"
)
_NEVER = {
    "drain": "At the current rate the backlog will not drain",
    "ttl": "No message expires (TTL) at the current rate",
    "quota_size": "The backlog quota by size is not reached at the current rate",
    "quota_age": "The backlog quota by age is not reached at the current rate",
}
_UNKNOWN = {
    "drain": "No forecast yet of when the backlog is drained",
    "ttl": "No forecast yet of when messages expire (TTL)",
    "quota_size": "No forecast yet of when the backlog quota by size is reached",
    "quota_age": "No forecast yet of when the backlog quota by age is reached",
}
_BY_REPLAY = "(by a replay of the limits)"

SENTENCES = {
    # The frame of the page.
    "subscription.never_seen.title": "The lake has no data of this subscription.",
    "subscription.never_seen.stored": "Neither minutes nor verdicts are stored for it (cluster {cluster}).",
    "subscription.never_seen.why": (
        "It may be newer than the last run, unloaded on its broker (then it has no series at all), or filtered out when the data was "
        "read."
    ),
    "subscription.no_verdict.title": "No verdict in this range.",
    "subscription.no_verdict.range": "Shown is {start} to {end}.",
    "subscription.no_verdict.span": "The lake has data of this subscription from {first} to {last}.",
    "subscription.no_verdict.link": "Show what is there",
    "subscription.compare_with": "Compare with:",
    "subscription.crumbs": "where this subscription is",
    # The answer.
    "subscription.answer.newest": "not the newest; newest:",
    "subscription.answer.window": "window {window} · rules version {rules} ·",
    "subscription.answer.inputs_hint": "the stored verdict, the data that it was computed from, and its run",
    "subscription.answer.naive": "The naive rule says:",
    "subscription.answer.naive_hint": (
        "backlog > 1000 entries: a limit if there was any throttle event, else the consumers"
    ),
    "subscription.answer.no_evidence": "No evidence for it is recorded in this window.",
    "subscription.answer.earlier": "Also in this range:",
    "subscription.answer.more_earlier": "and {more} more below",
    # How often such verdicts were right.
    "subscription.accuracy.link": "How that was measured",
    "subscription.accuracy.not_measured": "How often rules {version} are right was not measured.",
    "subscription.accuracy.measured.unknown": _ACCURACY
    + "; they answered unknown in {open} of {all_windows}.",
    "subscription.accuracy.measured.cause_not_seen": _ACCURACY + "; none of them was {cause}.",
    "subscription.accuracy.measured.cause": _ACCURACY + "; {cause}: F1 {f1:.2f} in {windows} windows.",
    # Deadlines.
    "subscription.deadlines.title": "Deadlines, if nothing changes",
    "subscription.deadlines.not_stored": (
        "The lake has no forecasts. They come with the next run, or: throttlescope forecast --store."
    ),
    "subscription.deadlines.healthy": "No backlog to forecast.",
    "subscription.deadlines.none": "No forecast was made for it in the day before this window.",
    "subscription.deadlines.expected.drain": "Drained {when}",
    "subscription.deadlines.expected.ttl": "Messages expire (TTL) {when}",
    "subscription.deadlines.expected.quota_size": "Backlog quota by size reached {when}",
    "subscription.deadlines.expected.quota_age": "Backlog quota by age reached {when}",
    "subscription.deadlines.when": "in {left}, at {at}",
    "subscription.deadlines.when_passed": "at {at}, {before} before this window's end",
    "subscription.deadlines.forecast.trend": "{happens}, {interval}.",
    "subscription.deadlines.forecast.replay": f"{{happens}} {_BY_REPLAY}, {{interval}}.",
    "subscription.deadlines.probability": "{probability} likely before it is drained.",
    "subscription.deadlines.old": "Outdated: computed {age} before this window's end.",
    "subscription.deadlines.basis": "{consequence} {basis} Computed at {made}.",
    **{
        f"subscription.deadlines.not_expected.never.trend.{kind}": f"{words}."
        for kind, words in _NEVER.items()
    },
    **{
        f"subscription.deadlines.not_expected.never.replay.{kind}": f"{words} {_BY_REPLAY}."
        for kind, words in _NEVER.items()
    },
    **{
        f"subscription.deadlines.not_expected.unknown.trend.{kind}": f"{words}."
        for kind, words in _UNKNOWN.items()
    },
    **{
        f"subscription.deadlines.not_expected.unknown.replay.{kind}": f"{words} {_BY_REPLAY}."
        for kind, words in _UNKNOWN.items()
    },
    # Diagnose now.
    "subscription.now.hint": (
        "Reads from Prometheus and the admin API, for at most {deadline_s:g} s. Nothing is stored."
    ),
    "subscription.now.no_source": (
        "needs a Prometheus: name it in throttlescope.toml, or start serve with --prometheus URL"
    ),
    "subscription.now.running": "Reading from Prometheus ...",
    "subscription.now.read.prometheus": (
        "Read from Prometheus: data up to {newest}, {samples} samples of {series} series, {took}. Nothing was stored."
    ),
    "subscription.now.read.both": (
        "Read from Prometheus and the admin API: data up to {newest}, {samples} samples of {series} series, {took}. Nothing was stored."
    ),
    "subscription.now.no_verdict": "No verdict of this moment.",
    "subscription.now.no_whole_window": "No window of five minutes is whole yet.",
    "subscription.now.label": "diagnosis of now",
    # The smallest change.
    "subscription.advice.button": "Find the smallest change",
    "subscription.advice.button_hint": (
        "Replays the half hour up to the selected window in a simulator of Pulsar's limiters and searches for the smallest change that "
        "drains the backlog. Takes seconds, at most {most_s:g}. Nothing is executed."
    ),
    "subscription.advice.running": "Replaying, some seconds ...",
    "subscription.advice.no_window": "no window is selected",
    "subscription.advice.busy": "another search is running on this server; try again in a moment",
    "subscription.advice.failed": "The smallest change could not be computed: {why}.",
    "subscription.advice.nothing_changed": "Nothing was changed, here or on the cluster.",
    "subscription.advice.timed_out": (
        "The first time on a machine the simulator is compiled, which takes about a minute: try again. throttlescope recommend has no "
        "time limit."
    ),
    "subscription.advice.title": "The smallest change",
    "subscription.advice.titles": "The smallest changes, best first",
    "subscription.advice.target": "as of {at}; target: the backlog is gone within {target}",
    "subscription.advice.not_helping": "What will not help",
    "subscription.advice.label": "the smallest change",
    "subscription.advice.backlog_later": "Backlog {later} later, entries",
    "subscription.advice.less": "Reduction",
    # Charts.
    "subscription.charts.verdict.note": "one bar per cause; hover for confidence, click to open its verdict",
    "subscription.charts.no_minutes": "No minutes in this range.",
    "subscription.charts.no_minutes_why": "Backlog and rates were not scraped or not ingested for it.",
    "subscription.charts.rates": "Messages in, out and acknowledged",
    "subscription.charts.rates.note": "limits per second, as rate / period",
    "subscription.charts.rates.entries": "message limits count entries here; drawn as entries times messages per entry",
    "subscription.charts.rates.no_acks": (
        "this Exclusive or Failover subscription has no ack rate (cumulative acks)"
    ),
    "subscription.charts.rates.relative": "limits relative to the publish rate are drawn on top of it",
    "subscription.charts.rates.read_later": "limits were first read after some of these minutes",
    "subscription.charts.bytes": "Bytes in and out",
    "subscription.charts.backlog.note": "entries (batches), not messages",
    "subscription.charts.age": "Age of the oldest message",
    "subscription.charts.age.note": "of the topic partition, over all its subscriptions",
    "subscription.charts.no_age": "Age of the oldest message: not measured.",
    "subscription.charts.no_age_hint": (
        "No minute of this range has pulsar_storage_backlog_age_seconds: it was not scraped, or the broker said -1 (unknown)."
    ),
    "subscription.charts.events": "Throttle events by reason",
    "subscription.charts.events.note": "an event is a read that the limiter reduced, not a delayed message",
    "subscription.charts.events.thinned": "each bar shows the minute with the most events of several",
    "subscription.charts.no_events": "None in this range.",
    "subscription.charts.no_counters": (
        "Not measured: this broker does not expose the throttle counters (they exist from 4.0.4 and 4.1.0 on)."
    ),
    "subscription.charts.holding": "Unacknowledged messages and permits",
    # What the verdict is based on.
    "subscription.evidence.none": "None was recorded for this window.",
    "subscription.evidence.note": (
        "strongest first; small charts show this page's range, with the selected window in grey"
    ),
    "subscription.evidence.query_hint": "in the PromQL console",
    "subscription.series.all_events": "events of all limiters",
    "subscription.series.events.proving": "events of the {level} limit",
    "subscription.series.events.limit_unknown": "events of the {level} limit, unproven: the limit is not known",
    "subscription.series.events.not_proving": "events of the {level} limit, which prove nothing",
    "subscription.series.use": "use of the {limiter} limit",
    "subscription.series.most_use": "use of the limit used most",
    # Limits.
    "subscription.limits.which": "which policy applies",
    "subscription.limits.which_hint": "the policies in order of precedence, and the admin API's answers",
    "subscription.limits.unread": "Not observed: no limit of this subscription was read from the admin API.",
    "subscription.limits.unread_fix": "Fix: give --pulsar-admin URL to throttlescope run.",
    "subscription.limits.set_by": "set by {who}",
    "subscription.limits.used": "highest use in this range: {share}",
    "subscription.limits.lifted": "lifted at {at}",
    "subscription.limits.changed": "changed in this range",
    "subscription.limits.without": "No limit set: {names:names}.",
    "subscription.limits.unseen": "Not observed: {names:names}.",
    # The open backlog.
    "subscription.backlog.not_followed": (
        "Not followed yet: it comes with the next run, or: throttlescope episodes --store."
    ),
    "subscription.backlog.so_far": "Since {since}, for {length} so far.",
    "subscription.backlog.drained": "Since {since}, drained at {end}, after {length}.",
    "subscription.backlog.size.open": (
        "Largest: {peak} ready at {peak_at}; {last} at {last_at}, not drained."
    ),
    "subscription.backlog.size.silent": (
        "Largest: {peak} ready at {peak_at}; {last} at {last_at}, not drained when it was last seen."
    ),
    "subscription.backlog.size.drained": "Largest: {peak} ready at {peak_at}; {last} at {last_at}, drained.",
    "subscription.backlog.age": "Its oldest message was {age} old at {at}.",
    "subscription.backlog.earlier_causes": "{number} earlier ones are left out.",
    "subscription.backlog.no_counterfactual": "No answer:",
    "subscription.backlog.verdict_differs": "The verdict names another cause.",
    "subscription.backlog.without.unknown": "Without {lever}: effect unknown {later} later.",
    "subscription.backlog.without.no_less": "Without {lever}: the backlog would not be smaller {later} later.",
    "subscription.backlog.without.less": "Without {lever}: the backlog would be {gain} entries smaller {later} later.",
    "subscription.backlog.replay": "A replay of the {window} up to {at}.",
    "subscription.backlog.replay_error": "A replay of the {window} up to {at}, off by {share} of its largest backlog.",
    # Sections that follow.
    "subscription.neighbours.title": "Who shares the limit",
    "subscription.neighbours.note": "the {limiter} in the selected window: {number} subscriptions, highest use first",
    "subscription.neighbours.share": "Share of all use",
    "subscription.left_out": "And {number} more.",
    "subscription.consumers.note": "in the selected window",
    "subscription.changes.title": "What a policy change did",
    "subscription.changes.note": "up to 15 minutes before and after; traffic may have changed too",
    "subscription.changes.left_out": "And {number} earlier ones in this range.",
    "subscription.changes.what.set": "The {level} {unit} limit was set",
    "subscription.changes.what.removed": "The {level} {unit} limit was removed",
    "subscription.changes.what.raised": "The {level} {unit} limit was raised",
    "subscription.changes.what.lowered": "The {level} {unit} limit was lowered",
    "subscription.changes.what.redefined": "The {level} {unit} limit was redefined",
    "subscription.changes.change": "{what}: {old} to {new}, {set_by}. Seen at {seen}, changed since {since}.",
    "subscription.changes.use": "Use of the limit",
    "subscription.changes.events": "Throttle events per minute",
    "subscription.changes.backlog": "Backlog at the end, entries",
    "subscription.changes.slope": "Backlog per second, entries",
    # The table of windows.
    "subscription.windows.note": "{number}, newest first; click one to show its verdict above",
    "subscription.neighbours.this": "this one",
    "subscription.changes.side.before": "before ({length})",
    "subscription.changes.side.before_assumed": "before ({length}, limit assumed)",
    "subscription.changes.side.after": "after ({length})",
    "subscription.changes.side.after_assumed": "after ({length}, limit assumed)",
    "subscription.answer.inputs": "inputs",
    "subscription.answer.label": "answer",
    "subscription.series.consumers": "connected consumers",
}
