"""The newest verdict and the main cause of each subscription. In: windows of many subscriptions, in any order. Out: one row of ``verdict_latest`` each.

All subscriptions are looked at together: windows are sorted by subscription and end, and every step is one over whole columns.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.core.times import BLOCK_MS

#: The hours of which the main cause is found.
RECENT_MS = 6 * BLOCK_MS

_NEWEST = (
    "window_start_ms", "window_end_ms", "side", "cause", "limiter", "confidence", "naive_side", "backlog_entries",
    "backlog_growth_entries",
)  # fmt: skip
#: What is read of ``verdicts``.
COLUMNS = (*SUBSCRIPTION_KEY_NAMES, *_NEWEST)
#: Of these, what is text: best read as dictionaries, as files have them.
TEXTS = tuple(name for name in COLUMNS if pa.types.is_string(TABLES["verdicts"].schema.field(name).type))

_SCHEMA = TABLES["verdict_latest"].loose_schema
# Mean confidence has so many digits: the last ones depend on the order of the additions.
_DIGITS = 9


def standing(verdicts: pa.Table, end_ms: int) -> pa.Table:
    """What each subscription's newest verdict is, since when it applies, and the main cause of the recent hours.

    Parameters
    ----------
    verdicts : pyarrow.Table
        Rows of one cluster with the columns :data:`COLUMNS`; texts may be dictionaries. All of the last day, none older.
    end_ms : int
        End of the cluster's newest verdict.

    Returns
    -------
    pyarrow.Table
        Rows of ``verdict_latest``, in no set order.
    """
    if not verdicts.num_rows:
        return _SCHEMA.empty_table()
    table = _encoded(verdicts)
    start, end = (table[name].to_numpy() for name in ("window_start_ms", "window_end_ms"))
    key = _numbered(table) << 32 | (end - end.min())
    order = np.argsort(key, kind="stable")
    if (np.diff(key[order]) == 0).any():
        # Of two windows with one end the longer speaks.
        order = np.lexsort((start, key))
        order = order[np.diff(key[order], prepend=-1) != 0]
    number, start, end = key[order] >> 32, start[order], end[order]
    texts = {name: _Text(table[name], order) for name in ("cause", "limiter", "naive_side")}
    said = texts["cause"].codes * (len(texts["limiter"].names) + 1) + texts["limiter"].codes

    # A window speaks only for what comes after all windows that end before it.
    is_first = np.diff(number, prepend=-1) != 0
    covered_to = np.where(is_first, start, np.roll(end, 1))
    begins = np.maximum(start, covered_to)
    follows_gap = is_first | (begins > covered_to)
    turns = follows_gap | (np.diff(said, prepend=-1) != 0)

    newest = np.flatnonzero(np.append(is_first[1:], True))
    run = np.maximum.accumulate(np.where(turns, np.arange(len(turns)), 0))[newest]
    found = {name: table[name].take(pa.array(order[newest])) for name in COLUMNS}
    found |= {"since_ms": pa.array(begins[run]), "since_at_least": pa.array(follows_gap[run])}

    recent = np.flatnonzero(end > end_ms - RECENT_MS)
    numbers = {
        name: table[name].to_numpy(zero_copy_only=False)[order[recent]]
        for name in ("confidence", "backlog_entries")
    }
    found |= _main(
        {name: text.of(recent) for name, text in texts.items()},
        table["side"].take(pa.array(order[recent])),
        number[recent], said[recent], np.maximum(begins[recent], end_ms - RECENT_MS), end[recent],
        numbers["confidence"], numbers["backlog_entries"], number[newest],
    )  # fmt: skip
    return pa.table(
        {name: found[name].cast(_SCHEMA.field(name).type) for name in _SCHEMA.names}, schema=_SCHEMA
    )


class _Text:
    """One column of text as numbers in the order of the alphabet; what is absent comes last."""

    def __init__(self, column: pa.DictionaryArray, order: np.ndarray) -> None:
        names = column.dictionary.to_pylist()
        self.names = sorted(names)
        rank = np.array([*(self.names.index(name) for name in names), len(names)])
        codes = column.indices.fill_null(len(names)).to_numpy()[order]
        self.codes = rank[codes].astype(np.int64)

    def of(self, rows: np.ndarray) -> _Text:
        part = object.__new__(_Text)
        part.names, part.codes = self.names, self.codes[rows]
        return part

    def values(self, rows: np.ndarray) -> pa.Array:
        return pa.array([*self.names, None], pa.string()).take(pa.array(self.codes[rows]))


def _main(
    texts: dict[str, _Text],
    side: pa.Array,
    number: np.ndarray,
    said: np.ndarray,
    begins: np.ndarray,
    end: np.ndarray,
    confidence: np.ndarray,
    backlog: np.ndarray,
    wanted: np.ndarray,
) -> dict[str, pa.Array]:
    """The main cause of each of the ``wanted`` subscriptions, of windows in the order of their ends."""
    group, pairs = pd.factorize(number * (said.max(initial=0) + 1) + said)
    count, rows = len(pairs), np.arange(len(group))
    first, last = np.empty(count, np.int64), np.empty(count, np.int64)
    first[group[::-1]], last[group] = rows[::-1], rows
    lasted = np.bincount(group, end - begins, count).astype(np.int64)
    mean = np.round(np.bincount(group, confidence, count) / np.bincount(group, minlength=count), _DIGITS)
    peak = np.full(count, np.nan)
    np.fmax.at(peak, group, backlog)
    naive = texts["naive_side"]
    sides = len(naive.names) + 1
    most = (
        np.bincount(group * sides + naive.codes, minlength=count * sides).reshape(count, sides).argmax(axis=1)
    )
    cause, limiter = texts["cause"], texts["limiter"]
    is_healthy, is_unknown = (
        np.array([name == word for name in cause.names] + [False])[cause.codes[first]]
        for word in ("healthy", "unknown")
    )
    best = np.lexsort(
        (limiter.codes[first], cause.codes[first], -end[last], -lasted, is_unknown, is_healthy, number[first])
    )
    best = best[np.diff(number[first][best], prepend=-1) != 0]
    # A subscription without a window in these hours has none.
    at = np.searchsorted(number[first][best], wanted)
    there = at < len(best)
    there[there] = number[first][best][at[there]] == wanted[there]
    place = pa.array(np.where(there, at, 0), mask=~there)
    columns = {
        "cause": cause.values(first[best]),
        "limiter": limiter.values(first[best]),
        "held_ms": pa.array(lasted[best]),
        "from_ms": pa.array(begins[first[best]]),
        "to_ms": pa.array(end[last[best]]),
        "confidence": pa.array(mean[best]),
        "peak_entries": pa.array(peak[best], from_pandas=True),
        "side": side.take(pa.array(first[best])),
        "naive_side": pa.array([*naive.names, None], pa.string()).take(pa.array(most[best])),
    }
    return {f"main_{name}": column.take(place) for name, column in columns.items()}


def _encoded(verdicts: pa.Table) -> dict[str, pa.Array]:
    """Columns in one piece, texts as dictionaries."""
    columns = {}
    for name in COLUMNS:
        column = verdicts[name]
        if name in TEXTS and not pa.types.is_dictionary(column.type):
            column = column.dictionary_encode()
        columns[name] = column
    table = pa.table(columns).unify_dictionaries().combine_chunks()
    return {name: table[name].chunk(0) for name in COLUMNS}


def _numbered(table: dict[str, pa.Array]) -> np.ndarray:
    """A number for each row's subscription, in the order in which they come."""
    topic, subscription = (
        table[name].indices.to_numpy().astype(np.int64) for name in ("topic", "subscription")
    )
    partition = table["partition"].to_numpy().astype(np.int64)
    partition -= partition.min()
    whole = (topic * (subscription.max() + 1) + subscription) * (partition.max() + 1) + partition
    return pd.factorize(whole)[0].astype(np.int64)
