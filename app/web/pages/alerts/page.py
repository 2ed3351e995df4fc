"""Alerts: preview a rule on history, and download the rules.

In: the address (an exported alert or a rule of one's own, a range). Out: components. Rules are evaluated over the lake in this process,
under the limits and the concurrency limit of the HTTP API.
"""

from __future__ import annotations

from dataclasses import replace

import dash_mantine_components as dmc
from dash import ClientsideFunction, Dash, Input, Output, State, dcc, html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.causes import CAUSES
from throttlescope.app.presentation.links.paths import ALERTS_PATH
from throttlescope.app.rules_export.export import inhibit_document
from throttlescope.app.rules_export.preview.kinds import KINDS
from throttlescope.app.rules_export.preview.preview_rules import exported_alerts
from throttlescope.app.services.promql.errors import UNAVAILABLE, ApiError
from throttlescope.app.web.address.alerts import AlertsAddress
from throttlescope.app.web.components.form_inputs import (
    PageAnswer,
    no_samples,
    register_answer,
    running_words,
    stores,
    time_box,
)
from throttlescope.app.web.components.parts import (
    cause_badge,
    copy_button,
    plain_table,
    section,
    stored_english,
    view_link,
)
from throttlescope.app.web.components.range_bar import range_bar
from throttlescope.app.web.components.sentence_parts import sentence_parts
from throttlescope.app.web.components.shell import panel, skeleton
from throttlescope.app.web.data.promql import PromqlAccess, promql_access
from throttlescope.app.web.data.reader import LakeReader
from throttlescope.app.web.exported_rules import INHIBIT_PATH, RULES_PATH, rules_blueprint
from throttlescope.app.web.page_declaration import WebPage
from throttlescope.app.web.pages.alerts.preview import AlertPreview, range_of, read_view, requested_rules
from throttlescope.app.web.pages.alerts.result import answer
from throttlescope.ingest.core.errors import ThrottlescopeError
from throttlescope.models.messages.catalogue import message, sentence
from throttlescope.transforms.rules.preview import MOST_CELLS, MOST_MOMENTS, MOST_SAMPLES, plan_preview

TITLE = "Alerts"


def _kind_words() -> dict:
    return {
        "limit": sentence("label.a_limit"),
        "consumers": sentence("label.the_consumers"),
        "both": sentence("label.both_at_once"),
        "any": sentence("label.any_trouble"),
    }


def layout(address: AlertsAddress | None, _query: str | None) -> html.Div:
    """The frame of the page: what is typed stays, the answer is filled by a callback."""
    text = (address or AlertsAddress()).text or ""
    return html.Div(
        [
            html.H1(sentence("label.page.alerts")),
            html.Div(
                [
                    html.Button(
                        sentence("label.preview"), id="alerts-run", className="run-button", type="button"
                    ),
                    *running_words("alerts-content"),
                    time_box("alerts-from", sentence("label.from_box")),
                    time_box("alerts-to", sentence("label.to_box")),
                    html.Span(id="alerts-size", className="quiet", role="status"),
                ],
                className="typed-row",
            ),
            html.Details(
                [
                    html.Summary(sentence("alerts.own.title")),
                    dmc.Textarea(
                        id="alerts-yaml",
                        value=text,
                        placeholder="groups:\n  - name: mine\n    rules:\n      - alert: BacklogIsLarge\n"
                        "        expr: pulsar_subscription_back_log > 10000\n        for: 5m",
                        autosize=True,
                        minRows=7,
                        maxRows=24,
                        spellCheck=False,
                        classNames={"input": "promql-input"},
                        **{"aria-label": sentence("label.rules_file_yaml")},
                    ),
                    html.P(sentence("alerts.own.hint"), className="quiet"),
                ],
                id="alerts-own",
                open=bool(text),
                className="alerts-own",
            ),
            html.Div(skeleton(), id="alerts-content", className="promql-content"),
            *stores("alerts"),
        ],
        className="alerts-page promql-page",
    )


def register(app: Dash, reader: LakeReader) -> None:
    """One callback that evaluates, a quick one that says how much, and one in the browser for the form."""
    access = promql_access(app)
    app.server.register_blueprint(rules_blueprint())

    register_answer(app, "alerts", PAGE, lambda address: _parts(access, reader, address))
    PAGE.fill_quietly(app, lambda address: size_words(access, address), Output("alerts-size", "children"))
    app.clientside_callback(
        ClientsideFunction("throttlescope", "fillAlerts"),
        Output("alerts-filled", "data"),
        Input("address", "search"),
        Input("alerts-shown", "data"),
        State("address", "pathname"),
        State("alerts-zone", "data"),
    )


def size_words(access: PromqlAccess, address: AlertsAddress) -> str:
    """How much a preview evaluates; empty where there is none, or where the page says what is wrong."""
    try:
        requested = requested_rules(address)
        newest_ms = access.queries.catalogue().newest_ms
        if requested is None or newest_ms is None or address.start_ms is None or address.end_ms is None:
            return ""
        plan = plan_preview(
            access.queries.lake, requested.file, requested.library, *range_of(address, newest_ms)
        )
    except ThrottlescopeError:
        return ""
    moments, samples = fmt.exact(plan.moments), fmt.exact(plan.samples)
    before = fmt.duration(plan.before_ms)
    if len(plan.rules) == 1:
        return sentence("alerts.size.one", moments=moments, samples=samples, before=before)
    return sentence(
        "alerts.size.many",
        rules=fmt.exact(len(plan.rules)),
        moments=moments,
        samples=samples,
        before=before,
    )


def _parts(access: PromqlAccess, reader: LakeReader, address: AlertsAddress) -> PageAnswer:
    try:
        view = read_view(access, reader, address)
    except ApiError as error:
        return _busy(error), None
    if view is None:
        return no_samples(access.queries.lake.root, sentence("alerts.no_samples")), None
    return page(view, access), (view.start_ms, view.end_ms)


def page(view: AlertPreview, access: PromqlAccess) -> html.Div:
    """The whole answer; pure, except for the limits that it names."""
    if view.requested is None:
        return html.Div([_exported(view), _export(), _limits(access)])
    at = replace(view.address, start_ms=view.start_ms, end_ms=view.end_ms)
    bar = range_bar(
        view.start_ms,
        view.end_ms,
        lambda start_ms, end_ms: replace(view.address, start_ms=start_ms, end_ms=end_ms).href(),
        data_up_to_ms=view.newest_ms,
    )
    found = (
        answer(view)
        if view.plan is not None
        else [html.P(dcc.Link(sentence("alerts.not_evaluated"), href=at.href()), className="alerts-answer")]
    )
    return html.Div([_head(view), bar, _kinds(at, view), *found, *_rule(view), _export(), _limits(access)])


def _head(view: AlertPreview) -> html.Div:
    names = ", ".join(dict.fromkeys(rule.name for rule in view.requested.alerts))
    return html.Div(
        [
            html.Div(
                dcc.Link(sentence("label.marked_all_alerts"), href=AlertsAddress().href()), className="crumbs"
            ),
            html.H2(html.Bdi(fmt.name(names, 300)), className="alerts-name"),
        ]
    )


def _kinds(at: AlertsAddress, view: AlertPreview) -> html.Nav:
    links = [
        view_link(words, replace(at, kind=kind).href(), chosen=kind == at.kind)
        for kind, words in (
            (None, sentence("alerts.kind.rule")),
            *((kind, _kind_words()[kind]) for kind in KINDS),
        )
    ]
    took = (
        sentence("label.evaluated_in", took=fmt.duration(round(view.took_s * 1000)))
        if view.plan is not None
        else ""
    )
    return html.Nav(
        [
            html.Span(sentence("label.counts_as_real"), className="quiet"),
            html.Div(links, className="views"),
            html.Span(took, className="quiet"),
        ],
        className="promql-bar",
        **{"aria-label": sentence("alerts.kind.label")},
    )


def _exported(view: AlertPreview) -> html.Section:
    """The alerts of the export, each with the link that previews it."""
    no_cause = html.Span(sentence("alerts.exported.no_cause"), className="quiet")
    rows = [
        [
            dcc.Link(one.name, href=AlertsAddress(one.name, None, view.start_ms, view.end_ms).href()),
            stored_english(", ".join(one.severities)),
            cause_badge(one.cause) if one.cause in CAUSES else no_cause,
            html.Span(one.first_action, className="alerts-first"),
        ]
        for one in exported_alerts()
    ]
    return section(
        sentence("alerts.exported.title"),
        [
            html.P(
                sentence(
                    "alerts.exported.choose",
                    range=fmt.between(view.start_ms, view.end_ms),
                    data_up_to=fmt.moment(view.newest_ms),
                )
            ),
            html.Div(
                plain_table(
                    (
                        sentence("label.alert"),
                        sentence("label.severity"),
                        sentence("label.cause"),
                        sentence("alerts.exported.first"),
                    ),
                    rows,
                ),
                className="alerts-table",
            ),
        ],
        note=sentence("alerts.exported.note"),
    )


def _rule(view: AlertPreview) -> list[html.Section]:
    """An exported rule; a rule that was typed is shown above."""
    if view.address.text is not None:
        return []
    text = view.requested.text
    own = AlertsAddress(None, text, view.start_ms, view.end_ms, view.address.kind)
    shown = "\n".join(fmt.name(line, 2_000) for line in text.split("\n"))
    return [
        section(
            sentence("label.the_rule"),
            [
                html.Div(
                    [
                        copy_button(text, sentence("label.copy")),
                        dcc.Link(sentence("alerts.copy"), href=own.href()),
                    ],
                    className="promql-bar",
                ),
                html.Pre(
                    shown,
                    className="promql-explained",
                    tabIndex=0,
                    **{"aria-label": sentence("label.rule_yaml")},
                ),
            ],
        )
    ]


def _export() -> html.Section:
    inhibit = inhibit_document()
    rules = html.A("throttlescope.live.rules.yml", href=RULES_PATH)
    inhibit_rules = html.A("throttlescope.inhibit.yml", href=INHIBIT_PATH)
    return section(
        sentence("label.download"),
        [
            html.Ul(
                [
                    html.Li(sentence_parts(message("alerts.file.rules", file=rules))),
                    html.Li(sentence_parts(message("alerts.file.inhibit", file=inhibit_rules))),
                ]
            ),
            html.P(sentence("alerts.files"), className="quiet"),
            html.Details(
                [
                    html.Summary(sentence("alerts.inhibit")),
                    copy_button(inhibit, sentence("label.copy")),
                    html.Pre(
                        inhibit,
                        className="promql-explained",
                        tabIndex=0,
                        **{"aria-label": sentence("label.inhibit_rules_yaml")},
                    ),
                ],
                className="alerts-own",
            ),
        ],
    )


def _limits(access: PromqlAccess) -> html.P:
    return html.P(
        sentence(
            "alerts.limits",
            timeout_s=access.limits.options.timeout_s,
            samples=fmt.exact(MOST_SAMPLES),
            evaluations=fmt.exact(MOST_MOMENTS),
            results=fmt.exact(MOST_CELLS),
        ),
        className="quiet promql-limits",
    )


def _busy(error: ApiError):
    return panel(
        sentence("alerts.busy") if error.kind == UNAVAILABLE else sentence("alerts.busy.waited"),
        [sentence("alerts.busy.shared")],
        next_step=sentence("alerts.busy.again"),
        tone="orange",
    )


PAGE = WebPage(ALERTS_PATH, TITLE, AlertsAddress, layout, register)
