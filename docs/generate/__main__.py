"""``python -m docs.generate [NAME...]`` writes the pages that are made from code. In: names of generators. Out: files of ``docs/``."""

from __future__ import annotations

import argparse

from docs.generate.generators import GENERATORS


def main() -> None:
    """Write the pages of the named generators, by default all."""
    parser = argparse.ArgumentParser(
        prog="python -m docs.generate", description="Write the pages that are made from code."
    )
    parser.add_argument(
        "names", metavar="NAME", nargs="*", help=f"one of {', '.join(GENERATORS)}; by default all"
    )
    names = parser.parse_args().names
    if unknown := [name for name in names if name not in GENERATORS]:
        parser.error(f"no generator {', '.join(unknown)}; there are {', '.join(GENERATORS)}")
    for name in names or GENERATORS:
        generator = GENERATORS[name]
        present = generator.PAGE.read_text(encoding="utf-8") if generator.PAGE.exists() else ""
        generator.PAGE.write_text(generator.render(present), encoding="utf-8")


if __name__ == "__main__":
    main()
