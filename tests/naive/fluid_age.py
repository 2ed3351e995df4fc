"""A fluid queue as a row of parcels. In: arrivals per step and what a step serves. Out: backlogs and ages, one step after the other."""

from __future__ import annotations

from collections import deque


def backlogs_and_ages(arrived, served, step_s, slices=200):
    """Backlog and age of the oldest message at each step's end; a step's arrivals are cut into so many parcels."""
    parcels = deque()  # (when it came, how much of it is there)
    backlogs, ages = [], []
    for number, came in enumerate(arrived):
        start_s = number * step_s
        for at in range(slices):
            if came > 0:
                parcels.append([start_s + (at + 0.5) / slices * step_s, came / slices])
        left = served
        # Served at the end of the step: what the step brings may be served in it.
        while parcels and left > 0:
            taken = min(left, parcels[0][1])
            left -= taken
            parcels[0][1] -= taken
            if parcels[0][1] <= 1e-9:
                parcels.popleft()
        backlogs.append(sum(amount for _, amount in parcels))
        ages.append(start_s + step_s - parcels[0][0] if parcels else 0.0)
    return backlogs, ages
