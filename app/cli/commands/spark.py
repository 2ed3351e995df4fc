"""``throttlescope spark``: what a Spark cluster needs of us, and whether it works."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from throttlescope.app.cli.options import (
    Config,
    Debug,
    Format,
    FormatOption,
    LakeFolder,
    Master,
    Quiet,
)

ForDriver = Annotated[
    bool,
    typer.Option("--for-driver", help="With what a driver needs as well, for --deploy-mode cluster."),
]


def register(app: typer.Typer) -> None:
    spark = typer.Typer(help="What a Spark cluster needs, and whether it works.", no_args_is_help=True)
    spark.command(short_help="Write the archive that brings the package to executors.")(package)
    spark.command(short_help="Print the file that spark-submit runs.")(program)
    spark.command(short_help="Ask the executors of a cluster what they are.")(check)
    app.add_typer(spark, name="spark")


def package(
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE", help="Where to write it; a name that ends in .tar.gz.")
    ] = Path("throttlescope-executors.tar.gz"),
    for_driver: ForDriver = False,
    format: FormatOption = Format.table,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Write an archive with the package and all that its tasks need, in the versions that are installed here.

    Name it as package in [spark] of the configuration, or give it to spark-submit as --archives FILE#environment with
    spark.pyspark.python=./environment/bin/python. Executors need the same release of Python, the same kind of machine, and
    nothing else.
    """
    from dataclasses import asdict

    from throttlescope.app.presentation.output import write_json
    from throttlescope.app.presentation.progress import TerminalProgress
    from throttlescope.ingest.spark.package import build_package

    progress = TerminalProgress(1, quiet=quiet)
    with progress.step("Packing"):
        made = build_package(out, for_driver=for_driver, note=progress.note)
        progress.note(f"{len(made.versions)} packages")
    if format is Format.json:
        write_json(asdict(made))
    else:
        print(
            f"{made.path}: {made.size_bytes / 1e6:.0f} MB, unpacked {made.unpacked_bytes / 1e6:.0f} MB, Python {made.python}"
        )


def program() -> None:
    """Print the path of the file that spark-submit runs: spark-submit --master URL "$(throttlescope spark program)" run ..."""
    from throttlescope.app.cli import submit

    print(Path(submit.__file__).with_name("throttlescope_submit.py"))


def check(
    lake: LakeFolder = None,
    master: Master = None,
    format: FormatOption = Format.table,
    config: Config = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Start Spark where --master or the configuration says, and ask its executors: Python, package, and the lake's folder."""
    import time

    from throttlescope.app.cli.settings import settings_with
    from throttlescope.app.pipeline.spark_session import start_spark
    from throttlescope.app.presentation.output import write_json
    from throttlescope.app.presentation.progress import TerminalProgress
    from throttlescope.ingest.spark.executors import ask_executors, parallelism

    settings = settings_with(config, {"lake": lake, "spark": {"master": master}})
    began_s = time.monotonic()
    with TerminalProgress(1, quiet=quiet).step("Starting Spark"):
        session = start_spark(settings, debug=debug)
        tasks = parallelism(session)
        executors = {(row["host"], row["pid"]): row for row in ask_executors(session, tasks)}
    found = {
        "tasks_at_once": tasks,
        "started_in_s": round(time.monotonic() - began_s, 1),
        "executors": [executors[name] for name in sorted(executors)],
    }
    if format is Format.json:
        write_json(found)
        return
    print(f"{tasks} tasks at once, started in {found['started_in_s']} s")
    for row in found["executors"]:
        print(
            f"{row['host']}, process {row['pid']}: Python {row['python']}, "
            f"throttlescope {row['throttlescope']} in {row['found_in']}"
        )
