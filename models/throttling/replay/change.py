"""What is to be different. In: the words of ``--set`` (``subscription.msg=800``, ``consumers=4``); out: a checked :class:`Change`."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from throttlescope.ingest.contracts.vocabulary import LEVELS, UNITS
from throttlescope.ingest.core.errors import InputError
from throttlescope.models.throttling.scenario.limits import MAX_PERIOD_S, MAX_RATE
from throttlescope.models.throttling.scenario.load import MAX_RATE_MSG

#: What may follow --set, and what its value is.
KEYS = {
    **{
        f"{level}.{unit}": f"{'messages' if unit == 'msg' else 'bytes'} per period, or none"
        for level in LEVELS
        for unit in UNITS
    },
    **{f"{level}.period_s": "seconds" for level in LEVELS if level != "broker"},
    "consumers": "consumers connected to the subscription",
    "processing_ms": "milliseconds that a consumer works on one message",
    "rate_msg": "messages per second that are published to the whole topic",
    "load": "what is published, times so much",
    "batch_msg": "messages of an entry",
}
_OTHERS = {
    "consumers": (0, 10_000),
    "processing_ms": (0, 86_400_000),
    "rate_msg": (0, MAX_RATE_MSG),
    "load": (0, 1_000),
    "batch_msg": (1, 10_000),
}
_WHOLE = ("consumers", "batch_msg")
_UNLIMITED = "none"


@dataclass(frozen=True)
class Change:
    """What differs from what was observed; what is not named stays.

    Attributes
    ----------
    limits : mapping
        ``level.unit`` or ``level.period_s`` to a number; None lifts that limit.
    load : float or None
        Factor of the arrivals that were observed, with their spread; ``rate_msg`` is one rate instead of them.
    batch_msg : int or None
        Messages of every entry, of those that wait already as well: the same messages in other entries.
    """

    limits: Mapping[str, int | None] = field(default_factory=dict)
    consumers: int | None = None
    processing_ms: float | None = None
    rate_msg: float | None = None
    load: float | None = None
    batch_msg: int | None = None

    @property
    def words(self) -> str:
        """The change as it would be written after ``--set``."""
        parts = [f"{key}={_UNLIMITED if value is None else value}" for key, value in self.limits.items()]
        for name in _OTHERS:
            value = getattr(self, name)
            if value is not None:
                parts.append(f"{name}={value:.12g}")
        return " ".join(parts) or "nothing"


def parse_change(settings: Iterable[str]) -> Change:
    """Read ``KEY=VALUE`` texts.

    Raises
    ------
    InputError
        A key is not known or comes twice, or a value is not a number that makes sense.
    """
    limits: dict[str, int | None] = {}
    others: dict[str, float] = {}
    for text in settings:
        key, equals, value = (part.strip() for part in text.partition("="))
        if not equals or key not in KEYS:
            near = difflib.get_close_matches(key, KEYS, 1)
            raise InputError(
                "Unknown setting", got=text, expected=f"KEY=VALUE with one of {', '.join(KEYS)}",
                fix=f"did you mean {near[0]}?" if near else None,
            )  # fmt: skip
        if key in limits or key in others:
            raise InputError(f"{key} is set twice", got=text)
        if key in _OTHERS:
            others[key] = _other(key, value)
        else:
            limits[key] = _limit(key, value)
    if "rate_msg" in others and "load" in others:
        raise InputError(
            "rate_msg and load exclude each other: both set the publish rate",
            got=f"rate_msg={others['rate_msg']:.12g} load={others['load']:.12g}",
            expected="one of them",
        )
    whole = {key: int(others.pop(key)) for key in _WHOLE if key in others}
    return Change(limits, **whole, **others)


def _limit(key: str, value: str) -> int | None:
    period = key.endswith("period_s")
    most = MAX_PERIOD_S if period else MAX_RATE
    if value == _UNLIMITED and not period:
        return None
    try:
        number = int(value)
    except ValueError:
        number = 0
    if not 1 <= number <= most:
        fix = None if period or value not in ("0", "-1") else f"{key}=none lifts the limit"
        raise InputError(
            f"{key}: invalid value",
            got=value or "nothing",
            expected=f"a whole number from 1 to {most}",
            fix=fix,
        )
    return number


def _other(key: str, value: str) -> float:
    low, most = _OTHERS[key]
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    if not low <= number <= most or (key in _WHOLE and number != int(number)):
        whole = "a whole number" if key in _WHOLE else "a number"
        raise InputError(
            f"{key}: invalid value", got=value or "nothing", expected=f"{whole} from {low} to {most}"
        )
    return number
