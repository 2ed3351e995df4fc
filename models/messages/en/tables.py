"""Tables of the command line: titles, notes, and lines next to them. Values are formatted by the table."""

from __future__ import annotations

_NOTHING_CHANGED = "Nothing was changed; add --yes to do it."
_MORE_IN_JSON = "{more} more with smaller backlogs: --format json has them all."

SENTENCES = {
    "tables.utc": "Times are UTC.",
    "tables.more_in_json": _MORE_IN_JSON,
    "tables.sql.left_out": "{rows} more: --format json or csv has them all.",
    # How fresh the data is.
    "tables.freshness.none": "No data yet.",
    "tables.freshness.until": "Data up to {newest} UTC. Times are UTC.",
    "tables.freshness.age": "Data up to {newest} UTC ({age} ago). Times are UTC.",
    "tables.freshness.ahead": "Data up to {newest} UTC (ahead of this machine's clock). Times are UTC.",
    # A run.
    "tables.run.idle": "Idle interval: the lake holds no samples from {start} to {end} (UTC); nothing was computed.",
    "tables.run.note": "Times are UTC; a Prometheus is read in whole UTC hours, clipped at now.",
    "tables.run.warning": "1 warning of the quality gates: throttlescope quality --lake {lake}",
    "tables.run.warnings": "{warnings} warnings of the quality gates: throttlescope quality --lake {lake}",
    "tables.run.verdicts": "Verdicts by cause (windows): {causes}.",
    "tables.run.results": "Episodes by state: {episodes}; {incidents} shared incidents, {forecasts} forecasts, {anomalies}.",
    "tables.run.next": "Next: throttlescope verdicts --lake {lake}, or throttlescope serve --lake {lake}",
    # A run in chunks.
    "tables.backfill.done": "{start} to {end} (UTC): {chunks}, in {took}.",
    "tables.backfill.idle": "{chunks}, {idle} of them without samples",
    "tables.backfill.samples": "{samples} samples ({written} of them new), {requests} requests, {mb:,.1f} MB.",
    "tables.backfill.hours": "Hours computed: {hours}.",
    "tables.backfill.chunk": "A chunk took {median_s:.1f} s in the median, {longest_s:.1f} s at most.",
    "tables.backfill.also": "Also diagnosed, because no run had diagnosed it: {spans}.",
    "tables.backfill.also_left": "Also diagnosed, because no run had diagnosed it: {spans}; {hours} more are left to the next run.",
    "tables.backfill.plan": "What would be read, oldest first",
    "tables.backfill.plan.note": (
        "Estimates: series as the source counts them at a few moments of the whole range. Nothing was read."
    ),
    # Changes of limits.
    "tables.changes.title": "{changes} of effective limits",
    "tables.changes.note": (
        "seen: the first answer of the admin API with the new limit; it changed at some time since the previous answer. use/limit, throttle "
        "events, ready backlog at the end, its slope most of the time (entries/s), messages published and cause: before -> after, up to 15 "
        "minutes each. Events alone prove nothing: a subscription without a backlog may have more of them."
    ),
    "tables.changes.note_assumed": (
        "seen: the first answer of the admin API with the new limit; it changed at some time since the previous answer. use/limit, throttle "
        "events, ready backlog at the end, its slope most of the time (entries/s), messages published and cause: before -> after, up to 15 "
        "minutes each. Events alone prove nothing: a subscription without a backlog may have more of them. ~: no answer says that the "
        "limit was still the same in these minutes."
    ),
    "tables.changes.none": (
        "Limits are compared between answers of the admin API: a lake needs at least two runs with --pulsar-admin."
    ),
    # Limits of a scalable topic, which count in each segment.
    "tables.now.per_segment": "Limit of the {level}: {limit} per segment, {segments} segments.",
    "tables.now.no_limit_per_segment": "No limit of topic or subscription was read, {segments} segments. One would count in each segment.",
    # Consumers and partitions.
    "tables.consumers.title": "{subscription}, {start} to {end} UTC. {summary}",
    "tables.consumers.note": (
        "slow: the broker waits for it and it does less than half of what the fastest does; no permits: share of the samples in which it "
        "had no permits left."
    ),
    "tables.consumers.note_more": (
        "slow: the broker waits for it and it does less than half of what the fastest does; no permits: share of the samples in which it "
        "had no permits left. {more} more."
    ),
    "tables.partitions.note": (
        "worst: the largest ready backlog of those that are not healthy, in the newest window of each partition. {freshness}"
    ),
    # Verdicts.
    "tables.verdicts.summary_note": (
        "cause: the main cause in the range; confidence: its mean; backlog: the largest in the range, in ready entries (batches); duration: how "
        "long it was the cause; now: cause of the newest window, with its limiter."
    ),
    "tables.verdicts.left_out": "Left out: {hidden} healthy subscriptions of Pulsar itself.",
    "tables.verdicts.window_note": (
        "backlog: ready entries (batches) at the window's end; duration: how long this has been the cause without interruption."
    ),
    "tables.verdicts.naive": (
        "naive rule: ready backlog > 1000 with any throttle event says throttle, without says consumer_capacity."
    ),
    "tables.verdicts.demo": "Recorded on real brokers: {recorded}. Made by the simulator, for what needs weeks: {synthetic}.",
    "tables.verdicts.demo_next": "Next: {program} serve --lake {lake}",
    # A diagnosis now.
    "tables.now.no_window": "No window of it is whole yet: there is no verdict.",
    "tables.now.healthy": "Healthy: {subscriptions}.",
    "tables.now.healthy_more": "Healthy: {subscriptions} and {more} more.",
    "tables.now.window": "{start} to {end} UTC; ready backlog {backlog} entries; naive rule says {naive}",
    "tables.now.window_grown": (
        "{start} to {end} UTC; ready backlog {backlog} entries, {grown} in the window; naive rule says {naive}"
    ),
    "tables.now.basis": (
        "{freshness} {samples} samples of {series} series, {requests} requests, {admin_requests} admin calls, {took_s:.1f} s. "
        "Rules {rules}."
    ),
    # A past verdict.
    "tables.reopen.title": "{subscription}, {start} to {end}",
    "tables.reopen.written": "Written {written} from version {version} of signals.",
    "tables.reopen.repaired": (
        "Written {written} from version {version} of signals. The minutes have been repaired since; both columns use the minutes as they "
        "were then."
    ),
    "tables.reopen.same": "Same verdict.",
    "tables.reopen.different": "Different: {names}.",
    "tables.reopen.note": (
        "in, out: messages in the minute; no permits: share of the consumers' samples; rho: use / limit. {freshness}"
    ),
    # Anomalies.
    "tables.anomalies.note": (
        "usual: the same hour of the week in the weeks before, at the worst minute. score: the sum of deviations over the sum that raises "
        "an alarm. learned: it became the new level."
    ),
    "tables.anomalies.basis": "{freshness} Weeks of {zones}. Method {versions}.",
    "tables.anomalies.learning": "Learning: {series}, the first until {until} UTC.",
    "tables.anomalies.learning_open": "Learning: {series}, without a day of samples yet.",
    "tables.anomalies.late_signals": "{signals} signals that came later",
    # Forecasts.
    "tables.forecast.none": "No backlog to forecast",
    "tables.forecast.note": (
        "when: from the time of the forecast, at this rate. probability: of a drain, how many such forecasts drained at all; of a deadline, that "
        "it comes before the drain."
    ),
    "tables.back_test.title": "Forecasts of drains from {start} to {end} UTC, every {every}",
    "tables.back_test.title_stored": "Forecasts of drains from {start} to {end} UTC, as stored",
    "tables.back_test.counts": (
        "{made:,} made: {expected:,} with a time, {never:,} never at this rate, {unknown:,} without a trend to go by. Of those that were "
        "never, {drained:,} drained before anything was seen to change."
    ),
    "tables.back_test.intervals": (
        "Wilson: as if forecasts were independent; over clusters: whole clusters drawn again. Kaplan-Meier weighs in those that met a "
        "change or the end of the history first; the share before it leaves them out."
    ),
    "tables.back_test.losses": "{losses:,} forecasts of a loss by TTL, {inside:,} of {decided:,} decided inside their interval.",
    "tables.back_test.calibrated": (
        "{clusters} clusters are recordings that the intervals were made from: their figures prove nothing. docs/accuracy/forecasts.md "
        "judges each without its own."
    ),
    # PromQL.
    "tables.promql.at": "{expression} at {time}",
    "tables.promql.range": "{expression} from {start} to {end}, every {step_s:g} s",
    "tables.promql.shared": "Every series: {labels}",
    "tables.promql.left_out": "{lines} more lines are left out; --format csv or json has them all.",
    "tables.promql.empty": "no series has a value then",
    "tables.promql.evaluated": "Evaluated at {newest}, the time of the lake's newest sample.",
    "tables.promql.range_ends": "The range ends at {newest}, the time of the lake's newest sample.",
    # Rules.
    "tables.rules.accepted": "{fault}; Prometheus would load this",
    "tables.rules.good": "{good} of {files} files are good",
    "tables.rules.written": "{files} files are written",
    "tables.rules.evaluated": "{rules} rules from {start} to {end} UTC",
    "tables.rules.failed": "{rule} failed first at {error}",
    # The quarantine.
    "tables.quarantine.note": "Times are UTC. throttlescope quarantine show ID prints a whole row.",
    "tables.quarantine.readmitted": "{rows} readmitted with {samples} new samples or rows; run {run}.",
    "tables.quarantine.recompute": "Recompute what follows from them: {command}",
    # The lake.
    "tables.lake.samples": "samples: {samples} at {bytes:.2f} bytes each.",
    "tables.lake.samples_counted": "samples: {samples} at {bytes:.2f} bytes each, counted in {files} files.",
    "tables.lake.title": "{lake}: {tables} tables, {size}",
    "tables.lake.history": "{table}: the newest {versions} versions",
    "tables.lake.no_faults": (
        "{lake}: every file in the logs is present, unchanged, and matches the contract and the log of its table."
    ),
    "tables.lake.no_faults_quick": "{lake}: every file in the logs is present.",
    "tables.lake.faults.note": (
        "throttlescope lake repair reads again what a source still has; or restore the folder from a copy."
    ),
    "tables.lake.nothing_to_compact": "There are no small files to merge.",
    "tables.lake.compactable": "files to merge",
    "tables.lake.hours_left": "hours left to other runs",
    "tables.lake.would_compact": "Would be merged",
    "tables.lake.nothing_old": "No rows are that old.",
    "tables.lake.expired.note": "throttlescope lake vacuum deletes their files.",
    "tables.lake.nothing_changed": _NOTHING_CHANGED,
    "tables.lake.vacuumed": "Unreferenced files",
    "tables.lake.nothing_to_vacuum": "There are no unreferenced files.",
    "tables.lake.deleted": "Deleted {files} files, {size}; removed {commits} commits from the logs.",
    # A repair of the lake.
    "tables.repair.nothing": "{lake}: there is nothing to repair.",
    "tables.repair.read": "read again from the source",
    "tables.repair.computed": "recomputed",
    "tables.repair.gone": "nothing: it cannot be read again",
    "tables.repair.damaged": "{lake}: damaged files",
    "tables.repair.log": "Log of {table}.",
    "tables.repair.nothing_changed": "Nothing was changed; add --yes, and the source, to do it.",
    "tables.repair.short": "The source no longer has these rows",
    "tables.repair.short.row": "{rows} restored",
    "tables.repair.left": "These rows cannot be restored; --forget removes them",
    "tables.repair.forgotten": "Removed permanently",
    "tables.repair.whole": "{lake}: {files} restored; the lake is intact.",
    "tables.repair.not_whole": "{lake}: {files} restored; some damage is left.",
    # Recordings and reports.
    "tables.recordings.note": "Each is a cluster of its own name. Times are UTC.",
    "tables.incident.about": "{path}: {subscription}, {verdict}, as of {time}.",
    "tables.incident.size": "{files} files, {bytes:,} bytes. Read README.md or incident.html first. Times are UTC.",
    "tables.incident.left_out": "Left out: {reason}",
    # Users of the web app.
    "tables.users.added": "Added {name} in {file}.",
    "tables.users.changed": "Changed the password of {name} in {file}.",
    "tables.users.removed": "Removed {name} from {file}.",
    # A Spark cluster.
    "tables.spark.package": "{path}: {mb:.0f} MB, unpacked {unpacked_mb:.0f} MB, Python {python}",
    "tables.spark.executors": "{tasks} tasks at once, started in {seconds} s",
    "tables.spark.executor": "{host}, process {process}: Python {python}, throttlescope {version} in {folder}",
    # A simulation.
    "tables.simulation.title": "{scenario}: {seconds:g} s simulated, limiter engine {engine}, Pulsar {version}, seed {seed}",
    "tables.simulation.partition": "{subscription}, {type}: {msg_per_s:,.1f} msg/s dispatched on average",
    "tables.simulation.no_step": "nothing is changed",
    "tables.simulation.note": (
        "Seconds count from the start, drained after from the state's start. A backlog has drained when it is at most a second's "
        "publishing or {share} of the state's peak."
    ),
    "tables.simulation.rest": "No row covers the last {seconds:g} s.",
    "tables.tdmq.title": "{scenario}: TDMQ's {throttle} throttle, {seconds} s simulated, seed {seed}",
    "tables.tdmq.note": (
        "Seconds count from the run's start. For consumption, a request is a message and processed means pushed."
    ),
    "tables.tdmq.later": "{windows:,} later windows are left out: --format csv has them all.",
    "tables.tdmq.quiet": "{windows:,} windows in which nothing happened are left out.",
    "tables.tdmq.after_close": "of them after close",
    # An age objective.
    "tables.slo.title": (
        "{subscription} over {span}, to {end}: {published} msg/s published on average, {dispatched} msg/s dispatched while messages wait"
    ),
    "tables.slo.age": "age of the oldest message",
    "tables.slo.quantile": "at most, in {share} of the minutes",
    "tables.slo.kept": "minutes that kept the objective",
    "tables.slo.objective": "objective",
    "tables.slo.recorded": "recorded: from backlog and arrivals",
    "tables.slo.measured": "reported by the broker: of the subscription, else of the topic",
    "tables.slo.as_is": "with the present limits and consumers",
    "tables.slo.none": "No value that was tried would have met the objective.",
    "tables.slo.check": (
        "From {start} to {end} the fluid is off the replay by {fluid:.1f} % of the peak, and the replay off the record by {replay:.1f} %."
    ),
    # A What-if answer.
    "tables.whatif.title": "{subscription} on {cluster}, from {time} on",
    "tables.whatif.backlog": "{entries} entries; counts as drained at {drained} or fewer",
    "tables.whatif.units": "Times are UTC; backlogs count entries (batches), rates messages.",
    "tables.whatif.interval": (
        "Best to worst is what the samples leave open: arrivals, capacity, read speed of the broker. It does not include the replay's own "
        "error."
    ),
    # Recommendations.
    "tables.advice.title": "{subscription}: {entries} entries at {time}, {horizon} later",
    "tables.advice.less": "reduction",
}
