"""What a cycle says. In: a `Cycle`, or words. Out: one line on stderr for eyes, or one JSON object a line on stdout."""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from throttlescope.app.log import is_json, tell
from throttlescope.app.pipeline.follow.follower import Cycle
from throttlescope.ingest.core.times import SECOND_MS, format_time
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.units import count


class CycleLines:
    """Writes lines; several sources share it.

    Parameters
    ----------
    as_json : bool
        JSON lines on stdout, in addition to the lines on stderr.
    quiet : bool
        Nothing on stderr but what has gone wrong.
    """

    def __init__(self, *, as_json: bool, quiet: bool) -> None:
        self.as_json, self.quiet = as_json, quiet
        self._lock = threading.Lock()

    def cycle(self, done: Cycle) -> None:
        """A cycle is over."""
        if self.as_json:
            self._json("cycle", asdict(done) | {"rss_bytes": rss_bytes()})
        elif not self.quiet:
            self._say(_words(done), "cycle", **asdict(done))

    def away(self, source: str, error: str, wait_s: float) -> None:
        """A source did not answer."""
        if self.as_json:
            self._json("away", {"source": source, "error": error, "wait_s": wait_s})
        text = sentence("pipeline.follow.away", source=source, wait_s=wait_s, error=error)
        self._say(text, "away", logging.WARNING, source=source)

    def back(self, source: str, away_s: float) -> None:
        """It answers again."""
        if self.as_json:
            self._json("back", {"source": source, "away_s": round(away_s, 1)})
        self._say(sentence("pipeline.follow.back", source=source, away_s=away_s), "back", source=source)

    def say(self, text: str) -> None:
        """Words for a person."""
        self._say(text, "note")

    def end(self, totals: list[dict[str, Any]]) -> None:
        """Following is over."""
        if self.as_json:
            self._json("end", {"sources": totals})
        elif not self.quiet:
            cycles = sum(one["cycles"] for one in totals)
            self._say(sentence("pipeline.follow.ended", cycles=count(cycles)), "end")

    def _json(self, event: str, facts: dict[str, Any]) -> None:
        text = json.dumps({"event": event, "at_ms": time.time_ns() // 1_000_000} | facts)
        with self._lock:
            print(text, flush=True)

    def _say(self, text: str, event: str, level: int = logging.INFO, **facts: Any) -> None:
        clock = "" if is_json() else f"{time.strftime('%H:%M:%S', time.gmtime())} "
        with self._lock:
            tell(f"{clock}{text}", event=event, level=level, **facts)


def rss_bytes() -> int | None:
    """Memory of this process; None where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, IndexError, ValueError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")


def _words(done: Cycle) -> str:
    parts = [f"{done.source}: read to {_clock(done.until_ms)}"]
    if done.newest_sample_ms is None:
        parts.append(sentence("pipeline.follow.no_backlog"))
    else:
        parts.append(f"newest sample {_clock(done.newest_sample_ms)}")
    if done.newest_verdict_ms is not None:
        parts.append(f"newest verdict {_clock(done.newest_verdict_ms)} ({done.age_s:.0f} s old)")
    parts.append(f"{count(done.verdicts)} verdicts made")
    if done.behind:
        parts.append("catching up")
    parts.append(f"{count(done.samples)} samples, {count(done.requests)} requests, {done.took_s:.1f} s")
    return ", ".join(parts)


def _clock(time_ms: int) -> str:
    return format_time(time_ms // SECOND_MS * SECOND_MS)[11:19]
