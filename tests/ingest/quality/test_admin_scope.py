"""The admin API against what is scraped: brokers that are missing, or another cluster's."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.transforms.lakes import lake_of
from throttlescope.ingest.quality.admin_scope import admin_scope_findings, other_cluster
from throttlescope.transforms.promql.source import Series

END_MS = 1_700_000_000_000 - 1_700_000_000_000 % 3_600_000


def broker(instance: str, until_ms: int = END_MS, cluster: str = "prod") -> Series:
    labels = {"__name__": "pulsar_version_info", "cluster": cluster, "instance": instance, "version": "4.2.4"}
    times = np.array([until_ms - 60_000, until_ms - 15_000], np.int64)
    return Series(labels, times, np.ones(2), np.empty(0, np.int64))


def answer(scope: str, body, key: str = "b1:8080") -> dict:
    return {"scope": scope, "key": key, "body": json.dumps(body)}


def found(tmp_path: Path, scraped: list[Series], *answers: dict, named_by_user: bool = False) -> list[tuple]:
    rows = admin_scope_findings(
        lake_of(tmp_path, scraped), "prod", answers, END_MS, named_by_user=named_by_user
    )
    assert all(row["severity"] == "warning" and row["success"] is False for row in rows)
    return [(row["check"], row["observed"]) for row in rows]


def test_unscraped_broker_is_named(tmp_path: Path) -> None:
    scraped = [broker("10.0.0.1:8080"), broker("10.0.0.2:8080"), broker("x:1", cluster="other")]
    listed = answer("brokers", ["b1:8080", "b2:8080", "b3:8080"])
    assert found(tmp_path, scraped, listed) == [("brokers_scraped", "2 of 3 brokers are scraped")]


def test_surplus_brokers_may_be_two_clusters(tmp_path: Path) -> None:
    scraped = [broker("b1:8080"), broker("b2:8080")]
    assert found(tmp_path, scraped, answer("brokers", ["b1:8080"])) == [
        ("admin_api_cluster", "2 brokers are scraped, the admin API lists 1")
    ]


def test_former_broker_name_is_no_broker(tmp_path: Path) -> None:
    scraped = [broker("pod-7:8080", END_MS - 3_000_000), broker("pod-8:8080")]
    assert found(tmp_path, scraped, answer("brokers", ["b1:8080"])) == []


@pytest.mark.parametrize(("named_by_user", "count"), [(False, 1), (True, 0)])
def test_another_cluster_name_is_said_unless_given(tmp_path: Path, named_by_user: bool, count: int) -> None:
    runtime = answer("broker_configuration_runtime", {"clusterName": "staging"})
    assert len(found(tmp_path, [broker("b1:8080")], runtime, named_by_user=named_by_user)) == count
    assert found(tmp_path / "same", [], answer("broker_configuration_runtime", {"clusterName": "prod"})) == []


def test_without_a_list_nothing_is_compared(tmp_path: Path) -> None:
    assert found(tmp_path, [broker("b1:8080"), broker("b2:8080")]) == []


def test_listed_and_scraped_broker_proves_cluster(tmp_path: Path) -> None:
    answers = [
        answer("broker_configuration_runtime", {"clusterName": "staging"}),
        answer("brokers", ["b1:8080"]),
    ]
    assert other_cluster(answers, "prod", ["b1:8080"]) is None
    assert other_cluster(answers, "prod", ["b7:8080"]) == "staging"
    assert found(tmp_path, [broker("b1:8080")], *answers) == []
