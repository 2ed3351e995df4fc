"""Pages. Each module has a ``PATH``, a ``TITLE``, ``layout(query)`` and ``register(app, reader)``."""

from throttlescope.app.web.pages import overview, subscription

PAGES = {page.PATH: page for page in (overview, subscription)}
