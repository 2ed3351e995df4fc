"""The dashboard of the fleet as a file. In: the exported dashboards. Out: ``deploy/grafana/fleet.json``, for the default options."""

from __future__ import annotations

from docs.generate.markdown import DOCS
from throttlescope.app.rules_export.dashboards import FLEET, dashboard_text
from throttlescope.app.rules_export.options import ExportOptions

PAGE = DOCS.parent / "deploy" / "grafana" / f"{FLEET}.json"


def render(page: str = "") -> str:
    """The whole document."""
    return dashboard_text(FLEET, ExportOptions())
