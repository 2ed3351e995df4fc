"""A sentence with components in it."""

from __future__ import annotations

from dash import html

from throttlescope.app.web.components.sentence_parts import sentence_parts
from throttlescope.models.messages.catalogue import Message


def test_components_are_placed_in_the_sentence():
    link = html.A("Show them")
    found = sentence_parts(
        Message("whatif.change.limit", {"setting": link, "value": "800", "now": [html.B("500"), " msg/s"]})
    )
    assert found[0] is link
    assert found[1] == " is 800 instead of "
    assert found[2].children == "500"
    assert found[3] == " msg/s"


def test_sentence_without_components_is_one_text():
    assert sentence_parts(Message("whatif.change.nothing")) == ["nothing changes"]


def test_lists_are_written_with_their_unit():
    found = sentence_parts(
        Message("whatif.restarts", {"times": ["10:00", "11:00"]}),
    )
    assert found[0].startswith("Counters restarted at 10:00, 11:00 UTC")
