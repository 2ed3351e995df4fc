"""``throttlescope episodes`` on the command line."""

from __future__ import annotations

import csv
import io
import json

import pytest

from tests.app.commands import throttlescope
from tests.models.episodes.scenes import DAY, KEY, minutes, verdicts
from tests.models.episodes.test_apply import BUSY, lake_of
from throttlescope.ingest.core.times import MINUTE_MS, format_time
from throttlescope.ingest.lake import Lake
from throttlescope.models.episodes.apply import write_incidents
from throttlescope.models.episodes.find import find_episodes

NAME = "persistent://acme/shop/orders-partition-0#billing"
OTHER = KEY._replace(partition=1)


@pytest.fixture
def lake(tmp_path, monkeypatch) -> Lake:
    """Partition 0 drained, partition 1 still has a backlog, partition 2 never had one."""
    monkeypatch.chdir(tmp_path)
    letters = "hhhhPPPPPPPPPPPPPhhhhhhh"
    rows = minutes(BUSY) + minutes(BUSY[:75] + [900] * 45, key=OTHER)
    rows += minutes([5] * 120, key=KEY._replace(partition=2))
    return lake_of(tmp_path / "lake", rows, verdicts(letters) + verdicts(letters[:16] + "P" * 8, key=OTHER))


@pytest.mark.long
def test_table_has_one_line_per_backlog(lake):
    done = throttlescope("episodes", "--lake", lake.root)
    assert done.code == 0
    assert "2 episodes, 1 not drained" in done.out
    # Open ones first.
    assert done.out.index("orders-partition-1#billing") < done.out.index("orders-partition-0#billing")
    assert "topic.msg" in done.out
    assert "drained" in done.out


@pytest.mark.long
def test_json_equals_the_computed_episodes(lake):
    done = throttlescope("episodes", "--lake", lake.root, "--format", "json", "--subscription", NAME)
    (row,) = json.loads(done.out)
    (there,) = find_episodes(lake, topic=KEY.topic, partition=0, subscription="billing")
    assert row == {name: value for name, value in there.items() if name != "date"}


@pytest.mark.long
def test_csv_has_one_row_per_episode(lake):
    done = throttlescope("episodes", "--lake", lake.root, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(done.out)))
    assert [row["partition"] for row in rows] == ["0", "1"]
    assert json.loads(rows[0]["causes"])[0]["cause"] == "throttled"


@pytest.mark.long
@pytest.mark.parametrize(
    ("options", "partitions"),
    [
        (["--open"], [1]),
        (["--end", format_time(DAY + 10 * MINUTE_MS)], []),
        (["--start", format_time(DAY + 100 * MINUTE_MS)], [1]),
        (["--cluster", "prod"], [0, 1]),
    ],
)
def test_filters_select_episodes(lake, options, partitions):
    done = throttlescope("episodes", "--lake", lake.root, "--format", "json", *options)
    assert done.code == 0, done.err
    assert [row["partition"] for row in json.loads(done.out)] == partitions


@pytest.mark.long
@pytest.mark.parametrize("options", [(), ("--incidents",), ("--by", "topic")])
def test_unknown_subscription_is_refused(lake, options):
    arguments = (
        "episodes",
        "--lake",
        lake.root,
        "--subscription",
        NAME.replace("billing", "biling"),
        *options,
    )
    done = throttlescope(*arguments)
    assert (done.code, done.out) == (2, "")
    assert f"did you mean {NAME}?" in done.line


@pytest.mark.long
def test_healthy_subscription_has_no_episodes(lake):
    healthy = NAME.replace("partition-0", "partition-2")
    done = throttlescope("episodes", "--lake", lake.root, "--format", "json", "--subscription", healthy)
    assert (done.code, json.loads(done.out)) == (0, [])


@pytest.mark.long
def test_roll_up_names_the_worst_partition(lake):
    done = throttlescope("episodes", "--lake", lake.root, "--by", "topic")
    assert "2 of 3" in done.out
    done = throttlescope("episodes", "--lake", lake.root, "--by", "limiter", "--format", "json")
    (row,) = json.loads(done.out)
    assert row["name"] == f"topic.msg of {KEY.topic}"
    assert (row["worst"]["partition"], row["partitions"], row["partitions_of"]) == (0, 2, 3)


@pytest.mark.long
def test_incidents_list_their_members(lake):
    done = throttlescope("episodes", "--lake", lake.root, "--incidents")
    assert "1 shared incident" in done.out
    assert "topic acme/shop/orders" in done.out
    mine = throttlescope(
        "episodes", "--lake", lake.root, "--incidents", "--subscription", NAME, "--format", "json"
    )
    (row,) = json.loads(mine.out)
    assert [member["partition"] for member in row["members"]] == [0, 1]


@pytest.mark.long
def test_stored_episodes_are_printed(lake):
    import pyarrow as pa

    from throttlescope.ingest.contracts import TABLES

    rows = [row | {"peak_entries": 123456.0} for row in find_episodes(lake)]
    lake.upsert("episodes", pa.Table.from_pylist(rows, schema=TABLES["episodes"].loose_schema), run_id="one")
    assert write_incidents(lake, "prod", "one") == 1
    assert throttlescope("episodes", "--lake", lake.root).out.count("123,456") == 2


@pytest.mark.long
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--incidents", "--by", "topic"], "leave one out"),
        (["--store", "--subscription", NAME], "--store judges whole clusters"),
        (["--subscription", "billing"], "cannot be read"),
        (["--start", "now", "--end", "-6h"], "not before the end"),
        (["--cluster", "elsewhere"], "no signals"),
        (["--by", "planet"], "planet"),
    ],
)
def test_invalid_options_exit_with_code_2(lake, options, message):
    done = throttlescope("episodes", "--lake", lake.root, *options)
    assert done.code == 2
    assert message in done.line
    assert done.out == ""


@pytest.mark.spark
@pytest.mark.long
def test_store_writes_the_printed_episodes(lake):
    before = throttlescope("episodes", "--lake", lake.root, "--format", "json")
    assert lake.version("episodes") is None
    done = throttlescope("episodes", "--lake", lake.root, "--format", "json", "--store", "--quiet")
    assert done.code == 0, done.err
    assert json.loads(done.out) == json.loads(before.out)
    assert lake.read("episodes").num_rows == 2
    assert lake.read("incidents").num_rows == 1


def test_lever_text_marks_a_different_cause():
    from throttlescope.app.presentation.episodes import lever_text

    counterfactual = {
        "failed": None, "primary": "limiter", "limiter": "subscription.msg", "agrees": True,
        "gain_low_entries": 90_000.0, "gain_likely_entries": 98_000.0, "gain_high_entries": 99_000.0,
    }  # fmt: skip
    assert lever_text(None) == "-"
    assert lever_text(counterfactual) == "limiter subscription.msg -98,000 (90,000 to 99,000)"
    assert lever_text(counterfactual | {"agrees": False, "gain_likely_entries": None}) == (
        "!limiter subscription.msg -90,000 to 99,000"
    )
    assert lever_text(counterfactual | {"primary": None}) == "none"
    assert lever_text(counterfactual | {"failed": "Too few samples"}) == "no answer"
