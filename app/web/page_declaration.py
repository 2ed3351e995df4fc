"""What a page of the web app is. In: its path, title, address and frame. Out: one way for every callback to check the path, read the address and explain faults."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dash import Dash, Input, Output, State, no_update
from dash.development.base_component import Component

from throttlescope.app.presentation.links.fields import PageAddress
from throttlescope.app.web.components.shell import explained
from throttlescope.app.web.data.reader import LakeReader
from throttlescope.ingest.core.errors import InputError
from throttlescope.models.messages.catalogue import sentence

ADDRESS_QUERY = Input("address", "search")
ADDRESS_PATH = State("address", "pathname")


@dataclass(frozen=True)
class WebPage:
    """One page.

    Attributes
    ----------
    path, title : str
        ``title`` is the page's name in English; see :attr:`label`.
    address : type of PageAddress or None
        How its query string is read; None: the page has no parts in its address.
    layout : callable
        From the address and its query string to the frame of the page; callbacks fill it. The address is None where it cannot be read.
    register : callable
        Registers the page's callbacks.
    """

    path: str
    title: str
    address: type[PageAddress] | None
    layout: Callable[[Any, str | None], Component]
    register: Callable[[Dash, LakeReader], None]

    @property
    def label(self) -> str:
        """The page's name in the header."""
        return sentence(f"label.page.{self.title.lower().replace('-', '_')}")

    def parse(self, query: str | None) -> PageAddress | None:
        """The address; an InputError says what cannot be read."""
        return None if self.address is None else self.address.parse(query)

    def frame(self, query: str | None) -> Component:
        """The page before its callbacks have filled it."""
        try:
            address = self.parse(query)
        except InputError:
            address = None  # The callbacks explain it.
        return self.layout(address, query)

    def callback(self, app: Dash, *parts: Output | Input | State, **options: Any) -> Callable:
        """Like ``app.callback``, and nothing changes while another page is open."""
        outputs = sum(isinstance(one, Output) for one in parts)
        unchanged = no_update if outputs == 1 else (no_update,) * outputs

        def decorate(build: Callable) -> Callable:
            @app.callback(*parts, ADDRESS_PATH, **options)
            def when_open(*arguments):
                *arguments, pathname = arguments
                return build(*arguments) if pathname == self.path else unchanged

            return build

        return decorate

    def fill(
        self,
        app: Dash,
        build: Callable,
        *outputs: Output,
        also: Sequence[Input] = (),
        on_fault: tuple = (),
        table: str | None = None,
        **options: Any,
    ) -> None:
        """Register the callback that fills parts of the page from its address.

        Parameters
        ----------
        build : callable
            From the address, and the values of ``also``, to the values of the outputs.
        outputs : Output
            The first one shows the explanation of a fault.
        also : sequence of Input
            What fills the parts again too.
        on_fault : tuple
            Values of the other outputs where the first one explains a fault.
        table : str, optional
            A table of this page whose rows depend on the address: it requests them again when the address changes.
        options
            Of ``app.callback``.
        """
        shown = () if table is None else (f"{table}-shown",)

        @self.callback(
            app,
            *outputs,
            *(Output(id, "data") for id in shown),
            ADDRESS_QUERY,
            *also,
            *(State(id, "data") for id in shown),
            **options,
        )
        def show(query, *values):
            arguments = values[: len(also)]
            found = explained(lambda: build(self.parse(query), *arguments))()
            if len(outputs) == 1:
                found = (found,)
            elif not isinstance(found, tuple):
                found = (found, *on_fault)
            for before in values[len(also) :]:
                found = (*found, no_update if (query or "") == before else query or "")
            return found[0] if len(found) == 1 else found

    def fill_quietly(self, app: Dash, build: Callable, output: Output) -> None:
        """Like :meth:`fill`; an address that cannot be read leaves this part empty: another part explains it."""

        @self.callback(app, output, ADDRESS_QUERY)
        def show(query):
            try:
                address = self.parse(query)
            except InputError:
                return None
            return explained(lambda: build(address))()
