"""The server: help of its metrics, refusals, and the text of a downloaded notebook."""

from __future__ import annotations

SENTENCES = {
    # Help of metrics, by name.
    "server.metric.throttlescope_limits_observed_timestamp_seconds": (
        "When the limits of a cluster were last read from its admin API"
    ),
    "server.metric.throttlescope_verdict": "1: the cause of the subscription's backlog, or healthy (the newest verdict)",
    "server.metric.throttlescope_verdict_confidence": "Probability that the cause is correct, from 0 to 1",
    "server.metric.throttlescope_verdict_timestamp_seconds": "End of the newest verdict's window",
    "server.metric.throttlescope_backlog_consumers_could_drain_entries": (
        "Ready backlog that more consumers could drain; 0 if a limiter is limiting or the cause is unknown"
    ),
    "server.metric.throttlescope_verdicts_newest_timestamp_seconds": (
        "End of the newest window with a verdict in a cluster, however old"
    ),
    "server.metric.throttlescope_run_last_end_timestamp_seconds": "When the last run of a command ended, by result",
    "server.metric.throttlescope_runs_of_a_day": "Runs that ended within the last 24 hours, by result",
    "server.metric.throttlescope_run_last_duration_seconds": "Duration of the last successful run",
    "server.metric.throttlescope_run_last_samples_written": "Samples that the last successful run committed",
    "server.metric.throttlescope_run_last_quarantined_rows": "Rows that the last successful run refused",
    "server.metric.throttlescope_samples_newest_timestamp_seconds": "Time of a cluster's newest sample in the lake",
    "server.metric.throttlescope_watermark_timestamp_seconds": (
        "Time up to which all samples of a cluster were read (*: a source with several clusters)"
    ),
    "server.metric.throttlescope_gaps_open": "Gaps without samples in the source that will be requested again",
    "server.metric.throttlescope_quarantined_rows": (
        "Rows in quarantine: samples or rows that were refused and not readmitted"
    ),
    "server.metric.throttlescope_quality_failed_checks": (
        "Checks that failed in the newest run of their gate, within seven days"
    ),
    "server.metric.throttlescope_metrics_source_up": "1: the source's tables could be read",
    "server.metric.throttlescope_metrics_left_out_series": (
        "Series that were left out because one scrape would be too large"
    ),
    "server.metric.throttlescope_metrics_collected_seconds": "How long it took to read the data of this scrape",
    "server.metric.throttlescope_build_info": "Version of throttlescope",
    # Refusals.
    "server.refused.wrong_password": "Unknown name or wrong password.",
    "server.refused.not_the_proxy": "This server accepts requests from its proxy only.",
    "server.refused.no_user": "The proxy must name exactly one person in {header}.",
    "server.refused.unknown_host": (
        "This server does not answer for this host name. To allow a name, start it with --external-host NAME."
    ),
    "server.refused.too_large": "The request is too large: its body has more than {bytes} bytes ({mebibytes} MiB).",
    "server.refused.no_callback": "The request is not one that a page of this server sends.",
    "server.refused.no_file": "There is no such file.",
    # A downloaded notebook: its heading, and comments of its cells.
    "server.notebook.subscription": "A subscription's backlog",
    "server.notebook.subscription_range": (
        "Range {start} to {end}, end excluded. Times are UTC, backlogs entries (batches)."
    ),
    "server.notebook.query": "A PromQL query over the lake",
    "server.notebook.query_range": "Range {start} to {end}, every {step:g} s. Times are UTC.",
    "server.notebook.lake": "the folder or s3:// URI that throttlescope run --lake and serve --lake name",
    "server.notebook.rows": "Rows, as Spark DataFrames: the first of these cells starts Spark.",
}
