"""The finder of English words on translated pages finds them, and leaves alone what is the same in every language."""

from __future__ import annotations

import pytest

from tests.app.web.untranslated import english_words, sent_texts


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("积压, entries", ["entries"]),
        ("topic 限流阈值 83 msg/s", ["topic"]),
        ("<b>%{y:.4~s}</b> events", ["events"]),
        ("topic.msg 的阈值，见 throttled_msg_events 和 dispatchRateLimit", []),
        ("运行 throttlescope rules export --out DIR", []),
        ("订阅 orders-billing，broker 未知", []),
    ],
)
def test_words_are_found_between_names(text, words):
    assert english_words(text, {"orders-billing"}) == words


def test_texts_of_charts_and_tables_are_found():
    """By their place; commands and names of a cluster are no texts."""
    graph = {
        "data": [{"name": "out", "customdata": ["throttled", "seen"]}],
        "layout": {"template": {"name": "plotly"}},
    }
    sent = {
        "grid": {
            "columnDefs": [{"headerName": "Topic", "field": "topic"}],
            "rowData": [{"topic": "a/b", "held_tip": "since"}],
        },
        "part": {
            "children": [
                {"type": "Graph", "namespace": "dash_core_components", "props": {"id": "g", "figure": graph}},
                {"type": "Code", "namespace": "dash_html_components", "props": {"children": "ls"}},
                {
                    "type": "Span",
                    "namespace": "dash_html_components",
                    "props": {"children": "check", "lang": "en"},
                },
            ]
        },
    }
    assert dict(sent_texts(sent)) == {
        ".grid.columnDefs.headerName": "Topic",
        ".grid.rowData[held_tip]": "since",
        ".part.children Graph#g.figure.data.name": "out",
        ".part.children Graph#g.figure.data.customdata": "seen",
    }
