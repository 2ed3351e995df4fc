"""The per-user cache. In: the environment. Out: a folder that survives between runs and may be deleted at any time."""

from __future__ import annotations

import getpass
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path


def cache_dir(name: str) -> Path:
    """Return the folder ``name`` of the per-user cache, created.

    ``$THROTTLESCOPE_CACHE`` comes first, then ``$XDG_CACHE_HOME/throttlescope``, then ``~/.cache/throttlescope``. Where
    none of them can be written (a read-only home), a folder of this user under the system's temporary folder.
    """
    for folder in cache_dirs(name):
        if is_writable(folder):
            return folder
    return Path(tempfile.mkdtemp(prefix=f"throttlescope-{name}-"))


def cache_dirs(name: str) -> Iterator[Path]:
    """The places of the folder ``name`` in the order of :func:`cache_dir`: those that exist or can be created, also those that can only be read."""
    for root in _candidates():
        folder = root / name
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            if not folder.is_dir():
                continue
        yield folder


def is_writable(folder: Path) -> bool:
    """Whether this user can make files in a folder."""
    return os.access(folder, os.W_OK | os.X_OK)


def _candidates() -> Iterator[Path]:
    configured = os.environ.get("THROTTLESCOPE_CACHE")
    if configured:
        yield Path(configured)
        return
    if xdg := os.environ.get("XDG_CACHE_HOME"):
        yield Path(xdg) / "throttlescope"
    try:
        yield Path.home() / ".cache" / "throttlescope"
        user = getpass.getuser()
    except (RuntimeError, KeyError, OSError):  # a container's user without a home or a name
        user = "nobody"
    temporary = Path(tempfile.gettempdir()) / f"throttlescope-{user}"
    try:
        temporary.mkdir(mode=0o700, exist_ok=True)
        # Another user may have created it, and what is in it is run.
        if temporary.stat().st_uid == os.getuid():
            yield temporary
    except OSError:
        return
