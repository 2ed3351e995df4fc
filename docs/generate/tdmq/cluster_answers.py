"""Questions about the cluster throttle: in, the shipped scenarios; out, answers in Markdown with simulated figures."""

from __future__ import annotations

import pyarrow.compute as pc

from docs.generate.markdown import markdown_table
from docs.generate.tdmq.figures import (
    SEND_TIMEOUT_MS,
    console_means,
    first_over_ms,
    longest_wait_ms,
    mean_per_s,
    peak,
    percent,
    seconds,
    thresholds_msg,
    throttle_count,
    used_before,
)
from throttlescope.models.throttling.tdmq.scenario import changed, shipped
from throttlescope.models.throttling.tdmq.simulation import simulate

#: Moments at which the nodes learn the cluster's use, for the comparison on the page.
MOMENTS = {
    "at the window's start": [0],
    "at 100 ms": [100],
    "at 200 ms": [200],
    "at 300 ms": [300],
    "at 500 ms": [500],
    "every 100 ms": list(range(0, 1000, 100)),
    "every 10 ms": list(range(0, 1000, 10)),
}


def the_101st_message() -> str:
    """The worked example: 100 messages in 400 ms, and the wait of the next one."""
    scenario = shipped("101st-message")
    requests = simulate(scenario).requests.to_pylist()
    before, last = requests[-2:]
    return f"""\
Production is set to {scenario.quotas["production"].tps} TPS and the window is one second. The user sends {len(requests) - 1} messages
in the first {last["sent_us"] // 1000} ms. The last of them is processed at {before["processed_us"] // 1000} ms: the quota is used up, and the channel closes. The
{len(requests)}st message is sent at {last["sent_us"] // 1000} ms and accepted at {last["accepted_us"] // 1000:,} ms, when the next window begins. **It waits {last["wait_us"] // 1000} ms.**
"""


def question_1() -> str:
    """A burst, and what the console makes of it."""
    scenario = shipped("burst-in-a-minute")
    tables = simulate(scenario)
    limit = scenario.quotas["production"].tps
    rows = seconds(tables, "production")
    burst = max(range(len(rows)), key=lambda i: rows[i].requests)
    mean = console_means(tables, "production")[0]
    by_second = markdown_table(
        ("second", "sent", "processed", "throttle count", "longest wait"),
        [
            (r.start_s, f"{r.requests:,}", f"{r.processed:,}", r.throttle_count, f"{r.wait_ms_max:,.0f} ms")
            for r in rows[burst - 1 : burst + 5]
        ],
    )
    sizes = []
    for tps in (limit, 2 * limit, 3 * limit, 4 * limit):
        other = simulate(changed(scenario, specification={"tps": 2 * tps}))
        sizes.append(
            (
                f"{tps:,}",
                percent(console_means(other, "production")[0] / tps),
                throttle_count(other, "production"),
                f"{longest_wait_ms(other, 'production'):,.0f} ms",
            )
        )
    heads = ("production quota, TPS", "minute's mean, share of it", "throttle count", "longest wait")
    return f"""\
The console shows messages within a minute / 60. A producer sends {rows[0].requests} messages a second, and once in the minute another
{rows[burst].requests - rows[0].requests:,} come within {scenario.producers[1].sends[0].over_ms} ms. The quota is {limit:,} TPS. **The console shows {mean:.0f} per second, {percent(mean / limit)} of the quota, and a
throttle count of {throttle_count(tables, "production")}:**

{by_second}
An alarm at 80 % of the specification never rings here. What the busiest second needs decides:

{markdown_table(heads, sizes)}"""


def question_2_case_1() -> str:
    """Thresholds of nodes, and what passes in a window; for several moments at which use is known."""
    scenario = shipped("five-nodes")
    tables = simulate(scenario)
    known_ms = scenario.usage_known_at_ms[0]
    used = used_before(tables, known_ms)
    (threshold,) = thresholds_msg(tables, "production", 0)
    limit = scenario.quotas["production"].tps
    first, second = seconds(tables, "production")[:2]
    rows = []
    for words, moments in MOMENTS.items():
        other = simulate(changed(scenario, usage_known_at_ms=moments))
        (last,) = thresholds_msg(other, "production", 0)
        rows.append(
            (
                words,
                f"{last:,}",
                f"{seconds(other, 'production')[0].processed:,}",
                f"{peak(other, 'production'):,}",
                f"{longest_wait_ms(other, 'production'):,.0f} ms",
            )
        )
    heads = (
        "the nodes learn the cluster's use",
        "last threshold of a node",
        "first second",
        "busiest second",
        "longest wait",
    )
    return f"""\
Every node throttles alone, with its own use plus what the cluster has left as its threshold. The limit is {limit:,}, the {scenario.nodes} nodes
have used {used[0]} each, {sum(used)} together, when they learn it {known_ms} ms into the window. **Each node's threshold is then {used[0]} + {limit:,} - {sum(used)} =
{threshold}**, and as all of them have more to do, **{first.processed:,} requests are processed in that second**, {first.processed / limit:.0f} times the limit. The {second.processed:,} that
still wait come in the next second, again before the nodes know of each other.

The page does not say at which moments of a window the nodes learn the cluster's use. It decides how much passes:

{markdown_table(heads, rows)}
The busiest second is that of the first {scenario.producers[0].sends[0].requests + scenario.producers[0].sends[1].requests:,} requests per node, or a later one that works off what waited. Nodes that
learn often keep to the limit; nodes that learn only when the window begins let up to {scenario.nodes} times the limit through."""


def question_2_case_2() -> str:
    """Requests in flight when the channels close; for several numbers of them."""
    scenario = shipped("in-flight")
    tables = simulate(scenario)
    first = seconds(tables, "production")[0]
    group = scenario.producers[0]
    (threshold,) = thresholds_msg(tables, "production", 0)
    late = tables.requests.filter(pc.field("after_close") & (pc.field("processed_us") < 1_000_000))
    delays_us = pc.subtract(late.column("answered_us"), late.column("processed_us"))
    rows = []
    for in_flight in (1, 5, 10, 20, 30):
        producers = [group.model_dump() | {"in_flight_requests": in_flight}]
        other = seconds(simulate(changed(scenario, producers=producers)), "production")[0]
        rows.append((in_flight, f"{other.processed - other.processed_after_close:,}", other.processed_after_close, f"{other.processed:,}"))  # fmt: skip
    heads = ("in flight per producer", "processed while open", "processed after the close", "in the window")
    return f"""\
One node, so that case 1 cannot happen, with a limit of {threshold:,}. {group.per_place} producers send {group.sends[0].requests} requests each at the same moment, with up to
{group.in_flight_requests} of them in flight. When {threshold:,} are processed, the channels close. **{first.processed_after_close} requests are in flight and are processed all the same:
{first.processed:,} in the window.** Their answers are delayed until the channels open, {pc.min(delays_us).as_py() // 1000} to {pc.max(delays_us).as_py() // 1000} ms later.

{markdown_table(heads, rows)}
What is in flight is bounded by how much the clients may have pending; many producers add up. Nothing is paid back, so in an
overload every second may pass its threshold by as much."""


def question_3() -> str:
    """Throttle counts of the scenarios, and how many requests waited."""
    rows = []
    for name in ("101st-message", "burst-in-a-minute", "five-nodes", "in-flight", "bandwidth"):
        scenario = shipped(name)
        tables = simulate(scenario)
        waited = sum(second.delayed_requests for second in seconds(tables, "production"))
        rows.append((f"`{name}`", throttle_count(tables, "production"), f"{waited:,}"))
    quiet = shipped("burst-in-a-minute")
    no_burst = simulate(changed(quiet, producers=[quiet.producers[0].model_dump()]))
    rows.append(("`burst-in-a-minute` without the burst", throttle_count(no_burst, "production"), 0))
    example = shipped("101st-message")
    group, sends = example.producers[0], example.producers[0].sends[0]
    fewer = sends.model_dump() | {"requests": sends.requests - 1}
    without = simulate(changed(example, producers=[group.model_dump() | {"sends": [fewer]}]))
    rows.append(("`101st-message` without the 101st", throttle_count(without, "production"), 0))
    bandwidth = shipped("bandwidth")
    tables = simulate(bandwidth)
    group, quota = bandwidth.producers[0], bandwidth.quotas["production"]
    return f"""\
A throttle count above 0 on the cluster's monitoring page says so, and nothing else does. The channels close when a quota is
used up, whether or not more requests come, so a count without a delayed request is possible too.

{markdown_table(("scenario", "throttle count", "requests that waited for a closed channel"), rows)}
`bandwidth` is throttled although its TPS are low: {group.sends[0].requests} messages of {group.size_bytes // 1024} KiB a second are {percent(group.sends[0].requests / quota.tps)} of the TPS, but \
{percent(group.sends[0].requests * group.size_bytes / quota.bandwidth_bytes)} of
the bandwidth; {mean_per_s(tables, "production"):.0f} a second pass. Both quotas have charts of their own; look at both."""


def delayed_messages() -> str:
    """A delay of 0, with and without the field."""
    scenario = shipped("delay-field")
    with_field, without_field = scenario.producers
    plain = [group.model_dump() | {"deliver_after_ms": None} for group in scenario.producers]
    runs = (
        ("with the field", simulate(scenario), ("delayed", "production")),
        ("without", simulate(changed(scenario, producers=plain, delayed=None)), ("production",)),
    )
    rows = [
        (
            words,
            quota,
            f"{scenario.quotas[quota].tps:,}",
            f"{mean_per_s(tables, quota):.0f}",
            throttle_count(tables, quota),
            f"{longest_wait_ms(tables, quota):,.0f} ms",
            f"{seconds(tables, quota)[-1].waiting:,}",
        )
        for words, tables, quotas in runs
        for quota in quotas
    ]
    heads = (
        "`deliverAfter`",
        "counted by",
        "quota, TPS",
        "processed per s",
        "throttle count",
        "longest wait",
        "waiting at the end",
    )
    return f"""\
A message whose delay field is set is counted by the rate of delayed messages, whatever the delay, also 0 or a moment in the past. One producer
sends {with_field.sends[0].requests} messages a second with `deliverAfter` {with_field.deliver_after_ms}, its neighbour on the node {without_field.sends[0].requests} a second without it, for {scenario.duration_s} s. The production
quota of {scenario.quotas["production"].tps:,} TPS is far away; that of delayed messages is {scenario.quotas["delayed"].tps} TPS here (the page names no figure):

{markdown_table(heads, rows)}
The neighbour's messages wait too: a channel that is closed does not know which message comes next."""


def allocation() -> str:
    """One fan-out under several allocation ratios."""
    scenario = shipped("fan-out")
    rows = []
    for consumption in (1, 2, 3, 4):
        other = changed(scenario, allocation={"production": 1, "consumption": consumption})
        tables = simulate(other)
        rows.append(
            (
                f"1:{consumption}",
                other.quotas["production"].tps,
                other.quotas["consumption"].tps,
                throttle_count(tables, "production"),
                throttle_count(tables, "consumption"),
                f"{seconds(tables, 'consumption')[-1].waiting:,}",
                f"{longest_wait_ms(tables, 'production'):,.0f} ms",
                f"{longest_wait_ms(tables, 'consumption'):,.0f} ms",
            )
        )
    heads = (
        "ratio",
        "production TPS",
        "consumption TPS",
        "production throttled",
        "consumption throttled",
        "not pushed at the end",
        "longest wait of a send call",
        "longest wait for a push",
    )
    rate, copies = scenario.producers[0].sends[0].requests, scenario.consumers.subscriptions
    return f"""\
A specification of {scenario.specification.tps} TPS is split by the production/consumption allocation ratio. {rate} messages a second with {copies} subscriptions are
{rate * copies} pushes a second. After {scenario.duration_s} s:

{markdown_table(heads, rows)}
The ratio that fits is that of the fan-out. With too little for consumption a backlog grows although consumers have spare capacity."""


def overload() -> str:
    """A steady rate above the quota until send calls time out."""
    scenario = shipped("overload")
    tables = simulate(scenario)
    quota = scenario.quotas["production"].tps
    rate = scenario.requests / scenario.duration_s
    rows = seconds(tables, "production")
    by_second = markdown_table(
        ("after", "waiting send calls", "longest wait in that second"),
        [(f"{at_s} s", f"{rows[at_s - 1].waiting:,}", f"{rows[at_s - 1].wait_ms_max / 1000:.1f} s") for at_s in (10, 60, 120, 180, 240)],
    )  # fmt: skip
    late_ms = first_over_ms(tables, SEND_TIMEOUT_MS)
    more = scenario.producers[0].model_dump() | {"in_flight_requests": 10}
    concurrent = simulate(changed(scenario, producers=[more]))
    return f"""\
{rate:.0f} messages a second for a quota of {quota} TPS: every second {rate - quota:.0f} more wait.

{by_second}
The first send call that is not accepted within {SEND_TIMEOUT_MS // 1000} s, the Java client's default `sendTimeout`, is that of second {late_ms / 1000:.0f}. From
then on sends fail (the simulated client waits on). With {more["in_flight_requests"]} requests in flight instead of {scenario.producers[0].in_flight_requests}, {mean_per_s(concurrent, "production"):.1f} a second pass,
and the longest wait of the run is {longest_wait_ms(concurrent, "production") / 1000:.1f} s instead of {longest_wait_ms(tables, "production") / 1000:.1f} s."""


ANSWERS = (
    ("The 101st message", the_101st_message),
    ("Question 1: throttled although the chart is below the specification", question_1),
    ("Question 2, case 1: more than the specification, because nodes throttle alone", question_2_case_1),
    ("Question 2, case 2: more than the specification, because of requests in flight", question_2_case_2),
    ("Question 3: was there throttling?", question_3),
    ("The delay field", delayed_messages),
    ("The allocation ratio", allocation),
    ("When sends time out", overload),
)
