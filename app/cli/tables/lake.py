"""A lake and its upkeep. In: facts, versions, faults, what went. Out: tables on stdout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from throttlescope.app.presentation.output import print_table, write_result
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.units import count, counted, minute_text

if TYPE_CHECKING:
    from throttlescope.app.cli.settings import CommandOptions
    from throttlescope.app.services.lake_upkeep import Vacuumed
    from throttlescope.ingest.lake.upkeep.check import Fault
    from throttlescope.ingest.lake.upkeep.compact import Compacted
    from throttlescope.ingest.lake.upkeep.expire import Expired
    from throttlescope.ingest.lake.upkeep.history import TableChange
    from throttlescope.ingest.lake.upkeep.show import TableFacts
    from throttlescope.ingest.lake.upkeep.vacuum import Unnamed


def print_show(root: str, facts: Sequence[TableFacts]) -> None:
    """One line a table."""
    notes = [sentence("tables.utc")]
    for one in facts:
        if one.bytes_per_sample is not None:
            notes.insert(0, _samples_note(one))
    print_table(
        [
            (sentence("label.table_heading"), "left"), (sentence("label.rows_heading"), "right"), (sentence("label.files"), "right"), (sentence("label.size"), "right"), (sentence("label.version_heading"), "right"),
            (sentence("label.readable_since"), "right"), (sentence("label.from_heading"), "left"), (sentence("label.to"), "left"), (sentence("label.format"), "right"),
        ],
        [
            [
                one.table, count(one.rows), count(one.files), size_text(one.size_bytes), count(one.version),
                count(one.oldest_version), minute_text(one.start_ms), minute_text(one.end_ms),
                str(one.format_version),
            ]
            for one in facts
        ],
        title=sentence(
            "tables.lake.title", lake=root, tables=len(facts), size=size_text(sum(one.size_bytes for one in facts))
        ),
        notes=notes,
    )  # fmt: skip


def _samples_note(one: TableFacts) -> str:
    samples, size = count(one.samples), one.bytes_per_sample
    if one.counted_files == one.files:
        return sentence("tables.lake.samples", samples=samples, bytes=size)
    return sentence("tables.lake.samples_counted", samples=samples, bytes=size, files=one.counted_files)


def print_history(table: str, changes: Sequence[TableChange]) -> None:
    """One line a version."""
    print_table(
        [
            (sentence("label.version_heading"), "right"), (sentence("label.committed"), "left"), (sentence("label.run_heading"), "left"), (sentence("label.what_heading"), "left"), (sentence("label.files"), "right"),
            (sentence("label.rows_came"), "right"), (sentence("label.size"), "right"), (sentence("label.clusters"), "left"), (sentence("label.from_heading"), "left"), (sentence("label.to"), "left"),
        ],
        [
            [
                str(one.version), minute_text(one.time_ms), one.run_id or "-", one.what,
                f"+{one.files_added} -{one.files_removed}", count(one.rows_added),
                f"+{size_text(one.bytes_added)} -{size_text(one.bytes_removed)}", ", ".join(one.clusters) or "-",
                minute_text(one.start_ms), minute_text(one.end_ms),
            ]
            for one in changes
        ],
        title=sentence("tables.lake.history", table=table, versions=len(changes)),
        notes=[sentence("tables.utc")],
    )  # fmt: skip


def print_faults(root: str, faults: Sequence[Fault], *, quick: bool = False) -> None:
    """What is wrong, or that nothing is."""
    if not faults:
        if quick:
            print(sentence("tables.lake.no_faults_quick", lake=root))
        else:
            print(sentence("tables.lake.no_faults", lake=root))
        return
    print_table(
        [
            (sentence("label.table_heading"), "left"),
            (sentence("label.file"), "left"),
            (sentence("label.what_heading"), "left"),
        ],
        [[one.table, one.path or "-", one.what] for one in faults],
        title=f"{root}: {counted(len(faults), 'fault')}",
        # A table of another format is not damaged; its row says what to do.
        notes=[sentence("tables.lake.faults.note")] if any(one.kind != "format" for one in faults) else [],
        heads=2,
    )


def print_compacted(done: Sequence[Compacted], *, dry_run: bool) -> None:
    """One line a table that had small files."""
    some = [one for one in done if one.files_before or one.places_left]
    if not some:
        print(sentence("tables.lake.nothing_to_compact"))
        return
    if dry_run:
        columns = [
            (sentence("label.table_heading"), "left"),
            (sentence("tables.lake.compactable"), "right"),
            (sentence("label.rows_heading"), "right"),
            (sentence("label.size"), "right"),
        ]
        rows = [
            [one.table, count(one.files_before), count(one.rows), size_text(one.bytes_before)] for one in some
        ]
    else:
        columns = [
            (sentence("label.table_heading"), "left"), (sentence("label.files_before"), "right"), (sentence("label.after"), "right"), (sentence("label.rows_heading"), "right"),
            (sentence("label.size_before"), "right"), (sentence("label.after"), "right"), (sentence("tables.lake.hours_left"), "right"),
        ]  # fmt: skip
        rows = [
            [
                one.table, count(one.files_before), count(one.files_after), count(one.rows),
                size_text(one.bytes_before), size_text(one.bytes_after), count(one.places_left),
            ]
            for one in some
        ]  # fmt: skip
    print_table(
        columns, rows, title=sentence("tables.lake.would_compact") if dry_run else sentence("label.merged")
    )


def print_expired(gone: Sequence[Expired], *, done: bool) -> None:
    """One line a table that lost something."""
    if not gone:
        print(sentence("tables.lake.nothing_old"))
        return
    print_table(
        [(sentence("label.table_heading"), "left"), (sentence("label.rows_heading"), "right"), (sentence("label.files"), "right"), (sentence("label.size"), "right"), (sentence("label.from_heading"), "left"), (sentence("label.to"), "left")],
        [
            [
                one.table, count(one.rows), count(one.files) if one.files else "-",
                size_text(one.size_bytes) if one.files else "-", minute_text(one.start_ms), minute_text(one.end_ms),
            ]
            for one in gone
        ],
        title=sentence("label.removed") if done else sentence("label.would_be_removed"),
        notes=[
            sentence("tables.utc"),
            sentence("tables.lake.expired.note") if done else sentence("tables.lake.nothing_changed"),
        ],
    )  # fmt: skip


def vacuumed_rows(found: Sequence[Unnamed]) -> list[dict[str, Any]]:
    """Counts by table and reason."""
    sums: dict[tuple[str | None, str], dict[str, Any]] = {}
    for one in found:
        row = sums.setdefault(
            (one.table, one.why), {"table": one.table, "why": one.why, "files": 0, "size_bytes": 0}
        )
        row["files"] += 1
        row["size_bytes"] += one.file.size_bytes
    return list(sums.values())


def print_vacuumed(found: Sequence[Unnamed], deleted: tuple[int, int] | None, commits: int) -> None:
    """One line a table and reason."""
    rows = vacuumed_rows(found)
    if rows:
        print_table(
            [
                (sentence("label.table_heading"), "left"),
                (sentence("label.why_heading"), "left"),
                (sentence("label.files"), "right"),
                (sentence("label.size"), "right"),
            ],
            [
                [row["table"] or "-", row["why"], count(row["files"]), size_text(row["size_bytes"])]
                for row in rows
            ],
            title=sentence("tables.lake.vacuumed") if deleted else sentence("label.would_be_deleted"),
        )
    else:
        print(sentence("tables.lake.nothing_to_vacuum"))
    if deleted is None:
        print(sentence("tables.lake.nothing_changed"))
    else:
        files, size = count(deleted[0]), size_text(deleted[1])
        print(sentence("tables.lake.deleted", files=files, size=size, commits=count(commits)))


def size_text(size_bytes: float) -> str:
    """Bytes in the largest unit that leaves a whole part."""
    for unit in ("B", "kB", "MB", "GB"):
        if size_bytes < 1000:
            return f"{size_bytes:.0f} B" if unit == "B" else f"{size_bytes:.1f} {unit}"
        size_bytes /= 1000
    return f"{size_bytes:,.1f} TB"


def write_show(root: str, facts: Sequence[TableFacts], options: CommandOptions) -> None:
    """Write facts of tables in the requested format."""
    write_result(
        options.format,
        table=lambda: print_show(root, facts),
        document=lambda: {"lake": root, "tables": [one.to_row() for one in facts]},
    )


def write_history(table: str, changes: Sequence[TableChange], options: CommandOptions) -> None:
    """Write versions of a table in the requested format."""
    write_result(
        options.format,
        table=lambda: print_history(table, changes),
        document=lambda: {"table": table, "versions": [one.to_row() for one in changes]},
    )


def write_faults(root: str, faults: Sequence[Fault], options: CommandOptions) -> None:
    """Write what is wrong in the requested format."""
    write_result(
        options.format,
        table=lambda: print_faults(root, faults, quick=options.given["quick"]),
        document=lambda: {"lake": root, "faults": [one.to_row() for one in faults]},
    )


def write_compacted(root: str, done: Sequence[Compacted], options: CommandOptions) -> None:
    """Write which files were merged in the requested format."""
    dry_run = options.given["dry_run"]
    write_result(
        options.format,
        table=lambda: print_compacted(done, dry_run=dry_run),
        document=lambda: {"lake": root, "dry_run": dry_run, "tables": [vars(one) for one in done]},
    )


def write_expired(root: str, gone: Sequence[Expired], options: CommandOptions) -> None:
    """Write which hours were removed in the requested format."""
    done = options.given["yes"]
    write_result(
        options.format,
        table=lambda: print_expired(gone, done=done),
        document=lambda: {"lake": root, "done": done, "tables": [vars(one) for one in gone]},
    )


def write_vacuumed(root: str, one: Vacuumed, options: CommandOptions) -> None:
    """Write which files were deleted in the requested format."""
    write_result(
        options.format,
        table=lambda: print_vacuumed(one.found, one.deleted, one.commits),
        document=lambda: {
            "lake": root,
            "done": options.given["yes"],
            "kept_ms": one.kept_ms,
            "tables": vacuumed_rows(one.found),
            "deleted_files": one.deleted and one.deleted[0],
            "deleted_bytes": one.deleted and one.deleted[1],
            "log_commits_removed": one.commits,
        },
    )
