"""The MCP server as an assistant's client meets it: the real process over stdio, on a small lake."""

from __future__ import annotations

import json
import subprocess
import sys

import jsonschema
import pyarrow as pa
import pytest

from tests.app.lake_of_verdicts import HOUR, verdict
from tests.app.mcp.session import session
from tests.models.throttling.replay.samples import NAMESPACE, SELECTOR, TOPIC, scenario, simulated_lake
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.lake import write_data_file

pytestmark = pytest.mark.long

SECONDS = 900
WINDOW_MS = 300_000
TOOLS = {"list_troubled_subscriptions", "explain_subscription", "what_if", "query_promql", "incident_report"}
#: An answer has to fit into a conversation.
MOST_CHARACTERS = 100_000


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    """A quarter of an hour of a subscription under a limit of 500 msg/s, simulated, with verdicts by hand."""
    lake = simulated_lake(tmp_path_factory.mktemp("mcp") / "lake", scenario(duration_s=SECONDS), SECONDS)
    rows = [
        verdict(
            i, namespace=NAMESPACE, topic=TOPIC, partition=-1, subscription="billing", start_ms=HOUR + i * WINDOW_MS,
            why=None, variant=None, contributing=[], capacity_msg_rate=None, capacity_seen_ms=None,
        )
        for i in range(3)
    ]  # fmt: skip
    table = pa.Table.from_pylist(rows, schema=TABLES["verdicts"].schema)
    lake.commit("verdicts", [write_data_file(lake.root, "verdicts", table)], run_id="by hand")
    return lake.root


@pytest.fixture(scope="module")
def seen(lake, tmp_path_factory):
    """One session with a call of each tool, and with what can be wrong about a call."""
    calls = [
        ("list_troubled_subscriptions", {}),
        ("explain_subscription", {"subscription": SELECTOR}),
        ("what_if", {"subscription": SELECTOR, "changes": ["subscription.msg=none"], "horizon": "1h"}),
        ("query_promql", {"expr": "sum by (topic) (pulsar_subscription_back_log)"}),
        ("query_promql", {"expr": "pulsar_subscription_back_log", "start": "2026-11-20T08:00:00Z", "step": "5s"}),
        ("incident_report", {"subscription": SELECTOR}),
        # What is wrong.
        ("explain_subscription", {"subscription": SELECTOR.replace("orders", "ordres")}),
        ("what_if", {"subscription": SELECTOR.replace("billing", "biling"), "changes": []}),
        ("explain_subscription", {"subscription": "orders"}),
        ("query_promql", {"expr": "sum by ("}),
        ("list_troubled_subscriptions", {"cause": "throtled"}),
        ("list_troubled_subscriptions", {"limit": 100_000}),
        ("list_troubled_subscriptions", {"cluster": "staging"}),
        ("what_if", {"subscription": SELECTOR, "changes": ["subscription.msg=lots"]}),
        ("explain_subscription", {"subscription": SELECTOR, "at": "yesterday"}),
    ]  # fmt: skip
    return session(lake, calls, tmp_path_factory.mktemp("session"))


def good(seen, number):
    result = seen.results[number]
    assert not result.is_error, result.content[0].text
    return result.structured_content, result.content[0].text


def test_tools_only_read_and_have_schemas(seen):
    assert set(seen.tools) == TOOLS
    for tool in seen.tools.values():
        assert tool.annotations.read_only_hint
        assert not tool.annotations.destructive_hint
        jsonschema.Draft202012Validator.check_schema(tool.output_schema)
        assert all("description" in one for one in tool.input_schema["properties"].values())


def test_answers_match_their_schemas_and_are_small(seen):
    names = [
        "list_troubled_subscriptions", "explain_subscription", "what_if", "query_promql", "query_promql", "incident_report",
    ]  # fmt: skip
    for number, name in enumerate(names):
        answer, text = good(seen, number)
        jsonschema.validate(answer, seen.tools[name].output_schema, cls=jsonschema.Draft202012Validator)
        assert len(json.dumps(answer)) < MOST_CHARACTERS
        assert answer["freshness"]["data_until"].startswith("2026-11-20T08:")
        assert answer["freshness"]["age_s"] > 0
        assert "Data up to 2026-11-20 08:" in text


def test_list_leads_to_an_explanation(seen):
    troubled, text = good(seen, 0)
    assert [(one["subscription"], one["cause"], one["limiter"]) for one in troubled["subscriptions"]] == [
        (SELECTOR, "throttled", "subscription.msg")
    ]
    assert (troubled["total"], troubled["left_out"], troubled["by_cause"]) == (1, 0, {"throttled": 1})
    assert "acme/shop/orders#billing: throttled (subscription message limit), 3,000 entries" in text
    explained, text = good(seen, 1)
    assert (explained["cause"], explained["side"], explained["limiter"]) == (
        "throttled", "throttle", "subscription.msg",
    )  # fmt: skip
    assert explained["evidence"][0]["text"] == "it uses 98 % of its limit"
    assert explained["missing_evidence"] == [{"what": "permits", "fix": "expose consumer metrics"}]
    assert explained["backlog"]["entries"] == 3000.0
    assert not explained["limits_observed"]
    assert "First step:" in text


def test_what_if_is_the_commands_answer(seen, lake):
    answer, text = good(seen, 2)
    done = subprocess.run(
        [sys.executable, "-m", "throttlescope.app.cli", "whatif", "--lake", lake, "--subscription", SELECTOR, "--set",
         "subscription.msg=none", "--horizon", "1h", "--format", "json", "--quiet"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    document = json.loads(done.stdout)
    assert answer["effect"] == document["effect"]
    assert answer["changed"]["earliest_s"] == document["changed"]["earliest_s"]
    assert answer["as_is"]["limited_by"] == "subscription.msg"
    assert answer["backlog_entries"] == document["backlog_entries"] > 0
    assert "Nothing was changed on the cluster" in text


def test_query_is_evaluated_and_limited(seen):
    answer, _ = good(seen, 3)
    (row,) = answer["rows"]
    assert answer["kind"] == "vector"
    assert answer["shared_labels"] == {"topic": TOPIC}
    assert row["value"] > 0
    points, _ = good(seen, 4)
    (whole,) = points["rows"]
    assert whole["series"]["points"] == SECONDS / 5 + 1
    assert whole["series"]["last"] == row["value"]


def test_report_is_that_of_the_command(seen):
    answer, _ = good(seen, 5)
    assert answer["markdown"].startswith("# `billing`: throttled by the subscription message limit")
    assert not answer["cut"]
    assert "## " in answer["markdown"]


@pytest.mark.parametrize(
    ("number", "says"),
    [
        (6, ("There is no such subscription in this lake", f"Fix: use one such as {SELECTOR}")),
        (7, ("There is no such subscription in this lake", f"Fix: use one such as {SELECTOR}")),
        (8, ("A subscription cannot be read; got orders; expected [persistent://]",)),
        (9, ("PromQL cannot be read at line 1, column 9",)),
        (10, ("There is no such cause", "did you mean throttled?")),
        (11, ("out of range; got 100000; expected 1 to 200",)),
        (12, ("no such cluster in this lake; got staging; expected prod",)),
        (13, ("lots",)),
        (14, ("A time cannot be read; got 'yesterday'",)),
    ],
)
def test_errors_say_what_to_do(seen, number, says):
    result = seen.results[number]
    assert result.is_error
    for part in says:
        assert part in result.content[0].text


def test_session_is_quick_and_quiet(seen):
    assert seen.connected_s < 60
    assert "Traceback" not in seen.stderr
    assert "Spark" not in seen.stderr


def test_replay_beyond_its_time_is_refused(lake, tmp_path):
    call = ("what_if", {"subscription": SELECTOR, "changes": []})
    seen = session(lake, [call, ("list_troubled_subscriptions", {})], tmp_path, "--what-if-within", "1ms")
    assert seen.results[0].is_error
    assert "The replay was not ready in time" in seen.results[0].content[0].text
    assert not seen.results[1].is_error


def test_stdout_has_the_protocol_alone(lake):
    """A print in a tool would end the session; here the bytes are read as they come, with the handshake of older clients."""
    initialize = {
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
    }  # fmt: skip
    call = {
        "jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": {"name": "explain_subscription", "arguments": {"subscription": SELECTOR}},
    }  # fmt: skip
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    process = subprocess.Popen(
        [sys.executable, "-m", "throttlescope.app.cli", "mcp", "--lake", lake],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        for one in (initialize, ready, call):
            process.stdin.write(json.dumps(one) + "\n")
        process.stdin.flush()
        answers = [json.loads(process.stdout.readline()) for _ in range(2)]
        process.stdin.close()
        rest = process.stdout.read()
        assert process.wait(30) == 0
    finally:
        process.kill()
        process.wait()
    assert {one["id"] for one in answers} == {1, 2}
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in rest.splitlines())


def test_lake_without_verdicts_is_refused_at_once(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "throttlescope.app.cli", "mcp", "--lake", tmp_path / "none"],
        input="", capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert "There are no verdicts in this lake" in done.stderr


def test_missing_extra_is_one_line(tmp_path):
    """As after an installation without the extra: the package cannot be imported."""
    program = (
        "import sys; sys.modules['mcp'] = None; from throttlescope.app.cli.application import app;"
        f"app(['mcp', '--lake', {str(tmp_path)!r}], prog_name='throttlescope')"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], input="", capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert "pip install 'throttlescope[mcp]'" in line
