"""Messages rendered. In: a key with values, and a language. Out: one sentence.

Models return a :class:`Message`; the sentence is written once per language, in ``models/messages/en/`` and ``models/messages/zh/``. A template is
plain text with placeholders: ``{name}`` is written as it is (another message is rendered first, several texts or messages become a list),
``{name:unit}`` as a value of that unit (:data:`UNITS`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from string import Formatter
from typing import Any

from throttlescope.models.messages import units as u
from throttlescope.models.messages.language import (
    DEFAULT_LANGUAGE,
    LANGUAGES,
    STORED_LANGUAGE,
    current,
    template,
    use,
)
from throttlescope.models.messages.limiting import FORMATS
from throttlescope.models.messages.spacing import joined

__all__ = ["LANGUAGES", "UNITS", "Message", "message", "placeholders", "render", "sentence"]

#: What may follow the colon of a placeholder, next to the formats of Python.
UNITS: Mapping[str, Callable[[Any], str]] = {
    "number": u.number,
    "entries": u.entries,
    "share": u.share,
    "duration": u.duration,
    **FORMATS,
}


@dataclass(frozen=True, slots=True)
class Message:
    """What there is to say: a key of the catalogue and the values of its placeholders."""

    key: str
    values: Mapping[str, object] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The sentence, in the current language."""
        return render(self)

    @property
    def stored(self) -> str:
        """The sentence as tables have it, whatever the current language is: in English."""
        return render(self, STORED_LANGUAGE)


def message(key: str, **values: object) -> Message:
    """A message by its key and values."""
    return Message(key, values)


def sentence(key: str, **values: object) -> str:
    """The sentence of a key in the current language: ``message(key, ...).text`` in one call."""
    return render(Message(key, values))


def render(message: Message, language: str | None = None) -> str:
    """The sentence.

    Parameters
    ----------
    language : str, optional
        One of :data:`LANGUAGES`; otherwise the current one.

    Raises
    ------
    KeyError
        Where the catalogue lacks the key, or the message lacks a value.
    """
    if language is not None and language != current():
        # Units and what is inside follow the language as well.
        with use(language):
            return render(message)
    whole, parts = _template(current(), message.key)
    if not parts:
        return whole
    values = message.values
    return joined([part if write is None else write(values[part]) for part, write in parts])


def placeholders(key: str, language: str = DEFAULT_LANGUAGE) -> dict[str, str]:
    """Names of a sentence's placeholders, each with its unit; an empty unit is text or another message."""
    return {name: unit for _, name, unit in _pieces(template(key, language)) if name is not None}


_Writer = Callable[[Any], str]


@cache
def _template(language: str, key: str) -> tuple[str, tuple[tuple[str, _Writer | None], ...]]:
    """A sentence without placeholders as it is, any other in parts: text, or a value's name with what writes it."""
    pieces = list(_pieces(template(key, language)))
    if all(name is None for _, name, _ in pieces):
        return "".join(text for text, _, _ in pieces), ()
    parts: list[tuple[str, _Writer | None]] = []
    for text, name, unit in pieces:
        if text:
            parts.append((text, None))
        if name is not None:
            parts.append((name, _writer(unit)))
    return "", tuple(parts)


def _pieces(text: str) -> Iterator[tuple[str, str | None, str]]:
    for literal, name, unit, _ in Formatter().parse(text):
        yield literal, name, unit or ""


def _writer(unit: str) -> _Writer:
    if unit in UNITS:
        return UNITS[unit]
    if unit:
        return lambda value: format(value, unit)
    return _plain


def _plain(value: object) -> str:
    if isinstance(value, Message):
        return render(value)
    if isinstance(value, (list, tuple)):
        return u.words().list_separator.join(map(_plain, value))
    return str(value)
