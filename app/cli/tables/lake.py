"""A lake and its upkeep, for eyes. In: facts, versions, faults, what went. Out: tables on stdout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from throttlescope.app.presentation.output import print_table, write_result
from throttlescope.models.messages.units import count, minute_text

if TYPE_CHECKING:
    from throttlescope.app.cli.settings import CommandOptions
    from throttlescope.app.services.lake_upkeep import Vacuumed
    from throttlescope.ingest.lake.upkeep.check import Fault
    from throttlescope.ingest.lake.upkeep.compact import Compacted
    from throttlescope.ingest.lake.upkeep.expire import Expired
    from throttlescope.ingest.lake.upkeep.history import TableChange
    from throttlescope.ingest.lake.upkeep.show import TableFacts
    from throttlescope.ingest.lake.upkeep.vacuum import Unnamed

_UTC = "Times are UTC."


def print_show(root: str, facts: Sequence[TableFacts]) -> None:
    """One line a table."""
    notes = [_UTC]
    for one in facts:
        if one.bytes_per_sample is not None:
            of = "" if one.counted_files == one.files else f", counted in {one.counted_files} files"
            notes.insert(0, f"samples: {count(one.samples)} at {one.bytes_per_sample:.2f} bytes each{of}.")
    print_table(
        [
            ("table", "left"), ("rows", "right"), ("files", "right"), ("size", "right"), ("version", "right"),
            ("readable since", "right"), ("from", "left"), ("to", "left"), ("format", "right"),
        ],
        [
            [
                one.table, count(one.rows), count(one.files), size_text(one.size_bytes), count(one.version),
                count(one.oldest_version), minute_text(one.start_ms), minute_text(one.end_ms),
                str(one.format_version),
            ]
            for one in facts
        ],
        title=f"{root}: {len(facts)} tables, {size_text(sum(one.size_bytes for one in facts))}",
        notes=notes,
    )  # fmt: skip


def print_history(table: str, changes: Sequence[TableChange]) -> None:
    """One line a version."""
    print_table(
        [
            ("version", "right"), ("committed", "left"), ("run", "left"), ("what", "left"), ("files", "right"),
            ("rows came", "right"), ("size", "right"), ("clusters", "left"), ("from", "left"), ("to", "left"),
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
        title=f"{table}: the newest {len(changes)} versions",
        notes=[_UTC],
    )  # fmt: skip


def print_faults(root: str, faults: Sequence[Fault], *, quick: bool = False) -> None:
    """What is wrong, or that nothing is."""
    if not faults:
        more = "" if quick else ", as it was written, and as its table's contract and log say"
        print(f"{root}: every file that a log names is there{more}.")
        return
    print_table(
        [("table", "left"), ("file", "left"), ("what", "left")],
        [[one.table, one.path or "-", one.what] for one in faults],
        title=f"{root}: {len(faults)} fault{'' if len(faults) == 1 else 's'}",
        notes=[
            "throttlescope lake repair reads again what a source still has; or bring the folder back from where it was copied."
        ],
        heads=2,
    )


def print_compacted(done: Sequence[Compacted], *, dry_run: bool) -> None:
    """One line a table that had small files."""
    some = [one for one in done if one.files_before or one.places_left]
    if not some:
        print("There is nothing to put together.")
        return
    if dry_run:
        columns = [
            ("table", "left"),
            ("files to put together", "right"),
            ("rows", "right"),
            ("size", "right"),
        ]
        rows = [
            [one.table, count(one.files_before), count(one.rows), size_text(one.bytes_before)] for one in some
        ]
    else:
        columns = [
            ("table", "left"), ("files before", "right"), ("after", "right"), ("rows", "right"),
            ("size before", "right"), ("after", "right"), ("hours left to others", "right"),
        ]  # fmt: skip
        rows = [
            [
                one.table, count(one.files_before), count(one.files_after), count(one.rows),
                size_text(one.bytes_before), size_text(one.bytes_after), count(one.places_left),
            ]
            for one in some
        ]  # fmt: skip
    print_table(columns, rows, title="Would be put together" if dry_run else "Put together")


def print_expired(gone: Sequence[Expired], *, done: bool) -> None:
    """One line a table that lost something."""
    if not gone:
        print("Nothing is that old.")
        return
    print_table(
        [("table", "left"), ("rows", "right"), ("files", "right"), ("size", "right"), ("from", "left"), ("to", "left")],
        [
            [
                one.table, count(one.rows), count(one.files) if one.files else "-",
                size_text(one.size_bytes) if one.files else "-", minute_text(one.start_ms), minute_text(one.end_ms),
            ]
            for one in gone
        ],
        title="Removed" if done else "Would be removed",
        notes=[_UTC, "The files go with throttlescope lake vacuum." if done else "Nothing was changed; add --yes to do it."],
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
            [("table", "left"), ("why", "left"), ("files", "right"), ("size", "right")],
            [
                [row["table"] or "-", row["why"], count(row["files"]), size_text(row["size_bytes"])]
                for row in rows
            ],
            title="Files that nothing names" if deleted else "Would be deleted",
        )
    else:
        print("There is no file that nothing names.")
    if deleted is None:
        print("Nothing was changed; add --yes to do it.")
    else:
        print(
            f"Deleted {count(deleted[0])} files, {size_text(deleted[1])}; {count(commits)} commits left the logs."
        )


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
