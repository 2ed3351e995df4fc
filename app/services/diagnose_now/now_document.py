"""A diagnosis of one topic for programs. In: a :class:`~throttlescope.app.services.diagnose_now.NowAnswer`. Out: one document of plain values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from throttlescope.models.messages.stored import verdict_in_language

if TYPE_CHECKING:
    from throttlescope.app.services.diagnose_now.diagnose import NowAnswer


def document(answer: NowAnswer) -> dict[str, Any]:
    """An answer as one document of plain values, but for ``signals``."""
    return {
        "cluster": answer.cluster,
        "topic": answer.question.topic,
        "asked_start_ms": answer.question.start_ms,
        "asked_end_ms": answer.question.end_ms,
        "read_start_ms": answer.start_ms,
        "read_end_ms": answer.end_ms,
        "newest_sample_ms": answer.newest_ms,
        "verdicts": [verdict_in_language(row) for row in answer.verdicts.to_pylist()],
        "windows": [verdict_in_language(row) for row in answer.windows.to_pylist()],
        "partitions": [one.to_row() for one in answer.partitions],
        "slowest": [one.to_row() for one in answer.slowest.values()],
        "neighbours": [
            {**key._asdict(), "uses": [{**use.key._asdict(), "use_per_s": use.use_per_s, "share": use.share,
                                        "asked": use.is_selected} for use in uses]}
            for key, uses in answer.neighbours.items()
        ],
        "limits": answer.limits.to_pylist(),
        "notes": list(answer.notes),
        "took_s": answer.took_s,
        "steps_s": answer.steps_s,
        "source_requests": answer.source_requests,
        "admin_requests": answer.admin_requests,
        "series": answer.series,
        "samples": answer.samples,
    }  # fmt: skip
