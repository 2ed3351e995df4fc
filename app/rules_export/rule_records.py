"""Records of rules. In: nothing. Out: types of recording rules, alerting rules, and what defines an exported alert."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from throttlescope.app.rules_export.options import ExportOptions

#: What an alert is about: its summary begins with that, and its link leads there.
Subject: TypeAlias = Literal["subscription", "topic", "broker", "cluster"]


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


@dataclass(frozen=True)
class AlertDefinition:
    """Everything about one exported alert; its sentences are ``exported_rules.alert.NAME`` in the catalogue.

    Attributes
    ----------
    expr : callable
        PromQL by the options of the export.
    labels : mapping
        Its own labels next to ``severity``; ``action`` names the first action for Alertmanager.
    for_ms : int, optional
        How long the expression must be true; None: as the options say.
    first_action : str, optional
        Key of its sentence, where alerts of the same name differ in that.
    real_if : str, optional
        Kind of verdicts that confirm a firing (:mod:`~throttlescope.app.rules_export.preview.kinds`); None: verdicts cannot, they are
        about backlogs.
    """

    name: str
    severity: Literal["critical", "warning", "info"]
    labels: Mapping[str, str]
    expr: Callable[[ExportOptions], str]
    subject: Subject = "subscription"
    for_ms: int | None = None
    first_action: str | None = None
    real_if: str | None = "any"
