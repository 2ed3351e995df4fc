"""How long an assistant's client waits for ``throttlescope mcp``: to the handshake, and to its first answer.

In: a lake, such as the demo's. Out: JSON on standard output. Each run is a session of the SDK's own client with a new process of the server;
what counts on a busy machine is the processor time of that process.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import tempfile
from pathlib import Path
from typing import Any

from tests.app.mcp.session import session


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--lake", default=".demo", help="a lake with verdicts")
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args()
    lake = str(Path(given.lake).absolute())
    load = os.getloadavg()[0]
    found = {
        "machine": {"cores": os.cpu_count(), "load_1min": load},
        "handshake": measured(lake, [], given.runs),
        "first_answer": measured(lake, [("list_troubled_subscriptions", {})], given.runs),
    }
    print(json.dumps(found, indent=1))


def measured(lake: str, calls: list[tuple[str, dict[str, Any]]], runs: int) -> dict[str, float]:
    """Medians over sessions: seconds of a clock to the last answer, and processor seconds of the server from its start to its end."""
    elapsed_s, cpu_s = [], []
    for _ in range(runs):
        with tempfile.TemporaryDirectory(prefix="throttlescope-mcp-") as folder:
            before_s = _children_cpu_s()
            seen = session(lake, calls, Path(folder))
            cpu_s.append(_children_cpu_s() - before_s)
        if any(result.is_error for result in seen.results):
            raise SystemExit(f"a call failed: {seen.results}")
        elapsed_s.append(seen.connected_s + sum(seen.took_s))
    return {
        "elapsed_s": round(statistics.median(elapsed_s), 2),
        "cpu_s": round(statistics.median(cpu_s), 2),
    }


def _children_cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
