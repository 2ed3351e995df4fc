"""``python -m tests.lab.simulated`` writes ``docs/accuracy/simulator.md`` and its pictures anew from all recordings."""

from __future__ import annotations

from tests.lab.simulated.page import PAGE, parts, plots, renewed
from tests.lab.simulated.recorded import folders, read
from tests.lab.simulated.table import judge


def main() -> None:
    """Write the page's tables and its pictures."""
    found = [judge(read(folder)) for folder in folders()]
    PAGE.write_text(renewed(PAGE.read_text(), parts(found)))
    for file, text in plots(found).items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


if __name__ == "__main__":
    main()
