"""Why each row of the truth table answers what it does. In: nothing. Out: sentences by limit, counter and queues, as the row has them."""

from __future__ import annotations

SENTENCES = {
    "truth_table.any.silent+sparse.empty": (
        "the consumers have spare capacity and no limiter throttles them: neither side explains the backlog"
    ),
    "truth_table.at.silent.full": (
        "the consumers are at their capacity, which happens to be near the limit; no read was throttled"
    ),
    "truth_table.at.silent.any": "no read was throttled, so the limiter does not limit the subscription",
    "truth_table.any.silent.full": "no read was throttled, and the broker waits for consumers",
    "truth_table.any.silent.any": "no read was throttled although messages were dispatched",
    "truth_table.far.continuous.full": "little of the limit is used, and the broker waits for consumers",
    "truth_table.far.continuous.any": (
        "the counter never rests although little of the limit is used: use or limit may be others than were read"
    ),
    "truth_table.far.any.full": "far from every limit, and the broker waits for consumers",
    "truth_table.far.any.empty": "the consumers have spare capacity and no limit is near: neither side explains the backlog",
    "truth_table.far.any.any": "far from every limit; how full the queues are is not clear",
    "truth_table.at.sparse.full": (
        "the consumers are at their capacity near the limit; the limiter throttles reads only some of the time"
    ),
    "truth_table.at.sparse.any": "the limit is used up, but reads were not throttled as steadily as by a limiter that binds",
    "truth_table.any.sparse.full": "reads were throttled too seldom or too briefly to explain it, and the broker waits",
    "truth_table.any.sparse.any": "reads were throttled too seldom or too briefly to limit a subscription",
    "truth_table.at.continuous+ticking.full": (
        "the limit is used up and the consumers are at their capacity too: lifting one alone changes little"
    ),
    "truth_table.at.unseen.full": "limit and consumers are both at their capacity; no counter decides",
    "truth_table.at.continuous.any": "the limit is used up, and its counter proves it",
    "truth_table.at.ticking.empty": "the limit is used up while the consumers have spare capacity",
    "truth_table.at.unseen.empty": "the limit is used up while the consumers have spare capacity",
    "truth_table.at.any.any": "the limit is used up; the queues do not contradict",
    "truth_table.near.continuous.full": "near the limit, and the queues are full: both are possible",
    "truth_table.near.continuous.any": "near the limit, and its counter proves the pauses",
    "truth_table.near.any.full": "below the limit, and the broker waits for consumers",
    "truth_table.near.ticking.busy": (
        "below the limit, and the consumers are never idle: they take what they can, at a constant rate"
    ),
    "truth_table.near.ticking.empty": "near the limit while the consumers have spare capacity",
    "truth_table.near.unseen.empty": "near the limit while the consumers have spare capacity",
    "truth_table.near.ticking.unknown": (
        "near the limit and its counter never rests; consumers would have to be as fast by chance"
    ),
    "truth_table.near.any.between+busy": (
        "near the limit, and the consumers' queues are neither full nor empty: both are possible"
    ),
    "truth_table.near.any.any": "near the limit, and how full the consumers' queues are was not measured",
    "truth_table.possible.continuous.full": "well below the limit, and the broker waits",
    "truth_table.possible.any.full": "well below the limit, and the broker waits",
    "truth_table.possible.continuous+ticking.empty": (
        "well below the limit, but the consumers have spare capacity and its counter never rests"
    ),
    "truth_table.possible.continuous.any": "the counter never rests, but the limit is not used up",
    "truth_table.possible.any.empty": "the consumers have spare capacity, and the limit is not used up",
    "truth_table.possible.any.between+busy": "well below the limit",
    "truth_table.possible.any.any": "well below the limit; nothing else is known",
    "truth_table.unknown.continuous.full": "the counter says limiter, the full queues say consumers",
    "truth_table.unknown.continuous.empty": "the limiter is exhausted again and again while the consumers have spare capacity",
    "truth_table.unknown.continuous.any": "the limiter is exhausted again and again",
    "truth_table.unknown.ticking.full": "the broker waits for the consumers; the ticking counter may mean nothing",
    "truth_table.unknown.ticking.empty": (
        "the consumers have spare capacity and the counter never rests; without the limit it may mean nothing"
    ),
    "truth_table.unknown.unseen.full": "the broker waits for the consumers",
    "truth_table.unknown.any.any": "without the limit neither side can be excluded",
}
