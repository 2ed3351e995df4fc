"""How long the demo takes: from the command to its last line, on the recordings that are installed.

In: a number of runs. Out: JSON on standard output. Each run is a process of its own with a lake of its own; the first
one, which fills the caches (compiled kernels, Python's byte code, the files' pages), is told apart from the others.

Target: ``throttlescope demo --no-serve`` under 20 s with warm caches.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TARGET_S = 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=3, help="runs with warm caches")
    runs = parser.parse_args().runs
    load = os.getloadavg()[0]
    first_s, *warm_s = [demo_s() for _ in range(1 + runs)]
    median_s = statistics.median(warm_s)
    machine = {"cores": os.cpu_count(), "python": platform.python_version(), "load_1min": load}
    found = {
        "machine": machine,
        "first_s": round(first_s, 1),
        "warm_s": [round(one, 1) for one in warm_s],
        "warm_median_s": round(median_s, 1),
        "target_s": TARGET_S,
        "met": median_s < TARGET_S,
    }
    print(json.dumps(found, indent=1))


def demo_s() -> float:
    """Seconds of one run of the command."""
    command = Path(sys.executable).with_name("throttlescope")
    with tempfile.TemporaryDirectory(prefix="throttlescope-demo-") as folder:
        began_s = time.monotonic()
        subprocess.run(
            [command, "demo", "--no-serve", "--quiet", "--lake", f"{folder}/lake"],
            stdout=subprocess.DEVNULL, timeout=1800, check=True,
        )  # fmt: skip
        return time.monotonic() - began_s


if __name__ == "__main__":
    main()
