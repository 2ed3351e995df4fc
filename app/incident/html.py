"""Blocks as one self-contained HTML page. In: blocks and a figure. Out: the page, including Plotly's code.

The page fetches nothing and runs two scripts, both named by their hash in its content security policy: a name that was taken
for markup all the same would find neither script nor network.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from html import escape as escaped
from typing import TYPE_CHECKING

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.blocks import (
    MOST_LETTERS,
    Block,
    Bullets,
    Code,
    Facts,
    Grid,
    Heading,
    Link,
    Name,
    Paragraph,
    Plots,
    TextBlock,
    plain,
)
from throttlescope.models.messages.units import visible

if TYPE_CHECKING:
    import plotly.graph_objects as go

_DRAW = """
var page = JSON.parse(document.getElementById("figure").textContent);
Plotly.newPlot("plots", page.figure.data, page.figure.layout, page.config);
"""

_STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, "Segoe UI", Roboto, Arial, sans-serif; color: #1c2126; background: #fff;
  max-width: 76rem; margin: 0 auto; padding: 1.5rem; }
h1 { font-size: 1.6rem; line-height: 1.25; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin-top: 2.2rem; border-bottom: 1px solid #d5dae0; padding-bottom: .2rem; }
h3 { font-size: 1rem; margin-bottom: .3rem; }
dl.facts { display: grid; grid-template-columns: minmax(8rem, 13rem) 1fr; gap: .5rem 1.2rem; margin: 1.2rem 0; }
dl.facts dt { font-weight: 650; } dl.facts dd { margin: 0; overflow-wrap: anywhere; } dl.facts dd p { margin: 0 0 .25rem; }
code, pre { font: .88em/1.45 ui-monospace, "DejaVu Sans Mono", Consolas, monospace; }
code { background: #f1f3f5; padding: .05em .25em; border-radius: 3px; overflow-wrap: anywhere; }
pre { background: #f6f7f9; border: 1px solid #e1e5ea; border-radius: 4px; padding: .6rem .8rem; white-space: pre-wrap; overflow-wrap: anywhere; }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .3rem .7rem .3rem 0; border-bottom: 1px solid #e6e9ed; overflow-wrap: anywhere; min-width: 4.5rem; }
th { font-weight: 650; } a { color: #0b5cad; }
@media (max-width: 640px) { dl.facts { grid-template-columns: 1fr; gap: .1rem; } dl.facts dd { margin-bottom: .6rem; } }
@media print { body { max-width: none; padding: 0; } }
"""


def html(blocks: Iterable[Block], figure: go.Figure | None, *, title: str) -> str:
    """The whole page; without a figure the plots' place says so."""
    from plotly.offline import get_plotlyjs

    scripts = [] if figure is None else [get_plotlyjs(), _DRAW]
    body = "\n".join(_block(block, figure) for block in blocks)
    allowed = " ".join(f"'sha256-{_digest(script)}'" for script in scripts) or "'none'"
    policy = f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'"
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="referrer" content="no-referrer">',
            # An inline icon keeps browsers from requesting one.
            '<link rel="icon" href="data:,">',
            f"<title>{escaped(fmt.name(title))}</title>",
            f"<style>{_STYLE}</style>",
            "</head>",
            "<body>",
            body,
            *([] if figure is None else [_data(figure)]),
            *(f"<script>{script}</script>" for script in scripts),
            "</body>",
            "</html>",
            "",
        ]
    )


def _data(figure: go.Figure) -> str:
    from throttlescope.app.presentation.figures.chart import CONFIG

    config = {**CONFIG, "toImageButtonOptions": {"filename": "throttlescope-incident"}}
    import json

    whole = f'{{"figure": {figure.to_json()}, "config": {json.dumps(config)}}}'
    # Inside a script element only these could end it or begin a comment.
    for letter in "<>&":
        whole = whole.replace(letter, f"\\u{ord(letter):04x}")
    return f'<script type="application/json" id="figure">{whole}</script>'


def _digest(script: str) -> str:
    # A browser reads line ends as \n before it hashes.
    text = script.replace("\r\n", "\n").replace("\r", "\n")
    return base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def _block(block: Block, figure: go.Figure | None) -> str:
    match block:
        case Heading():
            return f"<h{block.level}>{inline(block.words)}</h{block.level}>"
        case Paragraph():
            return f"<p>{inline(block.words)}</p>"
        case Facts():
            rows = [
                f"<dt>{escaped(label)}</dt><dd>{''.join(f'<p>{inline(row)}</p>' for row in rows)}</dd>"
                for label, rows in block.rows
            ]
            return f'<dl class="facts">{"".join(rows)}</dl>'
        case Bullets():
            return f"<ul>{''.join(f'<li>{inline(row)}</li>' for row in block.rows)}</ul>"
        case Grid():
            heads = "".join(f"<th>{escaped(head)}</th>" for head in block.heads)
            rows = "".join(
                f"<tr>{''.join(f'<td>{inline(cell)}</td>' for cell in row)}</tr>" for row in block.rows
            )
            return (
                f'<div class="wide"><table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>'
            )
        case Code():
            lines = "\n".join(visible(line) for line in block.lines.split("\n"))
            return f"<pre><code>{escaped(lines)}</code></pre>"
        case Plots():
            drawn = '<div id="plots"></div>' if figure is not None else ""
            return f"{drawn}<p>{inline(block.caption)}</p>"
    raise TypeError(type(block))


def inline(words: TextBlock) -> str:
    """One line of HTML; each part keeps its own direction of writing."""
    return "".join(map(_part, words.parts))


def _part(part) -> str:
    if isinstance(part, Name):
        return f"<bdi><code>{escaped(fmt.name(part.text, MOST_LETTERS))}</code></bdi>"
    if isinstance(part, Link):
        return f'<a href="{escaped(part.url)}" rel="noreferrer">{escaped(part.label)}</a>'
    return f"<bdi>{escaped(plain(part))}</bdi>"
