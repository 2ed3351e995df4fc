"""Programs in environments of their own. In: packages and a script. Out: the script has run with them; nothing of ours is installed there."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.lab.parts import PartMissing


def run_with(
    packages: Sequence[str],
    script: Path,
    arguments: Sequence[str],
    *,
    timeout_s: float,
    environment: Mapping[str, str] | None = None,
) -> None:
    """Run a script with packages from PyPI.

    Raises
    ------
    PartMissing
        They cannot be had, or it fails.
    """
    uv = Path(sys.executable).with_name("uv")
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    done = subprocess.run(
        [
            str(uv), "run", "--no-project", "--python", version, *(f"--with={one}" for one in packages),
            "python", str(script), *arguments,
        ],
        env=environment,
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )  # fmt: skip
    if done.returncode:
        raise PartMissing(f"{script.name} {arguments[0]}: {(done.stderr + done.stdout).strip()[-500:]}")
