"""The first request of a process made fast. In: the reader of its lake. Out: nothing; pages were built once and thrown away.

Loading libraries, DuckDB's first queries and the first chart take a new worker some seconds. They pass in a thread at its start, on the
pages that are opened most.
"""

from __future__ import annotations

import logging
import threading
import time

from throttlescope.app.presentation.links.subscription import SubscriptionAddress, SubscriptionPartition
from throttlescope.app.web.address.subscriptions import SubscriptionsAddress
from throttlescope.app.web.data import newest
from throttlescope.app.web.data.reader import LakeReader, ends_with_process, is_ending
from throttlescope.app.web.pages.overview import page as overview
from throttlescope.app.web.pages.subscription.content import read_view
from throttlescope.app.web.pages.subscription.context import more
from throttlescope.app.web.pages.subscription.page import page
from throttlescope.app.web.pages.subscription.page_state import PageState, state_of

_LOG = logging.getLogger(__name__)


def begin(reader: LakeReader) -> None:
    """Build them in a thread; an error there is logged, and the first request of the page reports it."""
    thread = threading.Thread(target=_build, args=(reader,), name="warm-pages", daemon=True)
    ends_with_process(thread)
    thread.start()


def _build(reader: LakeReader) -> None:
    began_s = time.monotonic()
    try:
        built = build(reader)
    except Exception as error:
        _LOG.info("pages could not be built ahead: %s", error)
    else:
        _LOG.info("%s pages built ahead in %.1f s", built, time.monotonic() - began_s)


def build(reader: LakeReader) -> int:
    """Build the overview and the page of the worst subscription, as text; the number of pages."""
    pages = [overview.page(reader)]
    rows, _ = newest.subscriptions(reader, SubscriptionsAddress(view=newest.NOW), end=1)
    for row in rows if not is_ending() else ():
        key = SubscriptionPartition(row["cluster"], row["topic"], row["partition"], row["subscription"])
        view = read_view(reader, SubscriptionAddress(key))
        if view is not None:
            pages += [page(view), more(reader, PageState.of(state_of(view)))]
    _as_text(pages)
    return len(pages)


def _as_text(pages: list) -> None:
    from plotly.io.json import to_json_plotly

    to_json_plotly(pages)
