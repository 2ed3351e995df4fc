"""The PromQL console: hints, notes of an answer, and what it says where there is none."""

from __future__ import annotations

SENTENCES = {
    # The form.
    "promql.query.placeholder": (
        "a PromQL expression, such as sum by (topic) (rate(pulsar_in_messages_total[5m]))"
    ),
    "promql.query.keys": "suggests metrics, labels and functions; in an empty box, your last queries",
    "promql.tab.label": "how the answer is shown",
    "promql.tab.table": "at the end of the range",
    "promql.tab.graph": "over the range",
    "promql.tab.explain": "how it would run; nothing is evaluated",
    # Words that are completed.
    "promql.operator.by": "keep these labels",
    "promql.operator.without": "drop these labels",
    "promql.operator.on": "match by these labels",
    "promql.operator.ignoring": "match by all other labels",
    "promql.operator.group_left": "many on the left",
    "promql.operator.group_right": "many on the right",
    "promql.operator.and": "left, where right is there",
    "promql.operator.or": "left, and right where left is not",
    "promql.operator.unless": "left, where right is not",
    "promql.operator.bool": "0 or 1 instead of a filter",
    "promql.operator.offset": "shift back in time",
    "promql.operator.atan2": "angle of two values",
    # Examples.
    "promql.examples.title": "Examples",
    "promql.examples.note": "answered from the lake's samples, as Prometheus 3.5 answers",
    "promql.example.largest_backlogs": "the ten largest backlogs, entries",
    "promql.example.in_per_topic": "messages in per topic, msg/s",
    "promql.example.throttle_events": "throttle events by reason, per second",
    "promql.example.limits": "message limits of subscriptions, msg/s",
    # The answer.
    "promql.cost": "{duration}, {samples} samples of {series} series read",
    "promql.json_hint": "the same answer from the HTTP API",
    "promql.copy_command": "copy as a command",
    "promql.limits": (
        "A query may take {timeout_s:g} s, {samples} samples and {steps} steps; {running} run at once in each process, including those of the HTTP "
        "API."
    ),
    "promql.table.line": "1 line, at {at}",
    "promql.table.lines": "{number} lines, at {at}",
    "promql.table.first_lines": "{number} lines, at {at}; the first {shown} are shown",
    "promql.graph.series": "{number} series, every {step}",
    "promql.graph.greatest": "shown are the {shown} with the greatest values; {more} more are hidden",
    "promql.graph.thinned": "neighbouring points are reduced to their minimum and maximum",
    "promql.graph.infinite": "{number} infinite values are gaps",
    "promql.graph.shared": "Every series:",
    "promql.explain.note": "Nothing was evaluated. Times are UTC.",
    "promql.explain.label": "plan of the query",
    "promql.empty.title": "No series has a value at that time.",
    "promql.empty.at": "Evaluated at {at}; the lake's newest sample is of {newest}.",
    "promql.empty.range": "Evaluated from {range}; the lake's newest sample is of {newest}.",
    "promql.empty.why": (
        "The metric may not be scraped or not be read into the lake, a filter may leave nothing, or the time is one that the lake does not "
        "cover."
    ),
    # A query without an answer.
    "promql.busy.title": "Too many queries run at once.",
    "promql.busy.waited": "The query waited too long.",
    "promql.busy.why": "The console and the HTTP API share one concurrency limit.",
    "promql.busy.next": "Run it again in a moment.",
    "promql.fix.samples": "request fewer series, a shorter range or a longer step",
    "promql.fix.timeout": (
        "request a shorter range or a longer step; the console allows {timeout_s:g} s, the command throttlescope promql more"
    ),
    "promql.place.label": "the position in the query",
    "promql.place.line": "line {line}, column {column}",
    "promql.run": "Run",
    "promql.step.auto": "auto",
    "promql.string": "A string: ",
    "promql.suggestion.one": "1 suggestion, arrow down to choose",
    "promql.suggestion.many": "NUMBER suggestions, arrow down to choose",
    "promql.suggestion.kind.recent": "recent",
    "promql.suggestion.kind.function": "function",
    "promql.suggestion.kind.aggregation": "aggregation",
    "promql.suggestion.kind.operator": "operator",
    "promql.suggestion.kind.metric": "metric",
    "promql.suggestion.kind.label": "label",
    "promql.suggestion.kind.value": "value",
}
