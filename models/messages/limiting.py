"""Names of limits and limiting factors as text, and the formats of placeholders. In: a name or a value. Out: short text in the current language."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import chain
from string import Formatter
from typing import Any

from throttlescope.models.messages import units
from throttlescope.models.messages.language import current, template
from throttlescope.models.messages.spacing import joined

_FACTORS = ("consumers", "reads", "arrivals")


def limiter(name: str, *, of_replicator: bool = False) -> str:
    """``subscription.msg`` as ``subscription message limit``; a replicator's only limit is stored under that name too."""
    level, _, unit = name.partition(".")
    words = {"level": level_words("replicator" if of_replicator else level), "kind": kind_words(unit)}
    return _filled("limiter", words)


def limiting_factor(name: str) -> str:
    """What limits the drain of a backlog: ``the consumers``, or ``the topic byte limit`` for ``topic.bytes``."""
    if name in _FACTORS:
        return _words(f"factor.{name}")
    return _filled("factor.limiter", {"limiter": limiter(name)})


def level_words(level: str) -> str:
    """Whose a limit is: ``topic``."""
    return _words(f"level.{level}")


def kind_words(unit: str) -> str:
    """What a limit of ``msg`` or ``bytes`` counts: ``message``, ``byte``."""
    return _words(f"kind.{unit}")


def _filled(key: str, values: Mapping[str, str]) -> str:
    pieces = (
        (text, "" if name is None else values[name]) for text, name, _, _ in Formatter().parse(_words(key))
    )
    return joined(chain.from_iterable(pieces))


def _words(key: str) -> str:
    return template(f"limiting.{key}", current())


def _consumers(value: float) -> str:
    # A mean that is shown as 1 is of one consumer.
    shown = units.number(value)
    return units.counted_of(shown, "consumer", one=shown == "1")


#: Formats of placeholders other than those of Python.
FORMATS: Mapping[str, Callable[[Any], str]] = {
    "age": lambda seconds: units.words().unknown if seconds is None else units.duration(seconds),
    "limit": lambda rate_period_unit: units.per_period(*rate_period_unit),
    "limiter": limiter,
    "factor": limiting_factor,
    "names": lambda names: units.words().list_separator.join(names),
    "consumers": _consumers,
    "span": units.span,
    "exact_duration": units.exact_duration,
}
