"""What is in a backlog, in words and columns. In: an `AnalyzedBacklog`. Out: rows, notes, and a plain document."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.units import count, counted, duration

if TYPE_CHECKING:
    from throttlescope.app.services.analyze_backlog import AnalyzedBacklog
    from throttlescope.ingest.sources.backlog_analysis import BacklogAnalysis

#: Partitions that a table lists; the others are in its sum and in JSON.
MOST_ROWS = 30
COLUMNS = (
    "partition", "entries", "messages", "markers (entries)", "accepted (messages)", "rejected (messages)", "rescheduled (messages)",
)  # fmt: skip


def rows(found: AnalyzedBacklog) -> list[list[str]]:
    """A row for each partition, the sum first where there are several; a lower bound begins with ``>=``."""
    cells = [
        [_partition(number), *_cells(part)] for number, part in list(found.partitions.items())[:MOST_ROWS]
    ]
    several = len(found.partitions) + len(found.failures) + len(found.left_out) > 1
    return [[sentence("analyze_backlog.all"), *_cells(found.total)], *cells] if several else cells


def title(found: AnalyzedBacklog) -> str:
    """Whose backlog it is."""
    return sentence("analyze_backlog.title", subscription=found.name, cluster=found.cluster)


def notes(found: AnalyzedBacklog) -> list[str]:
    """What the counts mean, what is missing in them, and what they say."""
    whole = found.total
    said = [sentence("analyze_backlog.read", took=duration(found.took_s))]
    if any(part.is_lower_bound for part in found.partitions.values()):
        said.append(sentence("analyze_backlog.aborted"))
    if found.left_out:
        said.append(
            sentence("analyze_backlog.left_out", partitions=counted(len(found.left_out), "partition"))
        )
    for number, why in list(found.failures.items())[:MOST_ROWS]:
        said.append(sentence("analyze_backlog.failed", partition=_partition(number), why=why))
    if len(found.partitions) > MOST_ROWS:
        said.append(sentence("tables.more_in_json", more=len(found.partitions) - MOST_ROWS))
    if whole.marker_messages:
        share = whole.marker_messages / max(1, whole.entries)
        said.append(
            sentence(
                "analyze_backlog.markers", markers=count(whole.marker_messages), share=f"{100 * share:.0f} %"
            )
        )
    if whole.rejected_entries or whole.rescheduled_entries:
        said.append(sentence("analyze_backlog.filters"))
    return said


def document(found: AnalyzedBacklog) -> dict[str, Any]:
    """Everything as plain values; counts are of entries and messages as their names say."""
    return {
        "cluster": found.cluster,
        "subscription": str(found.name),
        "took_s": found.took_s,
        "total": asdict(found.total),
        "partitions": [{"partition": number, **asdict(part)} for number, part in found.partitions.items()],
        "partitions_left_out": list(found.left_out),
        "failures": [{"partition": number, "reason": why} for number, why in found.failures.items()],
    }


def _partition(number: int) -> str:
    return sentence("analyze_backlog.not_partitioned") if number < 0 else str(number)


def _cells(part: BacklogAnalysis) -> list[str]:
    at_least = ">= " if part.is_lower_bound else ""
    values = (
        part.entries, part.messages, part.marker_messages, part.accepted_messages, part.rejected_messages, part.rescheduled_messages,
    )  # fmt: skip
    return [f"{at_least}{count(value)}" for value in values]
