"""``throttlescope mcp``: the lake for assistants, over the Model Context Protocol."""

from __future__ import annotations

from typing import Annotated

import typer

from throttlescope.app.cli.options import Config, Debug, LakeFolder
from throttlescope.app.cli.settings import CommandOptions

WithinWhatIf = Annotated[
    str, typer.Option("--what-if-within", metavar="DURATION", help="How long a replay may take.")
]
QueryTimeout = Annotated[
    str, typer.Option("--query-timeout", metavar="DURATION", help="How long a PromQL query may take.")
]


def register(app: typer.Typer) -> None:
    app.command(short_help="Serve a lake to assistants over the Model Context Protocol.")(mcp)


def mcp(
    context: typer.Context,
    lake: LakeFolder = None,
    what_if_within: WithinWhatIf = "2m",
    query_timeout: QueryTimeout = "30s",
    config: Config = None,
    debug: Debug = False,
) -> None:
    """Serve a lake to an assistant over standard input and output (MCP), until the input ends.

    The tools only read: troubled subscriptions, one subscription explained, what-if, PromQL, an incident report. Each answer is
    structured, limited in size, and says how fresh the data is. Nothing but the protocol is written on stdout; no Spark is started.
    Needs the extra throttlescope[mcp].
    """
    from throttlescope.app.server.mcp.limits import McpLimits
    from throttlescope.app.server.mcp.serve import serve_stdio
    from throttlescope.ingest.core.times import SECOND_MS

    options = CommandOptions(context)
    limits = McpLimits(
        what_if_s=options.duration_ms("what_if_within", "--what-if-within must be more than 0") / SECOND_MS,
        query_s=options.duration_ms("query_timeout", "--query-timeout must be more than 0") / SECOND_MS,
    )
    serve_stdio(options.lake(), limits)
