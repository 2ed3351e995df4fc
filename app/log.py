"""Messages of a command on stderr. In: events. Out: text for a person, or one JSON object per line for a program.

Which of the two is chosen once for the process, by ``--log-format`` or ``$THROTTLESCOPE_LOG_FORMAT``. As JSON every line has
``time`` (UTC), ``level``, ``logger``, ``event`` and ``message``, the ``command``, and the ``run_id`` where a run is on: the name under
which the table ``ingest_runs`` names the run. What other libraries log comes the same way, warnings and above.
"""

from __future__ import annotations

import contextlib
import logging
import sys
from collections.abc import Iterator
from enum import StrEnum
from typing import Any

ENVIRONMENT_VARIABLE = "THROTTLESCOPE_LOG_FORMAT"


class LogFormat(StrEnum):
    """How lines on stderr are written."""

    text = "text"
    json = "json"


_LOGGER = logging.getLogger("throttlescope")
#: Facts of every line, such as the run's name. Per process and not per thread: a process is one command.
_always: dict[str, Any] = {}
_handler: logging.Handler | None = None


def set_up(form: LogFormat, command: str = "") -> None:
    """Set the format of this process; a second call replaces the first."""
    global _handler
    root = logging.getLogger()
    if _handler is not None:
        root.removeHandler(_handler)
        _LOGGER.setLevel(logging.NOTSET)
        _handler = None
    _always.clear()
    if form is LogFormat.json:
        _handler = _Stderr()
        _handler.setFormatter(_json_lines())
        root.addHandler(_handler)
        _LOGGER.setLevel(logging.INFO)
        _always.update(command=command)


def is_json() -> bool:
    """Whether lines are JSON."""
    return _handler is not None


@contextlib.contextmanager
def about(**facts: Any) -> Iterator[None]:
    """Add these facts to every JSON line until the block ends."""
    before = dict(_always)
    _always.update(facts)
    try:
        yield
    finally:
        _always.clear()
        _always.update(before)


def tell(text: str, *, event: str, level: int = logging.INFO, **facts: Any) -> None:
    """Write a message: its text for a person; the text, the event's name and its facts as JSON."""
    if is_json():
        record(event, text, level=level, **facts)
    else:
        from throttlescope.models.messages.units import visible

        print(visible(text), file=sys.stderr, flush=True)


def say(line: str) -> None:
    """A note to a command's answer, which is on stdout."""
    tell(f"throttlescope: {line}", event="note")


def record(event: str, text: str = "", *, level: int = logging.INFO, **facts: Any) -> None:
    """Write an event that is only for JSON; for a person it is printed elsewhere."""
    if is_json():
        _LOGGER.log(level, "%s", text or event, extra={"event": event, "facts": facts})


class _Stderr(logging.StreamHandler):
    """Writes to the current ``sys.stderr``, which a caller may have replaced."""

    @property
    def stream(self) -> Any:
        return sys.stderr

    @stream.setter
    def stream(self, stream: Any) -> None:
        pass


def _json_lines() -> logging.Formatter:
    from pythonjsonlogger.json import JsonFormatter

    from throttlescope.ingest.pull.manifest import without_secrets

    class Lines(JsonFormatter):
        def process_log_record(self, log_record: dict[str, Any]) -> dict[str, Any]:
            facts = log_record.pop("facts", {})
            log_record["level"] = log_record["level"].lower()
            log_record.setdefault("event", "log")
            return {
                name: value
                for name, value in without_secrets(log_record | _always | facts).items()
                if value is not None
            }

    # Names of what a record has, and below which name it is written.
    return Lines(
        "%(levelname)s %(name)s %(message)s",
        timestamp="time",
        rename_fields={"levelname": "level", "name": "logger"},
        json_ensure_ascii=False,
    )
