"""Texts of the accuracy page: what was measured of rules, simulator, forecasts and anomalies. Shares and times are formatted by the page."""

from __future__ import annotations

SENTENCES = {
    "accuracy.freshness": "figures of the installed version, measured before its release, not in this lake",
    "accuracy.parts": "parts of this page",
    "accuracy.report": "All figures, how they were made, and what they do not show: {path}",
    # A package without figures, or with figures of other rules.
    "accuracy.not_shipped.diagnosis": "No figures of the diagnosis came with this package.",
    "accuracy.not_shipped.simulator": "No figures of the simulator came with this package.",
    "accuracy.not_shipped.forecasts": "No figures of the forecasts came with this package.",
    "accuracy.not_shipped.anomalies": "No figures of the anomalies came with this package.",
    "accuracy.made_by.diagnosis": (
        "They are made by python -m tests.accuracy --write from recordings of a real broker."
    ),
    "accuracy.made_by.simulator": "They are made by python -m tests.lab.simulated.",
    "accuracy.made_by.forecasts": "They are made by python -m benchmarks.forecasts.",
    "accuracy.made_by.anomalies": "They are made by python -m benchmarks.anomalies --page.",
    "accuracy.rules_measured": (
        "{rules}, measured on recordings of a real broker whose causes were made on purpose."
    ),
    "accuracy.other_rules": "These figures are of rules {measured}.",
    "accuracy.other_rules.installed": (
        "The installed rules are {installed}; how often they are right was not measured yet."
    ),
    # The sets of recordings.
    "accuracy.targets.note": (
        "only the {set} set can meet a target; the figure itself decides, its interval is below"
    ),
    "accuracy.set.held-out": "recorded after the rules were frozen; only these can meet a target",
    "accuracy.set.development": "some of them led to corrections of the rules",
    "accuracy.set.shipped": (
        "the first that were recorded, a few of which come with the package; the previous rules were judged by some of these"
    ),
    "accuracy.set_facts": (
        "{set}; {windows} settled windows, {recordings} recordings, {families} families, {states} states"
    ),
    # Compared with simpler rules.
    "accuracy.rules.title": "Compared with simpler rules",
    "accuracy.rules.note": (
        "below each share: its counts, and its 95 % Wilson interval, as if windows were independent"
    ),
    "accuracy.figure.side_right_when_answered": "Side right when answered",
    "accuracy.figure.unknown": "Not answered (unknown)",
    "accuracy.figure.cause_macro_f1": "Macro-F1 over causes",
    "accuracy.figure.side_macro_f1": "Macro-F1 over sides",
    "accuracy.figure.recall": "Throttled, named throttled",
    "accuracy.figure.false_alarms": "Not throttled, named throttled",
    "accuracy.figure.healthy_called_throttled": "Healthy, named throttled",
    "accuracy.wrong_side": "States mostly on the wrong side",
    "accuracy.precision": "Precision of throttled where {base} are",
    "accuracy.precision.never": "never says throttled",
    "accuracy.rule.naive": (
        "{name}: a backlog above {entries:,} entries with any throttle event is throttled, without one the consumers are slow."
    ),
    "accuracy.rule.rho": (
        "{name}: a limit that is {share:.0%} used means throttled, else a backlog above {entries:,} entries means slow consumers."
    ),
    "accuracy.rule.burrow": "{name}: LinkedIn's Burrow on committed offsets; it knows no limiter.",
    "accuracy.rule.majority": "{name}: always the most frequent true cause of the set.",
    "accuracy.naive.not_measured": "The naive rule was not measured here.",
    "accuracy.naive.result": (
        "The naive rule is shown next to every verdict. Here it named the wrong side in {wrong} of {answered} windows, missed "
        "{missed} of {throttled} throttled ones and reported {false_alarms} of {others} others as throttled; {states} states were mostly on "
        "the wrong side. It cannot distinguish causes of one side."
    ),
    # One set, window by window.
    "accuracy.matrix.title": "True cause and named cause",
    "accuracy.matrix.note": "number of windows; the diagonal is correct",
    "accuracy.matrix.label": "confusion matrix; the table below has its numbers",
    "accuracy.matrix.recall": "Recall: named, of those true",
    "accuracy.matrix.precision": "Precision: true, of those named",
    "accuracy.matrix.not_among": "Not among these recordings, so not measured here: {causes:names}.",
    "accuracy.matrix.all_among": "Every cause is among these recordings.",
    "accuracy.calibration.none": "No window was answered.",
    "accuracy.calibration.note": (
        "is the stated confidence met? Brier score {brier}, expected error {expected_error}"
    ),
    "accuracy.less.title": "With less evidence",
    "accuracy.less.note": (
        "the same recordings, as a broker or Prometheus with other settings would have shown them"
    ),
    "accuracy.less.cause_right": "Cause right when answered",
    "accuracy.less.switch": "The verdict names the switch",
    "accuracy.less.no_switch": "no switch to name",
    "accuracy.less.naive": "Naive rule, side right",
    "accuracy.evidence.full": "everything",
    "accuracy.evidence.no_limits": "no limits (no admin API)",
    "accuracy.evidence.no_consumer_metrics": "no consumer metrics",
    "accuracy.evidence.neither": "neither limits nor consumer metrics",
    "accuracy.evidence.imprecise_backlog": "an imprecise backlog",
    "accuracy.evidence.60_s_scrapes": "scrapes every 60 s",
    "accuracy.times.title": "How soon a verdict is right, and how often it changes",
    "accuracy.times.note": (
        "until the end of the first window with the right verdict, if the next two windows have it too"
    ),
    "accuracy.delay.after_change": "after a cause began",
    "accuracy.delay.after_relief": "after it ended",
    "accuracy.delay.new": "after a subscription came",
    "accuracy.times.flips": (
        "In {hours} hours in which nothing changed, verdicts changed {flips} times ({per_hour} an hour), {steady_flips} times after the "
        "hysteresis of episodes ({steady_per_hour} an hour)."
    ),
    # The rules.
    "accuracy.rules": (
        "{rules}. A pure function: its input is the minutes of one subscription partition and the day before them, its output one verdict. "
        "No clock, no training. What they cannot see: {blind_spots}."
    ),
    "accuracy.causes.title": "What each cause means",
    "accuracy.order.title": "Order of the rules",
    "accuracy.order.note": "several may match; the first is the cause, the others contribute",
    "accuracy.truth_table.title": "The truth table of limiter and consumers",
    "accuracy.truth_table.note": "the first row that matches answers, for each of {limiters} limiters",
    "accuracy.word.limit": "limit: at, near, possible, far",
    "accuracy.meaning.limit": (
        "use / limit from high to low; far also where no limit is set; the numbers are below"
    ),
    "accuracy.word.unknown": "limit: unknown",
    "accuracy.meaning.unknown": (
        "not read, not in force, or a period that does not fit twice into the window"
    ),
    "accuracy.word.continuous": "counter: continuous",
    "accuracy.meaning.continuous": "as often as a limiter that binds, and its events are evidence",
    "accuracy.word.ticking": "counter: ticking",
    "accuracy.meaning.ticking": (
        "as often, but every read of a healthy subscription would count too (or it is not known)"
    ),
    "accuracy.word.silent": "counter: sparse, silent, unseen",
    "accuracy.meaning.silent": "less often than a limiter that binds; never; no such counter",
    "accuracy.word.queues": "queues: full, between, empty, unknown",
    "accuracy.meaning.queues": (
        "the broker waits for consumers; not clear; consumers have spare capacity; not measured"
    ),
    "accuracy.grades.note": "stated; whether it is met is measured under Accuracy",
    "accuracy.grade.A": "two independent kinds of evidence agree",
    "accuracy.grade.B": "one decisive kind, and nothing against it",
    "accuracy.grade.C": "by elimination, or from weaker evidence",
    "accuracy.grade.D": "weak evidence only",
    "accuracy.grade.none": "no cause is named",
    "accuracy.flaws": (
        "A flaw of the evidence multiplies the confidence: {flaws:names}. Below {floor:g} no cause is named."
    ),
    "accuracy.thresholds.title": "Every number in the rules",
    "accuracy.thresholds.summary": "{number} thresholds, each with where it comes from",
    "accuracy.thresholds.note": "none was fitted to a recording",
    # The simulator.
    "accuracy.simulator.title": "The simulator compared with a real broker",
    "accuracy.simulator.note": "every scenario was played on a real broker and is simulated with the same file",
    "accuracy.simulator.median": "Median error over scenarios",
    "accuracy.simulator.line": "min(limit, capacity, arrivals), same recordings",
    "accuracy.simulator.recordings": "{set} ({recordings} recordings)",
    "accuracy.simulator.events": "Throttle events, {sets}.",
    "accuracy.simulator.right_reason": "{set}: right reason and unit, and no other, in {right} of {of}",
    "accuracy.simulator.far.title": "Families more than {times} times the allowed error off",
    "accuracy.simulator.far.note": "what-if answers about these are doubtful",
    "accuracy.error.dispatched": "Dispatched messages per minute",
    "accuracy.error.backlog": "Backlog at every scrape, of its peak",
    "accuracy.error.drain": "Drain time",
    "accuracy.error.events": "Events per minute, in multiples of what is allowed",
    # Forecasts.
    "accuracy.forecasts.title": "Drains: measured inside the 90 % interval",
    "accuracy.forecasts.note": "no recording is judged by an interval that was calibrated with it",
    "accuracy.forecasts.target": (
        "{met} Target: the Wilson interval contains {wanted}, of at least {least} forecasts. On the {set} set, when no calibration had "
        "seen it: {unseen}, {unseen_interval}. Its recordings are part of the calibration now; cross-validated they show {interval} of "
        "{forecasts}, which cannot meet the target."
    ),
    "accuracy.forecasts.never": (
        "{never} forecasts said that the backlog will not drain at the current rate; {drained} of them drained before anything was changed, {soon} of these within a "
        "minute after a change."
    ),
    "accuracy.forecasts.reach.title": "By forecast horizon",
    "accuracy.forecasts.reach": "Horizon, in multiples of the period it is based on",
    "accuracy.forecasts.cause.title": "By the previous cause of the backlog",
    "accuracy.forecasts.error": "Median error of the median",
    "accuracy.losses.note": "a forecast without a time counts as a miss",
    "accuracy.losses.check": "Within one check of the broker",
    # Anomalies.
    "accuracy.anomalies.note": (
        "generated traffic: {subscriptions} subscriptions, {days} days each, {events} injected events; method version {version}"
    ),
    "accuracy.anomalies.false_alarms": "False alarms a subscription-week",
    "accuracy.anomalies.false_alarms.measured": "{rate} ({alarms} in {weeks:.0f} weeks)",
    "accuracy.anomalies.better": "Better than simpler detectors",
    "accuracy.anomalies.better.wanted": "F1 above the best",
    "accuracy.anomalies.better.measured": "{best} is the best of them",
    "accuracy.anomalies.detectors.title": "Compared with simpler detectors",
    "accuracy.anomalies.detectors.note": "without point adjustment: an alarm is a single minute",
    "accuracy.anomalies.shapes.title": "By shape of traffic",
    "accuracy.anomalies.without.title": "What each part does",
    "accuracy.anomalies.without": "Our method, on some of the subscriptions",
    "accuracy.anomalies.without.note": "of so few events, one more or less is chance",
    "accuracy.anomalies.weekly": "False alarms a week",
    "accuracy.anomalies.limits": (
        "The traffic was generated by the authors of the method: expect more false alarms in the field. Groups are not scored."
    ),
    # Cells.
    "accuracy.nothing_to_count": "nothing to count",
    "accuracy.nothing_to_compare": "nothing to compare",
    "accuracy.share": "{count} of {whole}, {interval}",
    "accuracy.over_recordings": "over recordings {interval}",
    "accuracy.never": "never",
    "accuracy.met": "met",
    "accuracy.missed": "missed",
    "accuracy.none_found": "none found",
    "accuracy.minutes": "{minutes:g} min",
    "accuracy.at_least": "at least {value}",
    "accuracy.at_most": "at most {value}",
    "accuracy.set_name.held-out": "held-out",
    "accuracy.set_name.development": "development",
    "accuracy.set_name.shipped": "shipped",
    "accuracy.set_name.tuned": "tuned",
    "accuracy.set_name.all": "all",
    "accuracy.set_name.diagnosis": "diagnosis",
    "accuracy.set_name.engine": "engine",
    "accuracy.set_name.fleets": "fleets",
    "accuracy.rho_alone": "rho alone",
    "accuracy.blind_spots": "blind spots",
    "accuracy.any": "any",
    "accuracy.percentile_90": "90th percentile",
    "accuracy.windows_of.confidence": "confidence {name}",
    "accuracy.windows_of.grade": "grade {name}",
    "accuracy.macro_f1": "Macro-F1",
    "accuracy.or": " or ",
}
