"""How the kernel is compiled, and when its compiled form is out of date. In: functions of this package. Out: compiled ones.

Numba compiles a function together with all that it calls, and keeps the result on disk if it is configured to. Its cache looks only at the file
of that one function: after a change of another file it goes on running the old program. So one function of the package is cached,
and its cache is stamped with the content of every file that may be compiled into it.
"""

from __future__ import annotations

import hashlib
import importlib.resources
import sys
from collections.abc import Callable, Iterable
from types import ModuleType

from numba import njit
from numba.core.caching import FunctionCache, IndexDataCacheFile

compiled = njit(nogil=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)


def cached(*others: ModuleType) -> Callable[[Callable], Callable]:
    """Compile a function that Python calls, and keep the result on disk until a source file changes.

    Parameters
    ----------
    others
        Modules of other packages from which constants or functions are compiled in. All modules of the function's own package count
        anyway.
    """

    def compile_and_cache(function: Callable) -> Callable:
        dispatcher = njit(nogil=True, error_model="numpy")(function)
        # What ``cache=True`` does, with another stamp.
        dispatcher._cache = StampedCache(function, sources_hash(function, others))
        return dispatcher

    return compile_and_cache


def sources_hash(function: Callable, others: Iterable[ModuleType] = ()) -> str:
    """SHA-256 of the names and contents of all source files of a function's package, and of some other modules."""
    package = importlib.resources.files(sys.modules[function.__module__].__package__)
    files = [file for file in package.iterdir() if file.name.endswith(".py")]
    files += [
        importlib.resources.files(module.__package__) / f"{module.__name__.rpartition('.')[2]}.py"
        for module in others
    ]
    digest = hashlib.sha256()
    for file in sorted(files, key=lambda file: file.name):
        content = file.read_bytes()
        digest.update(f"{file.name} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


class StampedCache(FunctionCache):
    """Numba's cache of a function, at the place that Numba chooses, with a stamp of ours.

    Numba writes the stamp into the cache's index. It takes an index with another stamp as empty, and overwrites what it lists.
    """

    def __init__(self, function: Callable, stamp: str) -> None:
        super().__init__(function)
        # It is looked at first: a Numba without this attribute must fail, not use a cache that forgets nothing.
        if not isinstance(self._cache_file, IndexDataCacheFile):
            raise TypeError(
                "Numba: its cache has no IndexDataCacheFile; install the version of requirements.lock"
            )
        self._cache_file = IndexDataCacheFile(self._cache_path, self._impl.filename_base, stamp)

    def is_filled(self) -> bool:
        """Whether something was compiled from the files as they are."""
        return bool(self._cache_file._load_index())


def is_function_compiled(dispatcher: Callable) -> bool:
    """Whether this process or, as far as the cache shows, this machine has compiled a function of :func:`cached`."""
    return bool(dispatcher.signatures) or dispatcher._cache.is_filled()
