"""The notebook API holds what the lake holds, says what the command line says, and draws outside of the web app."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from plotly.offline import get_plotlyjs

from tests.app.web.sample_lake import END_MS, START_MS
from tests.app.web.sampled_lake import write_sampled_lake
from throttlescope.app.notebook import Chart, OpenLake, open_lake
from throttlescope.app.notebook.charts import promql_chart, read_minutes
from throttlescope.app.notebook.series import answer_table, evaluate
from throttlescope.app.notebook.times import moment_ms
from throttlescope.app.queries.verdicts import VerdictFilter, read_summary, read_verdicts
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.subscription_name import SubscriptionName
from throttlescope.ingest.core.times import MINUTE_MS, format_time
from throttlescope.transforms.promql.answer import rows_of

BACKLOG = "pulsar_subscription_back_log"
RULES = """
groups:
  - name: mine
    rules:
      - record: my:backlog:sum
        expr: sum by (cluster, topic, partition, subscription) (pulsar_subscription_back_log)
      - alert: MyBacklog
        expr: my:backlog:sum > 1000
        for: 5m
        labels: {cause: throttled}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return Path(write_sampled_lake(tmp_path_factory.mktemp("notebook") / "lake").root)


@pytest.fixture(scope="module")
def lake(folder) -> OpenLake:
    """Without Spark: what needs none never starts it."""
    return open_lake(folder, session=object())


@pytest.fixture(scope="module")
def billing(lake) -> str:
    rows = [row for row in read_summary(lake.lake, VerdictFilter()) if row["subscription"] == "billing"]
    return f"{rows[0]['topic']}#billing"


# -- opening -------------------------------------------------------------------------------


def test_missing_lake_is_refused_in_one_line(tmp_path):
    with pytest.raises(InputError, match="There is no lake there") as caught:
        open_lake(tmp_path / "nothing")
    assert caught.value._render_traceback_() == [f"InputError: {caught.value}"]
    assert not (tmp_path / "nothing").exists()


@pytest.mark.long
def test_session_and_master_exclude_each_other(folder):
    with pytest.raises(InputError, match="Spark is configured twice"):
        open_lake(folder, session=object(), master="local[1]")


@pytest.mark.long
def test_lake_path_comes_from_configuration(folder, tmp_path):
    config = tmp_path / "throttlescope.toml"
    config.write_text(f"lake = {json.dumps(str(folder))}\n")
    assert open_lake(config=config).lake.root == str(folder)


# -- times ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "moment", ["2026-11-20T10:00:00Z", datetime(2026, 11, 20, 10), datetime(2026, 11, 20, 10, tzinfo=UTC)]
)
def test_time_accepts_text_and_datetime(moment):
    assert moment_ms(moment) == 1_795_168_800_000
    assert moment_ms(moment_ms(moment)) == 1_795_168_800_000


@pytest.mark.parametrize("moment", ["yesterday", 1.5, True, object()])
def test_invalid_time_is_refused(moment):
    with pytest.raises(InputError, match="A time cannot be read"):
        moment_ms(moment)


# -- figures -------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("name", ["backlog", "rates", "events", "holding", "causes"])
def test_chart_sets_its_own_colours(lake, billing, name):
    chart = getattr(lake.figures, name)(billing)
    assert isinstance(chart, Chart)
    assert len(chart.data) > 0
    # On a page the style sheet gives ground and text: here there is none.
    assert chart.layout.paper_bgcolor == chart.layout.plot_bgcolor == "#ffffff"
    assert chart.layout.font.color == "#33383d"


@pytest.mark.long
def test_chart_needs_no_network_or_upload(lake, billing, monkeypatch):
    monkeypatch.setattr("plotly.io.renderers.default", "plotly_mimetype")
    chart = lake.figures.backlog(billing)
    bundle = chart._repr_mimebundle_()
    assert set(bundle) == {"application/vnd.plotly.v1+json"}
    assert bundle["application/vnd.plotly.v1+json"]["config"]["showSendToCloud"] is False
    assert "showSendToCloud" in get_plotlyjs(), "Plotly calls the button otherwise now"
    assert not callable(chart._repr_html_)
    assert len(repr(chart)) < 100


@pytest.mark.long
def test_range_limits_the_chart(lake, billing):
    start_ms, end_ms = START_MS + 30 * MINUTE_MS, START_MS + 60 * MINUTE_MS
    chart = lake.figures.backlog(billing, start=start_ms, end=format_time(end_ms))
    assert list(chart.layout.xaxis.range) == [start_ms, end_ms]
    assert start_ms < min(chart.data[0].x) <= max(chart.data[0].x) <= end_ms


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"subscription": "billing"}, "A subscription cannot be read"),
        ({"subscription": "persistent://a/b/nothing#billing"}, "no minutes of this subscription"),
        ({"start": "2030-01-01"}, "no minutes of this subscription"),
        ({"start": END_MS, "end": START_MS}, "start is not before the end"),
    ],
)
def test_chart_without_data_is_refused(lake, billing, options, message):
    with pytest.raises(InputError, match=message):
        lake.figures.backlog(**({"subscription": billing} | options))


def test_missing_measurements_are_not_plotted(lake, billing):
    """The sample lake has no ages."""
    with pytest.raises(InputError, match="no data to plot"):
        lake.figures.age(billing)


@pytest.mark.parametrize(
    ("column", "value", "fix"), [("partition", 7, "partition-N"), ("cluster", "b", "cluster=")]
)
def test_ambiguous_subscription_name_is_refused(lake, billing, column, value, fix):
    name = SubscriptionName.of(billing)
    rows = lake.lake.read("signals", where=pc.field("topic") == name.topic)
    one = rows.slice(0, 1)
    other = one.set_column(
        one.column_names.index(column),
        rows.schema.field(column),
        pa.array([value], rows.schema.field(column).type),
    )
    both = SimpleNamespace(lake=SimpleNamespace(read=lambda *_, **__: pa.concat_tables([one, other])))
    with pytest.raises(
        InputError, match=rf"everal {column}s have a subscription of this name; got .*{value}.* Fix: .*{fix}"
    ):
        read_minutes(both, billing, None, None, None)


# -- PromQL --------------------------------------------------------------------------------


def test_query_answer_has_one_row_per_point(lake):
    answer = evaluate(lake, f"{BACKLOG} > 500", START_MS, END_MS, "5m")
    points = [
        (labels, int(at_ms), value)
        for labels, times_ms, values in rows_of(answer)
        for at_ms, value in zip(times_ms, values, strict=True)
    ]
    table = answer_table(answer)
    assert 0 < table.num_rows == len(points)
    got = zip(*(table[name].to_pylist() for name in ("labels", "time_ms", "value")), strict=True)
    assert [(dict(labels), at_ms, value) for labels, at_ms, value in got] == points


def test_instant_query_defaults_to_newest_sample(lake):
    table = answer_table(evaluate(lake, BACKLOG, None, None, None))
    newest_ms = lake.queries.catalogue().newest_ms
    assert table.num_rows > 1
    assert set(table["time_ms"].to_pylist()) == {newest_ms}
    assert answer_table(evaluate(lake, "vector(1)", None, None, None, START_MS))["time_ms"].to_pylist() == [
        START_MS
    ]


def test_empty_answer_has_the_same_columns(lake):
    table = answer_table(evaluate(lake, "nothing_like_it", START_MS, END_MS, "5m"))
    assert (table.num_rows, table.column_names) == (0, ["labels", "time_ms", "value"])
    assert isinstance(promql_chart(evaluate(lake, "nothing_like_it", START_MS, END_MS, "5m")), Chart)


@pytest.mark.parametrize(
    ("query", "times", "message"),
    [
        ("sum(", {"start": START_MS}, "PromQL cannot be read"),
        ("1", {"start": START_MS, "step": "0s"}, "The step must be more than 0"),
        ("1", {"end": END_MS}, "belong to a range"),
        ("1", {"start": START_MS, "at": START_MS}, "exclude each other"),
        ("1", {"start": END_MS, "end": START_MS}, "start is after the end"),
    ],
)
def test_invalid_queries_are_refused(lake, query, times, message):
    options = {"start": None, "end": None, "step": None, "at": None} | times
    with pytest.raises(InputError, match=message):
        evaluate(lake, query, options["start"], options["end"], options["step"], options["at"])


def test_query_chart_names_each_line(lake):
    chart = lake.figures.promql(f"max by (subscription) ({BACKLOG})", START_MS, END_MS, "5m", title="entries")
    answer = evaluate(lake, f"max by (subscription) ({BACKLOG})", START_MS, END_MS, "5m")
    names = [trace.name for trace in chart.data]
    assert "subscription=billing" in names
    assert len(names) == len(list(rows_of(answer)))
    # A name of a cluster is shown, never obeyed.
    assert not any("<" in name for name in names)
    assert chart.layout.yaxis.title.text == "entries"


# -- answers -------------------------------------------------------------------------------


@pytest.mark.long
def test_why_shows_the_verdict_at_a_time(lake, billing):
    why = lake.why(billing, at=END_MS)
    rows = read_verdicts(lake.lake, VerdictFilter(subscription=billing))
    newest = next(row for row in rows if row["window_end_ms"] == END_MS)
    assert (why.verdict["cause"], why.verdict["limiter"]) == (newest["cause"], newest["limiter"])
    text = why._repr_markdown_()
    assert text == repr(why)
    assert all(one["text"].split(".")[0][:30] in text for one in newest["evidence"])
    assert text.startswith("#### ")


def test_why_before_first_data_is_refused(lake, billing):
    with pytest.raises(InputError, match="has no data of this subscription at that time"):
        lake.why(billing, at=START_MS - 10 * MINUTE_MS)


# -- rules ---------------------------------------------------------------------------------


def test_rules_are_validated_when_loaded(lake, tmp_path):
    assert "record my:backlog:sum, alert MyBacklog" in repr(lake.rules(RULES))
    with pytest.raises(InputError, match="line 6"):
        lake.rules(RULES.replace("sum by", "summ by"))
    with pytest.raises(InputError, match="cannot be read"):
        lake.rules(tmp_path / "nothing.yml")


def test_exported_rules_are_unchanged(lake, tmp_path):
    path = lake.rules(RULES).export(tmp_path / "mine.rules.yml")
    assert path.read_text() == RULES
    assert lake.rules(path).file.groups[0].name == "mine"
    with pytest.raises(InputError, match="cannot be written"):
        lake.rules(RULES).export(tmp_path / "nowhere" / "mine.rules.yml")
    assert [one.name for one in tmp_path.iterdir()] == ["mine.rules.yml"]


# -- DataFrames ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def on_spark(folder, _spark_session) -> OpenLake:
    return open_lake(folder, session=_spark_session)


@pytest.mark.study
@pytest.mark.spark
def test_dataframes_match_the_lake_tables(on_spark, billing):
    stored = on_spark.lake.read("signals")
    assert on_spark.signals().count() == stored.num_rows
    start_ms, end_ms = START_MS + 30 * MINUTE_MS, START_MS + 60 * MINUTE_MS
    mine = on_spark.signals(billing, start=start_ms, end=end_ms).collect()
    assert [row.minute_ms for row in mine] == list(range(start_ms, end_ms, MINUTE_MS))
    assert {row.selector for row in mine} == {billing}
    name = SubscriptionName.of(billing)
    wanted = stored.filter(
        (pc.field("topic") == name.topic) & (pc.field("subscription") == name.subscription)
    )
    wanted = wanted.filter((pc.field("minute_ms") >= start_ms) & (pc.field("minute_ms") < end_ms))
    assert [row.backlog_entries for row in mine] == wanted.sort_by("minute_ms")["backlog_entries"].to_pylist()


@pytest.mark.spark
def test_dataframes_match_the_command_line(on_spark, billing):
    rows = read_verdicts(
        on_spark.lake, VerdictFilter(subscription=billing, start_ms=START_MS + 1, end_ms=END_MS)
    )
    got = on_spark.verdicts(billing, start=START_MS + 1, end=END_MS).collect()
    assert [(row.window_start_ms, row.cause) for row in got] == [
        (row["window_start_ms"], row["cause"]) for row in rows
    ]
    throttled = on_spark.verdicts(cause="throttled")
    assert throttled.count() == len(read_verdicts(on_spark.lake, VerdictFilter(cause="throttled"))) > 0
    summary = read_summary(on_spark.lake, VerdictFilter())
    assert on_spark.subscriptions(own_topics=True).count() == len(summary)
    top = on_spark.subscriptions().first()
    assert top.main_cause != "healthy"
    with pytest.raises(InputError, match="did you mean throttled"):
        on_spark.verdicts(cause="throtled")


@pytest.mark.spark
def test_unknown_table_or_column_is_refused(on_spark, billing):
    with pytest.raises(InputError, match="There is no such table"):
        on_spark.table("verdict")
    with pytest.raises(InputError, match="has no topic"):
        on_spark.table("ingest_runs", billing)
    with pytest.raises(InputError, match="The lake has no table anomalies yet"):
        on_spark.table("anomalies")


@pytest.mark.spark
def test_open_episodes_appear_in_later_ranges(on_spark):
    """Files are pruned by their starts alone: an episode without an end goes on."""
    rows = on_spark.lake.read("episodes").to_pylist()
    open_ones = {row["episode_id"] for row in rows if row["end_ms"] is None}
    assert open_ones
    later = on_spark.episodes(start=END_MS + MINUTE_MS, end=END_MS + 2 * MINUTE_MS).collect()
    assert {row.episode_id for row in later} == open_ones


@pytest.mark.spark
def test_rule_fires_where_its_condition_is_true(on_spark, billing):
    fired = on_spark.rules(RULES).fires(START_MS, END_MS).collect()
    mine = [row for row in fired if row.selector == billing]
    assert mine
    expected_points = answer_table(
        evaluate(on_spark, f"sum by (topic, subscription) ({BACKLOG}) > 1000", START_MS, END_MS, "1m")
    )
    name = SubscriptionName.of(billing)
    times = {
        at_ms
        for labels, at_ms in zip(
            expected_points["labels"].to_pylist(), expected_points["time_ms"].to_pylist(), strict=True
        )
        if dict(labels) == {"topic": name.topic, "subscription": name.subscription}
    }
    for row in mine:
        end_ms = END_MS if row.end_ms is None else row.end_ms
        assert set(range(row.active_ms, end_ms, MINUTE_MS)) <= times
        assert row.start_ms - row.active_ms >= 5 * MINUTE_MS or row.start_ms == START_MS
        assert row.said in ("real", "not real", "undecided")
    assert on_spark.lake.read("series", where=pc.field("metric_name") == "my:backlog:sum").num_rows == 0
