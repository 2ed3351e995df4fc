"""Tables of the newest window or of the main causes of the recent hours. In: an address with a ``view``. Out: the view that is shown, and links to both."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from dash import dcc

from throttlescope.app.presentation import format as fmt
from throttlescope.app.web.address.rollups import RollupsAddress
from throttlescope.app.web.address.subscriptions import SubscriptionsAddress
from throttlescope.app.web.components.parts import view_link
from throttlescope.app.web.data.latest import RECENT_MS
from throttlescope.app.web.data.newest import NOW, RECENT, ClusterFreshness
from throttlescope.models.messages.catalogue import sentence

Address = TypeVar("Address", SubscriptionsAddress, RollupsAddress)


def with_view(address: Address, freshness: ClusterFreshness) -> Address:
    """The requested view, or the one that shows more: recordings end when their problem is solved."""
    return replace(address, view=address.view or (RECENT if freshness.is_recording else NOW))


def view_links(address: SubscriptionsAddress | RollupsAddress) -> list[dcc.Link]:
    """The two views as links; filters are kept."""
    length = fmt.duration(RECENT_MS)
    return [
        view_link(label, replace(address, view=view).href(), chosen=view == address.view, title=title)
        for view, label, title in (
            (NOW, sentence("label.now"), sentence("page.view.now")),
            (RECENT, sentence("label.last", length=length), sentence("page.view.recent", length=length)),
        )
    ]
