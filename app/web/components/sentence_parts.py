"""A sentence with links or marks in it. In: a message whose values may be components. Out: text and components, in the order of the sentence."""

from __future__ import annotations

from dash.development.base_component import Component

from throttlescope.models.messages.catalogue import Message, render

#: Around the name of a component in the rendered text; names of a cluster never have it, see ``format.name``.
_MARK = "\0"


def sentence_parts(message: Message) -> list:
    """What is written for ``children``: values that are components, or lists of them, are put in as they are."""
    components = {name: value for name, value in message.values.items() if _is_shown(value)}
    marked = {name: f"{_MARK}{name}{_MARK}" for name in components}
    pieces = render(Message(message.key, {**message.values, **marked})).split(_MARK)
    parts: list = []
    for n, piece in enumerate(pieces):
        found = components[piece] if n % 2 else piece
        parts += found if isinstance(found, list) else [found] if found else []
    return parts


def _is_shown(value: object) -> bool:
    """Whether a value is a component, or a list with one; other lists are written by their unit."""
    return isinstance(value, Component) or (isinstance(value, list) and any(map(_is_shown, value)))
