"""Forecasts as text and for programs. In: rows of ``forecasts``, a back-test. Out: tables, or dicts ready for JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from throttlescope.app.presentation.output import freshness, print_table
from throttlescope.app.presentation.verdicts import subscription_text
from throttlescope.ingest.core.times import SECOND_MS
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.stored import forecast_in_language
from throttlescope.models.messages.units import count, counted, duration_text, minute_text, percent

if TYPE_CHECKING:
    from throttlescope.app.services.forecast.back_test import BackTest
    from throttlescope.models.forecast.judge import Coverage

_WHAT = {"drain": "drained", "ttl": "message TTL", "quota_size": "quota by size", "quota_age": "quota by age"}
_KINDS = tuple(_WHAT)


def exported(row: Mapping[str, Any]) -> dict[str, Any]:
    """One forecast as it is printed in JSON."""
    return {name: value for name, value in forecast_in_language(row).items() if name != "date"}


def print_forecasts(rows: Sequence[Mapping[str, Any]], *, made_ms: int, now_ms: int) -> None:
    """Print one line per forecast, the subscription with the nearest loss first, then what happens and the basis of the forecast."""
    rows = sorted(
        map(forecast_in_language, rows),
        key=lambda row: (_nearest_loss(row, rows), subscription_text(row), _KINDS.index(row["kind"])),
    )
    cells = [
        [
            subscription_text(row),
            _what(row),
            _when(row, "predicted_ms"),
            _interval(row),
            percent(row["probability"]),
            f"{_value(row['now'], row['unit'])} of {_value(row['threshold'], row['unit'])}"
            if row["kind"] != "drain"
            else _value(row["now"], row["unit"]),
            _change(row),
        ]
        for row in rows
    ]
    notes = [f"{subscription_text(row)}, {_what(row)}: {row['consequence']} {row['basis']}" for row in rows]
    versions = ", ".join(sorted({row["method_version"] for row in rows})) or "-"
    print_table(
        [
            (sentence("label.subscription_heading"), "left"),
            (sentence("label.what_heading"), "left"),
            (sentence("label.when_heading"), "left"),
            (sentence("label.90_percent_interval"), "left"),
            (sentence("label.probability"), "right"),
            (sentence("label.now"), "right"),
            (sentence("label.change_heading"), "right"),
        ],
        cells,
        title=counted(len(rows), "forecast") if rows else sentence("tables.forecast.none"),
        notes=[
            *notes,
            sentence("tables.forecast.note"),
            f"{freshness(made_ms, now_ms)} Method {versions}.",
        ],
    )


def print_back_test(found: BackTest) -> None:
    """Print how often the outcome was inside the interval, by the cause of that time."""
    parts = [("all", found.all), *found.causes.items()]
    print_table(
        [
            (sentence("label.cause_heading"), "left"),
            (sentence("label.forecasts_heading"), "right"),
            (sentence("label.clusters"), "right"),
            (sentence("label.inside_90_percent_interval"), "right"),
            ("Wilson", "right"),
            (sentence("label.over_clusters"), "right"),
            ("Kaplan-Meier", "right"),
            (sentence("label.median_error"), "right"),
        ],
        [[name, *_coverage(part)] for name, part in parts if part.forecasts],
        title=_back_test_title(found),
        notes=_back_test_notes(found),
    )


def _back_test_title(found: BackTest) -> str:
    start, end = minute_text(found.start_ms), minute_text(found.end_ms)
    if found.every_ms is None:
        return sentence("tables.back_test.title_stored", start=start, end=end)
    return sentence("tables.back_test.title", start=start, end=end, every=duration_text(found.every_ms))


def _back_test_notes(found: BackTest) -> list[str]:
    notes = [
        sentence(
            "tables.back_test.counts",
            made=found.made,
            expected=found.expected,
            never=found.never,
            unknown=found.unknown,
            drained=found.drained_although_never,
        ),
        sentence("tables.back_test.intervals"),
    ]
    if found.expiries:
        notes.append(
            sentence(
                "tables.back_test.losses",
                losses=found.expiries,
                inside=found.expiries_inside,
                decided=found.expiries_decided,
            )
        )
    if found.seen_by_calibration:
        notes.append(sentence("tables.back_test.calibrated", clusters=len(found.seen_by_calibration)))
    return notes


def _coverage(part: Coverage) -> list[str]:
    return [
        count(part.forecasts),
        count(part.recordings),
        f"{part.inside} of {part.decided}"
        + (f" = {100 * part.inside / part.decided:.1f} %" if part.decided else ""),
        _pair(part.wilson),
        _pair(part.clustered),
        percent(part.kaplan_meier),
        percent(part.median_error_share),
    ]


def _pair(pair: tuple[float, float] | None) -> str:
    return "-" if pair is None else f"{100 * pair[0]:.0f} to {100 * pair[1]:.0f} %"


def _what(row: Mapping[str, Any]) -> str:
    return _WHAT[row["kind"]] + (" (replay)" if row["method"] == "replay" else "")


def _nearest_loss(row: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> tuple:
    """When the subscription's first deadline is expected; those without one come last, the larger backlog first."""
    mine = [one for one in rows if subscription_text(one) == subscription_text(row)]
    times = [
        one["predicted_ms"] for one in mine if one["kind"] != "drain" and one["predicted_ms"] is not None
    ]
    backlog = max((one["now"] or 0 for one in mine if one["kind"] == "drain"), default=0)
    return (min(times, default=float("inf")), -backlog)


def _when(row: Mapping[str, Any], name: str) -> str:
    if row["state"] != "expected":
        return "never" if row["state"] == "never" else "unknown"
    return sentence(
        "label.in_length_at",
        length=duration_text(row[name] - row["made_at_ms"]),
        time=minute_text(row[name])[11:],
    )


def _interval(row: Mapping[str, Any]) -> str:
    if row["low_ms"] is None:
        return "-"
    low = duration_text(row["low_ms"] - row["made_at_ms"])
    if row["state"] != "expected":
        return sentence("label.not_before", time=low)
    return (
        f"{low} to {'open' if row['high_ms'] is None else duration_text(row['high_ms'] - row['made_at_ms'])}"
    )


def _value(value: float | None, unit: str) -> str:
    if value is None:
        return "-"
    return duration_text(round(value * SECOND_MS)) if unit == "s" else f"{count(value)} {unit}"


def _change(row: Mapping[str, Any]) -> str:
    change = row["change_per_s"]
    return "-" if change is None or row["unit"] == "s" else f"{change:+,.4g} {row['unit']}/s"
