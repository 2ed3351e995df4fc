"""The oldest message, the slow way. In: when every entry came, and how consumers work. Out: its age, and when it is too old.

Every entry is one item of a queue; time goes in small steps.
"""

from __future__ import annotations


def oldest_age(came_s: list[float], backlog: int, now_s: float) -> float:
    """Age of the oldest of the ``backlog`` entries that came last."""
    return now_s - came_s[-backlog]


def seconds_until(
    came_s: list[float],
    backlog: int,
    now_s: float,
    age_s: float,
    acked_per_s: float,
    in_per_s: float,
    step_s: float,
) -> float | None:
    """Steps until the oldest entry is ``age_s`` old; None where the queue is empty before, or after ten times the age."""
    queue = came_s[-backlog:]
    after_s, acked, published = 0.0, 0, 0
    while len(queue) > acked and after_s < 10 * age_s:
        if now_s + after_s - queue[acked] >= age_s:
            return after_s
        after_s += step_s
        acked = int(after_s * acked_per_s)
        while (published + 1) / in_per_s <= after_s if in_per_s else False:
            published += 1
            queue.append(now_s + published / in_per_s)
    return None
