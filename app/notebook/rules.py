"""Rules of one's own. In: a rules file of Prometheus' format, an open lake. Out: when alerts would have fired, series, a file to load.

The same text is tried on history here and loaded by a live Prometheus afterwards.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.app.notebook.times import Moment, range_ms
from throttlescope.app.presentation.cause_runs import runs
from throttlescope.app.rules_export.preview.firings import JudgedFiring, VerdictStretch, judge, key_labels
from throttlescope.app.rules_export.preview.kinds import KINDS, kind_of
from throttlescope.app.rules_export.preview.preview_rules import PreviewedRules, exported, typed
from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.subscription_name import SubscriptionName
from throttlescope.ingest.core.times import MINUTE_MS, parse_duration
from throttlescope.transforms.rules import AlertingRule, RuleFile
from throttlescope.transforms.rules.order import check_order
from throttlescope.transforms.rules.remarks import remarks
from throttlescope.transforms.rules.rule_file import read_rule_text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from throttlescope.app.notebook.lake import OpenLake
    from throttlescope.ingest.lake import Lake
    from throttlescope.transforms.rules.preview import Firing
    from throttlescope.transforms.rules.recording_run import RulesResult

_SAID = ("window_start_ms", "window_end_ms", "cause", "side", "limiter", "confidence", "backlog_entries")
_FIRINGS = pa.schema(
    [
        pa.field("alertname", pa.string()),
        pa.field("cluster", pa.string()),
        pa.field("selector", pa.string()),
        pa.field("active_ms", pa.int64()),
        pa.field("start_ms", pa.int64()),
        pa.field("end_ms", pa.int64()),
        pa.field("cause_then", pa.string()),
        pa.field("limiter_then", pa.string()),
        pa.field("said", pa.string()),
        pa.field("labels", pa.map_(pa.string(), pa.string())),
    ]
)


class OwnRules:
    """Rules that were checked; see :meth:`OpenLake.rules`.

    Attributes
    ----------
    text : str
        As YAML.
    file : RuleFile
    remarks : list of str
        Findings that ``promtool`` would report in addition.
    """

    def __init__(self, lake: OpenLake, rules: str | Path) -> None:
        self._lake = lake
        name = str(rules) if isinstance(rules, Path) else "the rules"
        self.text: str = _read(rules) if isinstance(rules, Path) else rules
        self.file: RuleFile = read_rule_text(self.text, name)
        check_order(self.file)
        self.remarks = remarks(self.file)

    def __repr__(self) -> str:
        lines = [
            f"group {group.name}: "
            + ", ".join(
                f"{'alert' if isinstance(rule, AlertingRule) else 'record'} {rule.name}"
                for rule in group.rules
            )
            for group in self.file.groups
        ]
        return "\n".join(["The rules are good.", *lines, *self.remarks])

    def fires(self, start: Moment, end: Moment, *, kind: str | None = None) -> DataFrame:
        """When the alerts would have fired in [start, end), and what the verdicts said then. Nothing is written.

        Parameters
        ----------
        kind : str, optional
            What counts as real: ``limit``, ``consumers``, ``both`` or ``any``; by default what the rule's label ``cause`` says,
            and any trouble where it says nothing.

        Returns
        -------
        DataFrame
            ``alertname``; ``cluster`` and ``selector``, where the labels name a subscription; ``active_ms``, since when the
            condition was true; ``start_ms`` and ``end_ms`` of the firing (NULL: still firing at the end); ``cause_then`` and
            ``limiter_then``, the main verdict meanwhile; ``said``: real, not real or undecided; ``labels``.

        Raises
        ------
        InputError
            There is no alert among the rules, or the range is more than a preview may take.
        """
        return _fires(self._lake, typed(self.text), start, end, kind)

    def record(self, start: Moment, end: Moment, *, interval: str = "1m") -> RulesResult:
        """Evaluate all rules over [start, end) and write their series into the lake, in place of what they wrote there before.

        Raises
        ------
        InputError
            The range is empty, or a rule would replace a metric of the source.
        """
        from throttlescope.transforms.rules.recording_run import run_rules

        return run_rules(
            self._lake.lake, [self.file], *_both(start, end), evaluation_interval_ms=parse_duration(interval)
        )

    def export(self, path: str | Path) -> Path:
        """Write the rules as a file for ``rule_files`` of a Prometheus; a file that is there is replaced whole.

        Raises
        ------
        InputError
            Prometheus would not evaluate them as intended, or the file cannot be written.
        """
        if self.remarks:
            raise InputError("The rules would not be evaluated as intended", got=self.remarks[0])
        path = Path(path)
        part = path.with_name(f"{path.name}.part")
        try:
            part.write_text(self.text, encoding="utf-8")
            os.replace(part, path)
        except OSError as error:
            raise InputError("The rules cannot be written", got=f"{path}: {error.strerror}") from error
        return path


def exported_fires(lake: OpenLake, name: str, start: Moment, end: Moment) -> DataFrame:
    """As :meth:`OwnRules.fires` of an alert that ``throttlescope rules export`` writes.

    Raises
    ------
    InputError
        There is no such alert, or the range is more than a preview may take.
    """
    return _fires(lake, exported(name), start, end, None)


def _fires(lake: OpenLake, rules: PreviewedRules, start: Moment, end: Moment, kind: str | None) -> DataFrame:
    from throttlescope.transforms.promql.budget import Budget
    from throttlescope.transforms.promql.query import DEFAULTS
    from throttlescope.transforms.rules.preview import MOST_CELLS, plan_preview, run_preview

    if kind is not None and kind not in KINDS:
        raise InputError("There is no such kind of alert", got=kind, expected=", ".join(KINDS))
    start_ms, end_ms = _both(start, end)
    plan = plan_preview(lake.lake, rules.file, rules.library, start_ms, end_ms)
    found = run_preview(lake.lake, plan, budget=Budget(MOST_CELLS, DEFAULTS.timeout_s))
    since_ms = min([start_ms, *(min(one.active_ms, one.start_ms) for one in found.firings)])
    stretches = _stretches(lake.lake, found.firings, since_ms, end_ms)
    judged = judge(found.firings, stretches, lambda rule: kind_of(rule, kind), end_ms=end_ms)
    return lake.session.createDataFrame(pa.Table.from_pylist([_row(one) for one in judged], schema=_FIRINGS))


def _stretches(lake: Lake, firings: Sequence[Firing], start_ms: int, end_ms: int) -> list[VerdictStretch]:
    """The verdicts of the topics of firings in [start, end)."""
    wanted = [labels for firing in firings if (labels := key_labels(firing.labels))]
    if not wanted:
        return []
    clusters, topics = ({labels.get(name) for labels in wanted} for name in ("cluster", "topic"))
    where = (pc.field("window_end_ms") > start_ms) & (pc.field("window_start_ms") < end_ms)
    if None not in topics:
        where &= pc.field("topic").isin(sorted(topics))
    rows = lake.read(
        "verdicts",
        columns=[*SUBSCRIPTION_KEY_NAMES, *_SAID],
        where=where,
        partition=None if None in clusters else {"cluster": clusters},
        between={"window_start_ms": (0, end_ms - 1)},
    )
    order = (*SUBSCRIPTION_KEY_NAMES, "window_end_ms", "window_start_ms")
    found = []
    rows = rows.sort_by([(name, "ascending") for name in order]).to_pylist()
    for key, mine in groupby(rows, key=lambda row: tuple(row[name] for name in SUBSCRIPTION_KEY_NAMES)):
        verdicts = list(mine)
        sides = {(row["cause"], row["limiter"]): row["side"] for row in verdicts}
        found += [
            VerdictStretch(
                key, run.start_ms, run.end_ms, sides[run.cause, run.limiter], run.cause, run.limiter
            )
            for run in runs(verdicts)
        ]
    return found


def _row(one: JudgedFiring) -> dict:
    labels = one.firing.labels
    key = key_labels(labels)
    selector = None
    if key.keys() >= {"topic", "subscription"}:
        partition = key.get("partition", "-1")
        number = int(partition) if partition.isdecimal() else None
        selector = str(SubscriptionName(key["topic"], number, key["subscription"]))
    return {
        "alertname": labels["alertname"],
        "cluster": key.get("cluster"),
        "selector": selector,
        "active_ms": one.firing.active_ms,
        "start_ms": one.firing.start_ms,
        "end_ms": one.firing.end_ms,
        "cause_then": one.main_verdict.cause if one.main_verdict else None,
        "limiter_then": one.main_verdict.limiter if one.main_verdict else None,
        "said": one.outcome,
        "labels": list(labels.items()),
    }


def _both(start: Moment, end: Moment) -> tuple[int, int]:
    """A range in whole minutes: rules are evaluated on the grid."""
    start_ms, end_ms = range_ms(start, end)
    return start_ms - start_ms % MINUTE_MS, end_ms + -end_ms % MINUTE_MS


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError("The rules file cannot be read", got=f"{path}: {error}") from error
