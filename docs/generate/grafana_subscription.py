"""The dashboard of one subscription as a file. In: the exported dashboards. Out: ``deploy/grafana/subscription.json``, for the default options."""

from __future__ import annotations

from docs.generate.markdown import DOCS
from throttlescope.app.rules_export.dashboards import SUBSCRIPTION, dashboard_text
from throttlescope.app.rules_export.options import ExportOptions

PAGE = DOCS.parent / "deploy" / "grafana" / f"{SUBSCRIPTION}.json"


def render(page: str = "") -> str:
    """The whole document."""
    return dashboard_text(SUBSCRIPTION, ExportOptions())
