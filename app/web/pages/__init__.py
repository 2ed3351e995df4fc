"""Pages. Each module has a ``PATH``, a ``TITLE``, ``layout(query)`` and ``register(app, reader)``.

Those of :data:`IN_HEADER` are reached from everywhere, in this order.
"""

from throttlescope.app.web.pages import overview
from throttlescope.app.web.pages.accuracy import page as method
from throttlescope.app.web.pages.alerts import page as alerts
from throttlescope.app.web.pages.anomalies import page as anomalies
from throttlescope.app.web.pages.data_quality import page as data_quality
from throttlescope.app.web.pages.limits import page as limits
from throttlescope.app.web.pages.promql import page as promql
from throttlescope.app.web.pages.rollups import page as rollups
from throttlescope.app.web.pages.subscription import page as subscription
from throttlescope.app.web.pages.subscriptions import page as subscriptions
from throttlescope.app.web.pages.what_if import page as what_if

IN_HEADER = (
    overview,
    subscriptions,
    rollups,
    what_if,
    limits,
    anomalies,
    alerts,
    promql,
    data_quality,
    method,
)
PAGES = {page.PATH: page for page in (*IN_HEADER, subscription)}
