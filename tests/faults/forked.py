"""A process that has loaded everything, opened nothing and forks for each operation. In: lines of JSON. Out: a line of JSON each: how it ended.

Delta's runtime does not survive a fork, so the forking process must not have used it, and lakes are read by another process.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from typing import Any

from tests.faults import changes
from tests.faults.operations import OPERATIONS
from throttlescope.ingest.lake import Lake


class Forker:
    """The process, for its clients."""

    def __enter__(self) -> Forker:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.forked"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def run(
        self, name: str, root: str, seed: int, kill_before: int | None = None, *, begin: bool = False
    ) -> dict[str, Any]:
        """Do an operation, or make what it begins with.

        Returns
        -------
        dict
            ``changes``: call and path of each; ``killed``; ``error``.
        """
        asked = {"name": name, "root": root, "seed": seed, "kill_before": kill_before, "begin": begin}
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the forking process ended with {self._process.wait()} on {asked}")
        return json.loads(line)


def _answer(asked: dict[str, Any]) -> dict[str, Any]:
    operation = OPERATIONS[asked["name"]]

    def work() -> None:
        # Both draw from the same seed, not from where the other one stopped.
        draw = random.Random(f"{asked['seed']} {asked['begin']}")  # noqa: S311
        with operation.meant():
            (operation.begin if asked["begin"] else operation.act)(Lake(asked["root"]), draw)

    ended = changes.run(work, asked["root"], asked["kill_before"])
    return {
        "changes": [[one.call, one.path] for one in ended.changes],
        "killed": ended.killed,
        "error": ended.error,
    }


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(_answer(json.loads(line))), flush=True)
