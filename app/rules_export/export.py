"""The export. In: options and folders. Out: a rules file for Prometheus and inhibition rules for Alertmanager, checked before they are written; dashboards."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from throttlescope.app.rules_export.alert_rules import alerts, cause_rules
from throttlescope.app.rules_export.dashboards import dashboard_text, dashboards
from throttlescope.app.rules_export.document import inhibit_text, rules_text
from throttlescope.app.rules_export.inhibit import inhibit_rules
from throttlescope.app.rules_export.limiter_rules import limiter_rules
from throttlescope.app.rules_export.options import ExportOptions
from throttlescope.app.rules_export.rule_records import Alerting, ExportedRecording
from throttlescope.app.rules_export.signal_rules import backlog_rules, queue_rules, signal_rules
from throttlescope.app.rules_export.specification import specification_alerts, specification_rules
from throttlescope.ingest.core.errors import InputError
from throttlescope.models.messages.catalogue import sentence
from throttlescope.transforms.rules.order import check_order
from throttlescope.transforms.rules.remarks import remarks
from throttlescope.transforms.rules.rule_file import read_rule_file

RULES_NAME, INHIBIT_NAME = "throttlescope.live.rules.yml", "throttlescope.inhibit.yml"


@dataclass(frozen=True)
class WrittenFiles:
    """A file of the export."""

    path: Path
    recording_rules: int = 0
    alerting_rules: int = 0
    inhibit_rules: int = 0
    panels: int = 0


def all_rules(options: ExportOptions) -> list[ExportedRecording | Alerting]:
    """Every rule, each after the rules that it reads."""
    return [
        *signal_rules(options),
        *backlog_rules(options),
        *queue_rules(options),
        *limiter_rules(options),
        *cause_rules(options),
        *specification_rules(options),
        *alerts(options),
        *specification_alerts(options),
    ]


def export_files(
    rules: Path | None, dashboards_folder: Path | None, options: ExportOptions
) -> list[WrittenFiles]:
    """Write the rules into one folder, Grafana's dashboards of their series into another; either may be None.

    Raises
    ------
    InputError
        Both are None, or as :func:`export_rules`.
    """
    if rules is None and dashboards_folder is None:
        raise InputError(
            "The folder for the rules is missing",
            fix="add --out DIR, or --dashboards DIR for the dashboards alone",
        )
    written = [] if rules is None else export_rules(rules, options)
    return (
        written if dashboards_folder is None else [*written, *export_dashboards(dashboards_folder, options)]
    )


def export_dashboards(folder: Path, options: ExportOptions) -> list[WrittenFiles]:
    """Write Grafana's dashboards into a folder, creating it if needed.

    Raises
    ------
    InputError
        The folder cannot be written.
    """
    documents = dashboards(options)
    written = [
        WrittenFiles(folder / f"{name}.json", panels=len(document["panels"]))
        for name, document in documents.items()
    ]
    _write(folder, [(one.path, dashboard_text(one.path.stem, options)) for one in written], "--dashboards")
    return written


def export_rules(folder: Path, options: ExportOptions) -> list[WrittenFiles]:
    """Write the export into a folder, creating it if needed.

    Raises
    ------
    InputError
        The folder cannot be written, or Prometheus could not evaluate the rules; then nothing is written.
    """
    rules = all_rules(options)
    text = rules_document(options)
    alerting = sum(isinstance(rule, Alerting) for rule in rules)
    inhibit = inhibit_rules()
    written = [
        WrittenFiles(folder / RULES_NAME, len(rules) - alerting, alerting),
        WrittenFiles(folder / INHIBIT_NAME, inhibit_rules=len(inhibit)),
    ]
    _write(
        folder,
        [(one.path, content) for one, content in zip(written, (text, inhibit_document()), strict=True)],
        "--out",
    )
    return written


def rules_document(options: ExportOptions) -> str:
    """The rules file, checked; raises as :func:`check`."""
    text = rules_text(all_rules(options), options, sentence("exported_rules.file.rules"))
    check(text)
    return text


def inhibit_document() -> str:
    """The part ``inhibit_rules`` of Alertmanager's configuration."""
    return inhibit_text(inhibit_rules(), sentence("exported_rules.file.inhibit"))


def check(text: str) -> None:
    """Raise for rules that Prometheus with default flags would not load, or could not evaluate.

    Raises
    ------
    InputError
        As for any rules file, or a remark about what promtool would say.
    """
    with tempfile.TemporaryDirectory(prefix="throttlescope-") as folder:
        path = Path(folder) / RULES_NAME
        path.write_text(text, encoding="utf-8")
        file = read_rule_file(path)
    check_order(file)
    found = remarks(file)
    if found:
        raise InputError("The rules would not be evaluated as intended", got=found[0])


def _write(folder: Path, files: list[tuple[Path, str]], option: str) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, text in files:
            _replace(path, text)
    except OSError as error:
        raise InputError(
            f"The {'rules' if option == '--out' else 'dashboards'} cannot be written",
            got=f"{folder}: {error.strerror}",
            fix=f"choose another folder with {option}",
        ) from error


def _replace(path: Path, text: str) -> None:
    # A Prometheus that reloads meanwhile sees the old file or the new one.
    part = path.with_name(f"{path.name}.part")
    part.write_text(text, encoding="utf-8")
    os.replace(part, path)
