"""Checkouts of other projects' repositories. In: a repository's name. Out: its folder, and the version it is at.

A judge fetches no repository by itself: whoever runs it clones what it needs into one folder, so that the version is a choice. That
folder is ``checkouts`` in the cache of parts, or what ``THROTTLESCOPE_CHECKOUTS`` names.
"""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.lab.parts import PartMissing, parts_dir


@dataclass(frozen=True)
class Checkout:
    """A checked out repository; ``version`` is the day and the commit."""

    folder: Path
    version: str


def checkouts_dir() -> Path:
    """The folder that has one checkout for each repository."""
    configured = os.environ.get("THROTTLESCOPE_CHECKOUTS")
    return Path(configured) if configured else parts_dir() / "checkouts"


def checkout(repository: str) -> Checkout:
    """The checkout of a repository on GitHub, ``owner/name``; its folder has the repository's name.

    Raises
    ------
    PartMissing
        With the command that makes it.
    """
    folder = checkouts_dir() / repository.rpartition("/")[2]
    done = subprocess.run(
        ["git", "-C", str(folder), "log", "-1", "--format=%cs %h", "--abbrev=12"],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode or not (folder / ".git").exists():
        raise PartMissing(
            f"no checkout of {repository} in {folder}: git clone https://github.com/{repository} {folder}"
        )
    return Checkout(folder, done.stdout.strip().replace(" ", ", "))
