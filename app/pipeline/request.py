"""The request of a run. In: options of a front end. Out: a `RunRequest`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from throttlescope.app.config import Settings


@dataclass(frozen=True)
class RunRequest:
    """What is to be done.

    Attributes
    ----------
    command : str
        ``ingest``, ``diagnose``, ``run``, ``backfill`` or ``demo``: what the manifest calls it. ``ingest`` stops after the samples and
        limits, ``diagnose`` begins with what is in the lake.
    start_ms, end_ms : int, optional
        Range; None, only with recordings, means all that they hold.
    recordings : tuple of str
        Folders or names of installed recordings; none means the clusters of the settings.
    override_cluster : bool
        The configured cluster's name replaces the label ``cluster`` instead of filling it.
    clusters : tuple of str
        The only clusters that ``diagnose`` computes; none: all that the lake has.
    again : bool
        Compute every hour of the range, also where nothing differs from what it was computed from.
    since_watermark : bool
        Begin where the source was read to, and at ``start_ms`` only where it was never read.
    reset_watermark : bool
        Forget up to when the source was read; the range takes its place.
    part_of_many : bool
        Episodes and anomalies are left to a run over all parts.
    debug : bool
        Leave the JVM's output on the terminal.
    """

    command: str
    settings: Settings
    start_ms: int | None
    end_ms: int | None
    recordings: tuple[str, ...] = ()
    override_cluster: bool = False
    clusters: tuple[str, ...] = ()
    again: bool = False
    since_watermark: bool = False
    reset_watermark: bool = False
    part_of_many: bool = False
    debug: bool = False

    def diagnosis(self, **changes: Any) -> RunRequest:
        """The same over what is in the lake: no source is read."""
        return replace(
            self, command="diagnose", recordings=(), since_watermark=False, reset_watermark=False, **changes
        )
