"""The slow twin of the delays in ``models/throttling/replay/bursts.py``: one timer, one tick and one scrape at a time."""

import math


def naive_delays_ms(out, acked, timers, grouping_ms, step_ms, phases):
    """From the newest dispatch to the newest acknowledgement that the broker has, at the end of every step; one list per phase."""
    ends = [step_ms * (number + 1) for number in range(len(out))]
    dispatches = [end for end, now, before in zip(ends, out, [0, *out], strict=False) if now > before]
    works = [end for end, now, before in zip(ends, acked, [0, *acked], strict=False) if now > before]
    rows = []
    for phase in range(phases):
        acknowledged = set(works) if not grouping_ms else set()
        for timer in range(timers if grouping_ms else 0):
            tick = grouping_ms * (((phase + 0.5) / phases + timer * (0.618 + 0.755 * phase)) % 1)
            while tick <= ends[-1]:
                last_step = math.floor(tick / step_ms) * step_ms
                if any(tick - grouping_ms < work <= last_step for work in works):
                    acknowledged.add(tick)
                tick += grouping_ms
        rows.append(
            [
                max([time for time in acknowledged if time <= end], default=-1)
                - max([time for time in dispatches if time <= end], default=-1)
                for end in ends
            ]
        )
    return rows if grouping_ms else rows[:1]


def naive_log_likelihood(simulated, scraped, most_ms, bin_ms, near_ms, other_share):
    """Each scraped delay is at a simulated one, in the bins next to it, or anything."""
    bins = 2 * most_ms // bin_ms

    def bin_of(delay):
        return min(max(math.floor((delay + most_ms) / bin_ms), 0), bins - 1)

    weights = {away: math.exp(-((away * bin_ms / near_ms) ** 2) / 2) for away in range(-5, 6)}
    total = 0.0
    for delay in scraped:
        share = sum(
            weights.get(bin_of(one) - bin_of(delay), 0.0) / sum(weights.values()) for one in simulated
        )
        total += math.log((1 - other_share) * share / len(simulated) + other_share / bins)
    return total
