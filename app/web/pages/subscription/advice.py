"""The button that finds the smallest change. In: an open page. Out: an answer that the browser stores, or why there is none.

A replay takes seconds, so it starts only on request. It runs in a process of its own, which is ended at the time limit or when the
browser disconnects; the browser stores its answer for this subscription and this window only.
"""

from __future__ import annotations

from typing import Any

from dash import Dash, Input, Output, dcc, html

from throttlescope.app.incident.advice import AdviceOutcome, advice_within
from throttlescope.app.services.promql.concurrency import ConcurrencyLimit
from throttlescope.app.services.promql.errors import ApiError
from throttlescope.app.services.whatif.replay import HISTORY, TARGET, Question
from throttlescope.app.web.client_disconnect import disconnect_check
from throttlescope.app.web.components.shell import explained, panel
from throttlescope.app.web.data.reader import LakeReader
from throttlescope.app.web.pages.subscription.advice_text import advice
from throttlescope.app.web.pages.subscription.page_state import PageState
from throttlescope.app.web.pages.subscription.slow_button import register_button, slow_button
from throttlescope.ingest.core.errors import ThrottlescopeError
from throttlescope.ingest.core.subscription_name import SubscriptionName
from throttlescope.ingest.core.times import format_time
from throttlescope.models.messages.catalogue import sentence

#: Below the time after which the browser gives up by itself.
MOST_S = 45.0


def button(verdict: dict | None) -> list:
    """The button; none where the subscription is healthy."""
    if verdict is None or verdict["cause"] == "healthy":
        return []
    title = sentence("subscription.advice.button_hint", most_s=MOST_S)
    label, waiting = sentence("subscription.advice.button"), sentence("subscription.advice.running")
    return [
        slow_button("subscription-advice-ask", label, waiting, title=title, css_class="action action-first")
    ]


def placeholder() -> html.Div:
    """The place of the answer."""
    return html.Div(id="subscription-advice", **{"aria-live": "polite"})


def answer_store() -> dcc.Store:
    """The newest answer, stored by the browser while its tab is open."""
    return dcc.Store(id="subscription-advice-facts", storage_type="session")


def register(app: Dash, reader: LakeReader) -> None:
    """Two callbacks: one starts the search, one shows the stored answer of the open window."""
    concurrency = ConcurrencyLimit(running=1, waiting=1)

    register_button(
        app,
        "subscription-advice-ask",
        Output("subscription-advice-facts", "data"),
        lambda data: compute_advice(reader, concurrency, data),
    )

    @app.callback(
        Output("subscription-advice", "children"),
        Input("subscription-advice-facts", "data"),
        Input("subscription-shown", "data"),
        prevent_initial_call=True,
    )
    def show(answer, data):
        return explained(lambda: advice_of(answer, data))()


def compute_advice(reader: LakeReader, concurrency: ConcurrencyLimit, data: dict) -> dict[str, Any]:
    """What the browser stores: the window, and the facts of the advice or the reason why there are none."""
    try:
        page = PageState.of(data)
        if page.window_ms is None:
            return {
                "of": page.answer_key,
                "found": None,
                "why_not": sentence("subscription.advice.no_window"),
            }
        with concurrency.slot(MOST_S / 2) as left_s:
            outcome = _recommend(reader, page, MOST_S / 2 + left_s)
    except ApiError:
        outcome = AdviceOutcome(None, sentence("subscription.advice.busy"))
    except ThrottlescopeError as error:
        return {"of": None, "found": None, "why_not": error.what}
    return {
        "of": page.answer_key,
        "found": outcome.found,
        "why_not": outcome.why_not,
        "timed_out": outcome.timed_out,
    }


def _recommend(reader: LakeReader, page: PageState, most_s: float) -> AdviceOutcome:
    key, at_ms = page.address.subscription, page.window_ms[1]
    name = SubscriptionName(key.topic, None if key.partition < 0 else key.partition, key.subscription)
    question = Question(str(name), key.cluster, (), format_time(at_ms), None, HISTORY, TARGET, None)
    return advice_within(reader.lake_path, question, at_ms, most_s=most_s, cancelled=disconnect_check())


def advice_of(answer: dict | None, data: dict | None):
    """The answer, if it is about the open window."""
    if not answer or not data:
        return None
    if answer.get("of") not in (None, PageState.of(data).answer_key):
        return None
    if answer["found"] is None:
        title = sentence("subscription.advice.failed", why=str(answer["why_not"])[:400])
        hints = [sentence("subscription.advice.nothing_changed")]
        if answer.get("timed_out"):
            hints.append(sentence("subscription.advice.timed_out"))
        return panel(title, hints, tone="orange")
    return advice(answer["found"])
