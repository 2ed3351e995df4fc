"""A past verdict, opened. In: a lake and one window of a subscription partition. Out: the verdict, its minutes, and a new one.

Delta keeps what the signals were when the verdict was written, so that it can be checked: was it right on what was known,
what would today's rules say of the same minutes, and have the minutes been repaired since?
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.subscription_name import subscription_text
from throttlescope.ingest.core.times import format_time
from throttlescope.ingest.lake import read_files
from throttlescope.models.diagnosis.history import HISTORY_MS
from throttlescope.models.diagnosis.verdict import Verdict, diagnose
from throttlescope.models.diagnosis.window import MinuteColumns, SubscriptionKey, Window

if TYPE_CHECKING:
    from throttlescope.ingest.lake import Lake

#: What is compared between then and now.
COMPARED = ("side", "cause", "limiter", "variant", "confidence", "why", "rules_version")


@dataclass(frozen=True)
class Reopened:
    """A verdict and what today's rules say of the same minutes.

    Attributes
    ----------
    stored : dict
        The row of ``verdicts``; columns that it was written without are None.
    made_ms : int
        When it was written.
    signals_version : int
        Version of ``signals`` that readers saw then.
    minutes : list of dict
        The window's rows of ``signals`` of that version.
    again : Verdict
        Today's rules on those minutes and the day before them.
    repaired : bool
        The newest signals have other values for the window.
    differences : dict of str to (then, now)
        What came out differently, of :data:`COMPARED`.
    """

    stored: dict[str, Any]
    made_ms: int
    signals_version: int
    minutes: list[dict[str, Any]]
    again: Verdict
    repaired: bool
    differences: dict[str, tuple[Any, Any]]


def reopen(
    lake: Lake, key: SubscriptionKey, window_start_ms: int, *, as_of_ms: int | None = None
) -> Reopened:
    """Open a stored verdict.

    Parameters
    ----------
    window_start_ms : int
        Of windows of several lengths that start here the longest is taken.
    as_of_ms : int, optional
        Open the verdict that stood at that moment, where it has been replaced since.

    Raises
    ------
    InputError
        There is no such verdict, or the signals that it was made from are gone.
    """
    version = None if as_of_ms is None else lake.version_at("verdicts", as_of_ms)
    if as_of_ms is not None and version is None:
        raise InputError("There were no verdicts yet", got=format_time(as_of_ms))
    stored, made_ms = _stored(lake, key, window_start_ms, version)
    signals_version = lake.version_at("signals", made_ms)
    if signals_version is None:
        raise InputError(
            "The signals that this verdict was made from are gone", got=f"written at {format_time(made_ms)}"
        )
    window = _window(lake, key, window_start_ms, stored["window_end_ms"], signals_version)
    newest = _window(lake, key, window_start_ms, stored["window_end_ms"], None)
    again = diagnose(window)
    now = again.to_row()
    return Reopened(
        stored=stored,
        made_ms=made_ms,
        signals_version=signals_version,
        minutes=_rows(window),
        again=again,
        repaired=_rows(window) != _rows(newest),
        differences={
            name: (stored[name], now[name])
            for name in COMPARED
            # What an older version did not write is not a difference.
            if stored[name] != now[name] and not (stored[name] is None and name in ("variant", "why"))
        },
    )


def _stored(
    lake: Lake, key: SubscriptionKey, window_start_ms: int, version: int | None
) -> tuple[dict[str, Any], int]:
    files = lake.files(
        "verdicts",
        partition={"cluster": [key.cluster]},
        between={"window_start_ms": (window_start_ms, window_start_ms)},
        version=version,
    )
    where = _is(key) & (pc.field("window_start_ms") == window_start_ms)
    found = [
        (row, file.committed_ms)
        for file in files
        for row in read_files("verdicts", [file], where=where).to_pylist()
    ]
    if not found:
        raise InputError(
            "There is no such verdict",
            got=f"{subscription_text(key.topic, key.partition, key.subscription)} at {format_time(window_start_ms)}",
            fix="throttlescope verdicts --all --subscription NAME lists its windows",
        )
    return max(found, key=lambda pair: pair[0]["window_end_ms"])


def _window(lake: Lake, key: SubscriptionKey, start_ms: int, end_ms: int, version: int | None) -> Window:
    rows = lake.read(
        "signals",
        where=_is(key) & (pc.field("minute_ms") >= start_ms - HISTORY_MS) & (pc.field("minute_ms") < end_ms),
        partition={"cluster": [key.cluster]},
        between={"minute_ms": (start_ms - HISTORY_MS, end_ms - 1)},
        version=version,
    ).sort_by("minute_ms")
    minutes_ms = rows.column("minute_ms").to_pylist()
    low = next((i for i, minute_ms in enumerate(minutes_ms) if minute_ms >= start_ms), len(minutes_ms))
    return Window(key, start_ms, end_ms, MinuteColumns(rows), low, len(minutes_ms))


def _rows(window: Window) -> list[dict[str, Any]]:
    names = list(window.columns)
    return [
        dict(zip(names, row, strict=True))
        for row in zip(*(window.column(name) for name in names), strict=True)
    ]


def _is(key: SubscriptionKey) -> pc.Expression:
    expression = pc.scalar(True)
    for name, value in zip(SUBSCRIPTION_KEY_NAMES, key, strict=True):
        expression = expression & (pc.field(name) == pa.scalar(value))
    return expression
