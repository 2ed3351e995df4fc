"""Imports that libraries make without need. In: the arguments of the command line. Out: nothing; pyarrow and Numba leave those libraries out.

This concerns a process that runs one command which reads a lake, and no other: in a notebook or a server somebody may need what is left out.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

#: Commands that read a lake and print. What they hand to pyarrow is never pandas'.
READING = frozenset({"verdicts", "episodes", "promql"})


def leave_out_unused(arguments: Sequence[str]) -> None:
    """For the commands of :data:`READING`: pyarrow without pandas, Numba without SciPy.

    pyarrow looks for pandas when it makes its first array, and imports it if it is installed, which takes a third of a second. If it was not found, pyarrow looks
    again where it is really needed (``to_pandas``). Numba imports SciPy for matrix products in compiled functions; ours have none.
    """
    if not arguments or arguments[0] not in READING or "pandas" in sys.modules:
        return
    from throttlescope.ingest.core import compilation

    compilation.LINEAR_ALGEBRA = False
    # Not None in sys.modules: Cython takes that for the module.
    absent = _Absent()
    sys.meta_path.insert(0, absent)
    try:
        # It looks now.
        import pyarrow

        pyarrow.array([None])
    finally:
        sys.meta_path.remove(absent)


class _Absent:
    """A finder for which pandas is not installed."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("No module named 'pandas'", name=name)
