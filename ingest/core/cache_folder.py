"""The per-user cache. In: the environment. Out: a folder that survives between runs and may be deleted at any time."""

from __future__ import annotations

import getpass
import os
import tempfile
from pathlib import Path


def cache_dir(name: str) -> Path:
    """Return the folder ``name`` of the per-user cache, created.

    ``$THROTTLESCOPE_CACHE`` comes first, then ``$XDG_CACHE_HOME/throttlescope``, then ``~/.cache/throttlescope``. Where
    none of them can be written (a read-only home), a folder of this user under the system's temporary folder.
    """
    for root in _candidates():
        folder = root / name
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK | os.X_OK):
            return folder
    return Path(tempfile.mkdtemp(prefix=f"throttlescope-{name}-"))


def _candidates() -> list[Path]:
    configured = os.environ.get("THROTTLESCOPE_CACHE")
    if configured:
        return [Path(configured)]
    candidates = []
    if xdg := os.environ.get("XDG_CACHE_HOME"):
        candidates.append(Path(xdg) / "throttlescope")
    try:
        candidates.append(Path.home() / ".cache" / "throttlescope")
        user = getpass.getuser()
    except (RuntimeError, KeyError, OSError):  # a container's user without a home or a name
        user = "nobody"
    return [*candidates, Path(tempfile.gettempdir()) / f"throttlescope-{user}"]
