"""What-if answers in every format. In: a `WhatIfOutcome`. Out: text or JSON on stdout, and a plot where one was requested."""

from __future__ import annotations

from typing import TYPE_CHECKING

from throttlescope.app.presentation.output import write_result
from throttlescope.app.presentation.text_report import print_report
from throttlescope.app.presentation.whatif_document import document
from throttlescope.app.presentation.whatif_text import whatif_report
from throttlescope.models.messages.catalogue import sentence

if TYPE_CHECKING:
    from throttlescope.app.cli.settings import CommandOptions
    from throttlescope.app.presentation.progress import TerminalProgress
    from throttlescope.app.services.whatif.what_if import WhatIfOutcome


def write_what_if(one: WhatIfOutcome, progress: TerminalProgress, options: CommandOptions) -> None:
    """Draw the plot, then write the answer in the requested format."""
    if (plot := options.given["plot"]) is not None:
        from throttlescope.app.presentation.figures.image import write_figure
        from throttlescope.app.presentation.figures.replay import whatif_figure

        with progress.step(sentence("label.drawing")):
            write_figure(plot, whatif_figure(one.found, one.known), div_id="whatif")
            progress.note(str(plot))
    write_result(
        options.format,
        table=lambda: print_report(whatif_report(one.found, one.known)),
        document=lambda: document(one.found, one.known),
    )
