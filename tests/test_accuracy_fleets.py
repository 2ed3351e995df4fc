"""Figures of fleets: windows near operations, neighbours on a shared limit, the table of targets."""

from __future__ import annotations

from types import SimpleNamespace

import pyarrow as pa

from tests.accuracy import fleets
from tests.accuracy.fleets import NearOperations, fleet_figures, fleet_table
from throttlescope.ingest.contracts import TABLES
from throttlescope.models.diagnosis.window import SubscriptionKey
from throttlescope.models.evaluation.judged import JudgedWindow

MINUTE_MS = 60_000
TOPIC = "persistent://payments/checkout/orders"
KEY = SubscriptionKey("fleet-0", "payments/checkout", TOPIC, 1, "billing")


def _row(
    start: int, end: int, cause: str = "healthy", side: str = "neither", limiter: str | None = None
) -> dict:
    return {
        "cluster": KEY.cluster, "namespace": KEY.namespace, "topic": TOPIC, "partition": 1, "subscription": "billing",
        "start_ms": start * MINUTE_MS, "end_ms": end * MINUTE_MS, "side": side, "cause": cause, "limiter": limiter,
        "family": "healthy", "recording": "fleet-0", "kept_aside": False,
    }  # fmt: skip


def _recorded(
    rows: list[dict], voided: list[tuple[int, int, str]], operations: list[dict]
) -> SimpleNamespace:
    contract = TABLES["truth"]
    schema = pa.schema([(column.name, column.type) for column in contract.columns])
    gaps = [
        {
            "namespace": KEY.namespace, "topic": TOPIC, "partition": 1, "subscription": "billing",
            "start_ms": start * MINUTE_MS, "end_ms": end * MINUTE_MS, "reason": reason,
        }
        for start, end, reason in voided
    ]  # fmt: skip
    about = {"voided": gaps, "operations": operations, "shared": []}
    return SimpleNamespace(name="fleet-0", truth=pa.Table.from_pylist(rows, schema=schema), about=about)


def _operation(kind: str, at: int, topics: list[str] | None) -> dict:
    return {"kind": kind, "at_ms": at * MINUTE_MS, "done_ms": (at + 1) * MINUTE_MS, "topics": topics}


def _judged(start: int, side: str) -> JudgedWindow:
    cause = {"neither": "healthy", "throttle": "throttled", "unknown": "unknown"}.get(side, "slow_consumers")
    return JudgedWindow(
        KEY, start * MINUTE_MS, (start + 5) * MINUTE_MS, side, cause, None, 0.9, "A", (), "3", {}
    )


def _near_operations(judged: list[JudgedWindow], recorded: SimpleNamespace) -> NearOperations:
    found = NearOperations()
    fleets._near_operations(found, judged, recorded)
    return found


def test_window_over_kill_is_judged_by_side():
    rows = [_row(0, 10), _row(12, 40)]
    kill = _operation("kill", 10, ["payments/checkout/orders-partition-1"])
    recorded = _recorded(rows, [(10, 12, "operation: its broker was away")], [kill])
    found = _near_operations(
        [_judged(8, "consumer_capacity"), _judged(9, "unknown"), _judged(16, "neither")], recorded
    )
    assert (found.windows, found.unknown, len(found.wrong)) == (3, 1, 1)
    assert found.wrong[0]["near"] == ["kill"]


def test_gap_without_operation_stays_open():
    recorded = _recorded(
        [_row(0, 10), _row(12, 40)],
        [(10, 12, "a backlog that nothing explains")],
        [_operation("kill", 10, None)],
    )
    assert _near_operations([_judged(8, "throttle")], recorded).windows == 0


def test_unrelated_operations_do_not_count():
    rows = [_row(0, 60)]
    elsewhere = _operation("move", 10, ["payments/checkout/carts"])
    assert _near_operations([_judged(9, "throttle")], _recorded(rows, [], [elsewhere])).windows == 0
    everywhere = _operation("miss_scrapes", 10, None)
    found = _near_operations(
        [_judged(20, "throttle"), _judged(21, "throttle")], _recorded(rows, [], [everywhere])
    )
    assert found.windows == 1
    touched = _operation("touch_policy", 10, None)
    assert _near_operations([_judged(9, "throttle")], _recorded(rows, [], [touched])).windows == 0


def test_without_recordings_nothing_is_met():
    table = fleet_table(fleet_figures([]))
    assert "not recorded" in table
    assert " yes " not in table


def _use(monkeypatch, shares: dict[str, float], true: dict[str, float]) -> list[bool]:
    uses = [
        SimpleNamespace(key=SubscriptionKey("fleet-0", KEY.namespace, TOPIC, 1, name), share=share)
        for name, share in sorted(shares.items(), key=lambda one: -one[1])
    ]
    monkeypatch.setattr(fleets, "quota_neighbours", lambda *_: uses)
    said = JudgedWindow(KEY, 0, 5 * MINUTE_MS, "throttle", "throttled", "topic.msg", 0.9, "A", (), "3", {})
    window = SimpleNamespace(
        true_limiter="topic.msg", judged=said, state=(KEY.cluster, KEY.namespace, TOPIC, 1, "billing", 0)
    )
    group = {
        "limiter": "topic.msg", "start_ms": 0, "end_ms": 10 * MINUTE_MS,
        "use": [{"topic": TOPIC, "partition": 1, "subscription": name, "msg_per_s": rate} for name, rate in true.items()],
    }  # fmt: skip
    return fleets._neighbours(pa.table({}), [window], [group])


def test_neighbours_are_right_where_they_use_most(monkeypatch):
    true = {"billing": 10, "audit": 15, "replayer": 75}
    assert _use(monkeypatch, {"replayer": 0.8, "audit": 0.1, "billing": 0.1}, true) == [True]
    assert _use(monkeypatch, {"replayer": 0.2, "audit": 0.6, "billing": 0.2}, true) == [False]
    assert _use(monkeypatch, {}, true) == [False]
