"""As-of lookup. In: rows of ``limits`` or ``topic_stats``, and keys. Out: the row that is valid for each key and time.

The newest snapshot up to the time is valid; before the first one the first is assumed, and its user reports that. Limits are read
periodically: where the newest answer is older than :data:`HOLDS_FOR_MS` and the next one is nearer, the next one is valid.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.contracts.vocabulary import LEVELS
from throttlescope.ingest.core.subscription_name import REPLICATOR_PREFIX

#: A snapshot speaks for moments up to this long after it, and the first for moments this long before it.
KNOWN_FOR_MS = 7 * 24 * 3_600_000
#: So long after it an answer is taken for what holds, although a later one is nearer: ``run --follow`` stores answers that
#: did not change every six hours.
HOLDS_FOR_MS = 7 * 3_600_000

_NONE = -1


@dataclass(frozen=True, eq=False)
class Timeline:
    """Facts of keys over time.

    Attributes
    ----------
    facts : pyarrow.Table
        Sorted by key and time, with ``observed_ms``.
    first, after : ndarray of int64
        Rows of each requested key; an empty range if nothing is known of it.
    holds_for_ms : int
        After so long the next row speaks where it is nearer.
    """

    facts: pa.Table
    first: np.ndarray
    after: np.ndarray
    holds_for_ms: int = KNOWN_FOR_MS

    def rows_at(self, moments_ms: np.ndarray) -> np.ndarray:
        """Row of ``facts`` that speaks, keys x moments; -1 where none does."""
        out = np.full((len(self.first), len(moments_ms)), _NONE, np.int64)
        times_ms = self.facts["observed_ms"].to_numpy()
        for n, (first, after) in enumerate(zip(self.first.tolist(), self.after.tolist(), strict=True)):
            if first < after:
                newest = np.searchsorted(times_ms[first:after], moments_ms, side="right") - 1
                rows = first + np.maximum(newest, 0)
                following = np.minimum(rows + 1, after - 1)
                age_ms = moments_ms - times_ms[rows]
                nearer = (age_ms > self.holds_for_ms) & (times_ms[following] - moments_ms < age_ms)
                rows = np.where(nearer, following, rows)
                near = np.abs(times_ms[rows] - moments_ms) <= KNOWN_FOR_MS
                out[n] = np.where(near, rows, _NONE)
        return out

    def taken(self, rows: np.ndarray) -> pa.Table:
        """The facts of some rows; NULLs where a row is -1."""
        return self.facts.take(pa.array(rows, mask=rows < 0))


def limits_over_time(limits: pa.Table, keys: Sequence[tuple]) -> Timeline:
    """Snapshots of ``limits``, their levels side by side under the names of ``signals``.

    ``last_change_ms`` is the time of the newest snapshot, up to this one, that differs from the one before it; ``is_new`` says
    whether this one does, or is the first. ``answered_ms`` is the time of the oldest answer that the levels rest on,
    ``topic_subscriptions`` how many subscriptions the topic partition had in the snapshot.
    """
    key_of, known = _numbered(limits)
    order, new = _in_order(key_of, limits["observed_ms"].to_numpy())
    snapshot_of = np.empty(limits.num_rows, np.int64)
    snapshot_of[order] = np.cumsum(new) - 1
    # One row per snapshot; a level that was not observed in it stays NULL.
    columns = {"observed_ms": limits["observed_ms"].take(pa.array(order[new]))}
    level_of = limits["level"].to_numpy(zero_copy_only=False)
    for level in LEVELS:
        at_level = np.full(int(new.sum()), _NONE, np.int64)
        mine = np.flatnonzero(level_of == level)
        at_level[snapshot_of[mine]] = mine
        picked = limits.take(pa.array(at_level, mask=at_level < 0))
        columns[f"limit_{level}_msg"] = picked["rate_msg"]
        columns[f"limit_{level}_bytes"] = picked["rate_bytes"]
        columns[f"limit_{level}_period_s"] = picked["period_s"]
        columns[f"limit_{level}_set_by"] = picked["set_by"]
        columns[f"relative_{level}"] = picked["relative_to_publish"]
    # These are the broker's and the same at each level.
    any_level = limits.take(pa.array(order[new]))
    columns["limit_counts"] = any_level["counts"]
    for name in ("exempt_caught_up", "read_batch_entries", "read_size_bytes"):
        columns[name] = any_level[name]
    facts = pa.table(columns)
    snapshot_key = key_of[order[new]]
    is_new, last_change_ms = _changes(facts, snapshot_key)
    facts = facts.append_column("is_new", is_new).append_column("last_change_ms", last_change_ms)
    facts = facts.append_column("answered_ms", _answered_ms(limits, order, new))
    facts = facts.append_column("topic_subscriptions", _topic_subscriptions(limits, order[new]))
    return Timeline(facts, *_ranges(snapshot_key, known, keys), HOLDS_FOR_MS)


def stats_over_time(topic_stats: pa.Table, keys: Sequence[tuple]) -> Timeline:
    """Snapshots of ``topic_stats``: the newest subscription type and messages per entry that are not NULL."""
    key_of, known = _numbered(topic_stats)
    order, _ = _in_order(key_of, topic_stats["observed_ms"].to_numpy())
    ordered = topic_stats.take(pa.array(order))
    key_of = key_of[order]
    starts = np.flatnonzero(np.r_[True, key_of[1:] != key_of[:-1]]) if len(key_of) else np.empty(0, np.int64)
    first_of_key = np.repeat(starts, np.diff(np.r_[starts, len(key_of)]))
    columns = {"observed_ms": ordered["observed_ms"]}
    for name in ("subscription_type", "messages_per_entry"):
        there = ordered[name].is_valid().to_numpy()
        newest = np.maximum.accumulate(np.where(there, np.arange(len(there)), _NONE)) if len(there) else there
        # What an earlier key knew says nothing here.
        newest = np.where(newest >= first_of_key, newest, _NONE).astype(np.int64)
        columns[name] = ordered[name].take(pa.array(newest, mask=newest < 0))
    return Timeline(pa.table(columns), *_ranges(key_of, known, keys))


def _numbered(rows: pa.Table) -> tuple[np.ndarray, dict[tuple, int]]:
    """A number per row that is equal for equal keys, and the keys' numbers."""
    number = np.zeros(rows.num_rows, np.int64)
    for name in SUBSCRIPTION_KEY_NAMES:
        codes = pc.dictionary_encode(rows[name].combine_chunks())
        codes = codes.indices.to_numpy() if rows.num_rows else np.empty(0, np.int64)
        _, number = np.unique(number * (int(codes.max(initial=0)) + 1) + codes, return_inverse=True)
    _, first = np.unique(number, return_index=True)
    examples = rows.select(list(SUBSCRIPTION_KEY_NAMES)).take(pa.array(first))
    columns = [examples[name].to_pylist() for name in SUBSCRIPTION_KEY_NAMES]
    return number, {key: n for n, key in enumerate(zip(*columns, strict=True))}


def _in_order(key_of: np.ndarray, times_ms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Row numbers by key and time, and which of them begin a new key or time."""
    order = np.lexsort((times_ms, key_of))
    keys, times = key_of[order], times_ms[order]
    new = np.ones(len(order), np.bool_)
    new[1:] = (keys[1:] != keys[:-1]) | (times[1:] != times[:-1])
    return order, new


def _ranges(
    key_of: np.ndarray, known: dict[tuple, int], keys: Sequence[tuple]
) -> tuple[np.ndarray, np.ndarray]:
    numbers = np.array([known.get(key, _NONE) for key in keys], np.int64)
    return np.searchsorted(key_of, numbers, "left"), np.searchsorted(key_of, numbers, "right")


def _answered_ms(limits: pa.Table, order: np.ndarray, new: np.ndarray) -> pa.Array:
    """The oldest answer of each snapshot's levels."""
    answered = pc.coalesce(limits["answered_ms"], limits["observed_ms"]).to_numpy()[order]
    return pa.array(np.minimum.reduceat(answered, np.flatnonzero(new)) if len(answered) else answered)


def _topic_subscriptions(limits: pa.Table, first_rows: np.ndarray) -> pa.Array:
    """How many subscriptions of the same topic partition have a snapshot of the same time, for the first row of each snapshot.

    Replicators have one too, and take nothing of the topic's limit.
    """
    names = [*(name for name in SUBSCRIPTION_KEY_NAMES if name != "subscription"), "observed_ms"]
    place = np.zeros(len(first_rows), np.int64)
    for name in names:
        codes = pc.dictionary_encode(limits[name].take(pa.array(first_rows)).combine_chunks())
        codes = codes.indices.to_numpy() if len(first_rows) else place
        _, place = np.unique(place * (int(codes.max(initial=0)) + 1) + codes, return_inverse=True)
    counted = pc.invert(
        pc.starts_with(limits["subscription"].take(pa.array(first_rows)), REPLICATOR_PREFIX)
    ).to_numpy(zero_copy_only=False)
    return pa.array(np.bincount(place, counted)[place].astype(np.int64) if len(place) else place)


def _changes(facts: pa.Table, key_of: np.ndarray) -> tuple[pa.Array, pa.Array]:
    """Whether each snapshot says something new, and when that was the case last."""
    times_ms = facts["observed_ms"].to_numpy()
    differs = np.zeros(facts.num_rows, np.bool_)
    for name in facts.column_names:
        if name == "observed_ms" or facts.num_rows < 2:
            continue
        codes = pc.dictionary_encode(facts[name].combine_chunks(), null_encoding="encode")
        codes = codes.indices.to_numpy(zero_copy_only=False)
        differs[1:] |= codes[1:] != codes[:-1]
    new_key = np.ones(facts.num_rows, np.bool_)
    new_key[1:] = key_of[1:] != key_of[:-1]
    change_ms = np.where(differs & ~new_key, times_ms, 0)
    # Running maximum within each key: times are far below the offset that sets keys apart.
    offset = key_of * (1 << 45)
    running = np.maximum.accumulate(change_ms + offset) - offset if len(offset) else change_ms
    return pa.array(differs | new_key), pa.array(running, mask=running <= 0)
