"""Inputs whose values are part of the address: a search box and lists to choose from. In: a page and its parts. Out: components, one callback in the browser."""

from __future__ import annotations

from dataclasses import dataclass

import dash_mantine_components as dmc
from dash import ClientsideFunction, Dash, Input, Output, State, dcc

from throttlescope.app.presentation.links.fields import PageAddress
from throttlescope.models.messages.catalogue import sentence

#: Rows that a list offers at once; what is typed finds the others.
_OFFERED = 200


def search_box(page: str, value: str, placeholder: str, *, label: str | None = None) -> dmc.TextInput:
    """A box for words, ``PAGE-search``; ``label`` is its name for screen readers."""
    return dmc.TextInput(
        id=f"{page}-search",
        value=value,
        placeholder=placeholder,
        debounce=200,
        leftSection="⌕",
        rightSection=dmc.Kbd("/", size="xs"),
        className=f"{page}-search search-box",
        **{"aria-label": label or placeholder},
    )


def choice(page: str, name: str) -> dmc.MultiSelect:
    """A list of which several are chosen, ``PAGE-NAME``; a callback fills it."""
    return dmc.MultiSelect(
        id=f"{page}-{name}",
        data=[],
        value=[],
        placeholder=sentence(f"label.all_of.{name}"),
        searchable=True,
        clearable=True,
        limit=_OFFERED,
        className=f"{page}-choice",
        **{"aria-label": sentence(f"label.choice.{name}")},
    )


@dataclass(frozen=True)
class AddressInputs:
    """Which inputs of a page are part of its address.

    Attributes
    ----------
    page : str
        The ids begin with it.
    address : type of PageAddress
    names : tuple of str
        The inputs; each is a field of the address.
    unless : str or None
        Where the address has this field, something is opened and the inputs are not shown.
    """

    page: str
    address: type[PageAddress]
    names: tuple[str, ...]
    unless: str | None = None

    def stores(self) -> list[dcc.Store]:
        """What the callback needs in the layout."""
        inputs = [
            {"id": f"{self.page}-{name}", "part": self.address.query_name(name), "many": name != "search"}
            for name in self.names
        ]
        unless = None if self.unless is None else self.address.query_name(self.unless)
        of = {"path": self.address.PATH, "unless": unless, "inputs": inputs}
        return [dcc.Store(id=f"{self.page}-inputs", data=of), dcc.Store(id=f"{self.page}-synced")]

    def register(self, app: Dash) -> None:
        """One callback in the browser, both ways.

        It writes the address itself: with the address as an output, Dash would hold back every callback that reads it.
        """
        app.clientside_callback(
            ClientsideFunction("throttlescope", "syncInputs"),
            Output(f"{self.page}-synced", "data"),
            Input("address", "search"),
            *(Input(f"{self.page}-{name}", "value") for name in self.names),
            State("address", "pathname"),
            State(f"{self.page}-inputs", "data"),
        )
