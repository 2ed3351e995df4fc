"""Execute the notebooks and keep their outputs: ``python -m tests.notebooks.write [NAME ...]``.

In: the notebooks of ``notebooks/``. Out: the same files with fresh outputs. Needs a Chromium for the pictures.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import nbformat
import plotly.offline

from tests.app.web.browser import running_chromium
from tests.notebooks.kept import keep
from tests.notebooks.running import NOTEBOOKS, executed, names

_WIDTH_PX, _HEIGHT_PX = 940, 450
_TIMEOUT_MS = 120_000


def write(wanted: list[str], folder: Path) -> None:
    """Execute some notebooks in a folder and write them back."""
    fresh = executed(wanted, folder)
    with running_chromium() as browser:
        page = browser.new_page(viewport={"width": _WIDTH_PX, "height": 2_000})
        page.set_default_timeout(_TIMEOUT_MS)
        page.set_content("<body style='margin:0'><div id='chart'></div></body>")
        page.add_script_tag(content=plotly.offline.get_plotlyjs())

        def photograph(figure: dict) -> bytes:
            layout = figure["layout"]
            height_px = layout.get("height", _HEIGHT_PX)
            layout = {**layout, "width": _WIDTH_PX, "height": height_px}
            page.evaluate(
                "([data, layout]) => Plotly.newPlot('chart', data, layout, {staticPlot: true})",
                [figure["data"], layout],
            )
            return page.screenshot(clip={"x": 0, "y": 0, "width": _WIDTH_PX, "height": height_px})

        for name, notebook in fresh.items():
            nbformat.write(keep(notebook, photograph), NOTEBOOKS / name)
            print(f"{name}: {(NOTEBOOKS / name).stat().st_size:,} bytes", file=sys.stderr)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", nargs="*", help="files of notebooks/; all of them by default")
    parser.add_argument("--folder", type=Path, help="where they run; a new one by default")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="notebooks-") as folder:
        write(arguments.name or names(), arguments.folder or Path(folder))


if __name__ == "__main__":
    main()
