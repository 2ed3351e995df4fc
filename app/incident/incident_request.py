"""An incident report from a request. In: a lake and an `IncidentRequest`. Out: a zip file, and what is in it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from throttlescope.app.incident.bundle import Bundle, check_out, default_name, make_bundle, write_out
from throttlescope.app.incident.computed import compute_results
from throttlescope.app.incident.load import Incident, read_incident
from throttlescope.app.incident.plots import photograph
from throttlescope.app.incident.selection import IncidentSelection
from throttlescope.app.pipeline.events import SILENT, Progress
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.times import SECOND_MS, check_range, format_time
from throttlescope.ingest.lake import Lake
from throttlescope.models.messages.catalogue import sentence


@dataclass(frozen=True)
class IncidentRequest:
    """Which backlog is reported, at which moment, and where to.

    Attributes
    ----------
    out : Path, optional
        The zip; None: a name in the working folder.
    force : bool
        Replace the zip if it exists.
    advice_ms : int
        How long counterfactuals and recommendations may take.
    """

    subscription: str
    cluster: str | None = None
    at_ms: int | None = None
    start_ms: int | None = None
    end_ms: int | None = None
    out: Path | None = None
    force: bool = False
    external_url: str | None = None
    advice_ms: int = 120_000
    picture: bool = True

    def check(self) -> None:
        """Refuse what contradicts itself, and a zip that cannot be written.

        Raises
        ------
        InputError
            The range is empty or does not contain the moment, or the file exists.
        """
        if self.start_ms is not None and self.end_ms is not None:
            check_range(self.start_ms, self.end_ms)
        at_ms = self.at_ms
        if at_ms is not None and ((self.start_ms or at_ms) > at_ms or (self.end_ms or at_ms) < at_ms):
            raise InputError("--at lies outside --start and --end", got=format_time(at_ms))
        if self.out is not None:
            check_out(self.out, force=self.force)


@dataclass(frozen=True)
class WrittenIncident:
    """A report that was written."""

    path: Path
    found: Incident
    bundle: Bundle
    content: bytes

    def as_dict(self) -> dict[str, Any]:
        """As it is printed in JSON."""
        verdict = self.found.verdict
        return {
            "out": str(self.path),
            "sha256": hashlib.sha256(self.content).hexdigest(),
            "bytes": len(self.content),
            "cluster": self.found.key.cluster,
            "subscription": str(self.found.name),
            "told_at": format_time(self.found.at_ms),
            "cause": None if verdict is None else verdict["cause"],
            "limiter": None if verdict is None else verdict["limiter"],
            "files": sorted(self.bundle.files),
            "not_made": list(self.bundle.not_made),
        }


def make_incident(lake: Lake, request: IncidentRequest, progress: Progress = SILENT) -> WrittenIncident:
    """Read a backlog, compute what the report adds, and write the zip.

    Raises
    ------
    InputError
        As :meth:`IncidentRequest.check`, or there is no such subscription.
    """
    request.check()
    with progress.step(sentence("label.reading")):
        selected = IncidentSelection(
            request.subscription, request.cluster, request.at_ms, request.start_ms, request.end_ms
        )
        found = read_incident(lake, selected)
        progress.note(f"{len(found.minutes)} minutes, {len(found.verdicts)} verdicts")
    path = Path(default_name(found)) if request.out is None else request.out
    check_out(path, force=request.force)
    with progress.step(sentence("label.computing")):
        computed = compute_results(lake, found, most_s=request.advice_ms / SECOND_MS)
        progress.note("; ".join(f"{what}: {why}" for what, why in computed.why_not.items()) or "all of it")
    with progress.step(sentence("label.writing")):
        bundle = make_bundle(
            found,
            computed,
            external_url=request.external_url,
            picture=photograph if request.picture else None,
        )
        content = bundle.zipped()
        write_out(path, content)
        progress.note(str(path))
    return WrittenIncident(path, found, bundle, content)
