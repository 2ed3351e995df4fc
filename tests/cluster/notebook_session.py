"""What a notebook asks of a lake. In: a lake's folder and a master. Out: the answers as JSON, of a process without a session."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from typing import Any

from tests.app.web.sample_lake import END_MS, START_MS
from tests.promql.on_master import digest
from throttlescope.app.notebook import OpenLake, open_lake
from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.transforms.promql.engine import Engine

QUERY = "sum by (topic, subscription) (deriv(pulsar_subscription_back_log[10m]))"
RULES = """
groups:
  - name: mine
    rules:
      - record: my:backlog:sum
        expr: sum by (cluster, topic, partition, subscription) (pulsar_subscription_back_log)
      - alert: MyBacklog
        expr: my:backlog:sum > 1000
        for: 5m
"""


def asked(lake: OpenLake) -> dict[str, Any]:
    """Rows of tables, of PromQL evaluated by the driver and by tasks, and of rules."""
    shared = Engine(lake.lake, lambda: lake.session)
    found = shared.range(QUERY, START_MS, END_MS, MINUTE_MS, place="spark")
    return {
        "remote": "connect" in type(lake.session).__module__,
        "signals": _told(lake.signals().collect()),
        "verdicts": _told(lake.verdicts().collect()),
        "throttled": _told(lake.verdicts(cause="throttled").collect()),
        "promql": _told(lake.promql(QUERY, START_MS, END_MS, "1m").collect()),
        "promql by tasks": digest(found),
        "firings": _told(lake.rules(RULES).fires(START_MS, END_MS).collect()),
    }


def _told(rows: Iterable[Any]) -> list[str]:
    # Labels are a map, whose order says nothing.
    return sorted(json.dumps(row.asDict(recursive=True), sort_keys=True, default=repr) for row in rows)


if __name__ == "__main__":
    print(json.dumps(asked(open_lake(sys.argv[1], master=sys.argv[2]))))
