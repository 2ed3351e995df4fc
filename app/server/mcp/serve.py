"""The server of the Model Context Protocol. In: a lake, limits, and an assistant's client on stdin and stdout. Out: answers, until stdin ends.

The SDK keeps stdout for the protocol: whatever else prints there goes to stderr.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, Field

from throttlescope.app.queries.verdicts import require_verdicts
from throttlescope.app.server.mcp import answers
from throttlescope.app.server.mcp.limits import McpLimits
from throttlescope.app.services.promql.errors import ApiError
from throttlescope.ingest.core.errors import ThrottlescopeError
from throttlescope.ingest.core.extras import require_extra

if TYPE_CHECKING:
    from mcp.server import MCPServer

    from throttlescope.app.server.mcp.tools import LakeTools
    from throttlescope.ingest.lake import Lake

_INSTRUCTIONS = """Answers why an Apache Pulsar subscription has a backlog: is a rate limiter holding it back, or can its consumers not keep up?
Begin with list_troubled_subscriptions, then explain_subscription with a whole name from it. Backlogs count entries (batches), not messages; rates count
messages or bytes; times are UTC. Every answer says how fresh its data is: say so when it is old. All tools only read; nothing is changed on a cluster."""

Subscription = Annotated[
    str,
    Field(
        description="persistent://tenant/ns/topic[-partition-N]#sub, a whole name from list_troubled_subscriptions; without -partition-N the "
        "partition with the worst backlog (what_if: all partitions together)"
    ),
]
ClusterName = Annotated[
    str | None, Field(description="where several clusters have a subscription of this name")
]
Moment = Annotated[
    str | None, Field(description="RFC 3339 in UTC, or relative such as -6h; by default the newest data")
]


def serve_stdio(lake: Lake, limits: McpLimits) -> None:
    """Serve a lake on stdin and stdout until the input ends.

    Raises
    ------
    InputError
        There is no lake with verdicts, or the SDK is not installed.
    """
    server = make_server(lake, limits)
    # A wrong --lake is said at once, not at the first call.
    require_verdicts(lake)
    server.run("stdio")


def make_server(lake: Lake, limits: McpLimits) -> MCPServer:
    """The server with its tools.

    Raises
    ------
    MissingExtraError
        The SDK is not installed.
    """
    require_extra("mcp", "mcp", what="The MCP server")
    from mcp.server import MCPServer
    from mcp_types import CallToolResult, TextContent, ToolAnnotations

    server = MCPServer(
        "throttlescope", instructions=_INSTRUCTIONS, version=version("throttlescope"), log_level="WARNING"
    )

    @functools.cache
    def lake_tools() -> LakeTools:
        # At the first call: a client waits for the server's start, and this imports pandas, DuckDB and the simulator.
        from throttlescope.app.server.mcp.tools import LakeTools

        return LakeTools(lake, limits)

    for tool in _tools(lake_tools):
        server.add_tool(
            _as_tool(tool, CallToolResult, TextContent),
            annotations=ToolAnnotations(
                read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
            ),
        )
    return server


def _tools(lake_tools: Callable[[], LakeTools]) -> list[Callable[..., tuple[BaseModel, str]]]:
    """The tools: names, arguments and descriptions are what an assistant reads."""

    def list_troubled_subscriptions(
        cluster: Annotated[str | None, Field(description="only this cluster")] = None,
        namespace: Annotated[str | None, Field(description="only this tenant/namespace")] = None,
        cause: Annotated[
            str | None, Field(description="only this cause, such as throttled or slow_consumers")
        ] = None,
        limit: Annotated[int, Field(description="how many, at most 200")] = 20,
    ) -> tuple[answers.TroubledSubscriptions, str]:
        """List subscriptions with a backlog problem now, the largest backlog first, each with its cause, limiter and confidence."""
        return lake_tools().troubled(cluster, namespace, cause, limit)

    def explain_subscription(
        subscription: Subscription, cluster: ClusterName = None, at: Moment = None
    ) -> tuple[answers.Explanation, str]:
        """Explain why one subscription has a backlog: cause and limiter, confidence, evidence for and against, limits, the backlog with its age, the first step."""
        return lake_tools().explain(subscription, cluster, at)

    def what_if(
        subscription: Subscription,
        changes: Annotated[
            list[str],
            Field(
                description="KEY=VALUE each: subscription.msg, subscription.bytes, topic.msg, topic.bytes, broker.msg, broker.bytes (per period; "
                "none lifts it), consumers, processing_ms, rate_msg, load; empty: the backlog as it is"
            ),
        ],
        cluster: ClusterName = None,
        at: Moment = None,
        window: Annotated[str, Field(description="length of the window that is replayed")] = "30m",
        horizon: Annotated[str, Field(description="how far ahead is looked, at most 31d")] = "24h",
    ) -> tuple[answers.WhatIfAnswer, str]:
        """Replay a subscription in the simulator, as it is and with a change: when is the backlog gone, and what limits it then? Changes nothing on the cluster. Takes seconds to minutes."""
        return lake_tools().what_if(subscription, changes, cluster, at, window, horizon)

    def query_promql(
        expr: Annotated[
            str, Field(description="a PromQL expression over Pulsar's metrics and the limits in the lake")
        ],
        at: Moment = None,
        start: Annotated[str | None, Field(description="start of a range; then at is not given")] = None,
        end: Annotated[
            str | None, Field(description="end of the range, by default the newest sample")
        ] = None,
        step: Annotated[
            str | None, Field(description="distance of two points, by default a 250th of the range")
        ] = None,
    ) -> tuple[answers.QueryResult, str]:
        """Evaluate PromQL over the samples in the lake, at one moment or over a range; at most 200 rows are returned."""
        return lake_tools().query(expr, at, start, end, step)

    def incident_report(
        subscription: Subscription, cluster: ClusterName = None, at: Moment = None
    ) -> tuple[answers.IncidentReport, str]:
        """Write the incident report of a subscription's backlog as Markdown: what, since when, why, how sure, deadlines, what to change with commands that are proposals."""
        return lake_tools().report(subscription, cluster, at)

    return [
        list_troubled_subscriptions,
        explain_subscription,
        what_if,
        query_promql,
        incident_report,
    ]


def _as_tool(work: Callable[..., tuple[BaseModel, str]], result: Any, text: Any) -> Callable[..., Any]:
    """The function as the SDK takes it: it returns a short text and a structured answer of a published schema."""
    signature = inspect.signature(work, eval_str=True)
    model = signature.return_annotation.__args__[0]

    def call(**arguments: Any) -> Any:
        with _explained():
            answer, short = work(**arguments)
        return result(
            content=[text(type="text", text=short)], structured_content=answer.model_dump(mode="json")
        )

    call.__name__, call.__doc__ = work.__name__, work.__doc__
    call.__signature__ = signature.replace(return_annotation=Annotated[result, model])
    call.__annotations__ = {name: one.annotation for name, one in signature.parameters.items()}
    return call


@contextmanager
def _explained() -> Iterator[None]:
    """Errors that a user can fix reach the assistant whole: what, found, expected, fix."""
    from mcp.server.mcpserver.exceptions import ToolError

    try:
        yield
    except ThrottlescopeError as error:
        raise ToolError(str(error)) from error
    except ApiError as error:
        raise ToolError(error.text) from error
