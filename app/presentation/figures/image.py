"""A simulation as a picture. In: a summary and a file name. Out: one HTML file that needs no network, or a PNG.

A PNG is the same page, photographed by Chromium through Playwright where both are installed.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

from throttlescope.ingest.core.errors import InputError, ThrottlescopeError
from throttlescope.models.messages.catalogue import sentence

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from throttlescope.app.services.simulate.summary import PartitionSummary
    from throttlescope.models.throttling import Simulation

#: A figure of more subscription partitions is too long to read; those with the largest backlogs are drawn.
_DRAWN = 8
_WIDTH_PX = 1280
#: The machine may be busy; only waited for when something is wrong.
_TIMEOUT_MS = 120_000
_USE_HTML = (
    "name a .html file, or install both: pip install playwright, and Debian's chromium (or set $CHROMIUM)"
)


def check_plot(path: Path) -> None:
    """Refuse a plot that could not be written.

    Raises
    ------
    InputError
        Neither HTML nor PNG, a folder that is not there or may not be written, or no browser for a PNG.
    """
    if path.suffix.lower() not in (".html", ".png"):
        raise InputError(
            "--plot: not a kind of picture that is made", got=str(path), expected="FILE.html or FILE.png"
        )
    folder = path.parent
    if not folder.is_dir():
        raise InputError("--plot: the folder is not there", got=str(folder), fix=f"mkdir -p {folder}")
    if path.is_dir() or not os.access(path if path.exists() else folder, os.W_OK):
        raise InputError("--plot: the file cannot be written", got=str(path), fix="name another file")
    if path.suffix.lower() == ".png" and chromium_path() is None:
        raise InputError(
            "--plot: a PNG needs Chromium and Playwright, and one is missing", got=str(path), fix=_USE_HTML
        )


def chromium_path() -> str | None:
    """``$CHROMIUM``, Debian's chromium or Playwright's own; None where there is none, or no Playwright."""
    if find_spec("playwright") is None:
        return None
    found = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if found:
        return found if shutil.which(found) else None
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        own = playwright.chromium.executable_path
    return own if Path(own).exists() else None


def write_plot(path: Path, simulation: Simulation, found: Sequence[PartitionSummary], *, seed: int) -> None:
    """Draw the subscription partitions with the largest backlogs into a file."""
    from throttlescope.app.presentation.figures.simulation import simulation_figure

    drawn = list(found)
    if len(drawn) > _DRAWN:
        drawn = sorted(drawn, key=lambda item: -item.peak_entries)[:_DRAWN]
    scenario, broker = simulation.scenario, simulation.scenario.broker
    starts_s = accumulate((state.duration_s for state in scenario.timeline), initial=0.0)
    marks = [
        (at_s, state.name)
        for at_s, state in zip(starts_s, scenario.timeline, strict=False)
        if state.interventions
    ]
    title = sentence(
        "figures.simulation.title",
        scenario=scenario.name,
        engine=broker.limiter_engine,
        version=broker.version,
        seed=seed,
    )
    if len(drawn) < len(found):
        title = sentence("figures.simulation.some", title=title, drawn=len(drawn), partitions=len(found))
    write_figure(path, simulation_figure(drawn, marks=marks, title=title), div_id="simulation")


def write_figure(path: Path, figure: go.Figure, *, div_id: str) -> None:
    """Write a figure as HTML, or as PNG where the file's name ends so; ``div_id`` is its name in the page."""
    from throttlescope.app.presentation.figures.chart import CONFIG

    # Without a name of its own the figure would get a random one, and the same run another file.
    page = figure.to_html(include_plotlyjs=True, config=CONFIG, div_id=div_id)
    if path.suffix.lower() == ".png":
        _write(path, _photograph(page, int(figure.layout.height)))
    else:
        _write(path, page.encode("utf-8"))


def _photograph(page: str, height_px: int) -> bytes:
    from playwright.sync_api import Error, sync_playwright

    # Called first: it may start a Playwright of its own.
    program = chromium_path()
    arguments = ["--disable-dev-shm-usage"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        # Chromium has no sandbox for root; the page is our own and fetches nothing.
        arguments.append("--no-sandbox")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "plot.html"
        source.write_text(page, encoding="utf-8")
        try:
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(
                    executable_path=program, args=arguments, timeout=_TIMEOUT_MS
                )
                try:
                    sheet = browser.new_page(viewport={"width": _WIDTH_PX, "height": height_px})
                    sheet.set_default_timeout(_TIMEOUT_MS)
                    sheet.goto(source.as_uri())
                    sheet.wait_for_selector(".js-plotly-plot .main-svg")
                    return sheet.locator(".js-plotly-plot").screenshot()
                finally:
                    browser.close()
        except Error as error:
            reason = str(error).strip().splitlines()[0]
            raise ThrottlescopeError(
                "The browser did not draw the plot", got=reason, fix=_USE_HTML
            ) from error


def _write(path: Path, content: bytes) -> None:
    try:
        path.write_bytes(content)
    except OSError as error:
        raise InputError("--plot: the file cannot be written", got=f"{path}: {error.strerror}") from error
