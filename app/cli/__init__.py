"""The command line ``throttlescope``. In: arguments. Out: tables or JSON on stdout, progress on stderr, an exit code.

Nothing heavy is imported here: ``--help`` answers before Spark, pyarrow or pandas are touched.
"""

from __future__ import annotations

import sys


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and leave the process with its exit code."""
    from throttlescope.app.cli.application import app
    from throttlescope.app.cli.light_imports import leave_out_unused

    arguments = sys.argv[1:] if arguments is None else arguments
    leave_out_unused(arguments)
    app(args=arguments, prog_name="throttlescope")
