"""Rules files checked, and evaluated over a range of a lake. In: paths, a lake. Out: one plain dict per file, or a `RulesResult`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from throttlescope.app.pipeline.events import SILENT, Progress
from throttlescope.ingest.core.errors import InputError
from throttlescope.models.messages.units import minute_text
from throttlescope.transforms.rules import RULES_FILE, AlertingRule, read_rule_file
from throttlescope.transforms.rules.order import check_order
from throttlescope.transforms.rules.remarks import remarks
from throttlescope.transforms.rules.rule_file import promtool_accepts
from throttlescope.transforms.rules.run import RulesResult, RunProgress, run_rules

if TYPE_CHECKING:
    from throttlescope.ingest.lake import Lake

_BAR = 24


def check_rule_files(paths: Sequence[Path]) -> list[dict[str, Any]]:
    """What is in each file, and its fault where it is refused."""
    return [_checked(path) for path in paths]


def evaluate_rule_files(
    lake: Lake,
    paths: Sequence[Path] | None,
    start_ms: int,
    end_ms: int,
    *,
    interval_ms: int,
    lookback_ms: int,
    progress: Progress = SILENT,
) -> RulesResult:
    """Evaluate rules over a range and write their series; without paths the shipped ones.

    Raises
    ------
    InputError
        A file is refused, the range is empty, or the lake has no samples.
    """
    files = [read_rule_file(path) for path in paths or [RULES_FILE]]
    if lake.version("samples") is None:
        raise InputError(
            "There are no samples in this lake",
            got=lake.root,
            fix="read some with throttlescope ingest --lake DIR, or try throttlescope demo",
        )
    with progress.step("Evaluating rules"):
        result = run_rules(
            lake,
            files,
            start_ms,
            end_ms,
            evaluation_interval_ms=interval_ms,
            lookback_ms=lookback_ms,
            progress=lambda now: progress.note(_bar(now)),
        )
        progress.note(f"{sum(rule.outcome.samples for rule in result.rules):,} samples")
    return result


def _checked(path: Path) -> dict[str, Any]:
    row: dict[str, Any] = {"file": str(path), "fault": None, "promtool_accepts": True, "remarks": []}
    counts = {"groups": None, "recording_rules": None, "alerting_rules": None}
    try:
        file = read_rule_file(path)
        check_order(file)
    except InputError as error:
        return row | counts | {"fault": str(error), "promtool_accepts": promtool_accepts(error)}
    found = remarks(file)
    alerting = sum(isinstance(rule, AlertingRule) for rule in file.rules)
    return row | {
        "groups": len(file.groups),
        "recording_rules": len(list(file.rules)) - alerting,
        "alerting_rules": alerting,
        "promtool_accepts": not any("promtool" in remark for remark in found),
        "remarks": found,
    }


def _bar(now: RunProgress) -> str:
    full = round(now.share * _BAR)
    bar = "#" * full + "." * (_BAR - full)
    return f"{bar} {100 * now.share:.0f} %, at {minute_text(now.at_ms)} UTC, {now.samples:,} samples"
