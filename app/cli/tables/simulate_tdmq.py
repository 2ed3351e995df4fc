"""A run of TDMQ's throttles as text and for programs. In: its table of windows. Out: a table or JSON on stdout."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from throttlescope.app.presentation.output import print_table, write_json
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.units import count

if TYPE_CHECKING:
    import pyarrow as pa

    from throttlescope.app.services.simulate.scenario import TdmqScenario

#: More windows are left out of the table; CSV and JSON have them all.
_SHOWN = 200
_HAPPENINGS = ("requests", "accepted", "processed", "throttle_count", "waiting")


def print_tdmq(scenario: TdmqScenario, windows: pa.Table, *, seed: int) -> None:
    """Print the windows in which something happened."""
    place = "node" if scenario.throttle == "cluster" else "partition"
    rows = [row for row in windows.to_pylist() if any(row[name] for name in _HAPPENINGS)]
    notes = [sentence("tables.tdmq.note")]
    if len(rows) > _SHOWN:
        notes.append(sentence("tables.tdmq.later", windows=len(rows) - _SHOWN))
    if windows.num_rows > len(rows):
        notes.append(sentence("tables.tdmq.quiet", windows=windows.num_rows - len(rows)))
    print_table(
        [
            (sentence("label.second"), "right"), (place, "right"), (sentence("label.quota"), "left"), (sentence("label.sent_requests"), "right"),
            (sentence("label.accepted"), "right"), (sentence("label.processed"), "right"), (sentence("tables.tdmq.after_close"), "right"), (sentence("label.bytes"), "right"),
            (sentence("label.threshold_msg"), "right"), (sentence("label.threshold_b"), "right"), (sentence("label.throttle_count"), "right"),
            (sentence("label.wait_mean_ms"), "right"), (sentence("label.wait_longest_ms"), "right"), (sentence("label.waiting_at_end"), "right"),
        ],
        [_cells(row) for row in rows[:_SHOWN]],
        title=sentence(
            "tables.tdmq.title", scenario=scenario.name, throttle=scenario.throttle, seconds=scenario.duration_s, seed=seed
        ),
        notes=notes,
        heads=3,
    )  # fmt: skip


def write_tdmq_json(scenario: TdmqScenario, windows: pa.Table, *, seed: int) -> None:
    """Write the windows as one JSON document."""
    write_json(
        {
            "scenario": scenario.name,
            "about": scenario.about,
            "duration_s": scenario.duration_s,
            "throttle": scenario.throttle,
            "seed": seed,
            "windows": windows.to_pylist(),
        }
    )


def _cells(row: dict[str, Any]) -> list[str]:
    counts = (
        "requests", "accepted", "processed", "processed_after_close", "processed_bytes", "threshold_msg",
        "threshold_bytes", "throttle_count",
    )  # fmt: skip
    waits = ["-" if row[name] is None else f"{row[name]:,.1f}" for name in ("wait_ms_mean", "wait_ms_max")]
    return [
        str(row["window_start_us"] // 1_000_000),
        str(row["place"]),
        row["quota"],
        *(count(row[name]) for name in counts),
        *waits,
        count(row["waiting"]),
    ]
