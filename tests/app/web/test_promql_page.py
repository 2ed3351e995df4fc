"""The PromQL console: addresses, what it says of answers and of faults, and that it is no way around the API's limits."""

from __future__ import annotations

import json
import re
import socket
import threading
from urllib.parse import urlsplit

import numpy as np
import pytest
from flask import Flask

from tests.app.api.samples import END_MS, START_MS, series
from tests.app.web.components import find, text_of
from tests.app.web.test_format import plain
from tests.app.web.test_server import call
from tests.transforms.lakes import lake_of
from throttlescope.app.presentation.figures.series import MOST_LINES, Drawn, look, series_figure
from throttlescope.app.server.app import create_app
from throttlescope.app.services.promql.concurrency import ConcurrencyLimit, QueryLimits
from throttlescope.app.services.promql.errors import ApiError
from throttlescope.app.web.address.promql import PromqlAddress
from throttlescope.app.web.client_disconnect import disconnect_check
from throttlescope.app.web.data.promql import LONGEST_S, promql_access
from throttlescope.app.web.pages.promql.completions import completions
from throttlescope.app.web.pages.promql.console_answer import read_view
from throttlescope.app.web.pages.promql.page import page
from throttlescope.app.web.pages.promql.query_error import fault_of_query, marked
from throttlescope.ingest.core.errors import InputError
from throttlescope.transforms.promql.errors import QueryCancelledError
from throttlescope.transforms.promql.functions import FUNCTIONS
from throttlescope.transforms.promql.parse import parse
from throttlescope.transforms.promql.query import Options
from throttlescope.transforms.promql.source import Series

MARKS = "</script><img src=x onerror=alert(1)>\u202e\n{{x}}"


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    times_ms = START_MS + 15_000 * np.arange(121)
    many = [
        Series({"__name__": "many", "cluster": "c", "n": f"{n:02d}"}, times_ms, np.full(121, float(n)))
        for n in range(60)
    ]
    hostile = Series({"__name__": "hostile", "cluster": "c", "topic": MARKS}, times_ms, np.arange(121.0))
    return lake_of(tmp_path_factory.mktemp("console") / "lake", [*series(), *many, hostile])


@pytest.fixture(scope="module")
def app(lake):
    return create_app(lake.root)


def evaluate(app, query="", **parts):
    view = read_view(
        promql_access(app), PromqlAddress(query, **{"start_ms": START_MS, "end_ms": END_MS, **parts})
    )
    return view, page(view, promql_access(app))


def page_text(app, query="", **parts) -> str:
    return " ".join(plain(text_of(evaluate(app, query, **parts)[1])).split())


# -- the address


@pytest.mark.parametrize(
    "address",
    [
        PromqlAddress(),
        PromqlAddress('sum by (a) (rate(x{b="</script>&#?"}[5m]))\n + 1', 1_000, 61_000, 15_000, "graph"),
        PromqlAddress("up", end_ms=1_795_000_000_123, step_ms=1_500, tab="explain"),
    ],
)
def test_address_round_trip(address):
    assert PromqlAddress.parse(urlsplit(address.href()).query) == address


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("tab=pie", "a tab that does not exist"),
        ("step=0", "The step in the address is out of range"),
        ("step=" + "9" * 30, "A duration cannot be read"),
        ("step=often", "A duration cannot be read"),
        ("from=yesterday", "A time cannot be read"),
        ("from=-6h", "is relative"),
        ("from=2026-11-20T03:00:00Z&to=2026-11-20T02:00:00Z", "The start is not before the end"),
        ("query=" + "x" * 20_001, "too long"),
    ],
)
def test_invalid_address_is_explained(app, query, says):
    with pytest.raises(InputError, match=says):
        PromqlAddress.parse(query)
    response = call(
        app.server.test_client(),
        "..promql-content.children...promql-shown.data..",
        [
            {"id": "address", "property": "search", "value": f"?{query}"},
            {"id": "promql-again", "property": "data", "value": None},
        ],
        [{"id": "address", "property": "pathname", "value": "/promql"}],
    )
    assert says in json.dumps(response["promql-content"]["children"])


# -- answers


def test_empty_query_shows_examples_with_times(app):
    _, tree = evaluate(app)
    links = [link for link in find(tree, "Link") if "query=" in (link.href or "")]
    addresses = [PromqlAddress.parse(urlsplit(link.href).query) for link in links]
    queries = {address.query for address in addresses if address.query}
    assert len(queries) >= 4
    for query in queries:
        parse(query)
    assert all(address.start_ms == START_MS and address.end_ms == END_MS for address in addresses)


def test_shared_labels_are_shown_once(app):
    text = page_text(app, "up")
    assert "2 lines, at 2023-11-14 22:43:20 UTC" in text
    assert "Every series: __name__ = up cluster = prod job = pulsar" in text.replace("=", " = ").replace(
        "  ", " "
    )
    assert "broker-0:8080 1" in text
    assert "broker-1:8080 0" in text
    assert "data up to 2023-11-14 22:43:20 UTC" in text


def test_long_table_reports_omitted_rows(app):
    assert "62 lines, at" in page_text(app, "many or up")
    copies = " or ".join(f'label_replace(many, "m", "{n}", "n", ".*")' for n in range(5))
    view, tree = evaluate(app, copies)
    assert view.fault is None
    assert "300 lines, at 2023-11-14 22:43:20 UTC; the first 200 are shown" in " ".join(
        plain(text_of(tree)).split()
    )
    assert len(find(find(tree, "Tbody"), "Tr")) == 200
    # A range of more than a hundred points is a line per series.
    assert "points first last lowest highest" in page_text(app, "many[2m]")


def test_scalar_string_and_empty_results(app):
    assert "1 line, at" in page_text(app, "1 + 1")
    assert "A string: a ⟨U+000A⟩ b" in page_text(app, '"a \\n b"')
    assert "No series has a value at that time." in page_text(app, "no_such_metric")
    assert "No series has a value at that time." in page_text(app, "no_such_metric", tab="graph")


@pytest.mark.long
def test_hostile_labels_never_reach_the_chart(app):
    for tab in ("table", "graph"):
        view, tree = evaluate(app, "hostile or up", tab=tab)
        assert view.fault is None
        assert "⟨U+202E⟩⟨U+000A⟩" in text_of(tree)
        for graph in find(tree, "Graph"):
            assert "script" not in json.dumps(graph.figure.to_plotly_json(), default=str)
        assert all("\u202e" not in (link.href or "") for link in find(tree, "Link"))


def test_graph_draws_at_most_fifty_series(app):
    _, tree = evaluate(app, "many", tab="graph")
    text = " ".join(plain(text_of(tree)).split())
    assert "60 series" in text
    assert "shown are the 50 with the greatest values; 10 more are hidden" in text
    (graph,) = find(tree, "Graph")
    assert len(graph.figure.data) == MOST_LINES == 50
    assert {max(trace.y) for trace in graph.figure.data} == set(range(10, 60))
    assert len({look(number) for number in range(MOST_LINES)}) == MOST_LINES, "two lines look alike"
    keys = [text_of(row.children[0]).strip() for row in find(find(tree, "Tbody"), "Tr")]
    assert keys == [trace.name for trace in graph.figure.data]


def test_spikes_survive_downsampling():
    """However many points there are."""
    times_ms = np.arange(11_001, dtype=np.int64) * 1000
    values = np.zeros(11_001)
    values[4321], values[8765] = 99.0, -7.0
    lines = [Drawn(times_ms, values)] * MOST_LINES
    figure, is_short = series_figure(lines, start_ms=0, end_ms=11_000_000)
    assert is_short
    for trace in figure.data:
        at = dict(zip(trace.x, trace.y, strict=True))
        assert (at[4_321_000], at[8_765_000]) == (99.0, -7.0)
    assert sum(len(trace.x) for trace in figure.data) < 30_000


@pytest.mark.long
def test_points_are_bounded_and_gaps_kept():
    times_ms = np.arange(11_001, dtype=np.int64) * 1000
    flicker = np.where(np.arange(11_001) % 2, np.arange(11_001.0), np.nan)
    figure, _ = series_figure([Drawn(times_ms, flicker)] * MOST_LINES, start_ms=0, end_ms=11_000_000)
    assert sum(len(trace.x) for trace in figure.data) < 60_000
    hole = np.array([1.0, 2.0, np.nan, 4.0, np.inf, 6.0])
    figure, _ = series_figure([Drawn(times_ms[:6], hole)], start_ms=0, end_ms=6_000)
    assert figure.data[0].y == (1.0, 2.0, None, 4.0, None, 6.0)
    assert figure.data[0].mode == "lines+markers", "a lone point would not be seen"


def test_infinite_values_are_reported(app):
    text = page_text(app, "vector(1) / 0", tab="graph", step_ms=60_000)
    assert re.search(r"\d+ infinite values are gaps", text)


def test_notes_are_shown_with_their_kind(app):
    text = page_text(app, "quantile(2, up) + rate(many[5m])")
    assert "Warning: quantile value should be between 0 and 1, got 2" in text
    assert "Info: metric might not be a counter" in page_text(app, "rate(many[5m])")


def test_explain_matches_the_command(app):
    view, tree = evaluate(app, "sum(rate(many[5m]))", tab="explain")
    text = promql_access(app).queries.explain("sum(rate(many[5m]))", START_MS, END_MS, view.step_ms)
    (shown,) = find(tree, "Pre")
    assert shown.children == text
    assert view.answer is None


def test_query_links_to_api_and_command(app):
    _, tree = evaluate(app, 'up{instance="a\'b"}', tab="graph")
    (link,) = find(tree, "A")
    answer = app.server.test_client().get(link.href)
    assert answer.get_json()["status"] == "success"
    (copy,) = find(tree, "CopyButton")
    assert copy.value.startswith("""throttlescope promql 'up{instance="a'"'"'b"}' --start """)


# -- faults


def test_error_position_is_marked():
    text = "sum by (topic) (\n  rate(x[5m]\n)"
    (mark,) = find(marked(text, 29), "Mark")
    assert "line 2, column 13" in text_of(marked(text, 29))
    assert mark.children == "\N{NO-BREAK SPACE}", "the end of the line has no character"
    assert [part.children for part in find(marked("a +* b", 3), "Mark")] == ["*"]
    # Far inside a long line, and beyond the end.
    assert len(text_of(marked("x" * 10_000, 5_000))) < 400
    assert "line 1, column 4" in text_of(marked("abc", 99))
    assert "⟨U+202E⟩" in text_of(marked("a\u202eb", 2))


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("sum(", "line 1, column 5"),
        ("rate(up)", "line 1, column 6"),
        ("up +\n* 2", "line 2, column 1"),
        ("info(up)", "is not supported"),
        (MARKS, "PromQL cannot be read"),
        ("(" * 5_000, "nested too deeply"),
        ("up * on () up", "many-to-many|several|Several"),
    ],
)
@pytest.mark.parametrize("tab", ["table", "graph"])
def test_query_without_answer_is_explained(app, query, says, tab):
    view, tree = evaluate(app, query, tab=tab)
    assert view.fault is not None
    assert re.search(says, plain(text_of(tree))), text_of(tree)


# -- limits


@pytest.mark.long
def test_page_queries_share_the_concurrency_limit(lake):
    app = create_app(lake.root, limits=QueryLimits(running=1, waiting=0))
    with promql_access(app).slot():
        view, tree = evaluate(app, "up")
        assert "Too many queries run at once." in text_of(tree)
        answer = app.server.test_client().get("/api/v1/query?query=1")
        assert (answer.status_code, answer.get_json()["errorType"]) == (503, "unavailable")
    view, _ = evaluate(app, "up")
    assert view.fault is None, "the place was given back"


@pytest.mark.long
def test_queries_are_limited_as_in_api(lake):
    app = create_app(lake.root, limits=QueryLimits(Options(max_samples=10)))
    assert "too many samples" in page_text(app, "many")
    assert "--max-samples" not in page_text(app, "many")
    app = create_app(lake.root, limits=QueryLimits(Options(timeout_s=1e-9)))
    assert re.search("waited too long|timed out", page_text(app, "many"))
    app = create_app(lake.root)
    assert "exceeded maximum resolution" in page_text(app, "up", tab="graph", step_ms=1)
    assert promql_access(app).limits.options.timeout_s == LONGEST_S < Options().timeout_s


def test_cancelled_evaluation_ends(lake):
    app = create_app(lake.root)
    options = Options(is_cancelled=lambda: True)
    with pytest.raises(QueryCancelledError):
        promql_access(app).queries.instant("many", END_MS, options)


def test_many_threads_notice_disconnected_client():
    ours, theirs = socket.socketpair()
    with Flask("x").test_request_context("/", environ_overrides={"gunicorn.socket": ours}):
        is_gone = disconnect_check()
    assert not is_gone()
    theirs.send(b"GET /next")
    assert not is_gone(), "the next request is no goodbye"
    assert ours.recv(100) == b"GET /next", "and stays where it is"
    theirs.close()
    found: list = []
    threads = [threading.Thread(target=lambda: found.extend(is_gone() for _ in range(200))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 800
    ours.close()
    assert is_gone()
    assert not disconnect_check()(), "outside of a request no client has disconnected"


def test_concurrency_error_has_advice():
    concurrency = ConcurrencyLimit(1, 0)
    with concurrency.slot(1.0), pytest.raises(ApiError) as caught, concurrency.slot(1.0):
        pytest.fail("it was let in")
    assert "Run it again" in text_of(fault_of_query("up", caught.value, timeout_s=50))


# -- completion


def test_every_supported_function_is_suggested():
    kinds = {word["text"]: word["kind"] for word in completions()}
    assert {name for name, one in FUNCTIONS.items() if one.supported} == {
        name for name, kind in kinds.items() if kind == "function"
    }
    assert "info" not in kinds
    assert {kinds[name] for name in ("topk", "limit_ratio")} == {"aggregation"}


def test_empty_lake_is_explained(tmp_path):
    app = create_app(tmp_path)
    assert read_view(promql_access(app), PromqlAddress("up")) is None
    response = call(
        app.server.test_client(),
        "..promql-content.children...promql-shown.data..",
        [
            {"id": "address", "property": "search", "value": ""},
            {"id": "promql-again", "property": "data", "value": None},
        ],
        [{"id": "address", "property": "pathname", "value": "/promql"}],
    )
    assert "No samples yet." in json.dumps(response)
