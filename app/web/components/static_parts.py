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
    if isinstance(value, list | tuple):
        return [with_static_parts(one) for one in value]
    if not isinstance(value, Component):
        return value
    part = _part(value)
    if part is not None:
        return {"namespace": "throttlescope", "type": "StaticPart", "props": {"part": part}}
    children = getattr(value, "children", None)
    if not isinstance(children, list | tuple | Component):
        return value
    # Not changed in place: the tree may be kept by who built it.
    value = copy.copy(value)
    value.children = with_static_parts(children)
    return value


def _part(value: Any) -> Any:
    """``[tag, attributes, child, ...]`` of an element, a text or number as it is; None where something in it has to stay a component."""
    if isinstance(value, str | int | float):
        return value
    if not isinstance(value, Component):
        return None
    props = value.to_plotly_json()["props"]
    if isinstance(value, dcc.Link):
        tag, is_static = _LINK_TAG, props.keys() <= _LINK
    else:
        tag = value._type.lower()
        is_static = value._namespace == "dash_html_components" and value._type in _ELEMENTS
        is_static = is_static and not props.keys() & {"id", "n_clicks"}
    if not is_static:
        return None
    children = props.pop("children", None)
    parts = [tag, props]
    for child in children if isinstance(children, list | tuple) else (children,):
        if child is None:
            continue
        part = _part(child)
        if part is None:
            return None
        parts.append(part)
    return parts
