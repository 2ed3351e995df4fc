"""The rules of a preview. In: the name of an exported alert, or the text of a rules file. Out: rules that were checked, and those they may read."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from throttlescope.app.rules_export.document import rules_text
from throttlescope.app.rules_export.export import all_rules, check
from throttlescope.app.rules_export.options import ExportOptions
from throttlescope.app.rules_export.rule_records import Alerting, ExportedRecording
from throttlescope.ingest.core.errors import InputError
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.language import current
from throttlescope.transforms.rules.order import check_order
from throttlescope.transforms.rules.rule_file import AlertingRule, RuleFile, read_rule_text

#: Used in messages in place of a file name.
_TYPED = "the rule"


@dataclass(frozen=True)
class PreviewedRules:
    """The rules of a preview.

    Attributes
    ----------
    file : RuleFile
        The alerts, and the recording rules of the same text.
    library : RuleFile
        The exported recording rules: alerts may read them.
    text : str
        The rules as YAML.
    """

    file: RuleFile
    library: RuleFile
    text: str

    @property
    def alerts(self) -> list[AlertingRule]:
        return [rule for rule in self.file.rules if isinstance(rule, AlertingRule)]


@dataclass(frozen=True)
class ExportedAlert:
    """One alert of the export; some names have several rules."""

    name: str
    severities: tuple[str, ...]
    cause: str | None
    first_action: str


def exported_alerts() -> tuple[ExportedAlert, ...]:
    """Alerts of the export, in its order."""
    return _exported_alerts(current())


@cache
def _exported_alerts(language: str) -> tuple[ExportedAlert, ...]:
    """``language`` is the current one: annotations are made in it."""
    found: dict[str, list[Alerting]] = {}
    for rule in _alerting():
        found.setdefault(rule.alert, []).append(rule)
    return tuple(
        ExportedAlert(
            name,
            tuple(dict.fromkeys(rule.labels["severity"] for rule in rules)),
            rules[0].labels.get("cause"),
            rules[0].annotations["first_action"],
        )
        for name, rules in found.items()
    )


def exported(name: str) -> PreviewedRules:
    """The alert of that name with default options.

    Raises
    ------
    InputError
        There is none.
    """
    rules = [rule for rule in _alerting() if rule.alert == name]
    if not rules:
        raise InputError(
            "There is no exported alert of this name",
            got=name[:200],
            expected=", ".join(one.name for one in exported_alerts()),
        )
    text = rules_text(rules, ExportOptions(), sentence("exported_rules.file.one_alert"))
    return PreviewedRules(read_rule_text(text, "exported rules"), _library(), text)


def typed(text: str) -> PreviewedRules:
    """Custom rules, checked as ``throttlescope rules check`` does.

    Raises
    ------
    InputError
        What is wrong, with its line.
    """
    file = read_rule_text(text, _TYPED)
    check_order(file)
    previewed = PreviewedRules(file, _library(), text)
    if not previewed.alerts:
        raise InputError(
            "There is no alerting rule in this text", expected="groups: with a rule that has alert: and expr:"
        )
    return previewed


def _alerting() -> list[Alerting]:
    return [rule for rule in all_rules(ExportOptions()) if isinstance(rule, Alerting)]


@cache
def _library() -> RuleFile:
    options = ExportOptions()
    recording = [rule for rule in all_rules(options) if isinstance(rule, ExportedRecording)]
    text = rules_text(recording, options, "")
    check(text)
    return read_rule_text(text, "recording rules of the export")
