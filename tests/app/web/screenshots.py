"""Pictures of the main pages for the README and the guide, from the lake that the demo makes of recordings of a real broker.

    python -m tests.app.web.screenshots --lake DIR [--out docs/images]

In: a lake. Out: PNG files, 1440 x 900: what is seen without scrolling. A test takes them again and holds them against those kept.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import Browser

from tests.app.web.browser import in_language, is_settled, running_chromium, running_server
from throttlescope.app.presentation.links.subscription import SubscriptionAddress, SubscriptionPartition
from throttlescope.app.web.address.what_if import WhatIfAddress
from throttlescope.ingest.core.times import MINUTE_MS, parse_time
from throttlescope.models.messages.language import DEFAULT_LANGUAGE

SIZES = {"desktop": (1440, 900), "phone": (390, 844)}
TIMEOUT_MS = 120_000

#: Held back by its topic's message limit, which two others use as well, to the demo's last minute.
_HELD = SubscriptionPartition("europe-west", "persistent://payments/checkout/carts", -1, "support-desk")
_AT_MS = parse_time("2026-11-23T16:28:00Z", now_ms=0)
_WHAT_IF = WhatIfAddress(
    _HELD,
    start_ms=_AT_MS - 10 * MINUTE_MS,
    end_ms=_AT_MS,
    ahead="1h",
    runs=("topic.msg=90", "topic.msg=110", "topic.msg=160"),
)

#: Pages by the name of their picture: where they are, and what is there when they are done.
PICTURES = {
    "overview": ("/", "#overview-content .js-plotly-plot .xtick text"),
    "subscriptions": ("/subscriptions", "#subscriptions-grid .ag-row .cause-badge"),
    "subscription": (SubscriptionAddress(_HELD, at_ms=_AT_MS).href(), ".js-plotly-plot .xtick text"),
    "limits": ("/limits", "#limits-grid .ag-row"),
    "what-if-lab": (_WHAT_IF.href(), ".js-plotly-plot .xtick text"),
}

#: Pictures that are taken in another scheme, size or language too.
VARIANTS = (
    {"names": ["overview"], "scheme": "dark"},
    {"names": ["overview"], "size": "phone"},
    {"names": ["overview", "subscription", "limits"], "language": "zh"},
)


def shoot(
    browser: Browser,
    address: str,
    out: Path,
    *,
    names: Sequence[str] = (),
    scheme: str = "light",
    size: str = "desktop",
    language: str = DEFAULT_LANGUAGE,
) -> list[Path]:
    """Take pictures of pages that a server shows; their paths."""
    out.mkdir(parents=True, exist_ok=True)
    width, height = SIZES[size]
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
    in_language(context, address, language)
    page = context.new_page()
    page.set_default_timeout(TIMEOUT_MS)
    usual = {"desktop", "light", DEFAULT_LANGUAGE}
    suffix = "".join(f"-{word}" for word in (size, scheme, language) if word not in usual)
    taken = []
    for name in names or PICTURES:
        path, done = PICTURES[name]
        page.goto(address + path)
        page.wait_for_selector(done)
        is_settled(page)
        page.wait_for_load_state("networkidle")
        taken.append(out / f"{name}{suffix}.png")
        taken[-1].write_bytes(_at_rest(page))
    context.close()
    return taken


def _at_rest(page) -> bytes:
    """A picture that is the same half a second later: what moves has come to its place."""
    before = None
    for _ in range(60):
        picture = page.screenshot()
        if picture == before:
            break
        before = picture
        page.wait_for_timeout(500)
    return picture


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lake", required=True)
    parser.add_argument("--out", type=Path, default=Path("docs/images"))
    parser.add_argument("--sizes", nargs="*", default=["desktop"], choices=list(SIZES))
    parser.add_argument("--schemes", nargs="*", default=["light"], choices=["light", "dark"])
    arguments = parser.parse_args()
    with running_server(arguments.lake) as address, running_chromium() as browser:
        for scheme in arguments.schemes:
            for size in arguments.sizes:
                for path in shoot(browser, address, arguments.out, scheme=scheme, size=size):
                    print(path)
        for variant in VARIANTS:
            for path in shoot(browser, address, arguments.out, **variant):
                print(path)


if __name__ == "__main__":
    main()
