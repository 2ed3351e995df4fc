"""Names of limits and limiting factors as text, and the formats of placeholders. In: a name or a value. Out: short text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from throttlescope.models.messages import units
from throttlescope.models.messages.en import advice


def limiter(name: str, *, of_replicator: bool = False) -> str:
    """``subscription.msg`` as ``subscription message limit``; a replicator's only limit is stored under that name too."""
    level, _, unit = name.partition(".")
    level = "replicator" if of_replicator else level
    return f"{level} {advice.LIMIT_KINDS[unit]} limit"


def limiting_factor(name: str) -> str:
    """What limits the drain of a backlog: ``the consumers``, or ``the topic byte limit`` for ``topic.bytes``."""
    return advice.LIMITING_FACTORS.get(name) or f"the {limiter(name)}"


#: Formats of placeholders other than those of Python.
FORMATS: Mapping[str, Callable[[Any], str]] = {
    "age": lambda seconds: "unknown" if seconds is None else units.duration(seconds),
    "limit": lambda rate_period_unit: units.per_period(*rate_period_unit),
    "limiter": limiter,
    "factor": limiting_factor,
    "names": ", ".join,
    "consumers": lambda number: f"{units.number(number)} consumer{'' if number == 1 else 's'}",
    "span": lambda seconds: f"{seconds / 3600:.1f} h" if seconds >= 3600 else f"{seconds / 60:.0f} min",
    "exact_duration": units.exact_duration,
}
