"""The page about TDMQ's throttles. In: the shipped scenarios, the tables of their runs. Out: its parts, in Markdown."""

from __future__ import annotations

from docs.generate.markdown import DOCS, markdown_table
from docs.generate.tdmq import cluster_answers, partition_answers
from throttlescope.ingest.contracts.table import Table
from throttlescope.models.diagnosis.truth_table import answer
from throttlescope.models.throttling.tdmq.scenario import MAX_STEPS
from throttlescope.models.throttling.tdmq.tables import CONTRACTS

PAGE = DOCS / "background" / "tdmq.md"

_HEAD = """\
# TDMQ's own throttles

<!-- Written by `make docs`; the text is in docs/generate/tdmq/, the simulation in models/throttling/tdmq/. -->

TDMQ for Apache Pulsar (Tencent Cloud) throttles in two ways of its own: a whole cluster by its specification, and each topic
partition by quotas of its own. This page answers the questions of TDMQ's page *Traffic Throttling Mechanism Explanation*
(2025-02-06), called "the page" below, with figures. The figures come from a simulation of what the page says, one request after the other;
**no TDMQ cluster was measured**. What the page leaves open had to be [assumed](#what-the-page-does-not-say), and some figures depend
on it.

## What to do

| you see | look at | do |
| --- | --- | --- |
| some sends take longer, up to seconds; the chart is far below the specification | production throttle count | spread the burst, or choose the specification for the busiest second ([why](#question-1-throttled-although-the-chart-is-below-the-specification)) |
| sends take longer every minute, then time out | the same, in every second | the rate is above the quota: upgrade; a longer `sendTimeout` only delays it ([why](#when-sends-time-out)) |
| throttled far below the TPS | bandwidth; and whether senders set `deliverAfter` or `deliverAt` | compress or upgrade; set no delay field where no delay is wanted ([why](#the-delay-field)) |
| a backlog grows, consumers wait for messages | consumption throttle count | move the allocation ratio to the fan-out, or upgrade ([why](#the-allocation-ratio)) |
| one partition is behind, the others are not | rate and bandwidth of that partition | more partitions, keys that spread better ([why](#the-partition-throttle)) |
| more than the specification on a chart | nothing is wrong | do not plan with it: it is what passes before the nodes know of each other ([why](#question-2-case-1-more-than-the-specification-because-nodes-throttle-alone)) |

Set an alarm on the throttle counts. An alarm at 80 % of the specification, which the page recommends too, cannot see a burst.

The page says that a closed channel is a TCP connection that is no longer read. Consumers that share it, as those of one client
object may, then cannot acknowledge or request messages either. A client object of its own for producing keeps them apart. (This is not simulated.)
"""

_PULSAR = """\
## How this differs from Pulsar's own throttling

| | Pulsar's dispatch throttling | TDMQ, cluster | TDMQ, partition |
| --- | --- | --- | --- |
| limits | what a broker, topic or subscription is sent | production and consumption of the cluster | production and consumption of a topic partition |
| set by | policies and broker configuration | specification and allocation ratio | TDMQ; the page gives no figures |
| used up | reads are planned smaller, then a pause | channels closed, pushing stopped until the next second | production: until the next second; consumption: for a second |
| more than the limit | is paid back: later periods give less | is not paid back (assumed) | is not paid back (assumed) |
| delays producers | no (publish throttling is another limit) | yes | yes |
| is counted in | `pulsar_subscription_dispatch_throttled_{msg,bytes}_events` | the console's throttle count | nothing; the console shows how much of its quota a topic uses |

"""

_GAPS = (
    ("When does a node learn the cluster's use?", "at given moments of each window, all nodes at once; before, it knows of no use, and its threshold is the whole limit", "`usage_known_at_ms`"),
    ("What is left when more than the limit is used?", "nothing: the threshold is the node's own use, so its channels close", ""),
    ("Do the nodes' windows begin together?", "yes", ""),
    ("Whose channels close?", "those of the node that has used up its threshold, all of that direction; a look at the cluster's use can close it too", ""),
    ("When is a request counted?", "when it has been processed; a request is one message, as nothing is said about batches", "`processing_us`"),
    ("How many requests are in flight?", "what a producer has sent and not seen answered, up to a bound; a producer stays on its node", "`in_flight_requests`"),
    ("What does \"packet response delay\" delay?", "the request that waits, and the answers to requests that are processed behind a closed channel, until it opens; on partitions no answer is delayed", ""),
    ("How large is the rate of delayed messages, and do they also count as production?", "a quota of its own, no; when it is used up the node's production channels close", "`delayed`"),
    ("Is use above the quota paid back?", "no, every window begins with nothing used", ""),
    ("How is the specification rounded?", "production gets whole messages, consumption the rest", "`allocation`"),
    ("When is a quota exceeded?", "cluster: when it is reached (\"exhausted\"); partition: when more was used (\"exceeds\")", ""),
    ("What is \"up to 1 s\" of a partition's stop?", "until the next second begins", ""),
    ("When is a partition's consumption compared with its quota?", "after each push, or when the window ends; both are shown", "`consumption_checked`"),
    ("How many messages are in a push?", "given; the quota is not looked at within a push", "`push_messages`"),
    ("What do clients do?", "they wait as long as it takes; consumers take whatever is pushed", ""),
)  # fmt: skip

_RUN = """\
## Run your own

The scenarios are YAML files in `models/throttling/tdmq/scenarios/`. Copy one, put your own figures in, and run it:

```python
from pathlib import Path

from throttlescope.models.throttling.tdmq import load_scenario, simulate

tables = simulate(load_scenario(Path("models/throttling/tdmq/scenarios/five-nodes.yaml")))
print(tables.windows.to_pandas())
```

The fields are explained in `models/throttling/tdmq/scenario.py`. A file that cannot be run, or would take more than {steps}
requests, pushes and looks at the counters, is refused with the name of the field. The tables of a run have microseconds from its beginning:
"""


def render(page: str = "") -> str:
    """The whole page, in Markdown."""
    parts = [_HEAD, "## The cluster throttle\n"]
    parts += [f"### {title}\n\n{tell().strip()}\n" for title, tell in cluster_answers.ANSWERS]
    parts.append("## The partition throttle\n")
    parts += [f"### {title}\n\n{tell().strip()}\n" for title, tell in partition_answers.ANSWERS]
    parts.append(_PULSAR + _what_the_rules_say())
    heads = ("the page does not say", "assumed here", "field")
    parts.append(f"## What the page does not say\n\n{markdown_table(heads, _GAPS)}")
    parts.append(_RUN.format(steps=f"{MAX_STEPS:,}"))
    parts += [_columns(contract) for contract in CONTRACTS]
    return "\n".join(parts).strip() + "\n"


def _what_the_rules_say() -> str:
    """What the diagnosis says where TDMQ throttles a subscription: no Pulsar limit, silent counters."""
    room, unseen = answer("far", "silent", "empty"), answer("far", "silent", "unknown")
    return f"""\
The six counters of Pulsar (PIP-406) count reads that Pulsar's limiters throttled. Nothing says that TDMQ's throttles are counted there, so a subscription
that TDMQ throttles has a backlog, no Pulsar limit and silent counters. The [rules](diagnosis.md) then answer `{room.cause}` where permits are
scraped ("{room.why}"), and `{unseen.cause}` where they are not ("{unseen.why}"), which
is wrong here. On TDMQ, look at the consumption throttle count before you believe either.
"""


def _columns(contract: Table) -> str:
    rows = [
        (f"`{column.name}`", f"{column.type}{', NULL' if column.nullable else ''}", column.doc)
        for column in contract.columns
    ]
    return f"### Table {contract.name}\n\n{contract.doc}\n\n{markdown_table(('column', 'type', 'meaning'), rows)}"
