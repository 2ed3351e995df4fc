"""Episodes the slow way, to be compared with: a look at every minute, every pair of windows, every way to cut a series."""

from __future__ import annotations

from itertools import pairwise

from throttlescope.ingest.core.times import MINUTE_MS


def stretches(over, calm_minutes):
    """(first, last, minutes above, drained) of each backlog, minute by minute."""
    found, now, calm = [], None, 0
    for place, above in enumerate(over):
        if above:
            if now is None:
                now = [place, place, 0, False]
            now[1] = place
            now[2] += 1
            calm = 0
        elif now is not None:
            calm += 1
            if calm == calm_minutes:
                now[3] = True
                found.append(tuple(now))
                now = None
    if now is not None:
        found.append(tuple(now))
    return found


def steady(windows, within, healthy, unknown):
    """What holds during each window, by looking at every pair of windows before each one.

    ``windows`` are (start, end, what) that follow one another without overlap; ``within`` is in window lengths. ``healthy`` and ``unknown`` are
    what windows say of them: the first counts at once only until a window contradicts it that comes before a second one like it.
    """
    labels, begun, is_first = [], 0, False
    for i, (start, end, what) in enumerate(windows):
        length = end - start
        if i == 0 or start - windows[i - 1][1] > within * length:
            begun, is_first = i, True
            labels.append(what)
            continue
        labels.append(labels[-1])
        if is_first and labels[-1] == healthy != what:
            begun, labels[-1] = i, unknown
        is_first = False
        if what == labels[-1]:
            continue
        for first in range(begun, i):
            named_before = any(windows[k][2] == labels[i] for k in range(first, i))
            near = end - windows[first][0] <= within * length
            if windows[first][2] == what and near and not named_before:
                labels[first:] = [what] * (i + 1 - first)
                break
    return labels


def best_cuts(values, penalty, shortest):
    """The least of squared error + penalty x cuts over every way to cut, and the cuts that give it."""
    n = len(values)
    best = [(-penalty, [])] + [(float("inf"), [])] * n
    for end in range(1, n + 1):
        for start in range(0, end - shortest + 1):
            part = values[start:end]
            mean = sum(part) / len(part)
            cost = best[start][0] + sum((value - mean) ** 2 for value in part) + penalty
            if cost < best[end][0]:
                best[end] = (cost, best[start][1] + ([start] if start else []))
    return best[n]


def cost_of(values, cuts, penalty):
    """Squared error + penalty x cuts of one way to cut."""
    total = penalty * len(cuts)
    for start, end in pairwise([0, *cuts, len(values)]):
        part = values[start:end]
        mean = sum(part) / len(part)
        total += sum((value - mean) ** 2 for value in part)
    return total


def hot_minutes(held, least):
    """Minutes in which at least so many are held; ``held`` are (start_ms, end_ms, who) on whole minutes."""
    start_ms, end_ms = min(s for s, _, _ in held), max(e for _, e, _ in held)
    return {
        at_ms
        for at_ms in range(start_ms, end_ms, MINUTE_MS)
        if len({who for s, e, who in held if s <= at_ms < e}) >= least
    }
