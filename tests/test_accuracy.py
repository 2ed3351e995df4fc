"""The accuracy page: what is done to recordings by hand-made series, and the shipped recordings' figures recomputed."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, replace

import numpy as np
import pyarrow as pa
import pytest

from tests.accuracy import page as pages
from tests.accuracy.__main__ import MEASURED, PAGE, README, README_CHINESE, measured_text
from tests.accuracy.altered import ALTERED, filter_rejects, phantom_backlog, read_limit
from tests.accuracy.attempts import Attempts, attempts_of
from tests.accuracy.evidence import (
    READY,
    with_imprecise_backlog,
    with_long_scrapes,
    without_consumer_metrics,
    without_either,
    without_limits,
)
from tests.accuracy.figures import of_set
from tests.accuracy.fleets import FLEETS_THAT_JUDGE, fleet_folders
from tests.accuracy.judging import judge_all
from tests.accuracy.recorded import DROPPED_FILES, Recorded, folders, read
from tests.accuracy.signals import with_broker_use
from tests.accuracy.targets import JUDGES, PROFILES, targets
from tests.lab.geo.sets import GEO_SETS
from tests.lab.reads.sets import READS_SETS
from tests.lab.sets import title
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.contracts.vocabulary import CAUSES
from throttlescope.ingest.core.metrics import BACKLOG
from throttlescope.transforms.minutes import SCHEMA
from throttlescope.transforms.promql.source import Series

TIMES_MS = np.arange(8, dtype=np.int64) * 15_000 + 1_795_000_200_000
TOPIC = {"cluster": "a", "namespace": "lab/x", "topic": "persistent://lab/x/orders", "partition": "-1"}


def series(name: str, values, times_ms=TIMES_MS, subscription="billing", **labels) -> Series:
    key = {"__name__": name, **TOPIC, "subscription": subscription, "instance": "one:8080", **labels}
    return Series(key, times_ms, np.resize(np.asarray(values, float), len(times_ms)))


def true(cause: str, start_ms: int = 0, side: str = "neither") -> dict:
    return {
        **TOPIC, "partition": -1, "subscription": "billing", "start_ms": start_ms, "end_ms": start_ms + 1, "side": side,
        "cause": cause, "limiter": None, "family": "f", "recording": "a", "kept_aside": False,
    }  # fmt: skip


def recorded(*found: Series, truth=()) -> Recorded:
    empty = {name: TABLES[name].loose_schema.empty_table() for name in ("limits", "topic_stats")}
    return Recorded(
        "a", 15, found, **empty, truth=pa.Table.from_pylist(list(truth), schema=TABLES["truth"].loose_schema)
    )


def named(found: Recorded, name: str) -> list[Series]:
    return [one for one in found.series if one.labels["__name__"] == name]


# -- evidence taken away ---------------------------------------------------------------------------


def test_without_limits_drops_admin_api():
    whole = read(folders("shipped")[0])
    assert whole.limits.num_rows
    assert whole.topic_stats.num_rows
    less = without_limits(whole)
    assert (less.limits.num_rows, less.topic_stats.num_rows) == (0, 0)
    assert less.limits.schema == whole.limits.schema
    assert less.series == whole.series


def test_without_consumer_metrics_drops_consumer_series():
    whole = recorded(
        series(BACKLOG, [1]),
        series("pulsar_consumer_available_permits", [1], consumer_name="c"),
        series("pulsar_out_messages_total", [1]),
        series("pulsar_out_messages_total", [1], consumer_name="c", consumer_id="0"),
        series("pulsar_out_messages_total", [1], consumer_id="0"),
    )
    kept = [one.labels["__name__"] for one in without_consumer_metrics(whole).series]
    assert kept == [BACKLOG, "pulsar_out_messages_total"]
    assert len(without_either(whole).series) == 2


def test_imprecise_backlog_has_one_offset():
    """It is never negative."""
    precise = np.array([0.0, 10.0, 100.0, 30_000.0, 60_000.0, 90_000.0, 50.0, 5.0])
    amounts = []
    for n in range(40):
        name = f"s{n}"
        whole = recorded(
            series(BACKLOG, precise, subscription=name), series(READY, precise - 5, subscription=name)
        )
        less = with_imprecise_backlog(whole)
        (backlog,), (ready,) = named(less, BACKLOG), named(less, READY)
        (amount,) = set((backlog.values - precise).tolist()) - {0.0}
        assert list(backlog.values) == [v + amount if v + amount >= 0 else v for v in precise]
        assert list(ready.values - (precise - 5)) == list(backlog.values - precise)
        assert with_imprecise_backlog(whole).series[0].values.tolist() == backlog.values.tolist()
        amounts.append(amount)
    assert min(amounts) < 0 < max(amounts)
    assert max(abs(amount) for amount in amounts) <= 44_708
    assert len(set(amounts)) > 20


def test_long_scrapes_keep_whole_broker_scrapes():
    later = TIMES_MS + 4000
    whole = recorded(
        series(BACKLOG, range(8)),
        # Begins with the second scrape: it is kept when the broker's scrapes are, not by its own count.
        series(READY, range(1, 8), TIMES_MS[1:]),
        series(BACKLOG, range(8), later, subscription="other", instance="two:8080"),
    )
    first, second, third = with_long_scrapes(whole).series
    assert (first.timestamps_ms.tolist(), first.values.tolist()) == (TIMES_MS[::4].tolist(), [0.0, 4.0])
    assert (second.timestamps_ms.tolist(), second.values.tolist()) == ([int(TIMES_MS[4])], [4.0])
    assert third.timestamps_ms.tolist() == later[::4].tolist()
    assert with_long_scrapes(replace(whole, scrape_interval_s=60)).series[0].values.tolist() == list(range(8))


def test_series_of_a_scrape_share_time():
    whole = read(folders("shipped")[0])
    longest = max(len(one.timestamps_ms) for one in whole.series)
    assert len({at for one in whole.series for at in one.timestamps_ms.tolist()}) == longest


# -- causes written in -----------------------------------------------------------------------------


def test_phantom_backlog_alters_healthy_states_only():
    """Backlog and ready part are both larger."""
    whole = recorded(
        series(BACKLOG, [5]), series(READY, [4]), series("pulsar_out_messages_total", range(8)),
        truth=[true("healthy"), true("throttled", 10, "throttle")],
    )  # fmt: skip
    found = phantom_backlog(whole)
    assert named(found, BACKLOG)[0].values.tolist() == [44_713.0] * 8
    assert named(found, READY)[0].values.tolist() == [44_712.0] * 8
    assert named(found, "pulsar_out_messages_total")[0].values.tolist() == list(range(8))
    assert [(row["cause"], row["side"]) for row in found.truth.to_pylist()] == [
        ("phantom_backlog", "neither")
    ]
    assert phantom_backlog(replace(whole, truth=whole.truth.slice(1))) is None


SLOW = (
    series("pulsar_out_messages_total", range(0, 80, 10)),
    series("pulsar_out_messages_total", range(8), consumer_name="c"),
    series("pulsar_out_messages_total", range(8), subscription="other"),
    series("pulsar_consumer_available_permits", [-3], consumer_name="c"),
    series("pulsar_consumer_available_permits", [7], subscription="other", consumer_name="d"),
    series("pulsar_subscription_unacked_messages", [500]),
    series("pulsar_subscription_filter_processed_msg_count", [0]),
    series("pulsar_subscription_filter_rescheduled_msg_count", [0], subscription="other"),
    Series({"__name__": "pulsar_broker_rate_out", "cluster": "a", "instance": "one:8080"}, TIMES_MS, np.zeros(8)),
)  # fmt: skip
SLOW_TRUTH = [true("slow_consumers", 0, "consumer_capacity"), true("healthy", 10), true("both", 20, "both")]


def test_filter_reschedules_two_of_three():
    """The consumers have permits."""
    found = filter_rejects(recorded(*SLOW, truth=SLOW_TRUTH))
    assert [row["cause"] for row in found.truth.to_pylist()] == ["filter_rejects", "healthy"]
    (processed,) = named(found, "pulsar_subscription_filter_processed_msg_count")
    mine, others = sorted(
        named(found, "pulsar_subscription_filter_rescheduled_msg_count"), key=lambda one: one.labels["subscription"]
    )  # fmt: skip
    assert processed.values.tolist() == [30.0 * n for n in range(8)]
    assert mine.values.tolist() == [20.0 * n for n in range(8)]
    assert (processed.labels["subscription"], others.values.max()) == ("billing", 0)
    permits = {
        one.labels["consumer_name"]: one.values[0]
        for one in named(found, "pulsar_consumer_available_permits")
    }
    assert permits == {"c": 1000.0, "d": 7.0}
    assert named(found, "pulsar_subscription_unacked_messages")[0].values.max() == 0
    assert filter_rejects(recorded(*SLOW, truth=SLOW_TRUTH[1:])) is None


def test_the_memory_for_reads_is_used_up():
    found = read_limit(recorded(*SLOW, truth=SLOW_TRUTH))
    (held,), (free,) = (
        named(found, f"pulsar_ml_reads_{name}_bytes") for name in ("inflight", "available_inflight")
    )
    assert set(held.values + free.values) == {256 * 1024 * 1024}
    assert max(free.values) / (256 * 1024 * 1024) == pytest.approx(0.02)
    assert (free.labels["instance"], min(free.values)) == ("one:8080", 0)
    assert [row["cause"] for row in found.truth.to_pylist()] == ["read_limit", "healthy"]


# -- signals ---------------------------------------------------------------------------------------


def test_broker_use_is_summed_per_minute():
    """Unknown use is left out."""

    def row(subscription, minute_ms, use, broker="one:8080", limit=100):
        whole = dict.fromkeys(SCHEMA.names)
        return whole | {
            **TOPIC, "partition": -1, "subscription": subscription, "minute_ms": minute_ms, "broker": broker,
            "use_msg_per_s": use, "limit_broker_msg": limit, "limit_broker_period_s": 2,
        }  # fmt: skip

    rows = [
        row("a", 0, 10.0), row("b", 0, 20.0), row("c", 0, None), row("d", 0, 5.0, "two:8080"), row("a", 60_000, 1.0),
        row("e", 0, 7.0, None), row("b", 60_000, 1.0, limit=None), row("f", 120_000, None),
    ]  # fmt: skip
    found = with_broker_use(pa.Table.from_pylist(rows, schema=SCHEMA))
    rho = {(one["subscription"], one["minute_ms"]): one["rho_broker_msg"] for one in found.to_pylist()}
    assert rho == {
        ("a", 0): 0.6, ("b", 0): 0.6, ("c", 0): 0.6, ("d", 0): 0.1, ("a", 60_000): 0.04, ("e", 0): None, ("b", 60_000): None,
        ("f", 120_000): None,
    }  # fmt: skip
    assert found.schema == TABLES["signals"].loose_schema


# -- the page --------------------------------------------------------------------------------------


def test_only_held_out_set_meets_targets():
    def part(f1, unknown):
        share = {"value": 1.0, "count": 0}
        rule = {
            "cause": {"macro_f1": f1, "unknown": {"value": unknown}, "classes": {}},
            "side": {"mostly_wrong": [], "right_when_answered": share},
            "healthy_called_throttled": share, "healthy_answered": share,
        }  # fmt: skip
        return {"ours": rule, "limiter_right": {"value": None}, "switch_named": share}

    less = ("no limits", "no consumer metrics", "neither")
    sets = {
        JUDGES: {"full": part(0.9, 0.05)} | dict.fromkeys(less, part(0.93, 0.31)),
        "shipped": dict.fromkeys(("full", *less), part(1.0, 0.0)),
    }
    lines = {line.split(" | ")[0][2:]: line.split(" | ")[3] for line in targets({"sets": sets}).splitlines()}
    assert lines["macro-F1 over causes"] == "no"
    assert lines["unknown"] == "yes"
    assert lines["without limits: unknown"] == "no"
    assert lines["limiter right, given throttled"] == "nothing to count"
    # The defaults' targets stand next to the Helm chart's.
    assert lines["broker defaults: macro-F1 over causes"] == "yes"
    assert lines["broker defaults: unknown"] == "no"
    assert lines["key_shared_blocked: F1"] == "nothing to count"
    del sets[JUDGES]
    assert "not measured yet" in targets({"sets": sets})
    assert " yes " not in targets({"sets": sets})


def test_readme_has_figures_of_each_profile():
    """Of the set that judges, as on the page."""
    text, judged = README.read_text(), json.loads(MEASURED.read_text())["sets"]
    full, *_ = PROFILES
    if not fleet_folders(FLEETS_THAT_JUDGE):
        assert f"| {full} | {judged[JUDGES]['cause_macro_f1']:.3f} |" in text
    assert all(f"| {profile} | " in text for profile in PROFILES)


def test_chinese_readme_has_the_same_figures():
    table = re.compile(r"<!-- measured: readme\w* -->\n(.*?)<!-- end -->", re.DOTALL)
    tables = [table.search(page.read_text(encoding="utf-8"))[1] for page in (README, README_CHINESE)]
    figures = [[row.split(" | ")[1:] for row in table.splitlines()[2:]] for table in tables]
    assert figures[0] == figures[1]
    assert len(figures[0]) == len(PROFILES)
    assert all(f"| {pages.CHINESE[profile]} | " in tables[1] for profile in PROFILES)


def test_the_readme_prefers_held_out_fleets():
    share = {"value": 0.5}
    ours = {"cause": {"macro_f1": 0.9, "unknown": share}, "side": {"right_when_answered": share}}
    one = {"macro_f1": 0.7, "side_right_when_answered": share, "unknown": share}
    sets = {JUDGES: {evidence: {"ours": ours} for evidence, _ in PROFILES.values()}}
    assert pages.readme({"sets": sets}).count("0.900") == 3
    text = pages.readme({"sets": sets, "fleets": {FLEETS_THAT_JUDGE: {"default": one}}})
    assert (text.count("0.900"), text.count("0.700")) == (2, 1)


def test_dropped_and_repeated_attempts_are_counted(tmp_path):
    dropped = tmp_path / "dropped.json"
    rows = [{"scenario": name, "status": "dropped"} for name in ("a", "a", "b", "c")]
    rows.append({"scenario": "d", "status": "voided"})
    dropped.write_text(json.dumps({"format": 1, "rows": rows}))
    assert attempts_of(dropped, ["a", "b", "d"]) == Attempts(3, 4, 1, 3, ("c",))
    assert attempts_of(tmp_path / "none.json", ["a"]) == Attempts(1, 0, 0, 0, ())


def test_the_page_counts_the_dropped_attempts():
    text = PAGE.read_text()
    by_set = {
        name: asdict(attempts_of(file, [folder.name for folder in folders(name)]))
        for name, file in DROPPED_FILES.items()
    }
    for line in pages.attempts({"attempts": by_set}).splitlines():
        assert f"{line}\n" in text


def test_causes_without_truth_are_named_as_unmeasured():
    found = json.loads(MEASURED.read_text())
    recorded = {cause for part in found["sets"].values() for cause in part["causes"]}
    recorded |= {
        cause for sets in found["subjects"].values() for part in sets.values() for cause in part["causes"]
    }
    text = PAGE.read_text()
    for cause in set(CAUSES) - recorded - {"unknown"}:
        says = "samples with the cause written in" if cause in ALTERED else "nothing: unmeasured"
        assert f"| {cause} | {says} |" in text
    assert "*Abandoned*" in text


@pytest.mark.long
def test_replicating_clusters_under_one_label_are_unknown():
    """Two clusters that replicate to each other, both called ``geo``: what is published to a topic is a sum of both."""

    def under_one_label(found: Recorded) -> Recorded:
        series = tuple(replace(one, labels={**one.labels, "cluster": "geo"}) for one in found.series)
        tables = {name: in_one_cluster(getattr(found, name)) for name in ("limits", "topic_stats", "truth")}
        return replace(found, series=series, **tables)

    def in_one_cluster(table: pa.Table) -> pa.Table:
        return pa.Table.from_pylist(
            [row | {"cluster": "geo"} for row in table.to_pylist()], schema=table.schema
        )

    folders_of_geo = [folder for folder in GEO_SETS["development"].folders if "limits" in folder.name]
    windows = judge_all(folders_of_geo, under_one_label).windows
    assert windows
    assert {one.judged.side for one in windows} == {"unknown"}


def test_what_ships_is_what_the_page_says():
    shipped = json.loads(MEASURED.read_text())
    text = PAGE.read_text()
    assert shipped["sets"]
    for name, part in shipped["sets"].items():
        assert f"**{title(name).capitalize()}**" in text
        share = part["side_right_when_answered"]
        assert f"{share['count']} of {share['of']} = " in text


@pytest.mark.study
@pytest.mark.timeout(1800)
def test_the_shipped_recordings_give_the_pages_figures():
    by_evidence, text = of_set("shipped"), PAGE.read_text()
    for show in (
        pages.baselines,
        pages.causes,
        pages.confusion,
        pages.calibration,
        pages.never,
        pages.evidence,
        pages.evidence_causes,
    ):
        assert show(by_evidence) in text, f"the page is old: make accuracy ({show.__name__})"
    made = json.loads(measured_text({"rules_version": "2", "sets": {"shipped": by_evidence}}))
    assert made["sets"]["shipped"] == json.loads(MEASURED.read_text())["sets"]["shipped"]


@pytest.mark.long
@pytest.mark.parametrize(("alter", "cause"), [(filter_rejects, "filter_rejects"), (read_limit, "read_limit")])
def test_written_in_cause_is_diagnosed(alter, cause):
    (folder,) = [folder for folder in folders("shipped") if folder.name == "slow-small"]
    found = judge_all([folder], alter)
    said = {(window.true_cause, window.judged.cause) for window in found.windows}
    assert said == {(cause, cause), ("healthy", "healthy")}


@pytest.mark.long
def test_read_limit_blames_none_beside_it():
    """Gauges of the read budget are of the broker: what it does not hold keeps its own side."""
    found = judge_all(READS_SETS["development"].folders)
    said = {(window.true_cause, window.judged.cause) for window in found.windows}
    assert said == {(cause, cause) for cause in ("read_limit", "throttled", "slow_consumers", "healthy")}


def test_shipped_figures_equal_the_page():
    """The numbers of the matrix, the simpler rules and the calibration, compared one by one with the page's tables."""
    found, text = json.loads(MEASURED.read_text()), PAGE.read_text()
    for target in found["targets"]:
        assert f"| {target['what']} | {target['wanted']} | {target['measured'][JUDGES]} |" in text
    for part in found["sets"].values():
        assert sum(sum(row.values()) for row in part["confusion"].values()) == part["windows"]
        for true, row in part["confusion"].items():
            assert part["classes"][true]["recall"]["count"] == row.get(true, 0)
        for rule in part["rules"].values():
            assert f"{pages.share(rule['side_right'] | {'clustered': None})} " in text
        for one in part["calibration"]["bins"]:
            assert f"| {one['name']} | {one['right']['of']} | {one['stated']:.2f} |" in text
        assert sum(one["right"]["of"] for one in part["calibration"]["bins"]) == sum(
            row[named] for row in part["confusion"].values() for named in row if named != "unknown"
        )
