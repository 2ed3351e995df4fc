"""What a notebook's file keeps of its outputs. In: an executed notebook. Out: the same, small and the same on every machine.

Charts are kept as pictures: a forge shows a PNG, and shows nothing of Plotly's own form. Progress is left out.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable

import nbformat

PLOTLY, PNG = "application/vnd.plotly.v1+json", "image/png"
#: Most bytes of one output.
MOST_BYTES = 200_000
_MARK = "throttlescope"


def code_sha256(notebook: nbformat.NotebookNode) -> str:
    """Of the code cells: with another one the outputs are of other code."""
    code = "\0".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    return hashlib.sha256(code.encode()).hexdigest()


def marked_sha256(notebook: nbformat.NotebookNode) -> str | None:
    """Of the code cells that the kept outputs are of."""
    return notebook.metadata.get(_MARK, {}).get("code_sha256")


def keep(notebook: nbformat.NotebookNode, photograph: Callable[[dict], bytes]) -> nbformat.NotebookNode:
    """Leave of the outputs what is worth keeping; ``photograph`` makes a PNG of a figure."""
    for number, cell in enumerate((cell for cell in notebook.cells if cell.cell_type == "code"), 1):
        cell.execution_count = number
        cell.metadata = {}
        cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
        for output in cell.outputs:
            if "execution_count" in output:
                output.execution_count = number
            data = output.get("data", {})
            if PLOTLY in data:
                data.pop("text/html", None)
                data[PNG] = base64.b64encode(photograph(data.pop(PLOTLY))).decode()
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
        _MARK: {"code_sha256": code_sha256(notebook)},
    }
    return notebook


def told(notebook: nbformat.NotebookNode) -> list[list]:
    """Of each code cell what a reader sees, with ``a chart`` for a chart: the same in a kept and in a fresh notebook."""
    return [
        [
            seen
            for output in cell.outputs
            if output.get("name") != "stderr" and (seen := _seen(output)) is not None
        ]
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


def _seen(output: nbformat.NotebookNode):
    if output.output_type == "stream":
        return output.text
    data = output.get("data", {})
    if PLOTLY in data or PNG in data:
        return "a chart"
    return dict(data) or None
