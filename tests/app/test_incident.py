"""``throttlescope incident`` on the command line: content of the zip, wording, refusals."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import zipfile
from pathlib import Path

import pyarrow as pa
import pytest

from tests.app.commands import throttlescope
from tests.app.web.sample_lake import END_MS, SAMPLES, START_MS, Phase, Sample, write_sample_lake
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import MINUTE_MS, date_of, format_time
from throttlescope.ingest.lake import Lake

BILLING = "persistent://shop/checkout/orders#billing"
LIFTED = "persistent://shop/web/lifted#recommendations"
UNKNOWN = "persistent://shop/web/sessions#features"
PARTED = "persistent://shop/checkout/parted#ledger"
QUICK = ("--advice-within", "0s", "--no-picture", "--quiet")
LIMITED = {"subscription": (50, None, 1, "topic_policy")}

FACTS = (
    "What", "Since when", "Why", "How sure", "Limiter", "Deadlines", "Do first", "Will not help", "Missing",
)  # fmt: skip
FILES = {
    "README.md", "incident.html", "verdicts.json", "evidence.csv", "signals.csv", "limits.json", "policies.jsonl",
    "queries.promql", "commands.sh", "manifest.json",
}  # fmt: skip


def throttled_partition(partition: int, in_msg: float) -> Sample:
    """A partition that a limit of 50 msg/s holds for the last two hours."""
    throttled = Phase(60, "throttled", "throttle", "subscription.msg", in_msg, 50.0, limits=LIMITED)
    return Sample("persistent://shop/checkout/parted", "ledger", (Phase(0), throttled), partition)


@pytest.fixture(scope="module")
def lake(tmp_path_factory) -> Lake:
    names = ("billing", "recommendations", "features")
    samples = [sample for sample in SAMPLES if sample.subscription in names]
    samples += [throttled_partition(0, 55.0), throttled_partition(1, 90.0), throttled_partition(2, 60.0)]
    # The same name in another cluster.
    twice = Sample("persistent://shop/web/twice", "reader", (Phase(0),))
    samples += [twice, Sample(twice.topic, twice.subscription, twice.phases, cluster="sample-west")]
    return write_sample_lake(tmp_path_factory.mktemp("incident") / "lake", tuple(samples))


def read_bundle(path: Path) -> dict[str, bytes]:
    """The members of a bundle by their names without the folder."""
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        return {name.removeprefix("incident/"): archive.read(name) for name in archive.namelist()}


def bundle(lake: Lake, folder: Path, subscription: str, *options: object) -> dict[str, bytes]:
    out = folder / "bundle.zip"
    done = throttlescope(
        "incident", "--lake", lake.root, "--subscription", subscription, "--out", out, "--force", *QUICK, *options
    )  # fmt: skip
    assert (done.code, done.err) == (0, "")
    return read_bundle(out)


@pytest.mark.long
def test_bundle_has_every_file_and_manifest(lake, tmp_path):
    found = bundle(lake, tmp_path, BILLING)
    assert set(found) == FILES
    manifest = json.loads(found["manifest.json"])
    listed = {one["name"]: one["sha256"] for one in manifest["files"]}
    assert listed == {
        name: hashlib.sha256(content).hexdigest()
        for name, content in found.items()
        if name != "manifest.json"
    }
    tables = ("signals", "verdicts", "episodes", "limits", "policies", "samples")
    assert manifest["table_versions"] == {table: lake.version(table) for table in tables}
    assert manifest["rules_version"]
    assert manifest["told_rules_version"] == "0-sample"


@pytest.mark.long
def test_page_facts_have_a_fixed_order(lake, tmp_path):
    page = bundle(lake, tmp_path, BILLING)["README.md"].decode()
    places = [page.index(f"- **{fact}:**") for fact in FACTS]
    assert places == sorted(places)
    head = page[: page.index("## Timeline")]
    assert "# `billing`: throttled by the subscription message limit" in head
    assert "50 msg per 1 s" in head
    assert "93 % confidence" in head
    assert "they would share the same limit" in head
    assert "2026-11-20 03:00:00 UTC (the end of the data)" in head
    assert "entries ready for delivery" in head
    assert "could not be computed: --advice-within is 0" in head


@pytest.mark.long
def test_shorter_causes_of_the_episode_are_named(tmp_path):
    slow = {"cause": "slow_consumers", "side": "consumer_capacity", "in_msg": 60.0, "out_msg": 20.0}
    hung = slow | {"cause": "hung_consumers", "out_msg": 0.0}
    phases = (Phase(0), Phase(60, **slow), Phase(100, **hung), Phase(115, **slow))
    lake = write_sample_lake(tmp_path / "lake", (Sample("persistent://shop/web/clicks", "reader", phases),))
    page = bundle(lake, tmp_path, "persistent://shop/web/clicks#reader")["README.md"].decode()
    assert "# `reader`: slow consumers" in page
    assert "Other verdicts during this backlog: hung consumers 15 min." in page


@pytest.mark.long
def test_bundle_bytes_are_reproducible(lake, tmp_path):
    once, twice = tmp_path / "once.zip", tmp_path / "twice.zip"
    for out in (once, twice):
        done = throttlescope(
            "incident", "--lake", lake.root, "--subscription", BILLING, "--out", out, "--format", "json", *QUICK
        )  # fmt: skip
    assert once.read_bytes() == twice.read_bytes()
    report = json.loads(done.out)
    assert report["sha256"] == hashlib.sha256(once.read_bytes()).hexdigest()
    assert set(report["files"]) == FILES
    assert (report["cause"], report["limiter"]) == ("throttled", "subscription.msg")
    assert report["not_made"] == ["advice: --advice-within is 0"]


@pytest.mark.long
def test_files_start_two_hours_before_episode(lake, tmp_path):
    found = bundle(lake, tmp_path, BILLING)
    minutes = list(csv.DictReader(io.StringIO(found["signals.csv"].decode())))
    # The lake begins less than two hours before the episode.
    assert minutes[0]["minute"] == format_time(START_MS)
    assert minutes[-1]["minute"] == format_time(END_MS - MINUTE_MS)
    assert minutes[-1]["limit_subscription_msg"] == "50"
    verdicts = json.loads(found["verdicts.json"])
    assert verdicts["told"] == verdicts["verdicts"][-1]
    evidence = list(csv.DictReader(io.StringIO(found["evidence.csv"].decode())))
    rows = [row for row in evidence if row["told"] == "yes"]
    assert [row["text"] for row in rows] == [row["text"] for row in verdicts["told"]["evidence"]]
    for row in verdicts["told"]["evidence"]:
        if row["promql"]:
            assert row["promql"] in found["queries.promql"].decode()
            assert row["promql"] in found["README.md"].decode()
    limits = json.loads(found["limits.json"])
    assert {one["level"] for one in limits["told"]} == {"broker", "topic", "subscription"}


@pytest.mark.long
def test_drained_backlog_is_reported_at_its_worst(lake, tmp_path):
    page = bundle(lake, tmp_path, LIFTED)["README.md"].decode()
    assert page.startswith("# `recommendations`: throttled by the subscription message limit")
    assert "Drained at 2026-11-20" in page
    assert "Newest verdict: healthy." in page
    assert "A limit changed: subscription.msg 50 per 1 s -> none." in page


@pytest.mark.long
def test_moment_and_range_can_be_selected(lake, tmp_path):
    at_ms, start_ms = START_MS + 75 * MINUTE_MS, START_MS + 30 * MINUTE_MS
    found = bundle(lake, tmp_path, BILLING, "--at", format_time(at_ms), "--start", format_time(start_ms))
    manifest = json.loads(found["manifest.json"])
    assert manifest["told_window"][1] == format_time(at_ms)
    assert manifest["range"][0] == format_time(start_ms)
    assert f"As of {format_time(at_ms)[:10]}" in found["README.md"].decode()
    forecasts = json.loads(found["verdicts.json"])["forecasts"]
    assert {row["made_at_ms"] for row in forecasts} == {at_ms}


@pytest.mark.long
def test_worst_partition_is_reported_others_listed(lake, tmp_path):
    page = bundle(lake, tmp_path, PARTED)["README.md"].decode()
    assert "This report is about partition 1, the one with the largest backlog." in page
    rows = [line for line in page.splitlines() if line.startswith(("| 0 |", "| 1 |", "| 2 |"))]
    assert [line[:5] for line in rows] == ["| 0 |", "| 2 |"]
    one = bundle(lake, tmp_path, PARTED.replace("#", "-partition-2#"))["README.md"].decode()
    assert "partition 2, cluster" in one
    assert "The other partitions" not in one


@pytest.mark.long
def test_unread_limits_are_missing_not_zero(lake, tmp_path):
    found = bundle(lake, tmp_path, UNKNOWN)
    page = found["README.md"].decode()
    assert page.startswith("# `features`: unknown")
    assert "Limits: none was read from the admin API." in page
    assert "No limiter is named; limits were not read." in page
    assert {one["rate"] for one in json.loads(found["limits.json"])["told"]} == {None}


@pytest.mark.long
def test_bundle_without_verdicts_reports_it(tmp_path):
    whole = write_sample_lake(tmp_path / "whole", (SAMPLES[0],))
    bare = Lake(tmp_path / "bare")
    rows = whole.read("signals")
    bare.upsert("signals", rows, run_id="bare")
    page = bundle(bare, tmp_path, BILLING)["README.md"].decode()
    assert page.startswith("# `billing`: no verdict")
    assert "Not judged: the lake has no verdict" in page
    assert "  - A verdict." in page
    assert "entries ready for delivery" in page


@pytest.mark.long
def test_bundle_without_signals_reports_it(tmp_path):
    whole = write_sample_lake(tmp_path / "whole", (SAMPLES[0],))
    bare = Lake(tmp_path / "bare")
    bare.upsert("verdicts", whole.read("verdicts"), run_id="bare")
    page = bundle(bare, tmp_path, BILLING)["README.md"].decode()
    assert "throttled" in page.splitlines()[0]
    assert "was not measured" in page
    assert "the lake has no signals of this range" in page
    assert "No episode of a backlog covers this moment." in page


def test_bundle_from_limits_alone_reports_it(tmp_path):
    bare = Lake(tmp_path / "bare")
    row = dict.fromkeys(column.name for column in TABLES["limits"].columns)
    row |= {
        "cluster": "prod", "namespace": "shop/checkout", "topic": "persistent://shop/checkout/orders", "partition": -1,
        "subscription": "billing", "level": "subscription", "rate_msg": 50, "period_s": 1, "counts": "messages",
        "relative_to_publish": False, "exempt_caught_up": False, "read_batch_entries": 100, "read_size_bytes": 5_242_880,
        "set_by": "topic_policy", "observed_ms": START_MS, "date": "2026-11-20",
    }  # fmt: skip
    bare.upsert("limits", pa.Table.from_pylist([row], schema=TABLES["limits"].loose_schema), run_id="bare")
    found = bundle(bare, tmp_path, BILLING)
    assert found["README.md"].decode().startswith("# `billing`: no verdict")
    assert "There is no data to plot in this range." in found["README.md"].decode()
    (observed,) = json.loads(found["limits.json"])["observed"]
    assert (observed["rate_msg"], observed["observed"]) == (50, format_time(START_MS))


@pytest.mark.long
def test_report_has_deadlines_policies_and_losses(tmp_path):
    lake = write_sample_lake(tmp_path / "lake", (SAMPLES[0],))
    rows = lake.read("signals").to_pylist()
    for row in rows:
        row["expired_msg_delta"] = (
            30.0 if START_MS + 100 * MINUTE_MS <= row["minute_ms"] < START_MS + 110 * MINUTE_MS else 0.0
        )
    lake.upsert("signals", pa.Table.from_pylist(rows, schema=TABLES["signals"].loose_schema), run_id="losses")
    policies_read = []
    for minute, ttl_s in ((0, None), (90, 14_400)):
        policies = {"message_ttl_in_seconds": ttl_s, "clientSecret": "hunter2"}
        policies_read.append(
            {
                "cluster": "sample-east", "scope": "namespace", "key": "shop/checkout", "body": json.dumps(policies), "broker": "b:8080",
                "observed_ms": START_MS + minute * MINUTE_MS, "date": date_of(START_MS + minute * MINUTE_MS),
            }
        )  # fmt: skip
    settings = {
        "topicLevelPoliciesEnabled": "false",
        "ttlDurationDefaultInSeconds": "0",
        "backlogQuotaDefaultLimitSecond": "-1",
    }
    policies_read.append(
        {
            **policies_read[0],
            "scope": "broker_configuration_runtime",
            "key": "b:8080",
            "body": json.dumps(settings),
        }
    )
    lake.upsert(
        "policies", pa.Table.from_pylist(policies_read, schema=TABLES["policies"].loose_schema), run_id="said"
    )
    found = bundle(lake, tmp_path, BILLING)
    page = found["README.md"].decode()
    assert "300 messages expired by message TTL." in page
    assert "`message_ttl_in_seconds` before `not set`, after `14400`" in page
    assert "- **Deadlines:**\n  - Message TTL drops messages in" in page
    assert (
        "message TTL is 4 h (namespace policy), backlog quota by size is not known, backlog quota by age is not set."
        in page
    )
    lines = [json.loads(line) for line in found["policies.jsonl"].decode().splitlines()]
    of_namespace = [line["body"] for line in lines if line["scope"] == "namespace"]
    assert [body["message_ttl_in_seconds"] for body in of_namespace] == [None, 14_400]
    assert all(b"hunter2" not in content for content in found.values())


@pytest.mark.long
def test_report_names_users_of_shared_limit(tmp_path):
    samples = tuple(sample for sample in SAMPLES if sample.topic == "persistent://shop/web/feed")
    lake = write_sample_lake(tmp_path / "lake", samples)
    page = bundle(lake, tmp_path, "persistent://shop/web/feed#search-index")["README.md"].decode()
    rows = [
        line for line in page.splitlines() if line.startswith(("| `greedy-export` |", "| `search-index` |"))
    ]
    assert len(rows) == 2
    assert rows[1].endswith("| this one |")


@pytest.mark.long
def test_the_page_links_to_the_app(lake, tmp_path):
    found = bundle(lake, tmp_path, BILLING, "--external-url", "https://scope.example/base/")
    link = "https://scope.example/base/subscription?cluster=sample-east&topic=persistent%3A%2F%2Fshop%2Fcheckout%2Forders"
    assert f"](<{link}" in found["README.md"].decode()
    assert f'href="{link.replace("&", "&amp;")}' in found["incident.html"].decode()


@pytest.mark.long
def test_existing_zip_is_kept_unless_forced(lake, tmp_path):
    out = tmp_path / "mine.zip"
    out.write_text("mine")
    arguments = ("incident", "--lake", lake.root, "--subscription", BILLING, "--out", out, *QUICK)
    done = throttlescope(*arguments)
    assert (done.code, out.read_text()) == (2, "mine")
    assert "add --force" in done.line
    assert throttlescope(*arguments, "--force").code == 0
    assert set(read_bundle(out)) == FILES
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


@pytest.mark.long
def test_default_zip_name_describes_the_incident(lake, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = throttlescope("incident", "--lake", lake.root, "--subscription", BILLING, *QUICK)
    assert done.code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["incident-sample-east-billing-20261120T030000Z.zip"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--subscription", "persistent://shop/web/nothing#x"], "No backlog of this subscription"),
        (["--subscription", BILLING[:-1]], f"did you mean {BILLING}?"),
        (["--subscription", "billing"], "cannot be read"),
        (["--subscription", "persistent://shop/web/twice#reader"], "everal clusters"),
        (["--subscription", BILLING, "--cluster", "elsewhere"], "no data of this subscription"),
        (["--subscription", BILLING, "--at", "2026-11-01T00:00:00Z"], "has no data of this subscription"),
        (["--subscription", BILLING, "--at", "2027-11-01T00:00:00Z"], "has no data of this subscription"),
        (["--subscription", BILLING, "--at", "tea"], "A time cannot be read"),
        (["--subscription", BILLING, "--start", "2026-11-20T02:00:00Z", "--end", "2026-11-20T01:00:00Z"], "start is not before"),
        (["--subscription", BILLING, "--at", "2026-11-20T02:30:00Z", "--end", "2026-11-20T02:00:00Z"], "outside"),
        (["--subscription", BILLING, "--external-url", "ftp://scope"], "--external-url"),
        (["--subscription", BILLING, "--out", "not/there/x.zip"], "the folder is not there"),
        (["--subscription", BILLING, "--out", "."], "a folder, not a file"),
        (["--subscription", BILLING, "--advice-within", "long"], "A duration cannot be read"),
    ],
)  # fmt: skip
def test_invalid_options_exit_with_code_2(lake, tmp_path, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    done = throttlescope("incident", "--lake", lake.root, "--no-picture", "--quiet", *options)
    assert done.code == 2
    assert message in done.line
    assert list(tmp_path.iterdir()) == []


def test_an_empty_lake_is_refused(tmp_path):
    done = throttlescope(
        "incident",
        "--lake",
        tmp_path / "none",
        "--subscription",
        BILLING,
        "--out",
        tmp_path / "x.zip",
        *QUICK,
    )
    assert done.code == 2
    assert "no data of this subscription" in done.line
