"""The question about the partition throttle: in, the shipped scenarios; out, answers in Markdown with simulated figures."""

from __future__ import annotations

from docs.generate.markdown import markdown_table
from docs.generate.tdmq.figures import (
    longest_wait_ms,
    mean_per_s,
    peak,
    seconds,
    throttle_count,
)
from throttlescope.models.throttling.tdmq.scenario import PartitionScenario, changed, shipped
from throttlescope.models.throttling.tdmq.simulation import simulate

#: Messages per second that a producer sends, or that a subscription is pushed while it may be.
SENT_PER_S = (90, 110, 200, 500, 1000)
PUSHED_PER_S = (120, 200, 400, 1000)


def production() -> str:
    """The look every 50 ms, for several rates and for several intervals of the look."""
    scenario = shipped("partition-production")
    run = simulate(scenario)
    first, second = seconds(run, "production")[:2]
    closing = run.closings.to_pylist()[0]
    rows = []
    for rate in SENT_PER_S:
        tables = simulate(sending(scenario, rate))
        by_second = seconds(tables, "production")
        rows.append(
            (
                f"{rate:,}",
                by_second[0].processed,
                f"{mean_per_s(tables, 'production'):.1f}",
                peak(tables, "production"),
                throttle_count(tables, "production"),
                f"{longest_wait_ms(tables, 'production'):,.0f} ms",
            )
        )
    heads = (
        "sent per s",
        "first second",
        "mean per s",
        "busiest second",
        "stops",
        "longest wait of a send call",
    )
    checks = []
    for check_ms in (10, 50, 100, 200):
        other = simulate(changed(scenario, check_ms=check_ms))
        checks.append((f"{check_ms} ms", seconds(other, "production")[0].processed))
    rate = scenario.requests // scenario.duration_s
    return f"""\
A task looks every {scenario.check_ms} ms whether the partition has passed its quota in the current second; between two looks nothing holds
a request back. With a quota of {scenario.production.tps} TPS and {rate:,} messages a second, the look at {closing["closed_us"] // 1000} ms is the first that sees more than the
quota, and closes the channel: **{first.processed} are processed in the first second**, and {second.processed} in the next, as {second.processed_after_close} request is in flight when
the channel closes. After a stop of {(closing["opened_us"] - closing["closed_us"]) // 1000} ms the next window begins, and nothing is paid back.

{markdown_table(heads, rows)}
How much passes depends on how often the task looks ({rate:,} messages a second, first second):

{markdown_table(("a look every", "processed"), checks)}"""


def consumption() -> str:
    """The stop of one second, for several paces, in both readings of the page."""
    scenario = shipped("partition-consumption")
    rows = []
    for rate in PUSHED_PER_S:
        cells = [f"{rate:,}"]
        for checked in ("each_push", "window_end"):
            tables = simulate(changed(pushing(scenario, rate), consumption_checked=checked))
            cells += [f"{mean_per_s(tables, 'consumption'):.1f}", f"{peak(tables, 'consumption'):,}"]
        rows.append(cells)
    slow = simulate(pushing(scenario, PUSHED_PER_S[0])).closings.to_pylist()[0]
    heads = (
        "pushed per s while it may",
        "looked at after each push: mean per s",
        "busiest second",
        "looked at when the window ends: mean per s",
        "busiest second",
    )
    pushes = scenario.consumers.push_messages
    return f"""\
More than the quota in a window of one second stops pushing for one second. The page does not say when the use is compared with the
quota. The quota is {scenario.consumption.tps} TPS, a push is up to {pushes} messages, and there is a backlog:

{markdown_table(heads, rows)}
Both readings let more than the quota through in a second. The stop lasts a whole second from where it begins, so consumption may also be
well below the quota: pushing at {PUSHED_PER_S[0]} a second takes {slow["closed_us"] // 1000:,} ms to pass a quota of {scenario.consumption.tps}, and then rests for {(slow["opened_us"] - slow["closed_us"]) // 1000:,} ms. If the
second reading is the right one, about half of what the consumers could take is delivered, whatever the quota."""


def sending(scenario: PartitionScenario, rate: int) -> PartitionScenario:
    """The same run with ``rate`` messages per second, evenly spaced."""
    group = scenario.producers[0].model_dump()
    sends = [{"at_ms": 0, "requests": rate * scenario.duration_s, "over_ms": scenario.duration_s * 1000}]
    return changed(scenario, producers=[group | {"sends": sends}])


def pushing(scenario: PartitionScenario, rate: int) -> PartitionScenario:
    """The same run with pushes of ``rate`` messages per second, and a backlog that does not end."""
    consumers = scenario.consumers.model_dump()
    interval_us = 1_000_000 * scenario.consumers.push_messages // rate
    backlog = consumers["backlog"] | {
        "messages": rate * scenario.duration_s + scenario.consumers.push_messages
    }
    return changed(scenario, consumers=consumers | {"push_interval_us": interval_us, "backlog": backlog})


ANSWERS = (
    ("Why production of a partition may exceed its quota", production),
    ("Why consumption of a partition may exceed its quota", consumption),
)
