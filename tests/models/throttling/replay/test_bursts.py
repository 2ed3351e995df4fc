"""What consumers can do, from bursts: found where bursts are long, not claimed where they are short."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.models.throttling.replay.samples import START_MS, key, observed_of, scenario
from tests.naive.burst_delays import naive_delays_ms, naive_log_likelihood
from tests.transforms.lakes import limit_row
from throttlescope.models.throttling import LAB
from throttlescope.models.throttling.compile import compile_scenario
from throttlescope.models.throttling.replay import Ground, bursts, parse_change, replay
from throttlescope.models.throttling.simulate import run

EVERY_S, COUNT, LIMIT = 15, 41, 500


def throttled(processing_ms=2.0, *, seed=1, **more):
    """Ten minutes of a subscription of two consumers under a limit of 500 msg/s, with what the broker's timestamps would be."""
    fields = {
        "name": "billing",
        "topic": "orders",
        "type": "Shared",
        "consumers": 2,
        "processing_ms": processing_ms,
    }
    played = scenario(duration_s=EVERY_S * COUNT, subscriptions=[fields])
    totals = run(compile_scenario(played, LAB), LAB, bursts.STEP_MS / 1000)
    rng = np.random.default_rng(seed)
    at_ms = 1000 * EVERY_S * np.arange(COUNT) + 7_000
    step = at_ms // bursts.STEP_MS + rng.integers(0, 200, COUNT)
    acked, out = totals["acked_entries"][:, 0], totals["out_messages"][:, 0]
    rows = bursts.simulated_delays_ms(out, acked, 2, 100)
    delays = rows[rng.integers(0, len(rows), COUNT), step]
    observed = observed_of(
        backlog=totals["backlog_entries"][step, 0],
        in_msg=600.0 * EVERY_S,
        out_msg=np.diff(out[step], prepend=out[step[:1]]),
        every_s=EVERY_S,
        events={"subscription.msg": 14.0},
        limits=[limit_row("subscription", at_ms=START_MS - 1, msg=LIMIT, **key())],
        **more,
    )
    return stamped(observed, dispatched_ms=at_ms + 1e12, acked_ms=at_ms + 1e12 + delays)


def stamped(observed, **values):
    """The same with other values of the one subscription."""
    ((name, item),) = observed.readers.items()
    return replace(observed, readers={name: replace(item, **values)})


@pytest.mark.long
@pytest.mark.parametrize("processing_ms", [1.5, 2.0, 3.0])
def test_long_bursts_show_the_capacity(processing_ms):
    observed = throttled(processing_ms)
    found = Ground(observed, observed, with_bursts=True).capacity
    assert found.seen == "bursts"
    assert found.low_msg_per_s < 2000 / processing_ms < found.high_msg_per_s
    assert found.msg_per_s == pytest.approx(2000 / processing_ms, rel=0.1)
    assert (found.consumers, found.age_s) == (2, None)


@pytest.mark.long
def test_short_bursts_claim_nothing():
    """500 messages of 0.2 ms for each of two consumers are worked off in 50 ms: grouped acknowledgements hide it."""
    observed = throttled(0.2)
    assert bursts.throttled_delays_ms(observed) is not None
    assert Ground(observed, observed, with_bursts=True).capacity.seen == "at_least"


@pytest.mark.long
def test_capacity_from_bursts_gives_a_time():
    observed = throttled()
    lifted = replay(observed, parse_change(["subscription.msg=none"]))
    assert [note.key for note in lifted.notes if "capacity" in note.key] == ["whatif.capacity_from_bursts"]
    assert lifted.changed.best.drain_s <= lifted.changed.fitted.drain_s <= lifted.changed.worst.drain_s
    given = replay(observed, parse_change(["subscription.msg=none", "processing_ms=4"]))
    unseen = replay(
        observed,
        parse_change(["subscription.msg=none", "processing_ms=4"]),
        ground=Ground(observed, observed),
    )
    assert (given.capacity.seen, given.changed.fitted.drain_s) == ("given", unseen.changed.fitted.drain_s)


@pytest.mark.long
def test_ground_estimates_only_when_requested():
    observed = throttled()
    assert Ground(observed, observed).capacity.seen == "at_least"


def test_delays_need_throttled_scrapes():
    observed = throttled()
    ((_, item),) = observed.readers.items()
    delays_ms, rate = bursts.throttled_delays_ms(observed)
    assert len(delays_ms) == COUNT - 1
    assert rate == pytest.approx(item.out_msg[1:].sum() / (EVERY_S * (COUNT - 1)))
    free = {name: np.zeros(COUNT) for name in item.events_of}
    for values in (
        {"dispatched_ms": None},
        {"acked_ms": np.zeros(COUNT)},
        {"blocked": np.ones(COUNT, bool)},
        {"events_of": free},
        {"backlog_entries": np.full(COUNT, 10.0)},
        {"consumers": np.r_[np.full(COUNT - 5, 1.0), np.full(5, 2.0)]},
    ):
        assert bursts.throttled_delays_ms(stamped(observed, **values)) is None, values


def test_partitions_and_shared_limits_claim_nothing():
    observed = throttled()
    ((_, item),) = observed.readers.items()
    parts = replace(observed, readers={("billing", 0): item, ("billing", 1): item})
    assert bursts.throttled_delays_ms(parts) is None
    for level, others in (("broker", {}), ("topic", {("audit", -1): item})):
        rows = {(level, -1, "billing"): [limit_row(level, at_ms=START_MS - 1, msg=LIMIT, **key())]}
        shared = replace(observed, limit_rows=rows, readers=observed.readers | others)
        assert bursts.fit_bursts(shared, lambda _: pytest.fail("simulated"), lambda: [LAB]) is None


@pytest.mark.parametrize("grouping_ms", [0, 100])
@pytest.mark.parametrize("timers", [1, 3])
def test_delays_equal_slow_twin(grouping_ms, timers):
    rng = np.random.default_rng(grouping_ms + timers)
    out, acked = (np.cumsum(rng.random(300) < share) for share in (0.02, 0.1))
    fast = bursts.simulated_delays_ms(out, acked, timers, grouping_ms)
    slow = naive_delays_ms(out.tolist(), acked.tolist(), timers, grouping_ms, bursts.STEP_MS, bursts.PHASES)
    assert np.allclose(fast, slow)


def test_likelihood_equals_slow_twin():
    rng = np.random.default_rng(5)
    simulated, scraped = rng.uniform(-300, 900, (2, 150)), rng.uniform(-2500, 2500, 40)
    slow = naive_log_likelihood(
        simulated.ravel(), scraped, 2000, bursts.BIN_MS, bursts.NEAR_MS, bursts.OTHER_SHARE
    )
    assert bursts.log_likelihood(simulated, scraped, 2000) == pytest.approx(slow)
