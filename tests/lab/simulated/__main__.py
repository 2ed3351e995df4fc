"""``python -m tests.lab.simulated`` recomputes ``docs/accuracy/simulator.md``, its pictures and ``models/throttling/measured.json`` from all recordings."""

from __future__ import annotations

import json

from tests.lab.simulated.page import MEASURED, PAGE, figures, parts, plots, renewed
from tests.lab.simulated.recorded import folders, read
from tests.lab.simulated.table import judge


def main() -> None:
    """Write the page's tables, its pictures, and its figures as data."""
    found = [judge(read(folder)) for folder in folders()]
    PAGE.write_text(renewed(PAGE.read_text(), parts(found)))
    MEASURED.write_text(json.dumps(figures([item.row for item in found]), indent=1) + "\n")
    for file, text in plots(found).items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


if __name__ == "__main__":
    main()
