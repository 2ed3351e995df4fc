"""The What-if lab. In: the address (subscription, window, runs, search). Out: components; every control writes the address.

Three parts are filled separately: the *place* (head, controls) when the window changes, the *runs* at every move of a control, the
*search* when one is named. The browser's script (``assets/what_if.js``) sends them the parts of the address, one request for runs at a
time: the newest is next.
"""

from __future__ import annotations

import time

from dash import ClientsideFunction, Dash, Input, Output, State, dcc, html, no_update
from dash.dependencies import ALL

from throttlescope.app.presentation.links.paths import WHAT_IF_PATH
from throttlescope.app.services.whatif import warm
from throttlescope.app.services.whatif.background import Searches
from throttlescope.app.services.whatif.search import ANY, EXACT, Search
from throttlescope.app.web.address.what_if import AHEADS_S, WhatIfAddress
from throttlescope.app.web.components.shell import explained, panel, skeleton
from throttlescope.app.web.data.reader import LakeReader
from throttlescope.app.web.data.what_if import LabWindow, Windows
from throttlescope.app.web.page_declaration import ADDRESS_PATH, ADDRESS_QUERY, WebPage
from throttlescope.app.web.pages.what_if import search, subscription_search
from throttlescope.app.web.pages.what_if.certainty import certainty, error_line
from throttlescope.app.web.pages.what_if.command import command_card
from throttlescope.app.web.pages.what_if.controls import SLIDER, VALUE
from throttlescope.app.web.pages.what_if.curves import figure
from throttlescope.app.web.pages.what_if.range_line import range_line
from throttlescope.app.web.pages.what_if.replayed_runs import LabView, absolute, read_view, settings_of
from throttlescope.app.web.pages.what_if.run_comparison import runs_table
from throttlescope.app.web.pages.what_if.window import head, place
from throttlescope.ingest.core.errors import InputError
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.language import current

TITLE = "What-if"

_WAIT_MS = 1_500
#: Parts of the page that the runs fill, in this order.
_RUNS = (
    "what-if-graph.figure",
    "what-if-bar",
    "what-if-said",
    "what-if-runs",
    "what-if-command",
    "what-if-sure",
)


def layout(_address: WhatIfAddress | None, _query: str | None) -> html.Div:
    """The frame of the page; its content is filled by callbacks."""
    warm.begin()
    return html.Div(
        [
            html.Div(skeleton(), id="what-if-place", className="what-if"),
            # The window of the address; its other parts are shown next to their components, in the place.
            dcc.Store(id="what-if-window"),
            # What the server answers: which address was evaluated, which has absolute times, which search began.
            dcc.Store(id="what-if-answered"),
            dcc.Store(id="what-if-absolute"),
            dcc.Store(id="what-if-job-begun"),
            dcc.Store(id="what-if-written"),
            dcc.Interval(id="what-if-wait", interval=_WAIT_MS, disabled=True),
        ]
    )


def register(app: Dash, reader: LakeReader) -> None:
    """Callbacks of the server, and those in the browser that write the address."""
    windows = Windows(reader.lake_path)
    searches = Searches()
    _in_browser(app)

    @PAGE.callback(
        app,
        Output("what-if-place", "children"),
        Output("what-if-absolute", "data"),
        Output("what-if-wait", "disabled"),
        Input("what-if-window", "data"),
        Input("what-if-wait", "n_intervals"),
        State("address", "search"),
        prevent_initial_call=True,
    )
    def show_place(_window, _waited, query):
        return _place(windows, query)

    @PAGE.callback(
        app,
        Output("what-if-graph", "figure"),
        *(Output(name, "children") for name in _RUNS[1:]),
        Output("what-if-answered", "data"),
        Input("what-if-asked", "data"),
    )
    def show_runs(query):
        if query is None:
            return (no_update,) * (len(_RUNS) + 1)
        # The time makes two answers to the same address differ: the browser waits for each.
        return (*_runs(windows, query), [query, time.time()])

    @PAGE.callback(app, Output("what-if-found", "children"), Input("what-if-search", "value"))
    @explained
    def show_found(text):
        return subscription_search.found(reader, text or "")

    @app.callback(
        Output("what-if-job-begun", "data"),
        Output("what-if-job", "children", allow_duplicate=True),
        Input("what-if-start", "n_clicks"),
        State("what-if-lever", "value"),
        State("what-if-target", "value"),
        State("address", "search"),
        prevent_initial_call=True,
    )
    def begin_search(clicks, lever, target, query):
        if not clicks:
            return no_update, no_update
        try:
            return [searches.start(_search(windows, query, lever, target)), time.time()], no_update
        except InputError as error:
            return no_update, panel(sentence("what_if_page.search.not_started"), [str(error)], tone="orange")

    @PAGE.callback(
        app,
        Output("what-if-job", "children"),
        Output("what-if-look", "disabled"),
        Input("what-if-job-named", "data"),
        Input("what-if-look", "n_intervals"),
    )
    def show_search(name, _looked):
        if not name:
            return [], True
        found = searches.progress(name)
        if found is None or found.search.lake != windows.lake_path:
            return search.deleted(), True
        return search.shown(found), found.is_over

    @app.callback(
        Output("what-if-look", "n_intervals"),
        Input("what-if-cancel", "n_clicks"),
        State("what-if-job-named", "data"),
        State("what-if-look", "n_intervals"),
        prevent_initial_call=True,
    )
    def cancel_search(clicks, name, looked):
        if not clicks or not name:
            return no_update
        searches.cancel(name)
        return (looked or 0) + 1


def _in_browser(app: Dash) -> None:
    def script(name: str, *parts, initial: bool = True) -> None:
        app.clientside_callback(
            ClientsideFunction("throttlescope", name), *parts, prevent_initial_call=not initial
        )

    address = (ADDRESS_QUERY, ADDRESS_PATH)
    script("whatIfWindow", Output("what-if-window", "data"), *address, State("what-if-window", "data"))
    script(
        "whatIfJobNamed", Output("what-if-job-named", "data"), *address, State("what-if-job-named", "data")
    )
    script("whatIfAsk", Output("what-if-asked", "data"), *address, State("what-if-asked", "data"))
    for name, said in (
        ("whatIfAnswered", "what-if-answered"),
        ("whatIfAbsolute", "what-if-absolute"),
        ("whatIfJobBegun", "what-if-job-begun"),
    ):
        written = Output("what-if-written", "data", allow_duplicate=True)
        script(name, written, Input(said, "data"), initial=False)
    script(
        "whatIfMove",
        Output("what-if-moves", "children"),
        ADDRESS_QUERY,
        Input({"type": VALUE, "key": ALL}, "value"),
        Input({"type": SLIDER, "key": ALL}, "value"),
        State("what-if-scales", "data"),
        ADDRESS_PATH,
    )
    script("whatIfSearch", Output("what-if-written", "data", allow_duplicate=True), Input("what-if-search", "value"), State("address", "pathname"), initial=False)  # fmt: skip


def _place(windows: Windows, query: str | None) -> tuple:
    """The place, an address with absolute times where it had none, and whether there is nothing to wait for."""
    absolute_href, is_warm = no_update, True

    def build():
        nonlocal absolute_href, is_warm
        address = WhatIfAddress.parse(query)
        if address.subscription is None:
            return subscription_search.find_box(address.search)
        if not warm.is_warm():
            warm.begin()
            is_warm = False
            return html.Div([head(address), _warming()])
        window = windows.of(address)
        if (address.start_ms, address.end_ms) != (window.start_ms, window.end_ms):
            absolute_href = absolute(address, window).href()
        return place(address, window)

    content = explained(lambda: _with_hint(build, query))()
    return content, absolute_href, is_warm


def _with_hint(build, query: str | None):
    try:
        return build()
    except InputError as error:
        if "samples" not in error.what.lower():
            raise
        facts = [
            f"{label}: {value}" for label, value in ((sentence("label.got"), error.got), (sentence("label.expected"), error.expected), (sentence("label.next"), error.fix)) if value is not None
        ]  # fmt: skip
        return html.Div(
            [
                head(WhatIfAddress.parse(query)),
                panel(
                    f"{error.what}.",
                    [*facts, sentence("what_if_page.no_samples")],
                    next_step=dcc.Link(sentence("what_if_page.no_samples.link"), href=_newest(query)),
                    tone="orange",
                ),
            ]
        )  # fmt: skip


def _newest(query: str | None) -> str:
    return WhatIfAddress(WhatIfAddress.parse(query).subscription).href()


def _warming() -> html.Div:
    return html.Div(
        panel(
            sentence("what_if_page.warming.title"),
            [sentence("what_if_page.warming.why"), sentence("what_if_page.warming.next")],
        ),
        id="what-if-warming",
    )


def _runs(windows: Windows, query: str) -> tuple:
    """Everything that a move of a control changes; an error is shown in place of the table."""
    views: list[LabView] = []

    def build():
        address = WhatIfAddress.parse(query)
        if address.subscription is None or not warm.is_warm():
            return html.Div()
        views.append(read_view(windows, address))
        return runs_table(views[0])

    table = explained(build)()
    if not views or type(table).__name__ == "Alert":
        return (no_update, no_update, [], table, [], [])
    view = views[0]
    return figure(view), range_line(view), error_line(view), table, command_card(view), certainty(view)


def _search(windows: Windows, query: str | None, lever: str | None, target: str | None) -> Search:
    address = WhatIfAddress.parse(query)
    if address.subscription is None:
        raise InputError("The address does not name a subscription")
    window: LabWindow = windows.of(address)
    try:
        target_s = int(target or "")
    except ValueError:
        raise InputError("The time to drain cannot be read", got=target, expected="seconds") from None
    return Search(
        windows.lake_path, windows.versions(), str(address.name), address.subscription.cluster, window.start_ms, window.end_ms,
        lever or ANY, AHEADS_S[address.ahead] if lever == EXACT else target_s,
        language=current(),
        **({"change": " ".join(settings_of(address.runs[address.chosen])), "when": address.when} if lever == EXACT else {}),
    )  # fmt: skip


PAGE = WebPage(WHAT_IF_PATH, TITLE, WhatIfAddress, layout, register)
