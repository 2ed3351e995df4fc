"""Pictures of both pages for the README and the guide, from a lake that was really filled.

    python -m tests.app.web.screenshots --lake DIR [--out docs/images] [--subscription TEXT]

In: a lake. Out: PNG files, 1440 x 900 at first sight and whole pages. The first row that a search for
TEXT finds is opened: by default a shipped recording whose byte counter ticks although its consumers are slow.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from tests.app.web.browser import running_chromium, running_server

SIZES = {"desktop": (1440, 900), "phone": (390, 844)}


def take(
    lake: str, out: Path, *, subscription: str | None = None, schemes=("light",), sizes=("desktop",)
) -> list[Path]:
    """Take the pictures and return their paths."""
    out.mkdir(parents=True, exist_ok=True)
    taken = []
    with running_server(lake) as address, running_chromium() as browser:
        for scheme in schemes:
            for size in sizes:
                width, height = SIZES[size]
                page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
                page.goto(address)
                page.wait_for_selector("#overview-content .card")
                page.wait_for_timeout(500)
                suffix = ("" if size == "desktop" else f"-{size}") + (
                    "" if scheme == "light" else f"-{scheme}"
                )
                taken.append(_shot(page, out / f"overview{suffix}.png"))
                page.goto(f"{address}/subscriptions")
                page.wait_for_selector("#subscriptions-grid .ag-row .cause-badge")
                page.wait_for_selector("#subscriptions-cards .card")
                page.wait_for_timeout(1000)
                taken.append(_shot(page, out / f"subscriptions{suffix}.png"))
                if subscription:
                    page.fill("#subscriptions-search", subscription)
                    page.wait_for_timeout(800)
                page.locator("#subscriptions-grid .ag-row[row-index='0'] a").first.click()
                page.wait_for_selector("#answer")
                page.wait_for_selector(".js-plotly-plot .xtick text")
                page.wait_for_timeout(1500)
                taken.append(_shot(page, out / f"subscription{suffix}-first-sight.png", whole=False))
                taken.append(_shot(page, out / f"subscription{suffix}.png"))
                page.close()
    return taken


def _shot(page, path: Path, *, whole: bool = True) -> Path:
    page.screenshot(path=str(path), full_page=whole)
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lake", required=True)
    parser.add_argument("--out", type=Path, default=Path("docs/images"))
    parser.add_argument("--subscription", default="slow-limit-bytes")
    parser.add_argument("--sizes", nargs="*", default=["desktop"], choices=list(SIZES))
    parser.add_argument("--schemes", nargs="*", default=["light"], choices=["light", "dark"])
    arguments = parser.parse_args()
    for path in take(
        arguments.lake,
        arguments.out,
        subscription=arguments.subscription,
        schemes=arguments.schemes,
        sizes=arguments.sizes,
    ):
        print(path)


if __name__ == "__main__":
    main()
