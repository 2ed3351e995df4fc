"""A session of the SDK's own client with the real server. In: a lake and calls. Out: results, the tools, and the time to the first answer."""

from __future__ import annotations

import asyncio
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters, stdio_client

#: The whole session, so that a server that hangs is an error of the test.
_LONGEST_S = 240


@dataclass(frozen=True)
class Session:
    """What a client saw."""

    tools: dict[str, Any]
    results: list[Any]
    connected_s: float
    took_s: list[float]
    stderr: str


def session(lake: str, calls: list[tuple[str, dict[str, Any]]], folder: Path, *options: str) -> Session:
    """Start ``throttlescope mcp``, list its tools, and make the calls one after the other."""
    return asyncio.run(asyncio.wait_for(_session(lake, calls, folder, options), _LONGEST_S))


async def _session(lake, calls, folder, options) -> Session:
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "throttlescope.app.cli", "mcp", "--lake", lake, *options],
        cwd=folder,
    )
    results, took_s = [], []
    begun_s = time.monotonic()
    with (folder / "stderr").open("w+") as errors:
        async with Client(stdio_client(parameters, errlog=errors)) as client:
            connected_s = time.monotonic() - begun_s
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            for name, arguments in calls:
                begun_s = time.monotonic()
                results.append(await client.call_tool(name, arguments))
                took_s.append(time.monotonic() - begun_s)
        errors.seek(0)
        return Session(tools, results, connected_s, took_s, errors.read())
