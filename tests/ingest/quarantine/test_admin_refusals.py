"""Unexpected answers of the admin API: refused by ingest validation, kept whole, and never read as nothing set."""

import json

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.errors import SourceError
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.pull import admin as module
from throttlescope.ingest.pull.admin import pull_admin
from throttlescope.ingest.quarantine.rows import kept_rows
from throttlescope.ingest.sources.pulsar_admin import AdminTopic, _Collection

TOPIC = "persistent://t/n/x"


class _Admin:
    """Answers every question with nothing, but for some."""

    urls, address, requests, bytes, waited_s = ["http://b:8080"], "http://b:8080", 0, 0, 0.0

    def __init__(self, **answers):
        self.answers = answers

    def get(self, path, base=None, **params):
        found = next((text for part, text in self.answers.items() if path.endswith(part) and not params), "")
        if path.endswith("/stats"):
            found = self.answers.get("stats", "")
        if isinstance(found, SourceError):
            raise found
        return found

    def collect(self, cluster, topics, publishers=None, progress=None):
        return _Collection(self, cluster, list(topics), progress).run()


def test_refused_answer_is_kept_as_unknown(tmp_path, monkeypatch):
    """Unknown is not unset."""
    admin = _Admin(
        brokers='["b:8080"]', runtime="{}", version="4.1.0", dispatchRate='["not", "a", "rate"]',
        stats='{"subscriptions": {"s": {"consumers": []}}}',
    )  # fmt: skip
    monkeypatch.setattr(module, "topics_with_backlog", lambda *_: [AdminTopic(TOPIC, (-1,))])
    lake = Lake(tmp_path)
    snapshot = pull_admin(lake, admin, "c", 0, 1, "run-1")
    assert "topic_dispatch_rate" not in {row["scope"] for row in snapshot.policies.to_pylist()}
    told = {failure.scope: failure.reason for failure in snapshot.failures}
    assert told["topic_dispatch_rate"] == "a list instead of an object"
    assert "without" in told["topic_stats"]
    rows = {row.table: row for row in kept_rows(lake)}
    assert {table: row.reason for table, row in rows.items()} == {
        "policies": "policy_unreadable", "topic_stats": "stats_unreadable",
    }  # fmt: skip
    assert rows["policies"].row["body"] == '["not", "a", "rate"]'
    assert json.loads(rows["topic_stats"].row["body"])["subscriptions"]
    # What is kept has all that its table wants.
    assert set(rows["policies"].row) | {"date"} == {column.name for column in TABLES["policies"].columns}


def test_what_brokers_answer_is_not_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "topics_with_backlog", lambda *_: [AdminTopic(TOPIC, (-1,))])
    admin = _Admin(
        brokers='["b:8080"]', runtime='{"clusterName": "c"}', version="4.1.0", subscriptions='["s"]'
    )
    snapshot = pull_admin(Lake(tmp_path), admin, "c", 0, 1, "run-1")
    assert snapshot.refused == []
    assert snapshot.policies.num_rows >= 15
