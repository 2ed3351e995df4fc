"""Parts of a page that never change, as one component each. In: components. Out: the same page of fewer components.

Dash tells every component of a page about every component that is added: a table of a thousand cells costs the browser a million calls. What has no id and no
behaviour of its own is sent as plain elements instead, which ``static_parts.js`` draws.
"""

from __future__ import annotations

import copy
from typing import Any

from dash import dcc
from dash.development.base_component import Component

#: Elements without behaviour, by their names in ``dash.html``; addresses are cleaned as Dash does.
_ELEMENTS = frozenset(
    [
        *("A", "Abbr", "B", "Bdi", "Br", "Button", "Caption", "Code", "Dd", "Details", "Div", "Dl", "Dt", "Em", "Figcaption", "Figure"),
        *("H1", "H2", "H3", "H4", "Hr", "I", "Img", "Kbd", "Li", "Nav", "Ol", "P", "Pre", "S", "Samp", "Section", "Small", "Span"),
        *("Strong", "Sub", "Summary", "Sup", "Table", "Tbody", "Td", "Tfoot", "Th", "Thead", "Time", "Tr", "Ul"),
    ]
)  # fmt: skip
#: What a link to another page may have here; with anything else it stays a component.
_LINK = frozenset({"children", "href", "className", "title", "style"})
_LINK_TAG = "Link"


def with_static_parts(value: Any) -> Any:
    """What a callback returns, with its largest parts without behaviour as one component each."""
    return _sent_and_part(value)[0]


def _sent_and_part(value: Any) -> tuple[Any, Any]:
    """What is sent for a value where a component surrounds it, and its part where plain elements do; None where something in it has to stay a component.

    From the leaves up, so that each node is looked at once, however deep the one with behaviour is.
    """
    if isinstance(value, str | int | float):
        return value, value
    if isinstance(value, list | tuple):
        return [with_static_parts(one) for one in value], None
    if not isinstance(value, Component):
        return value, None
    children = getattr(value, "children", None)
    several = isinstance(children, list | tuple)
    built = [_sent_and_part(child) for child in (children if several else (children,)) if child is not None]
    element = _element(value)
    if element is not None and all(part is not None for _, part in built):
        element += (part for _, part in built)
        return {"namespace": "throttlescope", "type": "StaticPart", "props": {"part": element}}, element
    if not isinstance(children, list | tuple | Component):
        return value, None
    # Not changed in place: the tree may be kept by who built it.
    value = copy.copy(value)
    value.children = [sent for sent, _ in built] if several else built[0][0]
    return value, None


def _element(value: Component) -> list[Any] | None:
    """``[tag, attributes]`` of a component without behaviour."""
    is_link = isinstance(value, dcc.Link)
    if not is_link and (value._namespace != "dash_html_components" or value._type not in _ELEMENTS):
        return None
    props = value.to_plotly_json()["props"]
    if not props.keys() <= _LINK if is_link else props.keys() & {"id", "n_clicks"}:
        return None
    props.pop("children", None)
    return [_LINK_TAG if is_link else value._type.lower(), props]
