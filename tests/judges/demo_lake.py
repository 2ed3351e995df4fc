"""The lake that judges of the product as it runs are given. In: nothing. Out: its folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.lab.parts import PartMissing

ROOT = Path(__file__).parents[2]
_DEMO_S = 900


def demo_lake() -> Path:
    """The demo's lake of this checkout, made where it is not there."""
    lake = ROOT / ".demo"
    if not lake.exists():
        command = [str(Path(sys.executable).with_name("throttlescope")), "demo", "--no-serve", "--quiet"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=_DEMO_S, check=False)
        if done.returncode:
            raise PartMissing(f"the demo fails: {done.stderr.strip()[-300:]}")
    return lake
