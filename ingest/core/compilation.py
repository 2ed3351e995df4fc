"""How functions are compiled by Numba, and when machine code on disk is out of date. In: functions. Out: compiled functions.

A function is compiled at its first call, together with all that it calls, and its machine code is kept in the user's cache folder
(:mod:`throttlescope.ingest.core.code_files`). It is found there by the content of the source files that it is compiled from, so another environment, another
checkout and a Spark worker find what one of them has compiled, and an edited file is compiled again. Numba itself keeps code next to
the module, for one installation.

Numba takes half a second to import. It is imported when a function is called for the first time.
"""

from __future__ import annotations

import functools
import hashlib
import sys
import threading
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

from throttlescope.ingest.core.code_files import CodeFiles


class CompiledFunction:
    """A function that is compiled at its first call. It can be called from Python and by other compiled functions.

    Attributes
    ----------
    py_func
        The function as it is written.
    code_files : CodeFiles or None
        Its machine code on disk; None: it is only a part of other functions.
    """

    def __init__(self, function: Callable, options: dict[str, Any], code_files: CodeFiles | None) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        self.code_files = code_files
        self.targetoptions = options
        self._made: Any = None

    def __call__(self, *args: Any) -> Any:
        return (self._made or self.dispatcher)(*args)

    @property
    def dispatcher(self) -> Any:
        """Numba's form of the function."""
        if self._made is None:
            self._make()
        return self._made

    @property
    def _numba_type_(self) -> Any:
        # Numba looks for this where another compiled function calls this one.
        return self.dispatcher._numba_type_

    @property
    def is_compiled(self) -> bool:
        """Whether this process or, as far as the cache shows, this machine has compiled the function as it is."""
        in_process = self._made is not None and bool(self._made.signatures)
        return in_process or (self.code_files is not None and self.code_files.is_filled())

    def _make(self) -> None:
        if not LINEAR_ALGEBRA:
            _import_numba_without_scipy()
        from numba import config, njit

        made = njit(**self.targetoptions)(self.py_func)
        if self.code_files is not None and not config.DISABLE_JIT:
            # What ``cache=True`` does, with files of ours.
            made._cache = self.code_files
        with _MAKING:
            # Of two threads that make it, one is first.
            self._made = self._made or made


_MAKING = threading.Lock()

#: Whether Numba may look for SciPy, which it does when it is imported and which takes as long as itself; compiled functions of ours do not need it. A process in
#: which nothing else uses Numba sets it to False (:mod:`throttlescope.app.cli.light_imports`).
LINEAR_ALGEBRA = True


def _import_numba_without_scipy() -> None:
    if "numba" in sys.modules or "scipy" in sys.modules:
        return
    sys.modules["scipy"] = None
    try:
        import numba.np.arraymath  # noqa: F401 - it looks now
    finally:
        del sys.modules["scipy"]


#: What :func:`compiled` has made, by module and name: :func:`not_compiled` looks through it.
_FUNCTIONS: dict[str, CompiledFunction] = {}


def compiled(
    *others: ModuleType, whole_package: bool = False, **options: Any
) -> Callable[[Callable], CompiledFunction]:
    """A decorator for functions that Python calls: compiled at the first call, and kept on disk until a source file changes.

    Parameters
    ----------
    others
        Modules from which constants or functions are compiled in. The function's own module counts anyway.
    whole_package : bool
        All modules of the function's own package count.
    options
        Of ``numba.njit``; ``nogil`` is set.
    """
    options = {"nogil": True, **options}

    @functools.cache
    def digest_of(module_name: str) -> str:
        return sources_digest(sys.modules[module_name], others, whole_package=whole_package, options=options)

    def compile_and_keep(function: Callable) -> CompiledFunction:
        name = f"{function.__module__}.{function.__qualname__}"
        made = CompiledFunction(function, options, CodeFiles(name, digest_of(function.__module__)))
        _FUNCTIONS[name] = made
        return made

    return compile_and_keep


def compiled_part(**options: Any) -> Callable[[Callable], CompiledFunction]:
    """A decorator for functions that only compiled functions of the same sources call: nothing of their own is kept on disk.

    Parameters
    ----------
    options
        Of ``numba.njit``; ``nogil`` is set.
    """
    return lambda function: CompiledFunction(function, {"nogil": True, **options}, None)


class CompiledIntrinsic:
    """A function that writes LLVM's instructions itself (``numba.extending.intrinsic``), for use in compiled functions.

    Parameters
    ----------
    define
        From the typing context and the types of the arguments to a signature and a code generator.
    in_python
        The same for functions that are not compiled, as with ``NUMBA_DISABLE_JIT=1``; None: it works in compiled ones only.
    """

    def __init__(self, define: Callable, in_python: Callable | None = None) -> None:
        functools.update_wrapper(self, define)
        self._define = define
        self._in_python = in_python

    def __call__(self, *args: Any) -> Any:
        if self._in_python is None:
            raise TypeError(f"{self._define.__name__} can only be called by a compiled function")
        return self._in_python(*args)

    @functools.cached_property
    def _numba_type_(self) -> Any:
        from numba.core.registry import cpu_target
        from numba.extending import intrinsic

        made = intrinsic(self._define)
        cpu_target.typing_context.refresh()
        return cpu_target.typing_context.resolve_value_type(made)


def not_compiled() -> list[str]:
    """Names of the compiled functions in all imported modules whose machine code is neither in this process nor on disk."""
    return sorted(name for name, function in _FUNCTIONS.items() if not function.is_compiled)


def are_compiled(*functions: CompiledFunction) -> bool:
    """Whether this process or, as far as the cache shows, this machine has compiled all of some functions as they are."""
    return all(function.is_compiled for function in functions)


def sources_digest(
    module: ModuleType,
    others: Iterable[ModuleType] = (),
    *,
    whole_package: bool = False,
    options: dict[str, Any] | None = None,
) -> str:
    """SHA-256 of what functions of a module are compiled from, in hexadecimal: names and contents of source files, and options.

    The files are those that are there now, so this is called when the module is imported. Parameters are those of :func:`compiled`.
    """
    files = {module.__name__: _content(module)}
    if whole_package:
        import importlib.resources

        package = importlib.resources.files(module.__package__)
        files = {file.name: file.read_bytes() for file in package.iterdir() if file.name.endswith(".py")}
    files |= {other.__name__: _content(other) for other in others}
    digest = hashlib.sha256(repr(sorted((options or {}).items())).encode())
    for name, content in sorted(files.items()):
        digest.update(f"\n{name} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


def _content(module: ModuleType) -> bytes:
    return module.__loader__.get_data(module.__file__)
