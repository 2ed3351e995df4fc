"""Anomalies of one series the slow way: lists and loops, from the rules in ``models/anomaly``'s docstrings.

In: counts per minute of whole UTC days (None unknown) and the local hour of the week of each hour. Out: alarms of one side.
"""

from __future__ import annotations

import math
from statistics import median

R = 100.0


def steady(count):
    return None if count is None else 2 * math.sqrt(R) * math.asinh(math.sqrt(max(count, 0.0) / R))


def middle(values, least=1):
    known = [value for value in values if value is not None]
    return median(known) if len(known) >= least else None


def quantile(values, share):
    known = sorted(values)
    return known[max(0, math.ceil(share * len(known)) - 1)]


def likes_of(labels, hour, weeks):
    """Hours of the same name in the weeks before, newest first."""
    found = [
        other
        for other in range(hour - 24, max(-1, hour - weeks * 168 - 2), -1)
        if labels[other] == labels[hour]
    ]
    return found[: weeks + 1]


def levels(hourly, labels, rules):
    """Expected level of every hour, with all that was decided on the way."""
    hours = len(hourly)
    today = list(hourly)
    out = {name: [0.0] * hours for name in ("moved", "former", "sigma")}
    out |= {"expected": [None] * hours, "odd": [False] * hours, "residual": [None] * hours}
    out |= {"far": [False] * hours, "changes": []}
    aside = [False] * hours
    for low in range(0, hours, 24):
        calm = [
            abs(one)
            for one, odd in zip(out["residual"][:low], out["odd"][:low], strict=True)
            if one is not None and not odd
        ]
        sigma = max(rules.floor_sigma, 1.4826 * median(calm)) if calm else rules.floor_sigma
        for hour in range(low, low + 24):
            out["sigma"][hour] = sigma
            likes = [at for at in likes_of(labels, hour, rules.weeks) if today[at] is not None]
            kept = [at for at in likes if not aside[at]]
            if 2 * (len(likes) - len(kept)) > len(likes):
                kept = likes
            out["expected"][hour] = middle([today[at] for at in kept])
            if hourly[hour] is not None and out["expected"][hour] is not None:
                out["residual"][hour] = hourly[hour] - out["expected"][hour]
        for hour in range(low, low + 24):
            residual = out["residual"][hour]
            out["far"][hour] = out["odd"][hour] = aside[hour] = (
                residual is not None and abs(residual) > rules.aside_sigmas * sigma
            )
        day = [one for one in out["residual"][low : low + 24] if one is not None]
        if len(day) < 12:
            continue
        step = median(day)
        if abs(step) <= rules.adopt_sigmas * sigma or sum(
            one * step > 0 for one in day
        ) < rules.adopt_share * len(day):
            continue
        began = low
        while (
            began > 0 and out["residual"][began - 1] is not None and out["residual"][began - 1] / step > 0.5
        ):
            began -= 1
        for hour in range(began):
            if today[hour] is not None:
                today[hour] += step
        for hour in range(began, low + 24):
            aside[hour], out["odd"][hour] = False, True
        out["changes"].append((began, low + 24))
        for hour in range(low + 24, hours):
            out["moved"][hour] += step
            out["former"][hour] = step if hour < low + 24 + rules.former_days * 24 else 0.0
    return out


def residuals(values, labels, rules):
    """Deviation of every minute from what was expected of it, and the levels."""
    hours = len(values) // 60
    found = levels([middle(values[60 * hour : 60 * hour + 60], 15) for hour in range(hours)], labels, rules)
    shape = [
        None if one is None else one - moved
        for one, moved in zip(found["expected"], found["moved"], strict=True)
    ]
    raw = []
    for minute, value in enumerate(values):
        hour, at = minute // 60, (minute % 60 + 0.5) / 60
        if value is None or shape[hour] is None:
            raw.append(None)
            continue
        other = hour - 1 if at < 0.5 else hour + 1
        near = shape[other] if 0 <= other < hours and shape[other] is not None else shape[hour]
        expected = (1 - abs(at - 0.5)) * shape[hour] + abs(at - 0.5) * near + found["moved"][hour]
        one = value - expected
        former = found["former"][hour]
        raw.append(one + former if former and abs(one + former) < abs(one) else one)
    of_hour = [middle(raw[60 * hour : 60 * hour + 60], 15) for hour in range(hours)]
    for hour in range(hours):
        offset = middle(of_hour[max(0, hour - rules.wander_hours) : hour]) or 0.0
        most = rules.wander_sigmas * found["sigma"][hour]
        for minute in range(60 * hour, 60 * hour + 60):
            if raw[minute] is not None:
                raw[minute] -= min(most, max(-most, offset))
    return raw, found


def sigmas(raw, odd, labels, low, high, side, rules):
    """Sigma of each hour of the week from the hours [low, high), and the deviations that it rests on."""
    days = {label: set() for label in range(24)}
    for hour in range(low, high):
        if odd[hour]:
            for near in (-1, 0, 1):
                days[(labels[hour] + near) % 24].add(hour // 24)
    habit = {label for label, found in days.items() if len(found) >= rules.habit_days}
    calm = [
        None if odd[minute // 60] and labels[minute // 60] % 24 not in habit else one
        for minute, one in enumerate(raw[: high * 60])
    ]
    by_label = {label: [] for label in range(168)}
    for minute in range(low * 60, high * 60):
        if calm[minute] is not None:
            by_label[labels[minute // 60]].append(calm[minute])
    size, tail = {}, {}
    for label, found in by_label.items():
        if found:
            size[label] = 1.4826 * quantile([abs(one) for one in found], 0.5)
            share = rules.tail_share if side > 0 else 1 - rules.tail_share
            tail[label] = side * quantile(found, share) / rules.tail_sigmas
    everything = [abs(one) for found in by_label.values() for one in found]
    if not everything:
        return None, calm
    least = max(rules.floor_sigma, rules.least_share * 1.4826 * median(everything))
    sigma = {}
    for label in range(168):
        near = [(label + step) % 168 for step in (-1, 0, 1)]
        sigma[label] = max([least, *(found[one] for found in (size, tail) for one in near if one in found)])
    return sigma, calm


def sums(z, slack, cap):
    out, total = [], 0.0
    for one in z:
        total = max(0.0, total + (0.0 if one is None else min(one, cap) - slack))
        out.append(total)
    return out


def alarms(counts, labels, first_day, side, rules):
    """(start, alarm, end) of every run of one side, for the first of the rules' sums."""
    slack, usual = rules.slacks[0], rules.alarms[0]
    raw, found = residuals([steady(count) for count in counts], labels, rules)
    days = len(counts) // 1440
    z, limit = [None] * len(counts), [math.inf] * len(counts)
    for day in range(first_day, days):
        low, high = max(0, day * 24 - rules.weeks * 168), day * 24
        # A change is known when its day has passed.
        odd = [
            far or any(began <= hour < after <= high for began, after in found["changes"])
            for hour, far in enumerate(found["far"])
        ]
        sigma, calm = sigmas(raw, odd, labels, low, high, side, rules)
        if sigma is None:
            continue
        past = [
            None if calm[minute] is None else side * calm[minute] / sigma[labels[minute // 60]]
            for minute in range(low * 60, high * 60)
        ]
        added = sums(past, slack, rules.cap_sigmas)
        daily = sorted(max(added[at : at + 1440]) for at in range(0, len(added), 1440))
        level = daily[-2] if len(daily) > 1 else 0.0
        level = min(rules.most_factor * usual, max(usual, rules.history_factor * level))
        for minute in range(day * 1440, day * 1440 + 1440):
            limit[minute] = level
            if raw[minute] is not None:
                z[minute] = side * raw[minute] / sigma[labels[minute // 60]]
    return walk(z, limit, first_day * 1440, slack, rules)


def walk(z, limit, begin, slack, rules):
    """Minute by minute: a sum that rises until it alarms, then a sum of the way back."""
    found, total, start = [], 0.0, begin
    minute = begin
    while minute < len(z):
        if total <= 0:
            start = minute
        total = max(0.0, total + (0.0 if z[minute] is None else min(z[minute], rules.cap_sigmas) - slack))
        if total <= limit[minute]:
            minute += 1
            continue
        alarm, back, end = minute, 0.0, minute + 1
        minute += 1
        over = None
        while minute < len(z) and over is None:
            if minute >= start + rules.most_minutes:
                over = minute
                break
            if back <= 0:
                end = minute
            back = max(
                0.0,
                back + (0.0 if z[minute] is None else min(rules.end_sigmas - z[minute], rules.cap_sigmas)),
            )
            minute += 1
            if back > rules.end_sum:
                over = end
        found.append((start, alarm, len(z) if over is None else over))
        total, start = 0.0, minute
    return joined(found, rules.join_minutes)


def joined(found, gap):
    out = []
    for start, alarm, end in found:
        if out and start <= out[-1][2] + gap:
            out[-1] = (out[-1][0], out[-1][1], max(end, out[-1][2]))
        else:
            out.append((start, alarm, end))
    return out
