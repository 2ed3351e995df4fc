"""The page with the findings of the quality gates."""

from __future__ import annotations

SENTENCES = {
    "quality_page.words.heading": "What the gates found",
    "quality_page.words.nothing_checked": "in which no gate has checked anything yet",
    "quality_page.words.newest_checks": "every gate's newest checks",
    "quality_page.words.stops_a_run": "stops a run if not",
    "quality_page.words.quarantine": "Refused rows are stored whole in quarantine.",
    "quality_page.words.quarantine_list": "lists them; repaired rows can be readmitted.",
    "quality_page.words.lost": "Samples or rows lost with them",
    "quality_page.words.footer": (
        "An error stops its run before anything is computed from the table; after a warning the run goes on, and verdicts list it as "
        "missing or doubtful evidence. Times are UTC."
    ),
    "quality_page.title": "What the gates found: {lake}",
    "quality_page.newest_finding": "newest finding {at} UTC",
    "quality_page.only_row": "the only row",
    "quality_page.some_rows": "{shown} of {rows} rows, the worst first",
    "quality_page.written": "{findings} findings, {failed} failed; {characters} characters, opens without a network",
}
