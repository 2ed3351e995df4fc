"""Pages. Each folder or module declares one: a ``PAGE`` with its path, title, address, frame and callbacks.

Those of :data:`IN_HEADER` are in the header of every page, in this order.
"""

from throttlescope.app.web.pages.accuracy import page as method
from throttlescope.app.web.pages.alerts import page as alerts
from throttlescope.app.web.pages.anomalies import page as anomalies
from throttlescope.app.web.pages.data_quality import page as data_quality
from throttlescope.app.web.pages.limits import page as limits
from throttlescope.app.web.pages.overview import page as overview
from throttlescope.app.web.pages.promql import page as promql
from throttlescope.app.web.pages.rollups import page as rollups
from throttlescope.app.web.pages.subscription import page as subscription
from throttlescope.app.web.pages.subscriptions import page as subscriptions
from throttlescope.app.web.pages.what_if import page as what_if

IN_HEADER = (
    overview.PAGE,
    subscriptions.PAGE,
    rollups.PAGE,
    what_if.PAGE,
    limits.PAGE,
    anomalies.PAGE,
    alerts.PAGE,
    promql.PAGE,
    data_quality.PAGE,
    method.PAGE,
)
PAGES = {page.path: page for page in (*IN_HEADER, subscription.PAGE)}
