"""Records of rules. In: nothing. Out: types of recording and alerting rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class ExportedRecording:
    """A recording rule; ``why`` is written above it."""

    record: str
    expr: str
    labels: Mapping[str, str] = field(default_factory=dict)
    why: str = ""


@dataclass(frozen=True)
class Alerting:
    """An alerting rule.

    Attributes
    ----------
    for_ms : int
        How long its expression must be true.
    labels : mapping
        Including ``severity``.
    annotations : mapping
        Go templates.
    """

    alert: str
    expr: str
    for_ms: int
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    why: str = ""
