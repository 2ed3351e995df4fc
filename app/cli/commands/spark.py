"""``throttlescope spark``: what a Spark cluster needs to run throttlescope, and whether it works."""

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
from throttlescope.app.cli.settings import CommandOptions

ForDriver = Annotated[
    bool,
    typer.Option("--for-driver", help="Include what a driver needs, for --deploy-mode cluster."),
]


def register(app: typer.Typer) -> None:
    spark = typer.Typer(help="What a Spark cluster needs, and whether it works.", no_args_is_help=True)
    spark.command(short_help="Write the archive that brings the package to executors.")(package)
    spark.command(short_help="Print the file that spark-submit runs.")(program)
    spark.command(short_help="Print what the executors of a cluster run.")(check)
    app.add_typer(spark, name="spark")


def package(
    context: typer.Context,
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE", help="Where to write it; a name that ends in .tar.gz.")
    ] = Path("throttlescope-executors.tar.gz"),
    for_driver: ForDriver = False,
    format: FormatOption = Format.table,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Write an archive with the package and everything that its tasks need, in the versions that are installed here.

    Name it as package in [spark] of the configuration, or give it to spark-submit as --archives FILE#environment with
    spark.pyspark.python=./environment/bin/python. Executors need the same release of Python, the same kind of machine, and
    nothing else.
    """
    from throttlescope.app.cli.tables.spark import write_package
    from throttlescope.ingest.spark.package import build_package

    options = CommandOptions(context)
    with options.progress(1).step("Packing") as progress:
        made = build_package(out, for_driver=for_driver, note=progress.note)
        progress.note(f"{len(made.versions)} packages")
    write_package(made, options)


def program() -> None:
    """Print the path of the file that spark-submit runs: spark-submit --master URL "$(throttlescope spark program)" run ..."""
    from throttlescope.app.cli import submit

    print(Path(submit.__file__).with_name("throttlescope_submit.py"))


def check(
    context: typer.Context,
    lake: LakeFolder = None,
    master: Master = None,
    format: FormatOption = Format.table,
    config: Config = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Start Spark where --master or the configuration says, and print the Python, package and lake folder that its executors see."""
    from throttlescope.app.cli.tables.spark import write_executors
    from throttlescope.app.services.spark_check import check_executors

    options = CommandOptions(context)
    write_executors(check_executors(options.settings(), options.progress(1), debug=debug), options)
