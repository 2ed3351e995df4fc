"""Pages. Each module has a ``PATH``, a ``TITLE``, ``layout(query)`` and ``register(app, reader)``.

Those of :data:`IN_HEADER` are reached from everywhere, in this order.
"""

from throttlescope.app.web.pages import overview, subscription, subscriptions

IN_HEADER = (overview, subscriptions)
PAGES = {page.PATH: page for page in (*IN_HEADER, subscription)}
