"""Data quality and runs: what a person reads of runs, gates, refused rows, freshness and blind spots, and a past verdict opened."""

from __future__ import annotations

import json
import re

import pytest

from tests.app.web import lake_of_runs
from tests.app.web.components import find, text_of, walk
from tests.app.web.lake_of_runs import FAILED, GATED, HOSTILE
from tests.app.web.sample_lake import END_MS, SAMPLES, START_MS
from tests.app.web.test_format import plain
from throttlescope.app.presentation.links.subscription import SubscriptionPartition
from throttlescope.app.web.address.data_quality import TABS, DataAddress, past_verdict
from throttlescope.app.web.data import blind_spots, quality
from throttlescope.app.web.data.reader import LakeReader
from throttlescope.app.web.pages.data_quality import page
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.ingest.lake import Lake
from throttlescope.models.diagnosis.reopen import reopen
from throttlescope.models.diagnosis.verdict import RULES_VERSION
from throttlescope.models.diagnosis.window import SubscriptionKey


@pytest.fixture(scope="module")
def lake(tmp_path_factory) -> Lake:
    return lake_of_runs.write(tmp_path_factory.mktemp("runs") / "lake")


@pytest.fixture
def reader(lake) -> LakeReader:
    return LakeReader(lake.root)


def key(name: str) -> SubscriptionPartition:
    sample = next(sample for sample in SAMPLES if sample.subscription == name)
    return SubscriptionPartition(sample.cluster, sample.topic, sample.partition, name)


def read(part) -> str:
    return " ".join(plain(text_of(part)).split())


def page_text(reader, address: DataAddress) -> str:
    return read(page.content_of(reader, address))


def plain_count(value: float) -> list[str]:
    return f"{value:,.0f}".replace(",", " ").split()[:2]


# -- the address ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "address",
    [
        DataAddress(),
        DataAddress("runs", run=HOSTILE, page=3),
        DataAddress("gates", run=FAILED, everything=True),
        DataAddress("quarantine", reason="missing_key_label", page=2),
        DataAddress("verdict", search="a b&c=d"),
        past_verdict(SubscriptionPartition("c", "persistent://t/n/x?y#z", 3, HOSTILE), START_MS),
    ],
)
def test_address_round_trip(address):
    assert DataAddress.parse(address.href().partition("?")[2]) == address


@pytest.mark.parametrize(
    "query", ["tab=nowhere", "page=0", "page=x", "page=99999999", "tab=verdict&subscription=a"]
)
def test_broken_address_is_an_error(query):
    with pytest.raises(InputError):
        DataAddress.parse(query)


# -- runs -------------------------------------------------------------------------------------------


@pytest.mark.long
def test_runs_show_status_and_cost(reader):
    said = page_text(reader, DataAddress())
    assert "2026-11-20 02:30:00 run ■ stopped by a gate 2 m 14 s" in said
    assert "✖ failed" in said
    assert "✓ nothing found" not in said, "no gate looked at the other runs"
    assert "nothing was checked" in said
    assert "1 234 5 MiB 1 M of 1.25 M 8 1 error, 1 warning" in said
    assert "1 to 50 of 58 runs" in said
    assert "51 to 58 of 58 runs" in page_text(reader, DataAddress(page=2))
    assert "this page is behind the last" in page_text(reader, DataAddress(page=9))


@pytest.mark.long
def test_a_run_opens_with_its_details(reader):
    said = page_text(reader, DataAddress(run=GATED))
    assert f"One run {GATED}" in said
    assert "missing metrics pulsar_consumer_available_permits" in said
    assert "window ms 5 m" in said
    assert HOSTILE in said
    assert "There is no such run." in page_text(reader, DataAddress(run="nobody"))


# -- gates ------------------------------------------------------------------------------------------


@pytest.mark.long
def test_failed_checks_are_shown_errors_first(reader):
    said = page_text(reader, DataAddress("gates"))
    assert "1 passed, warnings: 1, errors: 1." in said
    assert said.index("✖ error block key unique") < said.index("▲ warning scrapes complete")
    assert "12 missing scrapes in 3 blocks" in said
    assert f"topic=persistent://a/b/{HOSTILE}" in said
    assert "timestamps rise" not in said
    assert "✓ passed timestamps rise" in page_text(reader, DataAddress("gates", everything=True))


@pytest.mark.long
def test_run_without_checks_is_explained(reader):
    assert f"No gate has checked anything of run {FAILED}." in page_text(
        reader, DataAddress("gates", run=FAILED)
    )


# -- refused ----------------------------------------------------------------------------------------


@pytest.mark.long
def test_quarantined_rows_are_counted_by_reason(reader):
    said = page_text(reader, DataAddress("quarantine"))
    assert re.search(
        r"missing key label a series without a label .*? samples 7 2 1 2026-11-20 02:31:00 UTC", said
    )
    assert "policy unreadable" in said
    assert "can be repaired and validated again" in said
    assert f"topic={HOSTILE}" in said
    assert "no JSON {" in said
    only = page_text(reader, DataAddress("quarantine", reason="policy_unreadable"))
    assert "Refused rows: policy unreadable" in only
    assert "topic=b" not in only
    assert "No row was refused for that reason." in page_text(reader, DataAddress("quarantine", reason="x"))
    assert "Nothing was refused by run" in page_text(reader, DataAddress("quarantine", run=FAILED))


# -- freshness and blind spots ----------------------------------------------------------------------


@pytest.mark.long
def test_freshness_is_newest_row_per_table(reader, lake):
    found = blind_spots.fresh(reader)
    for table, column, beyond in (("signals", "minute_ms", MINUTE_MS), ("verdicts", "window_end_ms", 0)):
        for cluster in found.clusters:
            rows = lake.read(table, columns=["cluster", column]).to_pylist()
            newest = max((row[column] for row in rows if row["cluster"] == cluster), default=None)
            assert found.clusters[cluster].get(table) == (None if newest is None else newest + beyond)
    assert "sample-east 2026-11-20 03:00:00 UTC" in page_text(reader, DataAddress("freshness"))


@pytest.mark.long
def test_blind_spots_are_counted(reader):
    found = blind_spots.blind_spots(reader)
    assert {(one.broker, one.version, one.counts) for one in found.brokers} == {
        ("one:8080", "4.0.3", False), ("two:8080", "4.2.4", True), ("three:8080", "3.3.9", False),
    }  # fmt: skip
    assert (found.non_persistent_topics, found.replication_series, found.judged) == (1, 1, 3)
    said = page_text(reader, DataAddress("blind"))
    assert "In this lake: 2 of 3 brokers whose version is known." in said
    assert "▲ Non-persistent topics In this lake: 1 seen." in said
    assert "Topics that are not loaded" in said


@pytest.mark.long
def test_unknown_counts_are_not_shown_as_zero(sample_lake):
    said = page_text(LakeReader(sample_lake), DataAddress("blind"))
    assert "no series of them" in said
    assert "0 of 0 brokers whose version is known; of 2 clusters no version is known" in said


# -- a past verdict ---------------------------------------------------------------------------------


@pytest.mark.long
def test_past_verdict_is_compared_with_todays_rules(reader, lake):
    at_ms = START_MS + 2 * 60 * MINUTE_MS
    wanted = past_verdict(key("billing"), at_ms)
    found = reopen(
        lake,
        SubscriptionKey("sample-east", "shop/checkout", key("billing").topic, -1, "billing"),
        at_ms - 5 * MINUTE_MS,
    )
    assert found.stored["cause"] == "throttled"
    said = page_text(reader, wanted)
    assert f"Stored, rules 0-sample Today, rules {RULES_VERSION} Compared" in said
    assert "Cause ▲ Throttled" in said
    assert "Rules 0-sample 2 ≠ differs" in said.replace(f" {RULES_VERSION} ≠", " 2 ≠")
    for name in found.differences:
        assert name in said.lower().replace(" ", "_")
    assert "Dispatch runs at 99 % of the subscription message limit." in said
    assert said.count("01:55:00 UTC") >= 1
    assert (
        "throttlescope reopen 'persistent://shop/checkout/orders#billing' --cluster sample-east --at 2026-11-20T01:55:00Z"
        in said
    )
    # The minutes are those of the window, each with its counts as they were.
    minutes = next(
        table for table in find(page.content_of(reader, wanted), "Table") if "Minute" in read(table)
    )
    assert len(find(minutes, "Tr")) == 1 + 5
    assert read(minutes).split("01:55:00 UTC ")[1].split()[:2] == plain_count(
        found.minutes[0]["backlog_ready_entries"]
    )


@pytest.mark.long
def test_time_between_windows_opens_earlier_window(reader):
    at_ms = START_MS + 2 * 60 * MINUTE_MS
    assert "01:55:00 to 02:00:00 UTC" in page_text(
        reader, past_verdict(key("archive"), at_ms + 2 * MINUTE_MS)
    )


@pytest.mark.long
def test_window_links_open_that_window(reader):
    tree = page.content_of(reader, past_verdict(key("archive")))
    links = [link for link in find(tree, "Link") if "window-link" in (getattr(link, "className", "") or "")]
    assert len(links) == 36
    assert DataAddress.parse(links[0].href.partition("?")[2]).at_ms == END_MS
    assert "No verdict of this subscription is stored" in page_text(
        reader, past_verdict(SubscriptionPartition("c", "t", -1, "x"))
    )
    assert "No verdict of this subscription is stored within hours of 1970" in page_text(
        reader, past_verdict(key("archive"), 1)
    )


def test_verdict_without_its_minutes_is_explained(lake, tmp_path):
    other = Lake(tmp_path / "verdicts alone")
    other.upsert("verdicts", lake.read("verdicts"), run_id="by hand")
    said = page_text(LakeReader(other.root), past_verdict(key("archive"), END_MS))
    assert "The signals that this verdict was made from are gone" in said


@pytest.mark.long
def test_search_offers_subscriptions(reader):
    said = page_text(reader, DataAddress("verdict"))
    assert "Which subscription? 3 of 3" in said
    assert "1 of 1" in page_text(reader, DataAddress("verdict", search="BILL"))
    assert "No subscription matches these words." in page_text(
        reader, DataAddress("verdict", search="nobody")
    )


# -- every part -------------------------------------------------------------------------------------


@pytest.mark.parametrize("tab", TABS)
def test_an_empty_lake_is_explained(tab, tmp_path):
    said = page_text(LakeReader(tmp_path), DataAddress(tab))
    assert said
    assert "Traceback" not in said


@pytest.mark.long
@pytest.mark.parametrize("tab", TABS)
def test_names_are_text_and_links_internal(tab, reader):
    for part in walk(page.content_of(reader, DataAddress(tab, run=GATED if tab != "verdict" else None))):
        assert type(part).__name__ not in ("Markdown", "DangerouslySetInnerHTML", "Script", "Iframe", "Img")
        target = getattr(part, "href", None)
        assert target is None or (target.startswith("/") and "<" not in target)


@pytest.mark.long
def test_counts_match_the_tables(reader, lake):
    rows = lake.read("quality").to_pylist()
    assert quality.checked(reader) == {
        "held": sum(row["success"] for row in rows),
        "errors": sum(not row["success"] and row["severity"] == "error" for row in rows),
        "warnings": sum(not row["success"] and row["severity"] == "warning" for row in rows),
    }
    refused = lake.read("quarantine").to_pylist()
    assert {row["reason"]: row["rows"] for row in quality.refused_by_reason(reader)} == {
        reason: sum(row["rows"] for row in refused if row["reason"] == reason)
        for reason in {row["reason"] for row in refused}
    }
    assert json.loads(quality.run(reader, GATED)["details"])["settings"] == {"window_ms": 300_000}
