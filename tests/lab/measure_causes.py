"""What the causes beyond limits look like: in, the recordings of the diagnosis set; out, one row per truth range.

``python -m tests.lab.measure_causes`` prints the second table of ``docs/background/real-broker.md``; ``make docs`` writes it into that
page. Drawn scenarios are left out: there are more of them than a page can show.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.lab.measure import Measurement, measure, rate, values, with_partition
from tests.lab.recording import read_samples
from tests.lab.sets import SETS

MARKS = ("<!-- measured causes: begin -->", "<!-- measured causes: end -->")
_DRAWN = re.compile(r"-\d+-\d+$")
_HEAD = (
    "recording", "cause", "limit", "in msg/s", "out msg/s", "redelivered msg/s", "expired msg/s", "evictions/min", "events/s", "backlog", "delayed",
    "unacked", "permits <= 0",
)  # fmt: skip


def folders() -> list[Path]:
    """The recordings that the table shows."""
    found = sorted(path.parent for path in SETS["diagnosis"].recordings.glob("*/recording.json"))
    return [folder for folder in found if not _DRAWN.search(folder.name)]


def markdown() -> str:
    """Render the table."""
    lines = ["| " + " | ".join(_HEAD) + " |", "|" + "---|" * len(_HEAD)]
    for folder in folders():
        truth = json.loads((folder / "truth.json").read_text())["rows"]
        series = [with_partition(item) for item in read_samples(folder)]
        for row, truth_row in zip(measure(folder), truth, strict=True):
            lines.append("| " + " | ".join(_cells(row, truth_row, series)) + " |")
    return "\n".join(lines)


def _cells(row: Measurement, truth: dict, series: list) -> list[str]:
    start_ms, end_ms = truth["start_ms"], truth["end_ms"]

    def of(name: str, **more: str) -> list:
        wanted = {
            "__name__": name,
            "topic": truth["topic"],
            "partition": str(truth["partition"]),
            **more,
        }
        return [
            item
            for item in series
            if "consumer_name" not in item.labels
            and all(item.labels.get(key) == value for key, value in wanted.items())
        ]

    mine = {"subscription": truth["subscription"]}
    evicted = rate(of("pulsar_storage_backlog_quota_exceeded_evictions_total"), start_ms, end_ms)
    again = values(of("pulsar_subscription_msg_rate_redeliver", **mine), start_ms, end_ms)
    delayed = values(of("pulsar_subscription_delayed", **mine), start_ms, end_ms)
    name = row.recording if row.partition < 0 else f"{row.recording} (partition {row.partition})"
    return [
        name,
        row.cause if row.limiter is None else f"{row.cause} ({row.limiter})",
        row.limit,
        f"{row.in_msg:.1f}",
        f"{row.out_msg:.1f}",
        f"{sum(again) / len(again):.1f}",
        f"{rate(of('pulsar_subscription_total_msg_expired', **mine), start_ms, end_ms):.1f}",
        f"{60 * evicted:.1f}",
        ", ".join(f"{key} {per_s:.2f}" for key, per_s in row.events.items()) or "0",
        f"{row.backlog_first:.0f} to {row.backlog_last:.0f}",
        f"{max(delayed):.0f}",
        "" if row.unacked_median is None else f"{row.unacked_median:.0f}",
        "" if row.permits_dry_share is None else f"{row.permits_dry_share:.0%}",
    ]


if __name__ == "__main__":
    print(markdown())
