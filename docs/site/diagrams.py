"""Pictures of Mermaid diagrams. In: the diagrams of the pages. Out: ``docs/images/diagrams/*.svg``, each named by the text that it was drawn from.

``python -m docs.site.diagrams`` draws those that have no picture and removes those of old texts. It fetches Mermaid with npm and draws in Chromium.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

PICTURES = Path(__file__).parents[1] / "images" / "diagrams"
_MERMAID = "mermaid@11"
# Labels of HTML are not shown in a picture that another page includes.
_SETTINGS = "{startOnLoad: false, theme: 'neutral', htmlLabels: false, flowchart: {htmlLabels: false}, deterministicIds: true}"


def picture_of(text: str) -> Path:
    """Where the picture of a diagram is."""
    return PICTURES / f"{hashlib.sha256(text.strip().encode()).hexdigest()[:16]}.svg"


def draw(texts: list[str]) -> list[str]:
    """Draw diagrams as SVG."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            ["npm", "pack", "--silent", _MERMAID], cwd=folder, check=True, stdout=subprocess.DEVNULL
        )
        (packed,) = Path(folder).glob("mermaid-*.tgz")
        with tarfile.open(packed) as archive:
            script = archive.extractfile("package/dist/mermaid.min.js").read().decode()
    with sync_playwright() as playwright:
        # As root there is no sandbox; what is drawn is ours.
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("CHROMIUM") or shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page()
        page.add_script_tag(content=script)
        page.evaluate(f"mermaid.initialize({_SETTINGS})")
        return [
            page.evaluate("async text => (await mermaid.render('diagram', text)).svg", text) for text in texts
        ]


def main() -> None:
    from docs.site.pages import diagrams

    texts = [text for text in diagrams() if not picture_of(text).exists()]
    kept = {picture_of(text) for text in diagrams()}
    PICTURES.mkdir(parents=True, exist_ok=True)
    for text, picture in zip(texts, draw(texts) if texts else [], strict=True):
        # As wide as it was drawn: it is an image of the page, which makes it smaller where it has to be.
        width = re.search(r'viewBox="\S+ \S+ (\S+) (\S+)"', picture)
        picture = picture.replace('width="100%"', f'width="{width[1]}" height="{width[2]}"', 1)
        picture_of(text).write_text(picture + "\n")
    for old in set(PICTURES.glob("*.svg")) - kept:
        old.unlink()


if __name__ == "__main__":
    main()
