"""Why shared limits come out unevenly, and how long reads took. In: recordings that are not kept aside; out: two small tables.

A broker's cache misses are told once a minute, as the mean of that minute.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tests.lab.simulated.recorded import Recorded

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
        for told_s, misses in told(recorded, producer.topic):
            if misses and told_s < first_change_s:
                sent = np.interp(told_s, recorded.at_s, track.out_messages) - misses * _MINUTE_S
                at_s = float(np.interp(sent, track.out_messages, recorded.at_s))
                published_s = recorded.at_s[0] + sent / producer.rate_msg
                rows.append((scenario.name, scenario.broker.version, at_s - published_s))
                break
    return rows


def shared_reads(found: Iterable[Recorded]) -> list[tuple[str, float, float, float]]:
    """Entries per second of the last full minute before the first change where two subscriptions of a topic share a limit.

    Returns
    -------
    list of (recording, sent to the one with less backlog, to the other, cache misses)
    """
    rows = []
    for recorded in found:
        keys = sorted(recorded.tracks, key=lambda key: recorded.tracks[key].backlog_entries.sum())
        if len(keys) != 2 or keys[0][0] != keys[1][0]:
            continue
        first_change_s = list(recorded.began_s.values())[1]
        at_s, misses = [item for item in told(recorded, keys[0][0]) if item[0] < first_change_s][-1]
        sent = [
            float(
                np.diff(
                    np.interp([at_s - _MINUTE_S, at_s], recorded.at_s, recorded.tracks[key].out_messages)
                )[0]
            )
            / _MINUTE_S
            for key in keys
        ]
        rows.append((recorded.scenario.name, *sent, misses))
    return rows


def cycles(found: Iterable[Recorded]) -> list[tuple[str, float]]:
    """By how many milliseconds a limiter's cycle was longer than its period of a second.

    Where one message limit lets entries of one message through, that is the limit over the messages per second, minus one.
    """
    rows = []
    for recorded in found:
        scenario = recorded.scenario
        limits, batched = scenario.limits, any(item.batching for item in scenario.producers)
        if (
            len(recorded.tracks) > 1
            or len(limits) != 1
            or batched
            or not limits[0].msg
            or limits[0].period_s > 1
        ):
            continue
        track = next(iter(recorded.tracks.values()))
        end_s = list(recorded.began_s.values())[1]
        span = np.nonzero((recorded.at_s > _SETTLED_S) & (recorded.at_s < end_s))[0][[0, -1]]
        sent = float(np.diff(track.out_messages[span])[0] / np.diff(recorded.at_s[span])[0])
        binds = sent > 0.85 * limits[0].msg
        if binds and any(check.check == "ticks" for check in scenario.confirm):
            rows.append((scenario.name, 1000 * (limits[0].msg / sent - 1)))
    return rows


def told(recorded: Recorded, topic: str) -> list[tuple[float, float]]:
    """When the broker told new cache misses of a topic, between two scrapes, and how many per second."""
    misses = recorded.cache_misses[topic]
    changed = np.nonzero(np.diff(misses))[0]
    return [
        (float(recorded.at_s[number] + recorded.at_s[number + 1]) / 2, float(misses[number + 1]))
        for number in changed
    ]


def evidence(found: list[Recorded]) -> str:
    """Both as Markdown."""
    if any(recorded.scenario.kept_aside for recorded in found):
        raise ValueError("evidence: recordings that are kept aside are not looked into")
    lines = [
        "| recording | sent to the one ahead, per second | to the one behind | cache misses |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {name} | {ahead:.0f} | {behind:.0f} | {misses:.0f} |"
        for name, ahead, behind, misses in shared_reads(found)
    ]
    lines += ["", "| recording | version | age of the entries at the first miss, s |", "|---|---|---|"]
    lines += [f"| {name} | {version} | {age_s:.1f} |" for name, version, age_s in read_ages(found)]
    lines += ["", "| recording | cycle longer than its period by, ms |", "|---|---|"]
    lines += [f"| {name} | {late_ms:.0f} |" for name, late_ms in cycles(found)]
    return "\n".join(lines)
