"""A sentence with links or marks in it. In: a message whose values may be components. Out: text and components, in the order of the sentence."""

from __future__ import annotations

from dash.development.base_component import Component

from throttlescope.models.messages.catalogue import Message, render

#: Around the name of a component in the rendered text; names of a cluster never have it, see ``format.name``.
_MARK = "\0"


def sentence_parts(message: Message) -> list:
    """What is written for ``children``: values that are components, or lists of them, are put in as they are."""
    components = {
        name: value for name, value in message.values.items() if isinstance(value, Component | list)
    }
    marked = {name: f"{_MARK}{name}{_MARK}" for name in components}
    pieces = render(Message(message.key, {**message.values, **marked})).split(_MARK)
    parts: list = []
    for n, piece in enumerate(pieces):
        found = components[piece] if n % 2 else piece
        parts += found if isinstance(found, list) else [found] if found else []
    return parts
