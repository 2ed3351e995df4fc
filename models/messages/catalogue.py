"""Messages rendered. In: a key with values, and a language. Out: one sentence.

Models return a :class:`Message`; the sentence is written once, in ``models/messages/en/``. A template is plain text with
placeholders: ``{name}`` is written as it is (another message is rendered first), ``{name:unit}`` as a value of that unit (:data:`UNITS`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from string import Formatter
from typing import Any

from throttlescope.models.messages import units as u
from throttlescope.models.messages.en import SENTENCES as ENGLISH
from throttlescope.models.messages.limiting import FORMATS
from throttlescope.models.messages.spacing import joined

#: Sentences by language and key. Another language is another folder with the same keys.
LANGUAGES: Mapping[str, Mapping[str, str]] = {"en": ENGLISH}
DEFAULT_LANGUAGE = "en"

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
        """The sentence, in the default language."""
        return render(self)


def message(key: str, **values: object) -> Message:
    """A message by its key and values."""
    return Message(key, values)


def sentence(key: str, **values: object) -> str:
    """The sentence of a key in the default language: ``message(key, ...).text`` in one call."""
    return render(Message(key, values))


def render(message: Message, language: str = DEFAULT_LANGUAGE) -> str:
    """The sentence.

    Raises
    ------
    KeyError
        Where the catalogue lacks the key, or the message lacks a value.
    """
    whole, parts = _template(language, message.key)
    if not parts:
        return whole
    values = message.values
    return joined([part if write is None else write(values[part]) for part, write in parts])


def placeholders(key: str, language: str = DEFAULT_LANGUAGE) -> dict[str, str]:
    """Names of a sentence's placeholders, each with its unit; an empty unit is text or another message."""
    return {name: unit for _, name, unit in _pieces(LANGUAGES[language][key]) if name is not None}


_Writer = Callable[[Any], str]


@cache
def _template(language: str, key: str) -> tuple[str, tuple[tuple[str, _Writer | None], ...]]:
    """A sentence without placeholders as it is, any other in parts: text, or a value's name with what writes it."""
    pieces = list(_pieces(LANGUAGES[language][key]))
    if all(name is None for _, name, _ in pieces):
        return "".join(text for text, _, _ in pieces), ()
    parts: list[tuple[str, _Writer | None]] = []
    for text, name, unit in pieces:
        if text:
            parts.append((text, None))
        if name is not None:
            parts.append((name, _writer(unit, language)))
    return "", tuple(parts)


def _pieces(template: str) -> Iterator[tuple[str, str | None, str]]:
    for text, name, unit, _ in Formatter().parse(template):
        yield text, name, unit or ""


def _writer(unit: str, language: str) -> _Writer:
    if unit in UNITS:
        return UNITS[unit]
    if unit:
        return lambda value: format(value, unit)
    return lambda value: render(value, language) if isinstance(value, Message) else str(value)
