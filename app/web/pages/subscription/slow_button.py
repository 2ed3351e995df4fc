"""A button whose answer takes seconds. In: its texts, and the function that answers. Out: one callback; the button shows that it waits."""

from __future__ import annotations

from collections.abc import Callable

from dash import Dash, Input, Output, State, no_update


def register_button(
    app: Dash, button: str, label: str, waiting: str, output: Output, answer: Callable[[dict], object]
) -> None:
    """On a click, pass what the page shows to ``answer`` and its result to ``output``.

    Parameters
    ----------
    button : str
        Its id.
    label, waiting : str
        Its text, and its text while the answer is awaited.
    """

    @app.callback(
        output,
        Input(button, "n_clicks"),
        State("subscription-shown", "data"),
        running=[
            (Output(button, "disabled"), True, False),
            (Output(button, "children"), waiting, label),
        ],
        prevent_initial_call=True,
    )
    def run(clicks, data):
        return answer(data) if clicks and data else no_update
