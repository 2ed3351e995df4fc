"""The What-if page: titles, labels, notes and empty states. The sentences of a replay's answer are in ``whatif``."""

from __future__ import annotations

_RATE_OF_PRODUCERS = "The publish rate is set by the producers."

SENTENCES = {
    # The search for a subscription.
    "what_if_page.find.about": (
        "Replays a subscription's window in a simulator of Pulsar's limiters, and shows what a change would do. Nothing is executed."
    ),
    "what_if_page.find.words": "words of its name, topic or cluster",
    "what_if_page.find.none": "No subscription has these words.",
    "what_if_page.find.none_fix": "Search for a part of its name, topic or cluster.",
    "what_if_page.find.first": "Shown are the first {shown} of {number}.",
    # The head of the page.
    "what_if_page.head.subscription": "← the subscription, with its verdict",
    "what_if_page.head.title": "What if: subscription",
    "what_if_page.head.simulated": "Simulated: nothing is executed.",
    "what_if_page.backlog.note": "entries (batches), not messages; bands from best to worst",
    "what_if_page.warming.title": "Warming up: the simulator is being loaded.",
    "what_if_page.warming.why": (
        "It takes a few seconds after the server's start, and about a minute the first time on a machine, when it is compiled."
    ),
    "what_if_page.warming.next": "This page continues automatically.",
    "what_if_page.no_samples": (
        "A replay needs samples as they were scraped; verdicts and signals of minutes are not enough for it."
    ),
    "what_if_page.no_samples.link": "Show the newest half hour",
    # The range, and when the change is made.
    "what_if_page.changed_from.end": "from the window's end on",
    "what_if_page.changed_from.start": "as if from the window's start",
    "what_if_page.changed_from.label": "when it is changed",
    # The controls.
    "what_if_page.controls.unset": "Limits that are not set ({number})",
    "what_if_page.controls.hint": "An empty field leaves the value as it is; {none} lifts a limit.",
    "what_if_page.controls.per_partition": "topic and subscription limits apply per partition",
    "what_if_page.controls.now": "as it is: {value}",
    "what_if_page.controls.capacity_unknown": "never observed at their limit",
    # The runs.
    "what_if_page.runs.past": "what would have happened in the window",
    "what_if_page.runs.ahead": "from the window's end on, {ahead} ahead",
    "what_if_page.runs.drained_after": "Backlog gone after",
    "what_if_page.runs.not_run": "\N{WARNING SIGN} not run",
    "what_if_page.runs.not_drained": "not before its end",
    "what_if_page.runs.as_is": "as it is",
    "what_if_page.runs.chosen_hint": "the controls change this run",
    "what_if_page.runs.choose_hint": "let the controls change this run",
    "what_if_page.runs.remove": "remove run {letter}",
    "what_if_page.runs.chosen": "(changed by the controls)",
    "what_if_page.runs.add": "+ compare another run",
    "what_if_page.runs.error": "Run {letter} was not run.",
    # The commands of a run.
    "what_if_page.command.title": "Commands: run {letter}",
    "what_if_page.command.note": "not executed: copy it, read it, run it yourself",
    "what_if_page.command.not_run": "This run was not run.",
    "what_if_page.command.no_change": "This run has no change yet: use a control.",
    "what_if_page.command.not_executed": "pulsar-admin, not executed:",
    "what_if_page.command.limits_unread": (
        "No command: the limits of this subscription were never read from the admin API, so the present values, which a command must "
        "repeat, are not known. Give --pulsar-admin URL to throttlescope run."
    ),
    "what_if_page.no_command.consumers": "Start or stop consumers: no command of Pulsar does that.",
    "what_if_page.no_command.processing_ms": "Make the consumers faster: in their own code.",
    "what_if_page.no_command.rate_msg": _RATE_OF_PRODUCERS,
    "what_if_page.no_command.load": _RATE_OF_PRODUCERS,
    "what_if_page.no_command.batch_msg": (
        "Batching is set in the producers: batchingMaxMessages and batchingMaxPublishDelay."
    ),
    # How certain the answers are.
    "what_if_page.certainty.no_backlog": "There was no backlog in this window to compare the replay with.",
    "what_if_page.certainty.own_error": "The bands do not include the replay's own error.",
    "what_if_page.certainty.replay_error.near": (
        "The replay misses the recorded backlog of this window by {share} of its peak on average."
    ),
    "what_if_page.certainty.replay_error.far": (
        "\N{WARNING SIGN} The replay misses the recorded backlog of this window by {share} of its peak on average."
    ),
    "what_if_page.certainty.not_in_bands": "The bands do not include that error.",
    "what_if_page.certainty.backlog_head": "Backlog at the end",
    "what_if_page.certainty.backlog": "{entries} entries; counts as drained at {drained} or fewer",
    "what_if_page.certainty.curves": (
        "arrivals minus what the simulator dispatches from a full backlog: means over the periods of a limit; a search below can simulate a "
        "run in full"
    ),
    "what_if_page.certainty.bands": (
        "what the samples leave open: arrivals, capacity of the consumers, read speed of the broker"
    ),
    # The search in the background.
    "what_if_page.search.not_started": "The search was not started.",
    "what_if_page.search.any": "any lever: the smallest change",
    "what_if_page.search.exact": "the chosen run, simulated in full",
    "what_if_page.search.within": "drains the backlog within",
    "what_if_page.search.note": "runs in the background; its link survives a reload",
    "what_if_page.search.deleted": "This search is no longer stored.",
    "what_if_page.search.deleted_why": (
        "Searches are stored for a day on the machine that ran them. Search again: it takes a minute or less."
    ),
    "what_if_page.search.waiting": "waiting for another search",
    "what_if_page.search.progress_label": "how far the search is",
    "what_if_page.search.progress": "{percent:.0f} %, {duration} so far",
    "what_if_page.search.ended.cancelled": "The search was cancelled.",
    "what_if_page.search.ended.timed_out": "The search took too long and was ended.",
    "what_if_page.search.ended.lost": (
        "The search ended without a result, for example because the machine restarted."
    ),
    "what_if_page.search.ended.failed": "The search failed.",
    "what_if_page.search.again": "Search again to restart it.",
    "what_if_page.search.title.exact": "Simulated message by message: {change}",
    "what_if_page.search.title.any": "Which of the levers drains it within {target}?",
    "what_if_page.search.title.values": "Which of the values of {lever} drains it within {target}?",
    "what_if_page.search.no_value": "None of {number} values that were tried is enough.",
    "what_if_page.search.enough": "Enough: {value}.",
    "what_if_page.search.not_within": "not within {length}",
    "what_if_page.search.at_the_earliest": "{length} at the earliest",
    "what_if_page.search.peak": "Largest backlog, entries",
    "what_if_page.search.nothing_enough": "Nothing that was tried is enough within that time.",
    "what_if_page.search.try": "try it in a run",
    "what_if_page.search.drained_after": "Gone after {length}.",
    # Values, and what a script writes; RUN is put in there.
    "what_if_page.amount.msg_per_entry": "{value} msg per entry",
    "what_if_page.search.nothing_changed": "nothing changed",
    "what_if_page.controls.moves": "The controls move run RUN.",
    "what_if_page.controls.unit": ", {unit}",
}
