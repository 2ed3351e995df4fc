"""A disk that is really full. In: a folder. Out: a small file system mounted there, and a way to fill it; skipped where mounting is not allowed."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest


@contextlib.contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    """A tmpfs of its own, which is gone afterwards with all that is on it."""
    mount = shutil.which("mount")
    if mount is None:
        pytest.skip("a small file system cannot be made: there is no mount here")
    folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [mount, "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], capture_output=True, text=True
    )
    if done.returncode:
        pytest.skip(f"a small file system cannot be mounted: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        # Whoever still has a file open there does not keep it.
        subprocess.run(["umount", "-l", str(folder)], check=True)


@contextlib.contextmanager
def filled(folder: Path) -> Iterator[None]:
    """No byte of room within the context."""
    ballast = folder / "ballast"
    with ballast.open("wb", buffering=0) as file:
        for size in (1 << 16, 1 << 12, 1):
            with contextlib.suppress(OSError):
                while file.write(b"\0" * size):
                    pass
    try:
        yield
    finally:
        ballast.unlink()
