"""A simulation as text and for programs. In: its summary and its rows. Out: tables, JSON or CSV on stdout."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from throttlescope.app.cli.tables.simulate_tdmq import print_tdmq, write_tdmq_json
from throttlescope.app.presentation.output import print_table, write_csv, write_json, write_result
from throttlescope.app.services.simulate.summary import DRAINED_SHARE, describe
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.units import count, duration_text, percent, visible

if TYPE_CHECKING:
    import pyarrow as pa

    from throttlescope.app.cli.settings import CommandOptions
    from throttlescope.app.services.simulate.outcome import PulsarOutcome, TdmqOutcome
    from throttlescope.app.services.simulate.scenario import TdmqScenario
    from throttlescope.app.services.simulate.summary import LimitInForce, PartitionSummary, StateSummary
    from throttlescope.models.throttling import Simulation

#: More subscription partitions have no table of their own; JSON has them all.
_SHOWN = 12


def print_simulation(
    simulation: Simulation, found: Sequence[PartitionSummary], *, seed: int, every_s: int
) -> None:
    """Print a table per subscription partition, one row per state of the timeline."""
    scenario, broker = simulation.scenario, simulation.scenario.broker
    print(
        visible(
            sentence(
                "tables.simulation.title",
                scenario=scenario.name,
                seconds=scenario.duration_s,
                engine=broker.limiter_engine,
                version=broker.version,
                seed=seed,
            )
        )
    )
    shown = found
    if len(found) > _SHOWN:
        shown = sorted(found, key=lambda item: -item.peak_entries)[:_SHOWN]
    for item in shown:
        print()
        _print_partition(item)
    print()
    if len(found) > _SHOWN:
        print(sentence("tables.more_in_json", more=len(found) - _SHOWN))
    for state in scenario.timeline[1:]:
        steps = "; ".join(describe(step) for step in state.interventions) or sentence(
            "tables.simulation.no_step"
        )
        print(visible(f"{state.name}: {steps}"))
    for note in simulation.notes:
        print(visible(f"Note: {note}"))
    print(sentence("tables.simulation.note", share=percent(DRAINED_SHARE)))
    if scenario.duration_s % every_s:
        print(sentence("tables.simulation.rest", seconds=scenario.duration_s % every_s))


def limit_text(limit: LimitInForce) -> str:
    """As ``subscription 50 msg/s``, or ``topic 1,000 msg per 10 s + publish rate``."""
    unit = "msg" if limit.unit == "msg" else "B"
    period = "/s" if limit.period_s == 1 else f" per {limit.period_s:g} s"
    more = " + publish rate" if limit.relative_to_publish else ""
    return f"{limit.level} {limit.rate:,} {unit}{period}{more}"


def write_simulation_json(
    simulation: Simulation,
    found: Sequence[PartitionSummary],
    *,
    seed: int,
    every_s: int,
    with_rows: bool,
) -> None:
    """Write the summary as one JSON document, with the rows where they were requested."""
    scenario = simulation.scenario
    document: dict[str, Any] = {
        "scenario": scenario.name,
        "about": scenario.about,
        "duration_s": scenario.duration_s,
        "broker_version": scenario.broker.version,
        "engine": scenario.broker.limiter_engine,
        "seed": seed,
        "every_s": every_s,
        "subscription_partitions": [item.to_json() for item in found],
        "notes": simulation.notes,
    }
    if with_rows:
        document["seconds"] = simulation.seconds.to_pylist()
    write_json(document)


def write_rows_csv(table: pa.Table) -> None:
    """Write a table as CSV, a few rows at a time."""
    write_csv(table.column_names, _rows(table))


def _rows(table: pa.Table) -> Iterator[dict[str, Any]]:
    for batch in table.to_batches(max_chunksize=10_000):
        yield from batch.to_pylist()


def _print_partition(item: PartitionSummary) -> None:
    unit = "entries / messages" if item.batched else "entries"
    print_table(
        [
            (sentence("label.state"), "left"), (sentence("label.from_to_s"), "right"), (sentence("label.limits_heading"), "left"), (sentence("label.published_msg_per_s_short"), "right"),
            (sentence("label.dispatched_msg_per_s_heading"), "right"), (sentence("label.throttle_events"), "left"), (f"backlog at start ({unit})", "right"),
            (sentence("label.peak"), "right"), (sentence("label.at_end"), "right"), (sentence("label.drained_after"), "right"),
        ],
        [_cells(state, item.batched) for state in item.states],
        title=sentence(
            "tables.simulation.partition", subscription=item.name, type=item.type, msg_per_s=item.dispatched_msg_per_s
        ),
    )  # fmt: skip


def _cells(state: StateSummary, batched: bool) -> list[str]:
    events = (f"{name.replace('_', '.')} {number:,}" for name, number in state.events.items() if number)
    drained = {None: "-", False: "no", True: duration_text(round(1000 * (state.drained_after_s or 0)))}
    return [
        state.state,
        f"{state.start_s:g}-{state.end_s:g}",
        "; ".join(limit_text(limit) for limit in state.limits) or "none",
        _rate(state.published_msg_per_s),
        _rate(state.dispatched_msg_per_s),
        ", ".join(events) or "none",
        *(_waiting(state, which, batched) for which in ("start", "peak", "end")),
        drained[state.drained],
    ]


def _waiting(state: StateSummary, which: str, batched: bool) -> str:
    if state.backlog_entries is None:
        return "-"
    entries, messages = (
        count(getattr(backlog, which)) for backlog in (state.backlog_entries, state.backlog_messages)
    )
    return f"{entries} / {messages}" if batched else entries


def _rate(value: float | None) -> str:
    return "-" if value is None else f"{value:,.1f}"


def write_outcome(outcome: PulsarOutcome | TdmqOutcome, options: CommandOptions) -> None:
    """Draw the plot where one was requested, then write a simulation in the requested format."""
    from throttlescope.app.services.simulate.outcome import TdmqOutcome

    seed = outcome.choices.seed
    if isinstance(outcome, TdmqOutcome):
        return write_tdmq(outcome.scenario, outcome.windows, seed=seed, format=options.format)
    simulation, found, choices = outcome.simulation, outcome.found, outcome.choices
    if choices.plot is not None:
        from throttlescope.app.presentation.figures.image import write_plot

        with outcome.progress.step(sentence("label.drawing")):
            write_plot(choices.plot, simulation, found, seed=seed)
            outcome.progress.note(str(choices.plot))
    every_s = choices.every_s or 1
    write_result(
        options.format,
        table=lambda: print_simulation(simulation, found, seed=seed, every_s=every_s),
        json=lambda: write_simulation_json(
            simulation, found, seed=seed, every_s=every_s, with_rows=choices.with_rows
        ),
        csv=lambda: write_rows_csv(simulation.seconds),
    )


def write_tdmq(scenario: TdmqScenario, windows: pa.Table, *, seed: int, format: str) -> None:
    """Write simulated throttles of TDMQ in the requested format."""
    write_result(
        format,
        table=lambda: print_tdmq(scenario, windows, seed=seed),
        json=lambda: write_tdmq_json(scenario, windows, seed=seed),
        csv=lambda: write_rows_csv(windows),
    )
