"""Recordings as the source of a run. In: folders or names of installed recordings. Out: one `Source` for all of them."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from throttlescope.app.pipeline.sources.source import ClusterSpan, Ingested, Note, pulled_note
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.times import MINUTE_MS, format_time
from throttlescope.ingest.sources.recording import Recording, list_shipped, read_recording

if TYPE_CHECKING:
    from throttlescope.app.pipeline.request import RunRequest
    from throttlescope.ingest.lake import Lake
    from throttlescope.ingest.spark.task_executor import TaskExecutor


def open_recordings(request: RunRequest) -> list[RecordingsSource]:
    """Check the recordings of a request whole: every file against its checksum.

    Raises
    ------
    InputError
        One is missing, altered or given twice, or the range touches none of them.
    """
    shipped = list_shipped()
    recordings = [read_recording(recording_folder(text, shipped)) for text in request.recordings]
    spans = tuple(
        span
        for recording in recordings
        if (span := _span(recording, request.start_ms, request.end_ms)) is not None
    )
    if not spans:
        raise InputError(
            "The range touches none of the recordings",
            got=", ".join(
                f"{recording.name} holds {format_time(recording.start_ms)} to {format_time(recording.end_ms)}"
                for recording in recordings[:3]
            ),
            fix="leave --start and --end out to take all of a recording",
        )
    return [RecordingsSource(recordings, spans)]


def recording_folder(text: str, shipped: dict[str, Path]) -> Path:
    """The folder that a path or the name of an installed recording means."""
    folder = Path(text).expanduser()
    if folder.exists() or text not in shipped:
        if not folder.exists() and "/" not in text:
            near = difflib.get_close_matches(text, shipped, n=1)
            raise InputError(
                "There is no such recording",
                got=text,
                expected="a folder, or a name that throttlescope recordings list prints",
                fix=f"did you mean {near[0]}?" if near else None,
            )
        return folder
    return shipped[text]


@dataclass
class RecordingsSource:
    """Several recordings, brought in together; each has clusters of its own."""

    recordings: Sequence[Recording]
    spans: tuple[ClusterSpan, ...]

    @property
    def name(self) -> str:
        names = [recording.name for recording in self.recordings]
        return f"recording {names[0]}" if len(names) == 1 else f"{len(names)} recordings"

    @property
    def start_ms(self) -> int:
        return min(span.start_ms for span in self.spans)

    @property
    def end_ms(self) -> int:
        return max(span.end_ms for span in self.spans)

    def minutes(self) -> int:
        """Minutes of subscription partitions in whole recordings, as all of them are brought in."""
        return sum(
            recording.subscriptions * (-(-(recording.end_ms - recording.start_ms) // MINUTE_MS))
            for recording in self.recordings
        )

    def ingest(self, executor: TaskExecutor, lake: Lake, run_id: str, note: Note) -> Ingested:
        """Bring all of them in; the range narrows only what is computed from them."""
        from throttlescope.ingest.pull.recordings import ingest_recordings

        folders = [recording.folder for recording in self.recordings]
        pulled = ingest_recordings(
            executor, lake, folders, run_id, progress=lambda progress: note(pulled_note(progress))
        )
        return Ingested(
            self.name,
            pulled.clusters,
            self.spans,
            series=pulled.series,
            samples=pulled.samples,
            samples_written=pulled.samples_written,
            rows_quarantined=pulled.rows_quarantined,
            details=pulled.details() | {"recordings": {r.name: r.checksum for r in self.recordings}},
        )


def _span(recording: Recording, start_ms: int | None, end_ms: int | None) -> ClusterSpan | None:
    start_ms = recording.start_ms if start_ms is None else max(start_ms, recording.start_ms)
    end_ms = recording.end_ms if end_ms is None else min(end_ms, recording.end_ms)
    return ClusterSpan(recording.clusters, start_ms, end_ms) if start_ms < end_ms else None
