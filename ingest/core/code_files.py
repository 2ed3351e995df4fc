"""Machine code of compiled functions on disk. In: a function's name, the digest of its sources, and what Numba has compiled. Out: the same, read again.

A file holds the code of one function for one signature. It is found by the digest of the sources, the versions of Numba and of what belongs to it, the
processor and the signature. Files are written at once by renaming. A process that needs what another one is compiling waits for it, up to some
minutes. Without a folder that can be written, each process compiles for itself.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import itertools
import os
import pickle
import platform
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from throttlescope.ingest.core.cache_folder import cache_dirs, is_writable

#: Of each function, the code of so many states of its sources is kept: those of a few checkouts.
_STATES_KEPT = 6
#: Code that was unused for so long is removed.
_UNUSED_S = 60 * 86_400
_DAY_S = 86_400
_FOLDER = "compiled"
_SUFFIX = ".code"
#: Next to a file, while somebody compiles what will be in it.
_LOCK_SUFFIX = ".lock"
#: The largest function takes a minute and a half; one whose compiler is stuck is compiled here, too.
_LONGEST_WAIT_S = 600.0
_LOOK_S = 0.1


class CodeFiles:
    """The files of one function. Numba's dispatchers use it in place of a cache of their own.

    Parameters
    ----------
    name : str
        Module and name of the function.
    digest : str
        Of the sources that it is compiled from.
    """

    def __init__(self, name: str, digest: str) -> None:
        self.name, self.digest = name, digest
        self._locks: dict[str, int] = {}

    def is_filled(self) -> bool:
        """Whether there is code from the same sources and versions, for any signature and processor."""
        pattern = f"{self._stem()}-*{_SUFFIX}"
        return any(True for folder in _folders() for _ in folder.glob(pattern))

    # -- as a dispatcher calls it ------------------------------------------------------------

    @property
    def cache_path(self) -> str | None:
        folder = writable_folder()
        return None if folder is None else str(folder)

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """What was compiled for a signature, waiting for a process that is compiling it; None: nothing, and others wait for :meth:`save_overload`."""
        target_context.refresh()
        key = (signature, target_context.codegen().magic_tuple())
        found = self._load(key, target_context)
        if found is None and self._lock(self._file_name(key)):
            found = self._load(key, target_context)
            if found is not None:
                self._unlock(self._file_name(key))
        return found

    def _load(self, key: tuple, target_context: Any) -> Any:
        from numba.core.compiler import CompileResult

        for folder in _folders():
            path = folder / self._file_name(key)
            # Whatever is wrong with a file, compiling helps.
            with contextlib.suppress(Exception):
                digest, stored_key, reduced = pickle.loads(path.read_bytes())  # noqa: S301 - the user's own folder
                if (digest, stored_key) == (self.digest, key):
                    _mark_used(path)
                    return CompileResult._rebuild(target_context, *reduced)
        return None

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep what was compiled; where that is not possible, nothing happens."""
        key = (signature, result.codegen.magic_tuple())
        try:
            self._save(key, result)
        finally:
            self._unlock(self._file_name(key))

    def _save(self, key: tuple, result: Any) -> None:
        from numba.core.serialize import dumps

        # They contain addresses of this process.
        if result.library.has_dynamic_globals or any(not one.can_cache for one in result.lifted):
            return
        folder = writable_folder()
        if folder is None:
            return
        path = folder / self._file_name(key)
        unfinished = path.with_suffix(f".{uuid.uuid4().hex}")
        try:
            unfinished.write_bytes(dumps((self.digest, key, result._reduce())))
            unfinished.replace(path)
        except OSError:
            with contextlib.suppress(OSError):
                unfinished.unlink()
        self._prune(folder)

    def enable(self) -> None:
        """Nothing: it is always enabled."""

    disable = flush = enable

    # -- one compiles, the others wait -------------------------------------------------------

    def _lock(self, name: str) -> bool:
        """Wait until no other process compiles for this file, and let others wait; whether that was possible."""
        folder = writable_folder()
        if folder is None:
            return False
        # Left where compiling failed: this process would wait for itself.
        self._unlock(name)
        try:
            # Not there on Windows.
            import fcntl

            lock = os.open(folder / f"{name}{_LOCK_SUFFIX}", os.O_RDWR | os.O_CREAT, 0o600)
        except (ImportError, OSError):
            return False
        until_s = time.monotonic() + _LONGEST_WAIT_S
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() < until_s:
                    time.sleep(_LOOK_S)
                    continue
            except OSError:
                # A file system without locks.
                pass
            os.close(lock)
            return False
        self._locks[name] = lock
        return True

    def _unlock(self, name: str) -> None:
        lock = self._locks.pop(name, None)
        if lock is None:
            return
        import fcntl

        # Those who wait have it open: they get it, and find what was compiled.
        with contextlib.suppress(OSError):
            os.unlink(writable_folder() / f"{name}{_LOCK_SUFFIX}")
        # Not only closed: a forked child has it open, too.
        with contextlib.suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_UN)
        os.close(lock)

    # -- names -------------------------------------------------------------------------------

    @property
    def _prefix(self) -> str:
        return f"{self.name.removeprefix('throttlescope.')}-"

    def _stem(self) -> str:
        return f"{self._prefix}{self.digest[:16]}-{_versions()[:8]}"

    def _file_name(self, key: tuple) -> str:
        # Numba's types are named by all that distinguishes them.
        return f"{self._stem()}-{hashlib.sha256(repr(key).encode()).hexdigest()[:16]}{_SUFFIX}"

    def _prune(self, folder: Path) -> None:
        """Remove the code of older states of this function's sources, and of any function what was not used for long."""
        used: dict[str, float] = {}
        own: list[tuple[str, Path]] = []
        before = time.time() - _UNUSED_S
        with contextlib.suppress(OSError):
            for entry in os.scandir(folder):
                with contextlib.suppress(OSError):
                    at = entry.stat().st_mtime
                    if at < before:
                        os.unlink(entry)
                    elif entry.name.startswith(self._prefix):
                        digest = entry.name.removeprefix(self._prefix)[:16]
                        used[digest] = max(at, used.get(digest, at))
                        own.append((digest, Path(entry)))
        kept = {self.digest[:16], *sorted(used, key=used.__getitem__, reverse=True)[:_STATES_KEPT]}
        for digest, path in own:
            if digest not in kept:
                with contextlib.suppress(OSError):
                    path.unlink()


def writable_folder() -> Path | None:
    """Where machine code is kept; None: nowhere, every process compiles for itself."""
    return next((one for one in _folders() if is_writable(one)), None)


def _folders() -> Iterator[Path]:
    """Where machine code may be: folders that can only be read, and the first one that can be written."""
    for folder in cache_dirs(_FOLDER):
        yield folder
        if is_writable(folder):
            return


def _mark_used(path: Path) -> None:
    """A file's time says when it was last used, to the day."""
    with contextlib.suppress(OSError):
        if time.time() - path.stat().st_mtime > _DAY_S:
            os.utime(path)


@functools.cache
def _versions() -> str:
    """A hash of what else machine code depends on. Found without importing Numba, which takes half a second."""
    from importlib.metadata import version

    packages = [f"{name} {version(name)}" for name in ("numba", "llvmlite", "numpy")]
    # Bounds checks, optimization and the like; where Numba's own cache is does not matter.
    settings = sorted(
        f"{name}={value}"
        for name, value in os.environ.items()
        if name.startswith("NUMBA_") and name != "NUMBA_CACHE_DIR"
    )
    parts = [*packages, sys.implementation.cache_tag, platform.machine(), sys.platform]
    return hashlib.sha256("\n".join(itertools.chain(parts, settings)).encode()).hexdigest()
