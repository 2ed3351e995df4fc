"""Why shared limits come out unevenly, and how long reads took. In: judged recordings that are not held-out; out: small tables.

A broker reports its cache misses once a minute, as the mean of that minute.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping

import numpy as np

from tests.lab.simulated.recorded import Key, Recorded, Track
from tests.lab.simulated.table import Judged

_MINUTE_S = 60
#: From the beginning, until a backlog is there.
_SETTLED_S = 30


def read_ages(found: Iterable[Recorded]) -> list[tuple[str, str, float]]:
    """How old the entries were when a single subscription's reads began to miss the broker's cache.

    Returns
    -------
    list of (recording, broker version, seconds)
        Only entries of one message, published evenly and delivered once and at once, have a known age.
    """
    rows = []
    for recorded in found:
        scenario, producer = recorded.scenario, recorded.scenario.producers[0]
        subscription = scenario.subscriptions[0]
        uneven = producer.batching or producer.deliver_after_ms or producer.shape != "constant"
        longer = any(limit.period_s > 1 for limit in scenario.limits)
        if len(recorded.tracks) > 1 or uneven or longer or subscription.redelivery:
            continue
        track = next(iter(recorded.tracks.values()))
        first_change_s = list(recorded.began_s.values())[1]
        for reported_s, misses in reported_misses(recorded, producer.topic):
            if misses and reported_s < first_change_s:
                sent = np.interp(reported_s, recorded.at_s, track.out_messages) - misses * _MINUTE_S
                at_s = float(np.interp(sent, track.out_messages, recorded.at_s))
                published_s = recorded.at_s[0] + sent / producer.rate_msg
                rows.append((scenario.name, scenario.broker.version, at_s - published_s))
                break
    return rows


def shared_reads(
    found: Iterable[Judged],
) -> list[tuple[str, tuple[float, float], tuple[float, float], float]]:
    """Entries per second of the last full minute before the first change where two subscriptions of a topic share a limit.

    Returns
    -------
    list of (recording, sent to the one with less backlog, to the other, cache misses)
        What was sent: recorded and simulated.
    """
    rows = []
    for item in found:
        recorded = item.recorded
        keys = sorted(recorded.tracks, key=lambda key: recorded.tracks[key].backlog_entries.sum())
        if len(keys) != 2 or keys[0][0] != keys[1][0]:
            continue
        first_change_s = list(recorded.began_s.values())[1]
        at_s, misses = [said for said in reported_misses(recorded, keys[0][0]) if said[0] < first_change_s][
            -1
        ]
        ahead, behind = (
            tuple(
                _per_second(recorded.at_s, tracks[key], at_s - _MINUTE_S, at_s)
                for tracks in (recorded.tracks, item.ours)
            )
            for key in keys
        )
        rows.append((recorded.scenario.name, ahead, behind, misses))
    return rows


def cycles(found: Iterable[Judged]) -> list[tuple[str, int, float, float, float]]:
    """By how many milliseconds a limiter's cycle was longer than its period of a second, those first that waited least for a CPU.

    Where one message limit lets entries of one message through, that is the limit over the messages per second, minus one.

    Returns
    -------
    list of (recording, limit per second, wait of the broker for a CPU in ms, longer by so many ms recorded, simulated)
    """
    rows = []
    for item in found:
        recorded = item.recorded
        scenario = recorded.scenario
        limits, batched = scenario.limits, any(producer.batching for producer in scenario.producers)
        if (
            len(recorded.tracks) > 1
            or len(limits) != 1
            or batched
            or not limits[0].msg
            or limits[0].period_s > 1
        ):
            continue
        end_s = list(recorded.began_s.values())[1]
        span_s = recorded.at_s[(recorded.at_s > _SETTLED_S) & (recorded.at_s < end_s)][[0, -1]]
        sent, ours = (
            _per_second(recorded.at_s, _only(tracks), *span_s) for tracks in (recorded.tracks, item.ours)
        )
        binds = sent > 0.85 * limits[0].msg
        if binds and any(check.check == "ticks" for check in scenario.confirm):
            late_ms = (1000 * (limits[0].msg / each - 1) for each in (sent, ours))
            rows.append((scenario.name, limits[0].msg, recorded.cpu_wait_ms, *late_ms))
    return sorted(rows, key=lambda row: row[2])


def reported_misses(recorded: Recorded, topic: str) -> list[tuple[float, float]]:
    """When the broker reported new cache misses of a topic, between two scrapes, and how many per second."""
    misses = recorded.cache_misses[topic]
    changed = np.nonzero(np.diff(misses))[0]
    return [
        (float(recorded.at_s[number] + recorded.at_s[number + 1]) / 2, float(misses[number + 1]))
        for number in changed
    ]


def late_reads(found: list[Judged]) -> str:
    """:func:`cycles` as Markdown."""
    _refuse_kept_aside(found)
    lines = [
        "| recording | limit, msg/s | wait for a CPU, ms | cycle longer than its second by, ms: recorded | simulated |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| {name} | {limit} | {wait_ms:.2f} | {late_ms:.0f} | {ours_ms:.0f} |"
        for name, limit, wait_ms, late_ms, ours_ms in cycles(found)
    ]
    return "\n".join(lines)


def cached(found: list[Judged]) -> str:
    """:func:`shared_reads`, and :func:`read_ages` by version, as Markdown."""
    _refuse_kept_aside(found)
    lines = [
        "| recording | ahead, entries per second: recorded, simulated | behind: recorded, simulated | cache misses |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {name} | {ahead[0]:.0f}, {ahead[1]:.0f} | {behind[0]:.0f}, {behind[1]:.0f} | {misses:.0f} |"
        for name, ahead, behind, misses in shared_reads(found)
    ]
    lines += ["", "| version | recordings | age of the entries at the first miss, s: median, least, most |"]
    lines += ["|---|---|---|"]
    ages: dict[str, list[float]] = {}
    for _, version, age_s in read_ages(item.recorded for item in found):
        ages.setdefault(version, []).append(age_s)
    lines += [
        f"| {version} | {len(seen)} | {statistics.median(seen):.1f}, {min(seen):.1f}, {max(seen):.1f} |"
        for version, seen in sorted(ages.items())
    ]
    return "\n".join(lines)


def _refuse_kept_aside(found: list[Judged]) -> None:
    if any(item.recorded.scenario.kept_aside for item in found):
        raise ValueError("evidence: held-out recordings are not examined")


def _only(tracks: Mapping[Key, Track]) -> Track:
    (track,) = tracks.values()
    return track


def _per_second(at_s: np.ndarray, track: Track, start_s: float, end_s: float) -> float:
    start, end = np.interp([start_s, end_s], at_s, track.out_messages)
    return float(end - start) / (end_s - start_s)
