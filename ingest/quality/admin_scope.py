"""Whether the admin API and the scraped brokers are the same cluster. In: its answers, the lake's series. Out: rows of ``quality``.

- Fewer brokers are scraped than the admin API lists: topics on the others have no verdicts, and a topic that moves there is gone.
- More are scraped than it lists: two clusters may share one label ``cluster``.
- Its brokers call their cluster by another name than the metrics do, and none of them is scraped: its limits are another cluster's.
  They are not used, unless the user gave the cluster its name.

All are warnings: brokers come and go, and without its limits a run goes on.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow.compute as pc

from throttlescope.ingest.core.metrics import BROKER_MARKS
from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.ingest.lake import Lake

#: A broker is scraped where it was within so long before the end of the range.
_CURRENT_MS = 10 * MINUTE_MS
_MOST_NAMED = 5


def admin_scope_findings(
    lake: Lake, cluster: str, policies: Iterable[Mapping[str, Any]], end_ms: int, *, named_by_user: bool
) -> list[dict[str, Any]]:
    """Compare what the admin API says of brokers with what is scraped.

    Parameters
    ----------
    policies : iterable of mappings
        Answers of one walk, rows of ``policies``.
    end_ms : int
        End of the range that was read.
    named_by_user : bool
        The cluster's name was given, so it need not be the brokers' own.

    Returns
    -------
    list of dict
        Rows of ``quality`` without run and time; only failed checks.
    """
    answers = list(policies)
    listed = {name for row in answers if row["scope"] == "brokers" for name in json.loads(row["body"]) or ()}
    scraped = scraped_brokers(lake, cluster, end_ms)
    found = []
    if listed and scraped and len(scraped) < len(listed):
        found.append(
            _finding(
                cluster, "brokers_scraped", f"{len(scraped)} of {len(listed)} brokers are scraped",
                "every broker that the admin API lists; topics of the others have no verdicts",
                {"scraped": scraped, "listed": sorted(listed)},
            )
        )  # fmt: skip
    if listed and len(scraped) > len(listed):
        found.append(
            _finding(
                cluster, "admin_api_cluster", f"{len(scraped)} brokers are scraped, the admin API lists {len(listed)}",
                "one cluster under this name, and its admin API",
                {"scraped": scraped, "listed": sorted(listed)},
            )
        )  # fmt: skip
    other = None if named_by_user else other_cluster(answers, cluster, scraped)
    if other is not None:
        found.append(
            _finding(
                cluster, "admin_api_cluster", other_cluster_words(other, cluster),
                "the admin API of the cluster that is scraped; where it is, name the cluster with --cluster NAME",
                {"clusterName": other, "cluster": cluster},
            )
        )  # fmt: skip
    return found


def other_cluster(answers: Iterable[Mapping[str, Any]], cluster: str, scraped: Iterable[str]) -> str | None:
    """Name of the cluster that an admin API belongs to, where that is not the one that is scraped.

    Parameters
    ----------
    answers : iterable of mappings
        ``scope`` and ``body`` of answers.
    cluster : str
        What the metrics call the cluster, not a name that the user gave it.
    scraped : iterable of str
        Values of ``instance``; a broker that is listed under one of them is proof enough.
    """
    listed: set[str] = set()
    names: set[str] = set()
    for row in answers:
        if row["scope"] == "brokers":
            listed.update(json.loads(row["body"] or "[]") or ())
        elif row["scope"] == "broker_configuration_runtime":
            names.add((json.loads(row["body"] or "{}") or {}).get("clusterName") or "")
    names.discard("")
    if not names or cluster in names or listed & set(scraped):
        return None
    return ", ".join(sorted(names))


def other_cluster_words(other: str, cluster: str) -> str:
    """The mismatch in words."""
    return f"the brokers of the admin API belong to cluster {other}, the metrics are of {cluster}: its answers are not used"


def scraped_brokers(lake: Lake, cluster: str, end_ms: int) -> list[str]:
    """Values of ``instance`` of the brokers that were scraped at the end of a range."""
    where = (
        pc.field("metric_name").isin(list(BROKER_MARKS))
        & (pc.field("cluster") == cluster)
        & (pc.field("last_ms") >= end_ms - _CURRENT_MS)
    )
    rows = lake.read("series", columns=["labels"], where=where)["labels"].to_pylist()
    return sorted({name for labels in rows if (name := dict(labels).get("instance"))})


def _finding(cluster: str, check: str, observed: str, expected: str, example: dict) -> dict[str, Any]:
    short = {
        name: value[:_MOST_NAMED] if isinstance(value, list) else value for name, value in example.items()
    }
    return {
        "cluster": cluster,
        "gate": "door",
        "check": check,
        "table": "policies",
        "severity": "warning",
        "success": False,
        "observed": observed,
        "expected": expected,
        "rows": 1,
        "example": json.dumps(short),
    }
