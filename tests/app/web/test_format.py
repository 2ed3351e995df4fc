"""Numbers, times and names as a person reads them."""

from __future__ import annotations

import math
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from throttlescope.app.presentation import format as fmt
from throttlescope.ingest.core.times import parse_time


def plain(text: str) -> str:
    """With ordinary spaces and minus signs, as a test is typed."""
    return (
        text.replace("\N{NO-BREAK SPACE}", " ")
        .replace("\N{NARROW NO-BREAK SPACE}", " ")
        .replace("\N{MINUS SIGN}", "-")
    )


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, "0"),
        (7, "7"),
        (999, "999"),
        (999.6, "1 k"),
        (1000, "1 k"),
        (12_345, "12.3 k"),
        (-30.0, "-30"),
        (2_758_913, "2.76 M"),
        (0.25, "0.25"),
        (None, "not measured"),
        (math.nan, "not measured"),
        (math.inf, "∞"),
    ],
)
def test_short_uses_si_prefixes(value, expected):
    assert plain(fmt.short(value)) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, "0 B"),
        (1000, "1000 B"),
        (1023, "1023 B"),
        (1024, "1 KiB"),
        (1024**2, "1 MiB"),
        (5 * 1024**2, "5 MiB"),
        (1.5 * 1024**3, "1.5 GiB"),
        (None, "not measured"),
    ],
)
def test_size_uses_iec_prefixes(value, expected):
    assert plain(fmt.size(value)) == expected


@pytest.mark.parametrize(
    ("length_ms", "expected"),
    [
        (0, "0 ms"),
        (999, "999 ms"),
        (45_000, "45 s"),
        (180_000, "3 m"),
        (8_040_000, "2 h 14 m"),
        (7_200_000, "2 h"),
        (90_061_000, "1 d 1 h"),
        (-60_000, "-1 m"),
        (None, "not measured"),
    ],
)
def test_duration_has_two_units(length_ms, expected):
    assert plain(fmt.duration(length_ms)) == expected


@pytest.mark.parametrize(
    ("share", "expected"),
    [
        (0, "0 %"),
        (0.004, "< 1 %"),
        (0.93, "93 %"),
        (0.996, "> 99 %"),
        (1, "100 %"),
        (1.2, "120 %"),
        (None, "not measured"),
    ],
)
def test_percent_never_rounds_to_certainty(share, expected):
    assert plain(fmt.percent(share)) == expected


@pytest.mark.parametrize(
    ("value", "unit", "expected"),
    [
        (0.99, "share", "99 %"),
        (1_048_576, "bytes/s", "1 MiB/s"),
        (2048, "bytes", "2 KiB"),
        (90, "s", "1 m 30 s"),
        (50, "msg/s", "50 msg/s"),
        (12_000, "entries", "12 k entries"),
        (3, None, "3"),
        (None, "msg/s", "not measured"),
    ],
)
def test_quantity_is_formatted_by_unit(value, unit, expected):
    assert plain(fmt.quantity(value, unit)) == expected


def test_exact_keeps_every_digit():
    assert plain(fmt.exact(12_345_678)) == "12 345 678"
    assert plain(fmt.exact(-1234.5)) == "-1 234.5"


def test_times_print_their_zone():
    time_ms = parse_time("2026-11-20T02:58:30Z", now_ms=0)
    assert fmt.moment(time_ms) == "2026-11-20 02:58:30 UTC"
    assert fmt.clock(time_ms) == "02:58:30 UTC"


def test_names_show_control_characters():
    assert fmt.name("a\nb\tc\x7f") == "a⟨U+000A⟩b⟨U+0009⟩c⟨U+007F⟩"
    assert fmt.name("\u202egnp.exe") == "⟨U+202E⟩gnp.exe"
    assert fmt.name("<script>\"'") == "<script>\"'"
    assert fmt.name("x" * 10_000) == "x" * 199 + "…"


@given(st.text())
def test_names_are_one_printable_line(text):
    shown = fmt.name(text)
    assert not {unicodedata.category(character) for character in shown} & {"Cc", "Cf", "Zl", "Zp", "Cs"}
    assert shown.splitlines() in ([], [shown])


@given(st.floats(min_value=0, max_value=1e17), st.floats(min_value=1, max_value=1.4))
def test_short_is_accurate_and_monotonic(value, factor):
    def back(text):
        number, _, prefix = plain(text).partition(" ")
        return float(number) * 1000 ** ("", "k", "M", "G", "T", "P").index(prefix)

    assert back(fmt.short(value)) == pytest.approx(value, rel=0.006)
    assert back(fmt.short(value * factor)) >= back(fmt.short(value))
