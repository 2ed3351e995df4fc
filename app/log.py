"""What a command says of itself, on stderr. In: events. Out: words for a person, or one JSON object a line for a machine.

Which of the two is chosen once for the process, by ``--log-format`` or ``$THROTTLESCOPE_LOG_FORMAT``. As JSON every line has
``time`` (UTC), ``level``, ``logger``, ``event`` and ``message``, the ``command``, and the ``run_id`` where a run is on: the name under
which the run stands in the table ``ingest_runs``. What other libraries log comes the same way, warnings and above.
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
#: What every line says, such as the run's name. Of the process and not of a thread: a process is one command.
_always: dict[str, Any] = {}
_handler: logging.Handler | None = None


def set_up(form: LogFormat, command: str = "") -> None:
    """Choose how this process writes; a second call takes the place of the first."""
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
    """Whether lines are for a machine."""
    return _handler is not None


@contextlib.contextmanager
def about(**facts: Any) -> Iterator[None]:
    """Have every JSON line say these facts, until the block ends."""
    before = dict(_always)
    _always.update(facts)
    try:
        yield
    finally:
        _always.clear()
        _always.update(before)


def tell(text: str, *, event: str, level: int = logging.INFO, **facts: Any) -> None:
    """Say something: the text to a person; the text, the event's name and its facts to a machine."""
    if is_json():
        record(event, text, level=level, **facts)
    else:
        from throttlescope.models.messages.units import visible

        print(visible(text), file=sys.stderr, flush=True)


def say(line: str) -> None:
    """A note beside a command's answer, which is on stdout."""
    tell(f"throttlescope: {line}", event="note")


def record(event: str, text: str = "", *, level: int = logging.INFO, **facts: Any) -> None:
    """Say something that only a machine wants to read on stderr; for a person it is printed elsewhere."""
    if is_json():
        _LOGGER.log(level, "%s", text or event, extra={"event": event, "facts": facts})


class _Stderr(logging.StreamHandler):
    """Writes to what stderr is at the time: a caller may have put something else in its place."""

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
