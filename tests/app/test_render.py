"""What is printed is safe to look at, to parse and to open in a spreadsheet."""

import csv
import io
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from throttlescope.app.presentation.output import freshness, print_table, write_csv, write_json
from throttlescope.models.messages.units import count, duration_text, percent, visible


@given(st.text())
def test_visible_text_is_printable(text):
    shown = visible(text)
    assert shown.isprintable()
    if text.isprintable():
        assert shown == text


def test_table_cells_are_not_interpreted(capsys):
    print_table(
        [("name", "left")], [["[bold]x[/bold] \x1b[31mred\n../../etc"]], title="t", notes=["[red]note"]
    )
    out = capsys.readouterr().out
    assert "[bold]x[/bold] \\x1b[31mred\\n../../etc" in out
    assert "[red]note" in out
    assert "\x1b" not in out


def test_narrow_terminal_shows_rows_as_paragraphs(capsys, monkeypatch):
    columns = [("name", "left"), ("backlog (entries)", "right"), ("limiter", "left")]
    rows = [["a" * 50, "1,000", "-"], ["b\x1b", "2,000", "topic.msg"]]
    monkeypatch.setenv("COLUMNS", "60")
    print_table(columns, rows, title="two")
    assert capsys.readouterr().out.splitlines() == [
        "two", "a" * 50, "  backlog (entries) 1,000", "b\\x1b", "  backlog (entries) 2,000; limiter topic.msg",
    ]  # fmt: skip
    monkeypatch.setenv("COLUMNS", "120")
    print_table(columns, rows, title="two")
    assert "┃ backlog (entries) ┃" in capsys.readouterr().out


@given(st.text(), st.floats(), st.integers())
def test_json_is_valid_and_reads_back(text, number, whole):
    stream = io.StringIO()
    write_json({"text": text, "number": number, "whole": whole, "list": (number,)}, stream)
    back = json.loads(stream.getvalue(), parse_constant=lambda name: pytest.fail(name))
    assert back["text"] == text
    assert back["whole"] == whole
    assert back["number"] == (number if math.isfinite(number) else None)


@given(st.text(st.characters(codec="utf-8")))
def test_no_csv_cell_begins_like_a_formula(text):
    stream = io.StringIO()
    write_csv(["name", "value", "list"], [{"name": text, "value": -1.5, "list": [{"a": text}]}], stream)
    rows = list(csv.reader(io.StringIO(stream.getvalue(), newline="")))
    assert len(rows) == 2
    name, value, inner = rows[1]
    assert not name.startswith(("=", "+", "-", "@", "\t", "\r"))
    assert name in (text, "'" + text)
    assert value == "-1.5"
    assert json.loads(inner) == [{"a": text}]


def test_numbers_and_durations_are_formatted():
    assert count(1234567.2) == "1,234,567"
    assert (count(None), count(math.nan), percent(None), percent(0.956)) == ("-", "-", "-", "96 %")
    assert duration_text(2 * 3_600_000 + 14 * 60_000 + 5_000) == "2 h 14 min"
    assert duration_text(0) == "0 s"
    assert duration_text(86_400_000 + 60_000) == "1 d 1 min"


def test_freshness_text_has_zone_and_age():
    assert freshness(1_795_161_600_000, 1_795_161_780_000) == (
        "Data up to 2026-11-20 08:00 UTC (3 min ago). Times are UTC."
    )
    assert freshness(None, 0) == "No data yet."
    assert "ahead of this machine's clock" in freshness(1_000, 0)
