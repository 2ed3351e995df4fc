"""Dashboards for Grafana. In: options of the export. Out: two documents that Grafana imports: the fleet, and one subscription.

Every panel reads series of the exported rules, so both dashboards work on a live Prometheus that has loaded them, and on the HTTP API of a
lake in which ``throttlescope rules run`` has evaluated them. Without the rules a panel is empty; it never shows a zero that was not counted.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from throttlescope.app.presentation.causes import CAUSES
from throttlescope.app.presentation.links.paths import (
    OVERVIEW_PATH,
    ROLLUPS_PATH,
    SUBSCRIPTION_PATH,
    SUBSCRIPTIONS_PATH,
)
from throttlescope.app.rules_export.alert_rules import CAUSE_SERIES
from throttlescope.app.rules_export.labels import KEY
from throttlescope.app.rules_export.limiter_rules import LIMIT, LIMITER, RHO, events_rate
from throttlescope.app.rules_export.options import ExportOptions
from throttlescope.app.rules_export.signal_rules import column_rule
from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.models.diagnosis import thresholds as t
from throttlescope.models.messages.catalogue import sentence
from throttlescope.transforms.rules.load import PREFIX

#: Names of the files, and of the dashboards.
FLEET, SUBSCRIPTION = "fleet", "subscription"
#: Of the document's form; Grafana 11 and later read it.
_SCHEMA_VERSION = 39
_COLUMNS = 24
_READY, _HELD = f"{PREFIX}backlog_ready_entries", f"{PREFIX}backlog_held_entries"
_SOURCE = {"type": "prometheus", "uid": "${datasource}"}
_RANGE = "from=${__from:date:iso}&to=${__to:date:iso}"
_GREEN, _ORANGE, _RED = "green", "orange", "red"
_UNEXPLAINED = "unknown"


@dataclass(frozen=True)
class PanelQuery:
    """One query of a panel.

    Attributes
    ----------
    expr : str
        PromQL with the dashboard's variables.
    legend : str
        Of its series, with their labels in double braces.
    cause : str or None
        The cause that it counts: it has that cause's colour, and leads to its subscriptions.
    """

    expr: str
    legend: str
    cause: str | None = None


@dataclass(frozen=True)
class DashboardPanel:
    """One panel, by its name in the catalogue.

    Attributes
    ----------
    name : str
    kind : str
        Grafana's type: ``timeseries``, ``stat``, ``table`` or ``state-timeline``.
    unit : str
        Grafana's name of the unit.
    queries : sequence of PanelQuery
    width, height : int
        In Grafana's grid of 24 columns.
    link : str
        Where its series lead: ``subscription`` (its own labels), ``namespace``, ``causes``, or ``this`` (the dashboard's variables).
    steps : sequence of (float, str)
        Thresholds: from this value on, this colour.
    stacked : bool
    """

    name: str
    kind: str
    unit: str
    queries: Sequence[PanelQuery]
    width: int
    height: int
    link: str
    steps: Sequence[tuple[float, str]] = ()
    stacked: bool = False


def dashboards(options: ExportOptions) -> dict[str, dict[str, Any]]:
    """Both documents, by name."""
    return {
        FLEET: _document(FLEET, fleet_panels(options), _fleet_variables(options), options),
        SUBSCRIPTION: _document(
            SUBSCRIPTION, subscription_panels(options), _subscription_variables(options), options
        ),
    }


def dashboard_text(name: str, options: ExportOptions) -> str:
    """One document as a file."""
    return json.dumps(dashboards(options)[name], indent=2, ensure_ascii=False) + "\n"


def fleet_panels(options: ExportOptions) -> list[DashboardPanel]:
    """Is anything wrong, where, since when?"""
    chosen = '{cluster=~"$cluster", namespace=~"$namespace"}'
    by_cause = _counts_by_cause(chosen)
    rho = f"max by ({LIMITER}) ({RHO}{chosen})"
    return [
        *(
            DashboardPanel(
                f"count_{query.cause}", "stat", "short", [query], 4, 4, "causes", ((0, _GREEN), (1, _ORANGE))
            )
            for query in by_cause
            if query.cause in ("throttled", "slow_consumers", "no_consumers", "blocked_on_unacked", _UNEXPLAINED)
        ),
        DashboardPanel(
            "count_all", "stat", "short", [PanelQuery(f"count({_READY}{chosen})", _words("legend.judged"))], 4, 4, "causes"
        ),
        DashboardPanel("by_cause", "timeseries", "short", by_cause, 12, 9, "causes", stacked=True),
        DashboardPanel(
            "by_namespace",
            "timeseries",
            "short",
            [PanelQuery(f"sum by (cluster, namespace) ({_READY}{chosen})", "{{cluster}} {{namespace}}")],
            12,
            9,
            "namespace",
            stacked=True,
        ),
        DashboardPanel(
            "largest", "table", "short", [PanelQuery(f"topk(20, {_READY}{chosen})", "")], 12, 10, "subscription"
        ),
        DashboardPanel(
            "limit_use",
            "timeseries",
            "percentunit",
            [PanelQuery(f"topk(10, {rho})", "{{subscription}} {{topic}} {{partition}} {{level}} {{unit}}")],
            12,
            10,
            "subscription",
            ((0, _GREEN), (t.RHO_NEAR_LIMIT, _ORANGE), (t.RHO_AT_LIMIT, _RED)),
        ),
        DashboardPanel(
            "throttled_reads",
            "timeseries",
            "ops",
            [PanelQuery(f"sum by (level, unit) ({events_rate(options)}{chosen})", "{{level}} {{unit}}")],
            12,
            8,
            "causes",
        ),
        DashboardPanel(
            "alerts",
            "timeseries",
            "short",
            [
                PanelQuery(
                    'count by (alertname) (ALERTS{alertstate="firing", cluster=~"$cluster"})', "{{alertname}}"
                )
            ],
            12,
            8,
            "causes",
            stacked=True,
        ),
    ]  # fmt: skip


def subscription_panels(options: ExportOptions) -> list[DashboardPanel]:
    """Why does this subscription have a backlog?"""
    this = "{" + ", ".join(f'{name}="${name}"' for name in SUBSCRIPTION_KEY_NAMES) + "}"
    near = ((0, _GREEN), (t.RHO_NEAR_LIMIT, _ORANGE), (t.RHO_AT_LIMIT, _RED))

    def rates(unit: str) -> list[PanelQuery]:
        return [
            PanelQuery(column_rule(f"in_{unit}_rate_5m", options) + this, _words("legend.published")),
            PanelQuery(column_rule(f"out_{unit}_rate_5m", options) + this, _words("legend.dispatched")),
            PanelQuery(
                f"max by (level) ({LIMIT}{_with(this, f'unit={chr(34)}{unit}{chr(34)}')})",
                "{{level}} " + _words("legend.limit"),
            ),
        ]

    return [
        DashboardPanel("causes", "state-timeline", "short", _causes_of_one(this), 24, 6, "this"),
        DashboardPanel(
            "backlog",
            "timeseries",
            "short",
            [
                PanelQuery(_READY + this, _words("legend.ready")),
                PanelQuery(f"{PREFIX}undelivered_entries{this}", _words("legend.undelivered")),
            ],
            12,
            8,
            "this",
        ),
        DashboardPanel(
            "own_limit_use",
            "timeseries",
            "percentunit",
            [PanelQuery(f"max by (level, unit) ({RHO}{this})", "{{level}} {{unit}}")],
            12,
            8,
            "this",
            near,
        ),
        DashboardPanel("rates_msg", "timeseries", "mps", rates("msg"), 12, 8, "this"),
        DashboardPanel("rates_bytes", "timeseries", "Bps", rates("bytes"), 12, 8, "this"),
        DashboardPanel(
            "own_throttled_reads",
            "timeseries",
            "ops",
            [PanelQuery(f"sum by (level, unit) ({events_rate(options)}{this})", "{{level}} {{unit}}")],
            12,
            8,
            "this",
        ),
        DashboardPanel(
            "consumers",
            "timeseries",
            "short",
            [
                PanelQuery(f"{PREFIX}consumers{this}", _words("legend.consumers")),
                PanelQuery(f"{PREFIX}unacked_msg{this}", _words("legend.unacked")),
                PanelQuery(f"{PREFIX}permits_min{this}", _words("legend.permits_min")),
                PanelQuery(f"{PREFIX}permits_max{this}", _words("legend.permits_max")),
            ],
            12,
            8,
            "this",
        ),
    ]


def _counts_by_cause(chosen: str) -> list[PanelQuery]:
    """How many subscription partitions have each cause; 0 only where the rules were evaluated."""
    judged = f"0 * count({_READY}{chosen})"
    found = [
        PanelQuery(f"count(group by ({KEY}) ({series}{chosen})) or {judged}", CAUSES[cause].label, cause)
        for cause, series in CAUSE_SERIES.items()
    ]
    explained = " or ".join(CAUSE_SERIES.values())
    rest = f"count({_HELD}{chosen} unless on ({KEY}) ({explained})) or {judged}"
    return [*found, PanelQuery(rest, CAUSES[_UNEXPLAINED].label, _UNEXPLAINED)]


def _causes_of_one(this: str) -> list[PanelQuery]:
    """1 while a cause applies to the subscription, 0 while it does not."""
    judged = f"0 * group({_READY}{this})"
    return [
        PanelQuery(f"group({series}{this}) or {judged}", CAUSES[cause].label, cause)
        for cause, series in CAUSE_SERIES.items()
    ]


def _with(selector: str, matcher: str) -> str:
    return f"{selector[:-1]}, {matcher}}}"


def _words(key: str) -> str:
    return sentence(f"dashboards.{key}")


# -- the document ---------------------------------------------------------------------------------


def _document(
    name: str, panels: Sequence[DashboardPanel], variables: list[dict[str, Any]], options: ExportOptions
) -> dict[str, Any]:
    return {
        "uid": f"throttlescope-{name}",
        "title": sentence(f"dashboards.{name}.title"),
        "description": sentence(f"dashboards.{name}.description"),
        "tags": ["pulsar", "throttlescope"],
        "schemaVersion": _SCHEMA_VERSION,
        "version": 1,
        "editable": True,
        "graphTooltip": 1,
        "timezone": "utc",
        "time": {"from": "now-6h", "to": "now"},
        "refresh": "1m",
        "templating": {"list": variables},
        "links": [
            _dashboard_link(other)
            for other in (FLEET, SUBSCRIPTION)
            if other != name
        ],
        "panels": list(_placed(panels)),
    }  # fmt: skip


def _placed(panels: Sequence[DashboardPanel]):
    """Panels from left to right; a row ends where the next one does not fit."""
    x = y = tallest = 0
    for number, panel in enumerate(panels, 1):
        if x + panel.width > _COLUMNS:
            x, y, tallest = 0, y + tallest, 0
        yield _panel(number, panel, {"x": x, "y": y, "w": panel.width, "h": panel.height})
        x, tallest = x + panel.width, max(tallest, panel.height)


def _panel(number: int, panel: DashboardPanel, place: dict[str, int]) -> dict[str, Any]:
    is_table = panel.kind == "table"
    steps = panel.steps or ((0, _GREEN),)
    return {
        "id": number,
        "type": panel.kind,
        "title": sentence(f"dashboards.panel.{panel.name}.title"),
        "description": sentence(f"dashboards.panel.{panel.name}.description"),
        "datasource": _SOURCE,
        "gridPos": place,
        "targets": [
            {
                "refId": chr(ord("A") + position),
                "datasource": _SOURCE,
                "editorMode": "code",
                "expr": query.expr,
                "legendFormat": query.legend,
                "instant": is_table,
                "range": not is_table,
                **({"format": "table"} if is_table else {}),
            }
            for position, query in enumerate(panel.queries)
        ],
        "fieldConfig": {
            "defaults": {
                "unit": panel.unit,
                "min": 0,
                "color": {"mode": "thresholds" if panel.kind == "stat" else "palette-classic"},
                "thresholds": {
                    "mode": "absolute",
                    # The first step has no bound.
                    "steps": [
                        {"color": colour, "value": None if position == 0 else value}
                        for position, (value, colour) in enumerate(steps)
                    ],
                },
                "custom": _CUSTOM[panel.kind](panel),
                **({} if panel.kind == "table" else {"links": [_LINKS[panel.link]()]}),
                **(_MAPPINGS if panel.kind == "state-timeline" else {}),
            },
            "overrides": _table_overrides() if is_table else _cause_overrides(panel),
        },
        "options": _OPTIONS[panel.kind],
        "links": [_PANEL_LINKS[panel.link]()],
        **({"transformations": [_TABLE_COLUMNS]} if is_table else {}),
    }


def _drawn(panel: DashboardPanel) -> dict[str, Any]:
    return {
        "drawStyle": "line",
        "lineWidth": 1,
        "fillOpacity": 60 if panel.stacked else 10,
        "showPoints": "never",
        "spanNulls": False,
        "stacking": {"mode": "normal" if panel.stacked else "none", "group": "A"},
        "thresholdsStyle": {"mode": "line" if panel.steps else "off"},
    }


_CUSTOM: Mapping[str, Callable[[DashboardPanel], dict[str, Any]]] = {
    "timeseries": _drawn,
    "stat": lambda _: {},
    "table": lambda _: {"align": "auto", "cellOptions": {"type": "auto"}},
    "state-timeline": lambda _: {"lineWidth": 0, "fillOpacity": 80},
}
_LEGEND = {"displayMode": "list", "placement": "bottom", "showLegend": True, "calcs": []}
_OPTIONS: Mapping[str, dict[str, Any]] = {
    "timeseries": {"legend": _LEGEND, "tooltip": {"mode": "multi", "sort": "desc"}},
    "stat": {
        "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
        "colorMode": "value",
        "graphMode": "area",
        "justifyMode": "auto",
        "textMode": "value",
        "orientation": "auto",
    },
    "table": {"showHeader": True, "cellHeight": "sm"},
    "state-timeline": {
        "legend": _LEGEND | {"showLegend": False},
        "tooltip": {"mode": "single", "sort": "none"},
        "mergeValues": True,
        "showValue": "never",
        "rowHeight": 0.8,
        "alignValue": "left",
    },
}
_MAPPINGS = {
    "mappings": [
        {
            "type": "value",
            "options": {
                "0": {"text": _words("state.no"), "color": "transparent", "index": 0},
                "1": {"text": _words("state.yes"), "color": _ORANGE, "index": 1},
            },
        }
    ]
}
_TABLE_COLUMNS = {
    "id": "organize",
    "options": {
        "excludeByName": {"Time": True, "__name__": True},
        "indexByName": {name: position for position, name in enumerate((*SUBSCRIPTION_KEY_NAMES, "Value"))},
        "renameByName": {"Value": _words("legend.ready")},
    },
}


def _cause_overrides(panel: DashboardPanel) -> list[dict[str, Any]]:
    """The colour of a cause is that of our pages; where causes are counted, a series leads to their subscriptions."""
    if panel.kind == "stat":
        return []
    return [
        {
            "matcher": {"id": "byName", "options": query.legend},
            "properties": [
                {"id": "color", "value": {"mode": "fixed", "fixedColor": CAUSES[query.cause].colour}},
                *(
                    [{"id": "links", "value": [_link(f"{SUBSCRIPTIONS_PATH}?cause={query.cause}")]}]
                    if panel.link == "causes"
                    else []
                ),
            ],
        }
        for query in panel.queries
        if query.cause is not None
    ]


def _table_overrides() -> list[dict[str, Any]]:
    link = _link(_subscription_path(lambda name: f"${{__data.fields.{name}:percentencode}}"))
    return [
        {"matcher": {"id": "byName", "options": "subscription"}, "properties": [{"id": "links", "value": [link]}]}
    ]  # fmt: skip


def _subscription_path(value: Callable[[str], str]) -> str:
    names = [name for name in SUBSCRIPTION_KEY_NAMES if name != "namespace"]
    return f"{SUBSCRIPTION_PATH}?{'&'.join(f'{name}={value(name)}' for name in names)}&{_RANGE}"


def _link(path: str) -> dict[str, Any]:
    return {"title": _words("link"), "url": "${throttlescope}" + path, "targetBlank": True}


#: Links of a panel's series.
_LINKS: Mapping[str, Callable[[], dict[str, Any]]] = {
    "subscription": lambda: _link(
        _subscription_path(lambda name: f"${{__field.labels.{name}:percentencode}}")
    ),
    "namespace": lambda: _link(
        f"{ROLLUPS_PATH}?by=namespace&cluster=${{__field.labels.cluster:percentencode}}"
        f"&name=${{__field.labels.namespace:percentencode}}&{_RANGE}"
    ),
    "causes": lambda: _link(SUBSCRIPTIONS_PATH),
    "this": lambda: _link(_subscription_path(lambda name: f"${{{name}:percentencode}}")),
}
#: Links of the panel itself: it has no series.
_PANEL_LINKS: Mapping[str, Callable[[], dict[str, Any]]] = {
    "subscription": lambda: _link(SUBSCRIPTIONS_PATH),
    "namespace": lambda: _link(f"{ROLLUPS_PATH}?by=namespace"),
    "causes": lambda: _link(OVERVIEW_PATH),
    "this": _LINKS["this"],
}


def _dashboard_link(name: str) -> dict[str, Any]:
    return {
        "type": "link",
        "title": sentence(f"dashboards.{name}.title"),
        "tooltip": sentence(f"dashboards.{name}.description"),
        "url": f"/d/throttlescope-{name}",
        "icon": "dashboard",
        "tags": [],
        "asDropdown": False,
        "targetBlank": False,
        "keepTime": True,
        "includeVars": True,
    }


# -- variables ------------------------------------------------------------------------------------


def _fleet_variables(options: ExportOptions) -> list[dict[str, Any]]:
    return [
        _source_variable(),
        _address_variable(options),
        _label_variable("cluster", "", several=True),
        _label_variable("namespace", '{cluster=~"$cluster"}', several=True),
    ]


def _subscription_variables(options: ExportOptions) -> list[dict[str, Any]]:
    """Each label of the key, narrowed by those before it."""
    found, matchers = [_source_variable(), _address_variable(options)], []
    for name in SUBSCRIPTION_KEY_NAMES:
        found.append(_label_variable(name, "{" + ", ".join(matchers) + "}" if matchers else ""))
        matchers.append(f'{name}="${name}"')
    return found


def _source_variable() -> dict[str, Any]:
    return {
        "type": "datasource",
        "name": "datasource",
        "label": _words("variable.datasource"),
        "query": "prometheus",
        "refresh": 1,
        "hide": 0,
        "multi": False,
        "includeAll": False,
        "skipUrlSync": False,
    }


def _address_variable(options: ExportOptions) -> dict[str, Any]:
    url = options.external_url.rstrip("/")
    return {
        "type": "textbox",
        "name": "throttlescope",
        "label": _words("variable.address"),
        "query": url,
        "current": {"selected": True, "text": url, "value": url},
        "options": [{"selected": True, "text": url, "value": url}],
        "hide": 0,
        "skipUrlSync": False,
    }


def _label_variable(name: str, selector: str, *, several: bool = False) -> dict[str, Any]:
    query = f"label_values({_READY}{selector}, {name})"
    return {
        "type": "query",
        "name": name,
        "label": name,
        "datasource": _SOURCE,
        # Grafana's number of the kind "label values".
        "query": {"qryType": 1, "query": query, "refId": name},
        "refresh": 2,
        "sort": 1,
        "hide": 0,
        "regex": "",
        "multi": several,
        "includeAll": several,
        **({"allValue": ".*"} if several else {}),
        "skipUrlSync": False,
    }
