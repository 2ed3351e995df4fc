"""Recordings that are installed. In: nothing. Out: one plain dict per recording: name, folder, size, range, and its fault."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.sources.recording import list_shipped, read_recording


def read_recordings() -> list[dict[str, Any]]:
    """Every installed recording, also one whose files are damaged."""
    return [_row(name, folder) for name, folder in list_shipped().items()]


def _row(name: str, folder: Path) -> dict[str, Any]:
    size_bytes = sum(file.stat().st_size for file in folder.iterdir())
    row = {"name": name, "folder": str(folder), "size_bytes": size_bytes}
    try:
        found = read_recording(folder)
    except InputError as error:
        return row | {"whole": False, "fault": str(error), "start_ms": None, "end_ms": None, "about": ""}
    return row | {
        "whole": True,
        "fault": None,
        "start_ms": found.start_ms,
        "end_ms": found.end_ms,
        "about": str(found.about.get("family", "")),
    }
