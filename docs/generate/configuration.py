"""The page of the configuration. In: the fields of the settings. Out: ``docs/reference/configuration.md`` with its table of keys rewritten."""

from __future__ import annotations

from docs.generate.markdown import DOCS, fill_between
from throttlescope.app.config import describe

PAGE = DOCS / "reference" / "configuration.md"
_BEGIN, _END = "<!-- keys:", "<!-- end of keys -->"


def render(page: str) -> str:
    """The page with its table of keys rewritten."""
    rows = [
        f"| `{key}` | {type_} | {default if default in ('required', 'not set') else f'`{default}`'} | {meaning} |"
        for key, type_, default, meaning in describe()
    ]
    table = "\n".join(["| key | type | default | meaning |", "|---|---|---|---|", *rows])
    return fill_between(page, _BEGIN, _END, table)
