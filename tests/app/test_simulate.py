"""``simulate``: shapes of its answers, the same seed the same bytes, plots, and bad input as one clear line."""

import csv
import io
import json
import re

import pytest
import yaml

from docs.generate import what_if
from tests.app.commands import throttlescope
from tests.app.web.browser import needs_chromium
from throttlescope.app.services.simulate import scenario as scenarios
from throttlescope.ingest.core.errors import InputError
from throttlescope.models.throttling.columns import COLUMNS
from throttlescope.models.throttling.scenario import Scenario
from throttlescope.models.throttling.tdmq.scenario import SHIPPED
from throttlescope.models.throttling.tdmq.tables import WINDOWS

EXAMPLE = what_if.EXAMPLE
HEADER = {"second", "topic", "partition", "subscription", "published_messages", "backlog_messages", *COLUMNS}


def example(**fields):
    return yaml.safe_load(EXAMPLE.read_text()) | {"name": "short", "timeline": [state("all", 20)]} | fields


def state(name, duration_s, *interventions):
    return {"name": name, "duration_s": duration_s, "interventions": list(interventions)}


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Writes a scenario and returns its path; the working directory is empty."""
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)

    def write(fields):
        path = tmp_path / "scenario.yaml"
        path.write_text(fields if isinstance(fields, str) else yaml.safe_dump(fields))
        return path

    return write


@pytest.fixture
def nothing_runs(monkeypatch):
    """Bad input is refused before anything runs."""

    def ran(*_, **__):
        pytest.fail("it was simulated")

    monkeypatch.setattr(scenarios, "simulate", ran)
    monkeypatch.setattr("throttlescope.models.throttling.tdmq.simulate", ran)


def simulated(*arguments):
    outcome = throttlescope("simulate", *arguments, "--quiet")
    assert (outcome.code, outcome.err) == (0, "")
    return outcome.out


def answer(*arguments):
    return json.loads(simulated(*arguments, "--format", "json"))


# Answers


def test_json_has_limits_events_and_backlog(written):
    lift = {
        "action": "lift_limit", "level": "subscription", "set_at": "subscription", "topic": "orders", "subscription": "billing"
    }  # fmt: skip
    timeline = [state("held back", 60), state("lifted", 60, lift)]
    found = answer(written(example(about="A test.", timeline=timeline)))
    assert (found["scenario"], found["about"], found["duration_s"]) == ("short", "A test.", 120)
    assert (found["engine"], found["broker_version"], found["seed"], found["every_s"]) == ("C", "4.2.4", 0, 1)
    (partition,) = found["subscription_partitions"]
    assert (partition["topic"], partition["partition"], partition["subscription"]) == (
        "orders",
        -1,
        "billing",
    )
    throttled, lifted = partition["states"]
    assert (throttled["start_s"], throttled["end_s"], lifted["start_s"], lifted["end_s"]) == (0, 60, 60, 120)
    (limit,) = throttled["limits"]
    assert (limit["level"], limit["unit"], limit["rate"], limit["period_s"]) == (
        "subscription",
        "msg",
        500,
        1,
    )
    assert lifted["limits"] == []
    assert lifted["interventions"] == [
        "lift_limit level=subscription set_at=subscription topic=orders subscription=billing"
    ]
    assert throttled["published_msg_per_s"] == pytest.approx(600, rel=0.01)
    assert 400 < throttled["dispatched_msg_per_s"] <= 510
    assert throttled["dispatched_bytes_per_s"] > 1024 * throttled["dispatched_msg_per_s"]
    ticks = {(item["reason"], item["unit"]): item["events"] for item in throttled["events"]}
    assert ticks.pop(("subscription", "msg")) > 50
    assert set(ticks.values()) == {0}
    assert throttled["backlog_entries"] == throttled["backlog_messages"]
    assert throttled["backlog_entries"]["end"] == throttled["backlog_entries"]["peak"] > 5000
    assert (throttled["drained"], throttled["drained_after_s"]) == (False, None)
    assert lifted["backlog_entries"]["start"] == throttled["backlog_entries"]["end"]
    assert lifted["drained"]
    assert 0 < lifted["drained_after_s"] < 30


@pytest.mark.long
def test_second_rows_add_up_to_summary(written):
    batched = {"topic": "orders", "rate_msg": 600, "size_bytes": 1024}
    batched["batching"] = {"max_messages": 10, "max_delay_ms": 1000}
    file = written(example(topics=[{"name": "orders", "partitions": 2}], producers=[batched]))
    found = answer(file, "--seconds", "--every", "5")
    rows = found["seconds"]
    assert [(row["second"], row["partition"]) for row in rows] == [
        (s, p) for s in (5, 10, 15, 20) for p in (0, 1)
    ]
    assert set(rows[0]) == HEADER
    assert rows[0]["topic_msg_tokens"] is None
    assert all(row["backlog_messages"] == 10 * row["backlog_entries"] for row in rows)
    for partition in found["subscription_partitions"]:
        mine = [row for row in rows if row["partition"] == partition["partition"]]
        (only,) = partition["states"]
        assert only["dispatched_msg_per_s"] * 20 == pytest.approx(sum(row["out_messages"] for row in mine))
        assert only["published_msg_per_s"] * 20 == pytest.approx(
            sum(row["published_messages"] for row in mine)
        )
        assert only["backlog_entries"]["end"] == mine[-1]["backlog_entries"]
    assert "seconds" not in answer(file)


@pytest.mark.long
def test_csv_has_one_row_per_interval(written):
    rows = list(csv.DictReader(io.StringIO(simulated(written(example()), "--format", "csv"))))
    assert set(rows[0]) == HEADER
    assert [int(row["second"]) for row in rows] == list(range(1, 21))
    assert (rows[0]["topic"], rows[0]["topic_msg_tokens"]) == ("orders", "")
    assert len(simulated(written(example()), "--format", "csv", "--every", "7").splitlines()) == 1 + 2


def test_table_shows_scenario_and_units(written):
    out = simulated(written(example(timeline=[state("first", 20), state("second", 13)])), "--every", "5")
    for words in (
        "short: 33 s simulated, limiter engine C, Pulsar 4.2.4, seed 0",
        "orders#billing, Shared",
        "dispatched (msg/s)",
        "backlog at start (entries)",
        "subscription 500 msg/s",
        "second: nothing is changed",
        "No row covers the last 3 s.",
    ):
        assert words in out


def test_table_shows_messages_for_batched_entries(written):
    batched = {"topic": "orders", "rate_msg": 600, "size_bytes": 1024}
    batched["batching"] = {"max_messages": 10, "max_delay_ms": 1000}
    assert "(entries / messages)" in simulated(written(example(producers=[batched])))


def test_notes_explain_the_result(written):
    slow = {"name": "billing", "topic": "orders", "type": "Shared", "consumers": 1, "processing_ms": 100}
    out = simulated(written(example(subscriptions=[slow | {"ack": "none"}])))
    assert "Note: subscriptions.0.ack: billing never acknowledges" in out
    assert "Note: limits.0.msg: 500 per 1 s cannot bind: the consumers manage 10 msg/s at most" in out


@pytest.mark.parametrize(
    ("broker", "options", "engine", "version"),
    [
        ({}, ("--engine", "B"), "B", "4.2.4"),
        ({}, ("--broker-version", "3.0.12"), "A", "3.0.12"),
        ({"engine": "A0"}, (), "A0", "4.2.4"),
        ({"engine": "A0"}, ("--broker-version", "4.0.1"), "B", "4.0.1"),
        ({"version": "2.7.1"}, ("--engine", "C"), "C", "2.7.1"),
        ({"version": "3.0.12"}, ("--engine", "C", "--broker-version", "4.2.0"), "C", "4.2.0"),
    ],
)
def test_engine_is_the_option_or_follows_version(written, broker, options, engine, version):
    found = answer(written(example(broker=broker, timeline=[state("all", 2)])), *options)
    assert (found["engine"], found["broker_version"]) == (engine, version)


@pytest.mark.long
def test_engines_give_different_results(written):
    file = written(example())
    assert simulated(file, "--format", "csv") != simulated(file, "--format", "csv", "--engine", "B")


@pytest.mark.long
def test_seed_determines_the_bytes(written):
    random = {"topic": "orders", "rate_msg": 600, "size_bytes": 1024, "shape": "poisson"}
    file = written(example(producers=[random]))
    first = simulated(file, "--format", "csv", "--seed", "7")
    assert simulated(file, "--format", "csv", "--seed", "7") == first
    assert simulated(file, "--format", "csv", "--seed", "8") != first


@pytest.mark.long
def test_progress_is_on_stderr(written, monkeypatch):
    file = written(example())
    outcome = throttlescope("simulate", file, "--format", "json")
    json.loads(outcome.out)
    assert outcome.line.startswith("[1/1] Simulating: 20 s of short (")
    monkeypatch.setattr(scenarios, "is_compiled", lambda: False)
    first, _ = throttlescope("simulate", file).err.splitlines()
    assert "compiles the simulator" in first


@pytest.mark.long
def test_kernel_is_compiled_after_a_run(written):
    simulated(written(example()))
    assert scenarios.is_compiled()


# TDMQ


@pytest.mark.sampled(3)
@pytest.mark.long
@pytest.mark.parametrize("file", sorted(SHIPPED.glob("*.yaml")), ids=lambda file: file.stem)
def test_tdmq_scenarios_give_windows(file):
    found = answer(file)
    assert found["scenario"] == file.stem
    assert found["throttle"] in ("cluster", "partition")
    assert found["windows"]
    assert set(found["windows"][0]) == {column.name for column in WINDOWS.columns}


@pytest.mark.long
def test_the_101st_message_waits_600_ms():
    file = SHIPPED / "101st-message.yaml"
    rows = list(csv.DictReader(io.StringIO(simulated(file, "--format", "csv"))))
    assert [(row["requests"], row["accepted"], row["wait_ms_max"]) for row in rows] == [
        ("101", "100", "0.0"),
        ("0", "1", "600.0"),
    ]
    table = simulated(file)
    assert "101st-message: TDMQ's cluster throttle, 2 s simulated, seed 0" in table
    assert "600.0" in table


@pytest.mark.long
def test_table_counts_windows_left_out():
    idle = simulated(SHIPPED / "five-nodes.yaml")
    assert "15 windows in which nothing happened are left out." in idle
    long = simulated(SHIPPED / "overload.yaml")
    assert "later windows are left out: --format csv has them all." in long


# Plots


@pytest.mark.long
def test_plot_is_one_offline_file(written, tmp_path):
    to = tmp_path / "plot.html"
    timeline = [
        state("first", 20),
        state(
            "<b>raised</b>",
            20,
            {"action": "set_limit", "level": "topic", "set_at": "topic", "topic": "orders", "msg": 400, "bytes": 10**9},
        ),
    ]  # fmt: skip
    file = written(example(timeline=timeline))
    simulated(file, "--plot", to)
    page = to.read_text(encoding="utf-8")
    assert "<script src=" not in page
    # Plotly writes "<" and "/" as escapes.
    drawn = re.sub(r"\\u(\w{4})", lambda code: chr(int(code[1], 16)), page.split("Plotly.newPlot")[-1])
    drawn = drawn.replace("\N{NO-BREAK SPACE}", " ")
    for words in (
        "short: limiter engine C, Pulsar 4.2.4, seed 0",
        "orders#billing: backlog",
        "orders#billing: bytes per second",
        "orders#billing: throttle events per second",
        "subscription limit 500 msg/s",
        "topic limit none → 400 msg/s",
        "topic limit none → 1 GB/s, far above",
        "seconds from the start",
        "&lt;b&gt;raised",
    ):
        assert words in drawn
    assert "<b>" not in drawn
    assert "http" not in drawn
    again = tmp_path / "again.html"
    simulated(file, "--plot", again)
    assert again.read_bytes() == to.read_bytes()


@pytest.mark.browser
@needs_chromium
def test_png_shows_the_whole_figure(written, tmp_path):
    to = tmp_path / "plot.png"
    simulated(written(example()), "--plot", to)
    content = to.read_bytes()
    assert content.startswith(b"\x89PNG")
    width, height = (int.from_bytes(content[at : at + 4], "big") for at in (16, 20))
    assert width > 1000
    assert height > 700
    assert len(content) > 20_000


def test_png_without_browser_is_refused(written, nothing_runs, monkeypatch):
    monkeypatch.setenv("CHROMIUM", "no-such-browser")
    outcome = throttlescope("simulate", written(example()), "--plot", "plot.png")
    assert (outcome.code, outcome.out) == (2, "")
    assert "a PNG needs Chromium" in outcome.line
    assert "Fix: name a .html file" in outcome.line


# Bad input


def error_line(*arguments):
    outcome = throttlescope("simulate", *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.line.startswith("throttlescope: ")
    assert "Traceback" not in outcome.line
    return outcome.line


def producers(**fields):
    return {"producers": [{"topic": "orders", "rate_msg": 600, "size_bytes": 1024} | fields]}


def consumers(number):
    return {"action": "set_consumers", "subscription": "billing", "consumers": number}


def limited(**fields):
    return {"limits": [{"level": "topic", "set_at": "topic", "topic": "orders"} | fields]}


@pytest.mark.long
@pytest.mark.parametrize(
    ("fields", "words"),
    [
        (producers(colour="red"), "producers.0.colour: no such field"),
        (producers(rate_msg=-5), "producers.0.rate_msg: Input should be greater than or equal to 0, got -5"),
        (producers(rate_msg=float("inf")), "producers.0.rate_msg: "),
        (limited(msg=-1), "limits.0.msg: Input should be greater than 0, got -1"),
        (limited(msg=10**12), "limits.0.msg: "),
        (limited(msg=100, period_s=0), "limits.0.period_s: Input should be greater than or equal to 1, got 0"),
        (limited(), "limits.0: msg, bytes: a limit needs at least one of them"),
        (
            {"timeline": [state("a", 1), state("b", 1, consumers(2), consumers(3))]},
            "timeline.1: interventions: set_consumers and set_consumers both change consumers of billing at the same moment",
        ),
        ({"timeline": [state("a", float("nan"))]}, "timeline.0.duration_s: "),
        (
            producers(rate_msg=10_000) | {"timeline": [state("a", 100_000_000)]},
            "producers.0.rate_msg: 10000 msg/s for 1e+08 s and 1 subscriptions would take 1e+12 events; expected at most 1e+10",
        ),
        (
            producers(rate_msg=1) | {"timeline": [state("a", 10_000_000)]},
            "give 10,000,000 rows; expected at most 2,000,000. Fix: add --every 5",
        ),
        ({"throttle": "none"}, "throttle: not a known one; got 'none'; expected cluster or partition"),
        ({"throttle": "cluster"}, "nodes: Field required"),
    ],
)  # fmt: skip
def test_invalid_scenario_names_its_field(written, nothing_runs, fields, words):
    file = written(example(**fields))
    line = error_line(file)
    assert str(file) in line
    assert words in line
    assert "Value error" not in line


def test_json_refuses_too_many_rows(written, nothing_runs):
    file = written(example(timeline=[state("a", 300_000)], **producers(rate_msg=1)))
    line = error_line(file, "--format", "json", "--seconds")
    assert "expected at most 200,000. Fix: add --every 2" in line


@pytest.mark.long
@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("a: [1\n", "not YAML: line 2: did not find expected ',' or ']'"),
        ("a: b: c\n", "not YAML: line 1: mapping values are not allowed in this context"),
        ("", "not a scenario; got nothing; expected fields"),
        ("- 1\n", "not a scenario; got a list"),
        ("billing\n", "not a scenario; got a text"),
        ("\0", "not YAML"),
        ("[" * 5000, "not YAML"),
    ],
)
def test_file_without_scenario_is_refused(written, nothing_runs, content, words):
    assert words in error_line(written(content))


@pytest.mark.long
def test_unreadable_file_is_refused(written, nothing_runs, tmp_path):
    assert "none.yaml: the scenario file cannot be read; got No such file" in error_line(
        tmp_path / "none.yaml"
    )
    assert "the scenario file cannot be read; got Is a directory" in error_line(tmp_path)
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\xfe\x00")
    assert "not a text in UTF-8" in error_line(tmp_path / "bytes.yaml")


@pytest.mark.long
@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--seconds",), "--seconds goes with --format json; got --format table"),
        (("--seconds", "--format", "csv"), "got --format csv"),
        (("--plot", "plot.pdf"), "got plot.pdf; expected FILE.html or FILE.png"),
        (("--plot", "plot"), "expected FILE.html or FILE.png"),
        (("--plot", "nowhere/plot.html"), "the folder is not there; got nowhere. Fix: mkdir -p nowhere"),
        (("--broker-version", "4"), "--broker-version: not a version; got 4; expected three numbers"),
        (("--engine", "D"), "not one of 'A0', 'A', 'B', 'C'"),
        (("--every", "0"), "--every"),
        (("--every", "21"), "--every: longer than the whole timeline; got 21 s; expected at most 20 s"),
        (("--seed", "-1"), "--seed"),
        (("--lake", "x"), "No such option"),
    ],
)
def test_invalid_options_are_refused(written, nothing_runs, options, words, tmp_path):
    file = written(example())
    assert words in error_line(file, *options)
    assert not list((tmp_path / "here").iterdir())


@pytest.mark.parametrize(
    "options",
    [
        ("--engine", "C"),
        ("--broker-version", "4.2.4"),
        ("--every", "1"),
        ("--plot", "x.html"),
        ("--seconds", "--format", "json"),
    ],
)
def test_tdmq_scenarios_refuse_broker_options(nothing_runs, options):
    line = error_line(SHIPPED / "overload.yaml", *options)
    assert f"knows no such option; got {options[0]}. Fix: leave it out" in line


# The guide


def test_the_guide_shows_its_example():
    page = what_if.PAGE.read_text(encoding="utf-8")
    shown = yaml.safe_load(page.split("```yaml\n")[1].split("```")[0])
    written = yaml.safe_load(EXAMPLE.read_text(encoding="utf-8"))
    assert shown == {name: value for name, value in written.items() if name != "about"}


@pytest.mark.long
def test_guide_statements_hold_for_example():
    """More consumers change nothing, the higher limit drains, and a healthy subscription ticks more often."""
    (found,) = answer(EXAMPLE)["subscription_partitions"]
    before, more, raised = found["states"]
    assert more["dispatched_msg_per_s"] == pytest.approx(before["dispatched_msg_per_s"], rel=0.01)
    assert before["dispatched_msg_per_s"] < 500
    assert raised["drained"]
    assert raised["drained_after_s"] < raised["end_s"] - raised["start_s"]
    rates = [
        sum(item["events"] for item in found["events"]) / (found["end_s"] - found["start_s"])
        for found in (before, more, raised)
    ]
    assert rates[2] > 2 * max(rates[:2])
    (lossless,) = answer(EXAMPLE, "--engine", "B")["subscription_partitions"]
    assert lossless["states"][1]["dispatched_msg_per_s"] == pytest.approx(500, rel=0.03)


def test_another_version_must_fit_the_scenario():
    scenario = Scenario.model_validate(
        {
            "format": 1,
            "name": "segments",
            "broker": {"version": "5.0.0"},
            "topics": [{"name": "orders", "segments": 2}],
            "subscriptions": [
                {"name": "billing", "topic": "orders", "type": "Shared", "consumers": 1, "processing_ms": 1}
            ],
            "timeline": [{"name": "all", "duration_s": 60}],
        }
    )
    assert scenarios.with_broker(scenario, None, "5.0.1").broker.version == "5.0.1"
    with pytest.raises(
        InputError, match=r"--broker-version: 4.2.5 does not fit the scenario: .*segments need Pulsar 5.0"
    ):
        scenarios.with_broker(scenario, None, "4.2.5")
