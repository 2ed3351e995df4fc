"""A button whose answer takes seconds. In: its texts, and the function that answers. Out: the button, which shows that it waits, and one callback."""

from __future__ import annotations

from collections.abc import Callable

from dash import Dash, Input, Output, State, html, no_update


def slow_button(
    button: str, label: str, waiting: str, *, title: str, css_class: str = "action"
) -> html.Button:
    """The button.

    Parameters
    ----------
    button : str
        Its id.
    label, waiting : str
        Its text, and its text while the answer is awaited: the style sheet shows that one while the button is disabled.
    """
    return html.Button(
        label, id=button, className=f"{css_class} slow", title=title, **{"data-waiting": waiting}
    )


def register_button(app: Dash, button: str, output: Output, answer: Callable[[dict], object]) -> None:
    """On a click, pass what the page shows to ``answer`` and its result to ``output``."""

    @app.callback(
        output,
        Input(button, "n_clicks"),
        State("subscription-shown", "data"),
        running=[(Output(button, "disabled"), True, False)],
        prevent_initial_call=True,
    )
    def run(clicks, data):
        return answer(data) if clicks and data else no_update
