"""Manifests: names that sort, rows that keep their contract, and no secret in either."""

import json

import pytest

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.pull.manifest import RunManifest, new_run_id, without_credentials, without_secrets

NOW = 1_795_161_600_123


def manifest(**changes):
    return RunManifest("run", "prometheus_remote_read http://h:9090", NOW, NOW + 1, started_ms=NOW, **changes)


def test_run_ids_sort_and_are_unique():
    names = [new_run_id(NOW + step) for step in (0, 1, 999, 1_000, 86_400_000)]
    assert names == sorted(names)
    assert names[0].startswith("20261120T080000.123Z-")
    assert len({new_run_id(NOW) for _ in range(200)}) == 200


def test_row_keeps_the_contract_and_the_counts():
    (row,) = manifest(samples=7, details={"repairs": {"unsorted": 2}}).row("done", NOW + 5_000).to_pylist()
    assert list(row) == [column.name for column in TABLES["ingest_runs"].columns]
    assert (row["samples"], row["status"], row["finished_ms"] - row["started_ms"]) == (7, "done", 5_000)
    assert json.loads(row["details"]) == {"repairs": {"unsorted": 2}}
    assert (row["cluster"], row["date"]) == (None, "2026-11-20")


def test_an_unknown_ending_is_refused():
    with pytest.raises(InputError, match="status is a closed list"):
        manifest().row("finished")


def test_no_secret_reaches_the_row():
    secret = "s3cr3t"  # noqa: S105
    run = manifest(
        details={
            "prometheus": {
                "url": f"https://me:{secret}@prom.example/x",
                "bearer_token": secret,
                "timeout_s": 5,
            },
            "pulsar": {
                "headers": {"X-Scope": secret},
                "PASSWORD": secret,
                "token_file": "/run/t",
                "tls": True,
            },
            "list": [{"api_key": secret}],
            "unset_token": None,
        }
    )
    run.source = f"prometheus_api http://me:{secret}@prom.example:9090/path?a=b"
    (row,) = run.row("failed").to_pylist()
    assert secret not in json.dumps(row)
    assert row["source"] == "prometheus_api http://prom.example:9090/path?a=b"
    details = json.loads(row["details"])
    assert details["prometheus"] == {
        "url": "https://prom.example/x",
        "bearer_token": "(hidden)",
        "timeout_s": 5,
    }
    assert details["pulsar"]["token_file"] == "/run/t"  # noqa: S105
    assert details["unset_token"] is None


@pytest.mark.parametrize(
    "text",
    ["recording /a/b@c", "a@b.example", "http://h:1/x@y", "persistent://t/n/x#s@e", "", "no address at all"],
)
def test_text_without_credentials_is_unchanged(text):
    assert without_credentials(text) == text


def test_headers_are_hidden_whole():
    assert without_secrets({"headers": {"Cookie": "x"}}) == {"headers": {"Cookie": "(hidden)"}}
