"""Rules over series in memory. In: rules files and series. Out: what the rules write, and promtool's word on it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tests.lab.parts import promtool_binary
from throttlescope.transforms.promql.matrix import Steps
from throttlescope.transforms.promql.operators import select
from throttlescope.transforms.promql.source import MemorySource, Series, join
from throttlescope.transforms.rules import AlertingRule, read_rule_file
from throttlescope.transforms.rules.order import Scheduled, schedule
from throttlescope.transforms.rules.result_series import first_wins
from throttlescope.transforms.rules.span_evaluation import RuleEvaluation

LOOKBACK_MS = 300_000


def scheduled(path: Path, interval_ms: int) -> list[Scheduled]:
    return schedule([read_rule_file(path)], interval_ms)


def results_of(
    rules: Sequence[Scheduled],
    series: Sequence[Series],
    start_ms: int,
    end_ms: int,
    spans: Sequence[int] = (),
) -> tuple[list[Series], RuleEvaluation]:
    """What rules write in [start, end), evaluated in spans that end at ``spans`` and at the end."""
    evaluation = RuleEvaluation(rules)
    found: dict[tuple, dict[int, list[Series]]] = {}
    earlier: list[Series] = []
    for first, after in zip([start_ms, *spans], [*spans, end_ms], strict=True):

        def keep(rule: Scheduled, written) -> None:
            for labels, one in written.series.items():
                cut = one.cut(dict(labels), -(2**62), 2**62)
                found.setdefault(labels, {}).setdefault(rule.number, []).append(cut)

        evaluation.span(MemorySource([*series, *earlier]), first, after, finished=keep)
        earlier = [
            first_wins([first_wins(by_rule[number]) for number in sorted(by_rule)])
            for by_rule in found.values()
        ]
    return earlier, evaluation


def series_of(labels: dict[str, str], times_ms: Sequence[int], values: Sequence[float | None]) -> Series:
    """A series in which None is a staleness marker."""
    samples = [(t, v) for t, v in zip(times_ms, values, strict=True) if v is not None]
    return Series(
        labels,
        np.array([t for t, _ in samples], np.int64),
        np.array([v for _, v in samples], np.float64),
        np.array([t for t, v in zip(times_ms, values, strict=True) if v is None], np.int64),
    )


def vectors_of(results: Sequence[Series], times_ms: Sequence[int]) -> list[dict[tuple, float]]:
    """What an instant selector shows of results, at each time."""
    steps = Steps(times_ms[0], times_ms[-1], times_ms[1] - times_ms[0])
    matrix = select.instant(join(results), steps.times_ms, LOOKBACK_MS)
    return _columns(matrix)


def written_at(results: Sequence[Series], times_ms: Sequence[int]) -> list[dict[tuple, float]]:
    """Samples of results at exactly each time."""
    found: list[dict[tuple, float]] = [{} for _ in times_ms]
    column = {t: n for n, t in enumerate(times_ms)}
    for one in results:
        for t, v in zip(one.timestamps_ms.tolist(), one.values.tolist(), strict=True):
            if t in column:
                found[column[t]][tuple(sorted(one.labels.items()))] = v
    return found


def _columns(matrix) -> list[dict[tuple, float]]:
    found: list[dict[tuple, float]] = [{} for _ in range(matrix.steps)]
    for labels, values, present in zip(matrix.labels, matrix.values, matrix.present, strict=True):
        for column in np.flatnonzero(present).tolist():
            found[column][labels] = float(values[column])
    return found


def promtool_objections(
    folder: Path,
    rules_file: Path,
    rules: Sequence[Scheduled],
    series: Sequence[Series],
    data_interval_ms: int,
    results: Sequence[Series],
    times_ms: Sequence[int],
    groups: Sequence[str],
) -> str:
    """What ``promtool test rules`` says against results; empty where it agrees.

    The rules run at the steps of ``times_ms`` from 0 on, and at each of them promtool compares what can be seen, and what
    was written at that very moment; of alerts also which are firing.
    """
    interval_ms = times_ms[1] - times_ms[0]
    names = sorted({one.labels["__name__"] for one in results})
    selector = '{__name__=~"' + "|".join(names) + '"}'
    seen = vectors_of(results, times_ms)
    here = written_at(results, times_ms)
    offsets_ms = {rule.rule.name: rule.offset_ms for rule in rules if isinstance(rule.rule, AlertingRule)}
    tests = {
        "interval": f"{data_interval_ms}ms",
        "input_series": [
            {"series": text_of(tuple(sorted(one.labels.items()))), "values": _values(one, data_interval_ms)}
            for one in series
        ],
        "promql_expr_test": [
            {"expr": expr, "eval_time": f"{t}ms", "exp_samples": _samples(vector)}
            for n, t in enumerate(times_ms)
            for expr, vector in (
                (selector, seen[n]),
                (f"last_over_time({selector}[{interval_ms - 1}ms])", here[n]),
            )
        ],
        "alert_rule_test": [
            {"eval_time": f"{t}ms", "alertname": name, "exp_alerts": _firing(written, name)}
            for name, offset_ms in offsets_ms.items()
            for t, written in zip(
                times_ms, written_at(results, [t - offset_ms for t in times_ms]), strict=True
            )
        ],
    }
    path = folder / "unit-test.yml"
    content = {
        "rule_files": [str(rules_file)],
        "evaluation_interval": f"{interval_ms}ms",
        "group_eval_order": list(groups),
        "tests": [tests],
    }
    path.write_text(json.dumps(content).replace("Infinity", ".inf"))
    done = subprocess.run(
        [str(promtool_binary()), "test", "rules", str(path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (done.returncode == 0) == ("SUCCESS" in done.stdout), done.stdout + done.stderr
    return "" if done.returncode == 0 else " ".join((done.stdout + done.stderr).split())[:4000]


def text_of(labels: tuple) -> str:
    """A series as PromQL writes it."""
    named = dict(labels)
    rest = ",".join(f"{name}={json.dumps(value)}" for name, value in labels if name != "__name__")
    return f"{named['__name__']}{{{rest}}}"


def _samples(vector: dict[tuple, float]) -> list[dict]:
    return [{"labels": text_of(labels), "value": value} for labels, value in vector.items()]


def _firing(vector: dict[tuple, float], name: str) -> list[dict]:
    alerts = []
    for labels in map(dict, vector):
        found = labels.pop("__name__"), labels.pop("alertname", None), labels.pop("alertstate", None)
        if found == ("ALERTS", name, "firing"):
            # A label that came out empty is not the alert's, though its series has the template's text.
            own = {name: value for name, value in labels.items() if "{{" not in value}
            alerts.append({"exp_labels": own})
    return alerts


def _values(series: Series, interval_ms: int) -> str:
    by_time = dict(zip(series.timestamps_ms.tolist(), map(repr, series.values.tolist()), strict=True))
    by_time |= dict.fromkeys(series.stale_ms.tolist(), "stale")
    last = max(by_time)
    return " ".join(by_time.get(t, "_").replace("inf", "Inf") for t in range(0, last + 1, interval_ms))
