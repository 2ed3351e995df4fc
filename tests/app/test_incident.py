"""``throttlescope incident`` on the command line: what is in the zip, what is told, and what is refused."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import zipfile
from pathlib import Path

import pytest

from tests.app.commands import throttlescope
from tests.app.web.sample_lake import END_MS, SAMPLES, START_MS, Phase, Sample, write_sample_lake
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.times import MINUTE_MS, format_time

BILLING = "persistent://shop/checkout/orders#billing"
LIFTED = "persistent://shop/web/lifted#recommendations"
UNKNOWN = "persistent://shop/web/sessions#features"
PARTED = "persistent://shop/checkout/parted#ledger"
QUICK = ("--advice-within", "0s", "--no-picture", "--quiet")
LIMITED = {"subscription": (50, None, 1, "topic_policy")}

FACTS = (
    "What", "Since when", "Why", "How sure", "Limiter", "What happens by when", "Do first", "Will not help", "Missing",
)  # fmt: skip
FILES = {
    "README.md", "incident.html", "verdicts.json", "evidence.csv", "signals.csv", "limits.json", "policies.jsonl",
    "queries.promql", "commands.sh", "manifest.json",
}  # fmt: skip


def held(partition: int, in_msg: float) -> Sample:
    """A partition that a limit of 50 msg/s holds for the last two hours."""
    throttled = Phase(60, "throttled", "throttle", "subscription.msg", in_msg, 50.0, limits=LIMITED)
    return Sample("persistent://shop/checkout/parted", "ledger", (Phase(0), throttled), partition)


@pytest.fixture(scope="module")
def lake(tmp_path_factory) -> Lake:
    names = ("billing", "recommendations", "features")
    samples = [sample for sample in SAMPLES if sample.subscription in names]
    samples += [held(0, 55.0), held(1, 90.0), held(2, 60.0)]
    # The same name in another cluster.
    twice = Sample("persistent://shop/web/twice", "reader", (Phase(0),))
    samples += [twice, Sample(twice.topic, twice.subscription, twice.phases, cluster="sample-west")]
    return write_sample_lake(tmp_path_factory.mktemp("incident") / "lake", tuple(samples))


def opened(path: Path) -> dict[str, bytes]:
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
    return opened(out)


def test_a_bundle_holds_every_file_and_says_what_each_is(lake, tmp_path):
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


def test_the_page_answers_in_one_order(lake, tmp_path):
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
    assert "could not be computed: it was not asked for" in head


def test_the_same_lake_gives_the_same_bytes(lake, tmp_path):
    once, twice = tmp_path / "once.zip", tmp_path / "twice.zip"
    for out in (once, twice):
        done = throttlescope(
            "incident", "--lake", lake.root, "--subscription", BILLING, "--out", out, "--format", "json", *QUICK
        )  # fmt: skip
    assert once.read_bytes() == twice.read_bytes()
    told = json.loads(done.out)
    assert told["sha256"] == hashlib.sha256(once.read_bytes()).hexdigest()
    assert set(told["files"]) == FILES
    assert (told["cause"], told["limiter"]) == ("throttled", "subscription.msg")
    assert told["not_made"] == ["advice: it was not asked for"]


def test_files_for_programs_hold_the_episode_and_two_hours_before(lake, tmp_path):
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


def test_a_backlog_that_is_gone_is_told_at_its_worst(lake, tmp_path):
    page = bundle(lake, tmp_path, LIFTED)["README.md"].decode()
    assert page.startswith("# `recommendations`: throttled by the subscription message limit")
    assert "Drained at 2026-11-20" in page
    assert "Newest verdict: healthy." in page
    assert "A limit changed: subscription.msg 50 per 1 s -> none." in page


def test_a_moment_and_a_range_can_be_chosen(lake, tmp_path):
    at_ms, start_ms = START_MS + 75 * MINUTE_MS, START_MS + 30 * MINUTE_MS
    found = bundle(lake, tmp_path, BILLING, "--at", format_time(at_ms), "--start", format_time(start_ms))
    manifest = json.loads(found["manifest.json"])
    assert manifest["told_window"][1] == format_time(at_ms)
    assert manifest["range"][0] == format_time(start_ms)
    assert f"Told as of {format_time(at_ms)[:10]}" in found["README.md"].decode()
    forecasts = json.loads(found["verdicts.json"])["forecasts"]
    assert {row["made_at_ms"] for row in forecasts} == {at_ms}


def test_of_several_partitions_the_worst_is_told_and_the_others_are_listed(lake, tmp_path):
    page = bundle(lake, tmp_path, PARTED)["README.md"].decode()
    assert "Told above is partition 1, the worst." in page
    rows = [line for line in page.splitlines() if line.startswith(("| 0 |", "| 1 |", "| 2 |"))]
    assert [line[:5] for line in rows] == ["| 0 |", "| 2 |"]
    one = bundle(lake, tmp_path, PARTED.replace("#", "-partition-2#"))["README.md"].decode()
    assert "partition 2, cluster" in one
    assert "The other partitions" not in one


def test_limits_that_nobody_read_are_missing_not_zero(lake, tmp_path):
    found = bundle(lake, tmp_path, UNKNOWN)
    page = found["README.md"].decode()
    assert page.startswith("# `features`: unknown")
    assert "Limits: none was read from the admin API." in page
    assert "None is named; limits were not observed." in page
    assert {one["rate"] for one in json.loads(found["limits.json"])["told"]} == {None}


def test_minutes_without_verdicts_make_a_bundle_that_says_so(tmp_path):
    whole = write_sample_lake(tmp_path / "whole", (SAMPLES[0],))
    bare = Lake(tmp_path / "bare")
    rows = whole.read("signals")
    bare.upsert("signals", rows, run_id="bare")
    page = bundle(bare, tmp_path, BILLING)["README.md"].decode()
    assert page.startswith("# `billing`: no verdict")
    assert "Not judged: the lake has no verdict" in page
    assert "  - A verdict." in page
    assert "entries ready for delivery" in page


def test_verdicts_without_minutes_make_a_bundle_that_says_so(tmp_path):
    whole = write_sample_lake(tmp_path / "whole", (SAMPLES[0],))
    bare = Lake(tmp_path / "bare")
    bare.upsert("verdicts", whole.read("verdicts"), run_id="bare")
    page = bundle(bare, tmp_path, BILLING)["README.md"].decode()
    assert "throttled" in page.splitlines()[0]
    assert "was not measured" in page
    assert "the lake has no signals of this range" in page
    assert "No episode of a backlog covers this moment." in page


def test_the_page_links_to_the_app(lake, tmp_path):
    found = bundle(lake, tmp_path, BILLING, "--external-url", "https://scope.example/base/")
    link = "https://scope.example/base/subscription?cluster=sample-east&topic=persistent%3A%2F%2Fshop%2Fcheckout%2Forders"
    assert f"](<{link}" in found["README.md"].decode()
    assert f'href="{link.replace("&", "&amp;")}' in found["incident.html"].decode()


def test_a_zip_that_is_there_stays_unless_forced(lake, tmp_path):
    out = tmp_path / "mine.zip"
    out.write_text("mine")
    arguments = ("incident", "--lake", lake.root, "--subscription", BILLING, "--out", out, *QUICK)
    done = throttlescope(*arguments)
    assert (done.code, out.read_text()) == (2, "mine")
    assert "add --force" in done.line
    assert throttlescope(*arguments, "--force").code == 0
    assert set(opened(out)) == FILES
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_without_a_name_the_zip_is_called_by_what_it_tells(lake, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = throttlescope("incident", "--lake", lake.root, "--subscription", BILLING, *QUICK)
    assert done.code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["incident-sample-east-billing-20261120T030000Z.zip"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--subscription", "persistent://shop/web/nothing#x"], "nothing of this subscription"),
        (["--subscription", "billing"], "cannot be read"),
        (["--subscription", "persistent://shop/web/twice#reader"], "several clusters"),
        (["--subscription", BILLING, "--cluster", "elsewhere"], "nothing of this subscription"),
        (["--subscription", BILLING, "--at", "2026-11-01T00:00:00Z"], "knows nothing of this subscription"),
        (["--subscription", BILLING, "--at", "2027-11-01T00:00:00Z"], "knows nothing of this subscription"),
        (["--subscription", BILLING, "--at", "tea"], "A time cannot be read"),
        (["--subscription", BILLING, "--start", "2026-11-20T02:00:00Z", "--end", "2026-11-20T01:00:00Z"], "start is not before"),
        (["--subscription", BILLING, "--at", "2026-11-20T02:30:00Z", "--end", "2026-11-20T02:00:00Z"], "outside"),
        (["--subscription", BILLING, "--external-url", "ftp://scope"], "--external-url"),
        (["--subscription", BILLING, "--out", "not/there/x.zip"], "the folder is not there"),
        (["--subscription", BILLING, "--out", "."], "a folder, not a file"),
        (["--subscription", BILLING, "--advice-within", "long"], "A duration cannot be read"),
    ],
)  # fmt: skip
def test_what_cannot_be_bundled_is_one_line_and_a_code(lake, tmp_path, monkeypatch, options, says):
    monkeypatch.chdir(tmp_path)
    done = throttlescope("incident", "--lake", lake.root, "--no-picture", "--quiet", *options)
    assert done.code == 2
    assert says in done.line
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
    assert "nothing of this subscription" in done.line
