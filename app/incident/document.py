"""HTML documents that open without a network. In: a template and its values. Out: one page with its style and scripts.

Names come from other people's systems: Jinja escapes every value, except those that the template marks as safe. The page fetches
nothing and runs no script but those that its content security policy names by their hash.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping, Sequence
from importlib import resources

from jinja2 import Environment, FunctionLoader, StrictUndefined

from throttlescope.models.messages.language import HTML_CODES, current

_TEMPLATES = resources.files("throttlescope.app.incident").joinpath("templates")


def _source(name: str) -> str:
    return _TEMPLATES.joinpath(name).read_text(encoding="utf-8")


def document(
    name: str,
    values: Mapping[str, object],
    *,
    title: str,
    scripts: Sequence[str] = (),
    filters: Mapping[str, Callable] | None = None,
) -> str:
    """The document of the template ``NAME.html``, with the style ``NAME.css``.

    Parameters
    ----------
    scripts : sequence of str
        Run in this order at the end of the page.
    filters : mapping, optional
        Filters of the template.
    """
    environment = Environment(
        loader=FunctionLoader(_source),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= filters or {}
    environment.tests["kind"] = lambda value, kind: type(value).__name__ == kind
    return environment.get_template(f"{name}.html").render(
        values,
        title=title,
        language=HTML_CODES[current()],
        style=_source(f"{name}.css"),
        scripts=scripts,
        allowed_scripts=" ".join(f"'sha256-{_digest(script)}'" for script in scripts) or "'none'",
    )


def _digest(script: str) -> str:
    # A browser reads line ends as \n before it hashes.
    text = script.replace("\r\n", "\n").replace("\r", "\n")
    return base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
