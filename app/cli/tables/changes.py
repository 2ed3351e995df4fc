"""Changes of limits as text and for programs. In: `change_rows`. Out: a table, or flat rows for CSV."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from throttlescope.app.presentation.output import print_table, write_rows
from throttlescope.app.presentation.verdicts import subscription_text
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.units import count, counted, minute_text, number

if TYPE_CHECKING:
    from throttlescope.app.cli.settings import CommandOptions
    from throttlescope.models.episodes.before_after import Compared, Side

_SIDES = ("before", "after")


def flat(one: Compared) -> dict[str, Any]:
    """One change as a row of CSV: the two sides' figures under ``before_`` and ``after_``."""
    row = one.to_row()
    for side in _SIDES:
        row |= {f"{side}_{name}": value for name, value in row.pop(side).items()}
    return row


def flat_columns() -> list[str]:
    """Columns of :func:`flat`, also where there is no row."""
    from dataclasses import fields

    from throttlescope.models.diagnosis.window import SubscriptionKey
    from throttlescope.models.episodes.before_after import Side

    limit = [
        f"{when}_{name}"
        for name in ("rate", "period_s", "counts", "relative_to_publish", "set_by")
        for when in ("old", "new")
    ]
    sides = [f"{side}_{field.name}" for side in _SIDES for field in fields(Side)]
    own = ["level", "unit", "kind", "old_until_ms", "new_from_ms", "text"]
    return [*SubscriptionKey._fields, *own, *limit, "compared", *sides]


def print_changes(rows: Sequence[Compared]) -> None:
    """Print a line per subscription partition and limiter that changed, the newest first."""
    rows = sorted(rows, key=lambda one: (-one.change.new_from_ms, one.change.key, one.change.level))
    clusters = len({one.change.key.cluster for one in rows}) > 1
    columns = [
        *(((sentence("label.cluster_heading"), "left"),) if clusters else ()),
        (sentence("label.subscription_heading"), "left"),
        (sentence("label.seen_utc"), "left"),
        (sentence("label.limiter_heading"), "left"),
        (sentence("label.was"), "left"),
        (sentence("label.is"), "left"),
        (sentence("label.set_by_heading"), "left"),
        (sentence("label.use_per_limit_heading"), "right"),
        (sentence("label.events_per_min_heading"), "right"),
        (sentence("label.backlog_entries_heading"), "right"),
        (sentence("label.backlog_per_s"), "right"),
        (sentence("label.in_per_s"), "right"),
        (sentence("label.cause_heading"), "left"),
    ]
    cells = [
        [
            *((one.change.key.cluster,) if clusters else ()),
            subscription_text(one.change.key._asdict()),
            minute_text(one.change.new_from_ms),
            f"{one.change.level}.{one.change.unit} {one.change.kind}",
            one.change.old.text(one.change.unit),
            one.change.new.text(one.change.unit),
            one.change.new.set_by,
            _both(one, "rho", number),
            _both(one, "events_per_min", count),
            _both(one, "backlog_end_entries", count),
            _both(one, "backlog_slope_entries_per_s", number),
            _both(one, "in_msg_per_s", number),
            f"{_cause(one.before)} -> {_cause(one.after)}",
        ]
        for one in rows
    ]
    print_table(
        columns,
        cells,
        title=sentence("tables.changes.title", changes=counted(len(rows), "change")),
        heads=2 if clusters else 1,
        notes=_notes(rows),
    )


def _notes(rows: Sequence[Compared]) -> list[str]:
    if not rows:
        return [sentence("tables.changes.none")]
    assumed = any(side.assumed for one in rows for side in (one.before, one.after))
    what = sentence("tables.changes.note_assumed") if assumed else sentence("tables.changes.note")
    return [what, sentence("tables.utc")]


def _both(one: Compared, name: str, show) -> str:
    texts = []
    for side in (one.before, one.after):
        value = getattr(side, name)
        texts.append("-" if value is None else f"{'~' if side.assumed else ''}{show(value)}")
    return " -> ".join(texts)


def _cause(side: Side) -> str:
    return (side.cause or "-") + (f" ({side.limiter})" if side.limiter else "")


def write_changes(rows: Sequence[Compared], options: CommandOptions) -> None:
    """Write changes in the requested format."""
    write_rows(
        options.format,
        rows,
        table=lambda: print_changes(rows),
        export=lambda one: one.to_row(),
        columns=flat_columns,
        flat=flat,
    )
