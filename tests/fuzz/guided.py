"""Inputs guided by coverage: atheris, where it is installed. In: targets that take bytes. Out: how many it tried; it stops at trouble.

Compiled code is interpreted here, so that atheris sees its branches: slower by far, and every index is checked.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

INSTALL = "uv pip install --python .venv/bin/python --group fuzz (wheels for Linux on x86-64)"


def run(names: Sequence[str], options: argparse.Namespace) -> int:
    """A process of its own for each target: atheris never gives back the one that it runs in."""
    if importlib.util.find_spec("atheris") is None:
        print(f"left out: inputs guided by coverage; atheris is not installed: {INSTALL}", file=sys.stderr)
        return 0
    failed = 0
    for name in names:
        corpus = options.folder / f"{name}.corpus"
        corpus.mkdir(parents=True, exist_ok=True)
        command = [
            sys.executable, "-m", "tests.fuzz.guided", name, str(corpus), f"-seed={options.seed}", "-max_len=4096", "-timeout=30", "-rss_limit_mb=4096",
            f"-artifact_prefix={options.folder}/{name}.", "-print_final_stats=1",
        ]  # fmt: skip
        command += [f"-runs={options.executions}"] if options.executions else []
        command += [f"-max_total_time={options.seconds:.0f}"] if options.seconds else []
        environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
        done = subprocess.run(command, env=environment, stderr=subprocess.PIPE, text=True, errors="replace")
        tried = re.search(r"number_of_executed_units: (\d+)", done.stderr)
        _add(options.folder, name, int(tried[1]) if tried else 0, done.returncode)
        print(f"{name}: {tried[1] if tried else 'no'} guided inputs, exit code {done.returncode}")
        if done.returncode:
            print(done.stderr[-3_000:], file=sys.stderr)
        failed |= done.returncode != 0
    return int(failed)


def tried(folder: Path, name: str) -> dict[str, int]:
    """Guided executions of a target so far, and how many runs ended with trouble."""
    path = folder / f"{name}.guided"
    return json.loads(path.read_text()) if path.exists() else {"executions": 0, "trouble": 0}


def _add(folder: Path, name: str, executions: int, code: int) -> None:
    known = tried(folder, name)
    counted = {"executions": known["executions"] + executions, "trouble": known["trouble"] + bool(code)}
    (folder / f"{name}.guided").write_text(json.dumps(counted))


def _guided(name: str, arguments: list[str]) -> None:
    import atheris

    with atheris.instrument_imports(include=["throttlescope"], enable_loader_override=False):
        from tests.fuzz.registry import target_of
        from tests.fuzz.target import ACCEPTED, REFUSED, execute

        target = target_of(name)
    if target.from_bytes is None:
        print(f"left out: {name} takes no bytes", file=sys.stderr)
        return
    corpus = Path(arguments[0])
    for number, seed in enumerate(target.seeds):
        (corpus / f"seed-{number}").write_bytes(seed)
    target.warm()

    def one(content: bytes) -> None:
        outcome = execute(target, target.from_bytes(content))
        if outcome.kind not in (ACCEPTED, REFUSED, "slow"):
            raise AssertionError(f"{outcome.kind}: {outcome.said}")

    atheris.Setup(["tests.fuzz.guided", *arguments], one)
    atheris.Fuzz()


if __name__ == "__main__":
    _guided(sys.argv[1], sys.argv[2:])
