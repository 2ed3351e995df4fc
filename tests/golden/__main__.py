"""``python -m tests.golden LAKE`` writes every golden file anew from a demo's lake; what is not asked for any more is deleted."""

from __future__ import annotations

import argparse
from pathlib import Path

from tests.app.web.browser import running_chromium
from tests.golden.texts import GOLDEN, golden, texts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("lake", type=Path)
    lake = parser.parse_args().lake.resolve()
    written = set()
    with running_chromium() as browser:
        for name, text in texts(lake, browser):
            file = golden(name)
            file.parent.mkdir(parents=True, exist_ok=True)
            old = file.read_text() if file.exists() else None
            file.write_text(text)
            written.add(file)
            print(f"{'same' if old == text else 'changed' if old else 'new':8}{name}", flush=True)
    for file in set(GOLDEN.rglob("*.txt")) - written:
        file.unlink()
        print(f"{'deleted':8}{file.relative_to(GOLDEN)}")


if __name__ == "__main__":
    main()
