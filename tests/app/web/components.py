"""Component trees without a browser. In: a Dash component. Out: its parts and the text that a person reads."""

from __future__ import annotations

from collections.abc import Iterator

from dash.development.base_component import Component


def walk(part) -> Iterator[Component]:
    """The component and everything below it, top down."""
    if isinstance(part, list | tuple):
        for child in part:
            yield from walk(child)
    elif isinstance(part, Component):
        yield part
        yield from walk(getattr(part, "children", None))


def text_of(part) -> str:
    """All text, in reading order."""
    if isinstance(part, list | tuple):
        return "".join(text_of(child) for child in part)
    if isinstance(part, Component):
        title = getattr(part, "title", "") if type(part).__name__ == "Alert" else ""
        return f"{title} " * bool(title) + text_of(getattr(part, "children", None)) + " "
    return "" if part is None else str(part)


def find(part, kind: str, **attributes) -> list[Component]:
    """Parts of one type (``"Link"``) with these attributes."""
    return [
        found
        for found in walk(part)
        if type(found).__name__ == kind
        and all(getattr(found, name, None) == value for name, value in attributes.items())
    ]
