"""Parameters as Go reads them, where no server is needed to know what is right."""

from __future__ import annotations

import pytest

from throttlescope.app.server.api.parameters import (
    Parameters,
    parse_duration,
    parse_form,
    parse_integer,
    parse_time,
)
from throttlescope.app.services.promql.errors import ApiError

SECOND_NS = 10**9


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("0", 0),
        ("1795160000.123", 1_795_160_000_123 * 10**6),
        ("-1.5", -1_500 * 10**6),
        ("1e3", 1_000 * SECOND_NS),
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01T00:00:00.000000001Z", 1),
        ("1970-01-01T01:00:00,5+01:00", 500 * 10**6),
        ("1969-12-31T23:59:59.25-00:30", 1_800 * SECOND_NS - 750 * 10**6),
        ("0001-01-01T00:00:00Z", -62_135_596_800 * SECOND_NS),
    ],
)
def test_timestamps_are_parsed(text, nanoseconds):
    assert parse_time(text) == nanoseconds


@pytest.mark.parametrize(
    "text",
    [
        "", "x", "NaN", "Inf", "-Inf", "1e400", "9223372036854775807", "5 ", "1970-01-01", "1970-01-01T00:00:00",
        "1970-02-30T00:00:00Z", "1970-01-01T24:00:00Z", "1970-01-01T00:00:60Z", "1970-01-01T00:00:00+25:00", "٣", "1" * 5000,
    ],
)  # fmt: skip
def test_invalid_timestamps_are_refused(text):
    with pytest.raises(ValueError, match="to a valid timestamp"):
        parse_time(text)


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("15", 15 * SECOND_NS),
        ("0.0015", 1_500_000),
        ("-2", -2 * SECOND_NS),
        ("5m", 300 * SECOND_NS),
        ("1h30m", 5_400 * SECOND_NS),
        ("1y2w3d4h5m6s7ms", (((((365 + 14 + 3) * 24 + 4) * 60 + 5) * 60 + 6) * 1000 + 7) * 10**6),
        ("0s", 0),
        ("NaN", -1),
    ],
)
def test_durations_are_parsed(text, nanoseconds):
    assert parse_duration(text) == nanoseconds


@pytest.mark.parametrize(
    "text", ["", "x", "1m1h", "1.5m", "-5m", "5m ", "1e300", "Inf", "300y", "9" * 5000 + "s", "٣m"]
)
def test_invalid_durations_are_refused(text):
    with pytest.raises(ValueError, match="to a valid duration"):
        parse_duration(text)


def test_integers_are_parsed_or_refused():
    assert [parse_integer(text) for text in ("0", "+7", "-7", "007")] == [0, 7, -7, 7]
    for text in ("", "1.0", "1_0", "٣", " 1"):
        with pytest.raises(ValueError, match="invalid syntax"):
            parse_integer(text)
    for text in (str(2**63), "9" * 5000):
        with pytest.raises(ValueError, match="out of range"):
            parse_integer(text)


def test_forms_are_parsed_into_pairs():
    assert parse_form(b"a=1&b=x+y%2Bz&a=2&&c&d=%00&e==&f=%zz&g=1;h=2") == [
        (b"a", b"1"), (b"b", b"x y+z"), (b"a", b"2"), (b"c", b""), (b"d", b"\0"), (b"e", b"="),
    ]  # fmt: skip


def test_first_value_wins_and_utf8_is_required():
    parameters = Parameters(parse_form(b"query=1&query=2&match[]=a&match%5B%5D=b&bad=%ff"))
    assert parameters.text("query") == "1"
    assert parameters.texts("match[]") == ["a", "b"]
    assert parameters.text("nothing") == ""
    with pytest.raises(ApiError, match="UTF-8"):
        parameters.text("bad")
