"""Texts of the alerts page: a rule previewed on history, and files to download. Numbers and times are formatted by the page."""

from __future__ import annotations

SENTENCES = {
    # The form.
    "alerts.own.title": "A rule of your own",
    "alerts.own.hint": (
        "A rules file as Prometheus reads it, with at least one alert. It may read the recording rules of the export "
        "(throttlescope:...). Preview evaluates it; nothing is stored."
    ),
    "alerts.size.one": (
        "1 rule at {moments} moments over about {samples} samples; begins {before} before the range, which is as far as the rules look "
        "back"
    ),
    "alerts.size.many": (
        "{rules} rules at {moments} moments over about {samples} samples; begins {before} before the range, which is as far as the rules "
        "look back"
    ),
    "alerts.limits": (
        "A preview may take {timeout_s:g} s, about {samples} samples, {evaluations} evaluations of a rule and {results} results of one, "
        "and shares the concurrency limit with the queries of the HTTP API."
    ),
    "alerts.busy": "Too many queries run at once.",
    "alerts.busy.waited": "The preview waited too long.",
    "alerts.busy.shared": (
        "Previews, the console and the HTTP API share one concurrency limit; one preview runs at a time in each process."
    ),
    "alerts.busy.again": "Preview it again in a moment.",
    "alerts.not_evaluated": "Preview it in this range",
    # Exported alerts and files.
    "alerts.exported.title": "Would they have fired?",
    "alerts.exported.note": "the rules that throttlescope rules export writes",
    "alerts.exported.choose": (
        "Choose an alert to preview it from {range}, or type a rule of your own. Data up to {data_up_to}."
    ),
    "alerts.exported.no_cause": "no cause: it only reports a symptom",
    "alerts.exported.first": "What to do first",
    "alerts.copy": "change a copy of it",
    "alerts.file.rules": "{file} for rule_files of Prometheus",
    "alerts.file.inhibit": "{file} for inhibit_rules of Alertmanager",
    "alerts.files": (
        "Links in these alerts lead to the address of this page. throttlescope rules export has options for the cluster's label, the "
        "scrape interval, a specification and labels of your own."
    ),
    "alerts.inhibit": "Inhibition rules: a throttled alert mutes alerts that call for more consumers",
    "alerts.kind.rule": "as the rule defines it",
    "alerts.kind.label": "what counts as real",
    # What a preview found.
    "alerts.fired.not": "{fired} from {range}.",
    "alerts.fired.not.strong": "It would not have fired",
    "alerts.fired.once": "It would have fired once",
    "alerts.fired.times": "It would have fired {times} times",
    "alerts.fired": "{fired}, from {range}.",
    "alerts.fired.judged": "{fired}: {counts}, from {range}.",
    "alerts.missed.none_there": "There was no backlog of that kind to notice.",
    "alerts.missed.one": "{missed} of 1 backlog of that kind would have been missed.",
    "alerts.missed.many": "{missed} of {backlogs} backlogs of that kind would have been missed.",
    "alerts.missed.at_least": (
        "At least {missed} of {backlogs} backlogs of that kind would have been missed."
    ),
    "alerts.meaning": (
        "Real: the main verdict between the start of the condition and the end of the alert names {kind}. Undecided: that verdict is "
        "unknown, or nothing was judged then. Missed: a backlog whose main cause is of that kind and during which the alert did not fire "
        "for its subscription."
    ),
    "alerts.meaning.none": (
        "Verdicts are about the backlog of a subscription, not about what this alert reports, so no firing is called real or not."
    ),
    "alerts.failed.title": "Some evaluations failed; the alert kept its state then.",
    "alerts.failed": "{rule} failed {times} times, first at {error}",
    "alerts.firings.none": "None in this range.",
    "alerts.firings.not_judged": "verdicts are not about what this alert reports",
    "alerts.firings.first": "the first {shown} of {firings}",
    "alerts.missed.not_known": "No episodes yet.",
    "alerts.missed.not_known.compute": (
        "Backlogs from start to drain are computed by the next run, or by throttlescope episodes --store --lake DIR. Without them it is "
        "not known what the alert would have missed."
    ),
    "alerts.missed.note": "backlogs of the kind without a firing, earliest first",
    "alerts.missed.note_first": (
        "backlogs of the kind without a firing, earliest first; the first {shown} of {missed}"
    ),
    "alerts.why.short": "not longer than the rule's for, {hold}",
    "alerts.why.hold": "the expression did not hold for {hold}",
    "alerts.why.never": "the expression did not hold",
    "alerts.no_samples": ", so no rule can be evaluated",
    "alerts.count.real": "{number} real",
    "alerts.count.not_real": "{number} not real",
    "alerts.count.undecided": "{number} undecided",
    "alerts.outcome.real": "real",
    "alerts.outcome.not_real": "not real",
    "alerts.outcome.undecided": "undecided",
}
