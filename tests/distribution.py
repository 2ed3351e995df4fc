"""Builds of the distribution. In: the checkout. Out: wheels and source archives made from a copy of it, as ``python -m build`` makes them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROOMS = ("ingest", "transforms", "models", "app")
#: What of the checkout a build reads.
READ = (*ROOMS, "pyproject.toml", "setup.py", "README.md", "LICENSE", "docs/reference/throttlescope.1")
#: A time for the files in archives: 2026-11-20T08:00:00Z.
EPOCH_S = 1_795_161_600


def copy_of_checkout(folder: Path) -> Path:
    """Copy what a build reads: a build leaves files next to it."""
    for name in READ:
        source, target = ROOT / name, folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copyfile(source, target)
    return folder


def built(kind: str, checkout: Path, into: Path) -> Path:
    """Build a ``wheel`` or an ``sdist`` with the build backend that pyproject.toml names, as every front end calls it.

    Raises
    ------
    subprocess.CalledProcessError
        The build failed.
    """
    into.mkdir(parents=True, exist_ok=True)
    code = f"import sys; from setuptools import build_meta; print(build_meta.build_{kind}(sys.argv[1]))"
    done = subprocess.run(
        [sys.executable, "-c", code, into],
        cwd=checkout,
        env=os.environ | {"SOURCE_DATE_EPOCH": str(EPOCH_S)},
        capture_output=True,
        text=True,
        check=True,
    )
    return into / done.stdout.splitlines()[-1]
