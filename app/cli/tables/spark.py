"""What a Spark cluster needs and has, in every format. In: a package, or rows of executors. Out: lines or JSON on stdout."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from throttlescope.app.presentation.output import write_result

if TYPE_CHECKING:
    from throttlescope.app.cli.settings import CommandOptions


def write_package(made: Any, options: CommandOptions) -> None:
    """Write where an archive is and how large, in the requested format."""
    line = f"{made.path}: {made.size_bytes / 1e6:.0f} MB, unpacked {made.unpacked_bytes / 1e6:.0f} MB, Python {made.python}"
    write_result(options.format, table=lambda: print(line), document=lambda: asdict(made))


def write_executors(found: dict[str, Any], options: CommandOptions) -> None:
    """Write a line per executor in the requested format."""
    write_result(options.format, table=lambda: _print(found), document=lambda: found)


def _print(found: dict[str, Any]) -> None:
    print(f"{found['tasks_at_once']} tasks at once, started in {found['started_in_s']} s")
    for row in found["executors"]:
        print(
            f"{row['host']}, process {row['pid']}: Python {row['python']}, "
            f"throttlescope {row['throttlescope']} in {row['found_in']}"
        )
