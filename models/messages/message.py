"""A sentence that is not worded yet. In: a key and values. Out: the catalogue's sentence with these values in it.

Models return messages; the text is made where somebody reads it, or where a text column is written. A placeholder names its format:
``{drain_s:duration}`` writes 1800 as ``30 min``. Formats are those of Python and the ones of :data:`FORMATS`.
"""

from __future__ import annotations

import string
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from throttlescope.models.messages import units
from throttlescope.models.messages.en import advice, forecast, whatif

#: Every sentence by its key.
SENTENCES: Mapping[str, str] = advice.SENTENCES | forecast.SENTENCES | whatif.SENTENCES


@dataclass(frozen=True)
class Message:
    """What is to be said.

    Attributes
    ----------
    key : str
        A key of :data:`SENTENCES`.
    values : mapping
        One for each placeholder of the sentence: numbers, names, lists of them; all can be written as JSON.
    """

    key: str
    values: Mapping[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The sentence."""
        return _FORMATTER.vformat(SENTENCES[self.key], (), self.values)


def message(key: str, **values: Any) -> Message:
    """A message by its key and values."""
    return Message(key, values)


def placeholders(sentence: str) -> set[str]:
    """Names of the values that a sentence needs."""
    return {name for _, name, _, _ in string.Formatter().parse(sentence) if name}


def limiter(name: str) -> str:
    """``subscription.msg`` as ``subscription message limit``."""
    level, _, unit = name.partition(".")
    return f"{level} {advice.LIMIT_KINDS[unit]} limit"


def limiting_factor(name: str) -> str:
    """What limits the drain of a backlog: ``the consumers``, or ``the topic byte limit`` for ``topic.bytes``."""
    return advice.LIMITING_FACTORS.get(name) or f"the {limiter(name)}"


#: Formats of placeholders beside those of Python.
FORMATS = {
    "age": lambda seconds: "unknown" if seconds is None else units.duration(seconds),
    "duration": units.duration,
    "number": units.number,
    "limit": lambda rate_period_unit: units.per_period(*rate_period_unit),
    "limiter": limiter,
    "factor": limiting_factor,
    "names": ", ".join,
    "consumers": lambda number: "1 consumer" if number == 1 else f"{number:,} consumers",
    "span": lambda seconds: f"{seconds / 3600:.1f} h" if seconds >= 3600 else f"{seconds / 60:.0f} min",
    "exact_duration": units.exact_duration,
}


class _Formatter(string.Formatter):
    def format_field(self, value: Any, format_spec: str) -> str:
        return (
            FORMATS[format_spec](value)
            if format_spec in FORMATS
            else super().format_field(value, format_spec)
        )


_FORMATTER = _Formatter()
