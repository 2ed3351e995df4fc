"""Runs the fuzzing. In: targets, executions, a seed. Out: a table of what became of the inputs; JSON if requested.

``python -m tests.fuzz frames --executions 1000000 --seed 1`` goes on where an earlier run of the same seed stopped.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from tests.fuzz import figures, guided
from tests.fuzz.registry import NAMES, target_of
from tests.fuzz.run import checked_bounds, run
from tests.fuzz.state import FOLDER, State


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(NAMES)}; all by default")
    parser.add_argument(
        "--executions",
        type=int,
        help="in all, earlier ones counted; by default what the target is wanted to have",
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, help="most for each target; the next run goes on")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where states and findings are kept")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON instead of a table")
    parser.add_argument("--keep", action="store_true", help=f"write the figures to {figures.FILE}")
    parser.add_argument(
        "--show", type=int, metavar="NUMBER", help="print one input of a target and what becomes of it"
    )
    parser.add_argument(
        "--guided",
        action="store_true",
        help="let atheris look for inputs that reach new lines, instead of our own mutations",
    )
    options = parser.parse_args()
    unknown = set(options.targets) - set(NAMES)
    if unknown:
        parser.error(f"no such target: {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    names = options.targets or NAMES
    if options.show is not None:
        return _show(names[0], options.seed, options.show)
    if options.guided:
        return guided.run(names, options)
    checked_bounds()
    states, failed = [], False
    for name in names:
        state = State.load(name, options.seed, options.folder)
        states.append(state)
        try:
            wanted = options.executions or target_of(name).wanted
            run(state, wanted, seconds=options.seconds, folder=options.folder, say=_say)
        except (RuntimeError, ImportError) as error:
            # The other targets are as good as before.
            _say(f"{name}: {error}")
            failed = True
    if options.keep:
        figures.keep(options.folder)
    if options.json:
        print(json.dumps([asdict(state) for state in states], indent=1))
    else:
        print("\n".join(figures.table(states)))
    return 1 if failed or any(state.trouble for state in states) else 0


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _show(name: str, seed: int, number: int) -> int:
    from tests.fuzz.target import execute

    target = target_of(name)
    content = target.input(seed, number)
    print(ascii(content))
    print(execute(target, content))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
