"""What a Spark cluster needs and has, in every format. In: a package, or rows of executors. Out: lines or JSON on stdout."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from throttlescope.app.presentation.output import write_result
from throttlescope.models.messages.catalogue import sentence

if TYPE_CHECKING:
    from throttlescope.app.cli.settings import CommandOptions


def write_package(made: Any, options: CommandOptions) -> None:
    """Write where an archive is and how large, in the requested format."""
    line = sentence(
        "tables.spark.package",
        path=made.path,
        mb=made.size_bytes / 1e6,
        unpacked_mb=made.unpacked_bytes / 1e6,
        python=made.python,
    )
    write_result(options.format, table=lambda: print(line), document=lambda: asdict(made))


def write_executors(found: dict[str, Any], options: CommandOptions) -> None:
    """Write a line per executor in the requested format."""
    write_result(options.format, table=lambda: _print(found), document=lambda: found)


def _print(found: dict[str, Any]) -> None:
    print(sentence("tables.spark.executors", tasks=found["tasks_at_once"], seconds=found["started_in_s"]))
    for row in found["executors"]:
        print(
            sentence(
                "tables.spark.executor",
                host=row["host"],
                process=row["pid"],
                python=row["python"],
                version=row["throttlescope"],
                folder=row["found_in"],
            )
        )
