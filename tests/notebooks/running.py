"""Notebooks, executed as a person would: every cell, from the top. In: their files. Out: the same notebooks with fresh outputs.

One kernel runs all of them, one after the other, with its names cleared in between: so the JVM is started once, and none can lean on
what another one defined. They share the working folder, and with it the lakes that they make.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import nbformat
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
# The first replay on a machine compiles the simulator, which takes a minute of a core that may be shared.
_CELL_S = 900
_RESET = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("%reset -f")])


def names() -> list[str]:
    """Files of the notebooks, by name."""
    return sorted(path.name for path in NOTEBOOKS.glob("*.ipynb"))


def read(name: str) -> nbformat.NotebookNode:
    """One notebook as it is kept."""
    return nbformat.read(NOTEBOOKS / name, as_version=4)


def executed(wanted: Sequence[str], folder: Path) -> dict[str, nbformat.NotebookNode]:
    """Run notebooks in a folder; a cell that fails raises ``CellExecutionError`` with its traceback."""
    return asyncio.run(_executed(wanted, folder))


async def _executed(wanted: Sequence[str], folder: Path) -> dict[str, nbformat.NotebookNode]:
    # Sockets are files, which have short names at most; TCP would be readable by every user of the machine.
    with tempfile.TemporaryDirectory(prefix="nb-") as sockets:
        manager = AsyncKernelManager(
            kernel_name="python3", transport="ipc", connection_file=str(Path(sockets) / "kernel.json")
        )
        # Neither a person's configuration nor the width of a terminal, which pytest's workers set.
        left_out = {"THROTTLESCOPE_CONFIG", "COLUMNS", "LINES"}
        environment = {name: value for name, value in os.environ.items() if name not in left_out}
        environment |= {
            "IPYTHONDIR": sockets,
            "PYSPARK_PYTHON": sys.executable,
            # The figure alone: the default would put all of Plotly's script beside the first one.
            "PLOTLY_RENDERER": "plotly_mimetype",
        }
        await manager.start_kernel(cwd=str(folder), env=environment)
        try:
            found = {}
            for name in wanted:
                notebook = read(name)
                for one in (_RESET, notebook):
                    client = NotebookClient(
                        one, km=manager, timeout=_CELL_S, startup_timeout=300, record_timing=False
                    )
                    await client.async_execute(reset_kc=True)
                found[name] = notebook
            return found
        finally:
            await manager.shutdown_kernel()
