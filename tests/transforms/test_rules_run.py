"""Rules into a lake: what is written, replaced and kept; a range at once, in spans and in several runs."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from tests.transforms.lakes import lake_of
from tests.transforms.recorded import bounds_ms, recorded_series
from tests.transforms.rules_in_memory import results_of, scheduled, series_of
from tests.transforms.test_rules_promtool import END_MS, INTERVAL_MS, RULES, random_series
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.times import BLOCK_MS, MINUTE_MS
from throttlescope.transforms.promql.engine import Engine
from throttlescope.transforms.promql.evaluate import evaluate_all
from throttlescope.transforms.promql.matrix import Steps
from throttlescope.transforms.promql.source import MemorySource
from throttlescope.transforms.rules import RULES_FILE, load_rules, read_rule_file
from throttlescope.transforms.rules import recording_run as run_module
from throttlescope.transforms.rules.recording_run import run_rules

#: Not the beginning of an hour, nor of an evaluation.
SHIFT_MS = 1_800_000_000_000 + 45 * MINUTE_MS + 11_000


def shifted(series):
    """The same series, later and in a cluster."""
    return [
        replace(
            one,
            labels={**one.labels, "cluster": "c"},
            timestamps_ms=one.timestamps_ms + SHIFT_MS,
            stale_ms=one.stale_ms + SHIFT_MS,
        )
        for one in series
    ]


def rules_file(tmp_path, text, name="some.rules.yml"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def one_rule(tmp_path, rule):
    return read_rule_file(rules_file(tmp_path, f"groups: [{{name: g, rules: [{{{rule}}}]}}]"))


def stored(lake, but=("m", "c")):
    """All series of a lake but some metrics': times, values and markers by labels."""
    labels_of = {
        row["series_id"]: tuple(sorted({**dict(row["labels"]), "__name__": row["metric_name"]}.items()))
        for row in lake.read("series").to_pylist()
        if row["metric_name"] not in but
    }
    found = {}
    rows = lake.read("samples").to_pylist()
    for row in sorted(rows, key=lambda row: row["block_start_ms"]):
        if row["series_id"] in labels_of:
            series = found.setdefault(labels_of[row["series_id"]], ([], [], []))
            for column, name in zip(series, ("timestamps_ms", "values", "stale_ms"), strict=True):
                column += row[name]
    return found


def files_of(lake):
    return sorted(file.relative_path for file in lake.files("samples"))


def gauge(values, start_ms=SHIFT_MS, **labels):
    """A sample a minute."""
    times_ms = start_ms - start_ms % MINUTE_MS + np.arange(len(values)) * MINUTE_MS
    return series_of({"__name__": "m", **labels}, times_ms.tolist(), values)


@pytest.fixture(scope="module")
def random_lake(tmp_path_factory):
    """A lake of random series, with the results of one run over all of it."""
    folder = tmp_path_factory.mktemp("rules")
    series = shifted(random_series(11))
    path = rules_file(folder, RULES)
    lake = lake_of(folder / "lake", series)
    end_ms = SHIFT_MS + END_MS
    result = run_rules(lake, [read_rule_file(path)], SHIFT_MS, end_ms, evaluation_interval_ms=INTERVAL_MS)
    return lake, series, path, end_ms, result


@pytest.mark.long
def test_lake_gets_the_in_memory_results(random_lake):
    lake, series, path, end_ms, result = random_lake
    results, evaluation = results_of(scheduled(path, INTERVAL_MS), series, SHIFT_MS, end_ms)
    expected = {
        tuple(sorted(one.labels.items())): (
            one.timestamps_ms.tolist(),
            one.values.tolist(),
            one.stale_ms.tolist(),
        )
        for one in results
    }
    assert stored(lake) == expected
    written = result.as_dict()
    assert written["samples"] == sum(len(times) for times, _, _ in expected.values())
    assert written["markers"] == sum(len(stale) for _, _, stale in expected.values())
    assert written["failures"] == sum(one.failures for one in evaluation.outcomes.values()) > 0
    # Two hours at least: blocks are cut there.
    assert len({time - time % BLOCK_MS for times, _, _ in expected.values() for time in times}) >= 2


@pytest.mark.long
def test_a_second_run_changes_nothing(random_lake):
    lake, _, path, end_ms, _ = random_lake
    before = [lake.version(table) for table in ("samples", "series")]
    run_rules(lake, [read_rule_file(path)], SHIFT_MS, end_ms, evaluation_interval_ms=INTERVAL_MS)
    assert [lake.version(table) for table in ("samples", "series")] == before


@pytest.mark.parametrize("cuts_ms", [[30_000], [130_000, 600_000, 601_000, 1_500_000]])
@pytest.mark.long
def test_several_runs_are_one_run(random_lake, tmp_path, cuts_ms):
    whole, series, path, end_ms, _ = random_lake
    lake = lake_of(tmp_path / "lake", series)
    bounds = [SHIFT_MS, *(SHIFT_MS + cut_ms for cut_ms in cuts_ms), end_ms]
    for start_ms, after_ms in pairwise(bounds):
        run_rules(lake, [read_rule_file(path)], start_ms, after_ms, evaluation_interval_ms=INTERVAL_MS)
    assert stored(lake) == stored(whole)
    assert files_of(lake) == files_of(whole)


@pytest.mark.long
def test_short_spans_give_the_same_files(random_lake, tmp_path, monkeypatch):
    whole, series, path, end_ms, result = random_lake
    assert result.spans == 1
    monkeypatch.setattr(run_module, "SPAN_SAMPLES", 1)
    lake = lake_of(tmp_path / "lake", series)
    result = run_rules(lake, [read_rule_file(path)], SHIFT_MS, end_ms, evaluation_interval_ms=INTERVAL_MS)
    assert result.spans == 2
    assert files_of(lake) == files_of(whole)


@pytest.mark.long
def test_many_evaluations_make_short_spans(tmp_path):
    lake = lake_of(tmp_path / "lake", [gauge([1.0] * 130, cluster="c")])
    file = read_rule_file(
        rules_file(tmp_path, "groups: [{name: g, interval: 1s, rules: [{record: r, expr: m}]}]")
    )
    assert run_rules(lake, [file], SHIFT_MS, SHIFT_MS + 2 * BLOCK_MS).spans == 3


@pytest.mark.long
def test_earlier_results_are_replaced_in_range_only(tmp_path):
    lake = lake_of(
        tmp_path / "lake", [gauge([1.0] * 10, cluster="c", i="1"), gauge([2.0] * 10, cluster="c", i="2")]
    )
    start_ms, end_ms = SHIFT_MS - SHIFT_MS % MINUTE_MS, SHIFT_MS - SHIFT_MS % MINUTE_MS + 10 * MINUTE_MS
    run_rules(lake, [one_rule(tmp_path, "record: r, expr: m")], start_ms, end_ms)
    run_rules(lake, [one_rule(tmp_path, "record: r, expr: m, labels: {kind: x}")], start_ms, end_ms)
    middle = start_ms + 4 * MINUTE_MS, start_ms + 6 * MINUTE_MS
    run_rules(lake, [one_rule(tmp_path, "record: r, expr: 'm > 1', labels: {kind: x}")], *middle)
    found = stored(lake, but=("m",))
    by_key = {(dict(labels)["i"], dict(labels).get("kind")): series for labels, series in found.items()}
    minutes = {key: [(t - start_ms) // MINUTE_MS for t in times] for key, (times, _, _) in by_key.items()}
    # The first series ends with a marker at minute 4, and is there again behind the range.
    assert minutes["1", "x"] == [0, 1, 2, 3, 6, 7, 8, 9]
    assert by_key["1", "x"][2] == [middle[0]]
    assert minutes["2", "x"] == [*range(10)]
    # Series of the same name without the rule's label are not the rule's.
    assert minutes["1", None] == minutes["2", None] == [*range(10)]
    assert len(stored(lake, but=("r",))) == 2


def test_results_are_read_like_any_metric(tmp_path):
    lake = lake_of(
        tmp_path / "lake", [gauge([1.0, 2.0], cluster="c", i="1"), gauge([5.0, 5.0], cluster="d", i="2")]
    )
    files = [
        one_rule(tmp_path, "record: all:m, expr: sum(m), labels: {who: us}"),
        read_rule_file(
            rules_file(
                tmp_path, "groups: [{name: h, rules: [{alert: Much, expr: 'all:m > 6'}]}]", "alerts.yml"
            )
        ),
    ]
    start_ms = SHIFT_MS - SHIFT_MS % MINUTE_MS
    run_rules(lake, files, start_ms, start_ms + 2 * MINUTE_MS)
    # The sum over clusters has no cluster, and the catalogue has an empty name for it.
    row = next(row for row in lake.read("series").to_pylist() if row["metric_name"] == "all:m")
    assert (row["cluster"], dict(row["labels"])) == ("", {"who": "us"})
    engine = Engine(lake)
    for query, labels, value in (
        ('all:m{cluster=""}', {"__name__": "all:m", "who": "us"}, 7.0),
        ("increase(all:m[2m])", {"who": "us"}, 2.0),
        ("ALERTS", {"__name__": "ALERTS", "alertname": "Much", "alertstate": "firing", "who": "us"}, 1.0),
        (
            "ALERTS_FOR_STATE",
            {"__name__": "ALERTS_FOR_STATE", "alertname": "Much", "who": "us"},
            start_ms / 1000 + 60,
        ),
    ):
        answer = engine.instant(query, start_ms + MINUTE_MS)
        assert [dict(one) for one in answer.value.labels] == [labels], query
        assert answer.value.values.tolist() == [[value]], query


@pytest.mark.long
def test_alerts_go_on_in_the_next_run(tmp_path):
    values = [1.0] * 6 + [0.0] * 8
    rule = "alert: A, expr: 'm > 0', for: 3m, keep_firing_for: 5m"
    lakes = []
    for name, cuts in (("one", []), ("many", [2, 4, 8, 9])):
        lake = lake_of(tmp_path / name, [gauge(values, cluster="c")])
        start_ms = SHIFT_MS - SHIFT_MS % MINUTE_MS
        bounds = [0, *cuts, len(values)]
        for first, after in pairwise(bounds):
            run_rules(
                lake,
                [one_rule(tmp_path, rule)],
                start_ms + first * MINUTE_MS,
                start_ms + after * MINUTE_MS,
            )
        lakes.append(stored(lake))
    assert lakes[0] == lakes[1]
    firing = next(series for labels, series in lakes[0].items() if dict(labels).get("alertstate") == "firing")
    assert [(t - start_ms) // MINUTE_MS for t in firing[0]] == [*range(3, 11)]


@pytest.mark.long
def test_alerts_restart_after_a_pause(tmp_path):
    lake = lake_of(tmp_path / "lake", [gauge([1.0] * 40, cluster="c")])
    file = one_rule(tmp_path, "alert: A, expr: m, for: 3m")
    start_ms = SHIFT_MS - SHIFT_MS % MINUTE_MS
    run_rules(lake, [file], start_ms, start_ms + 5 * MINUTE_MS)
    run_rules(lake, [file], start_ms + 30 * MINUTE_MS, start_ms + 35 * MINUTE_MS)
    (pending,) = [
        series for labels, series in stored(lake).items() if dict(labels).get("alertstate") == "pending"
    ]
    assert [(t - start_ms) // MINUTE_MS for t in pending[0]] == [0, 1, 2, 30, 31, 32]


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("record: pulsar_subscription_back_log, expr: m", "replace a metric that is read from the source"),
        ("alert: A, expr: m, labels: {v: '{{ $value }}'}", "the label v needs Go's templates"),
    ],
)
def test_rules_that_cannot_be_written_are_refused(tmp_path, rule, words):
    lake = lake_of(tmp_path / "lake", [gauge([1.0], cluster="c")])
    before = files_of(lake)
    with pytest.raises(InputError, match=words):
        run_rules(lake, [one_rule(tmp_path, rule)], SHIFT_MS, SHIFT_MS + BLOCK_MS)
    assert files_of(lake) == before


@pytest.mark.long
def test_shipped_rules_equal_columns_of_signals(tmp_path):
    rules = load_rules()
    metrics = {selector.metric_name for rule in rules for selector in rule.selectors}
    series = recorded_series("unload-throttled", metrics)
    first_ms, last_ms = bounds_ms(series)
    lake = lake_of(tmp_path / "lake", series)
    result = run_rules(lake, [read_rule_file(RULES_FILE)], first_ms, last_ms)
    assert result.failures == 0
    start_ms = first_ms + -first_ms % MINUTE_MS
    steps = Steps(start_ms, last_ms - 1 - (last_ms - 1) % MINUTE_MS, MINUTE_MS)
    found = stored(lake, but=metrics)
    compared = 0
    for rule, value in zip(
        rules, evaluate_all([rule.plan for rule in rules], MemorySource(series), steps), strict=True
    ):
        for labels, values, present in zip(value.labels, value.values, value.present, strict=True):
            times, stored_values, _ = found[tuple(sorted((*labels, ("__name__", rule.name))))]
            assert times == steps.times_ms[present].tolist(), rule.name
            assert stored_values == values[present].tolist(), rule.name
            compared += 1
    assert compared > 20
