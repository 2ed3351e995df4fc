"""The frame around every page, and the panels that explain. In: the list of pages. Out: components.

A page that cannot show what was requested says what is missing and what to do next.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Sequence

import dash_mantine_components as dmc
from dash import dcc, html
from dash.exceptions import PreventUpdate

from throttlescope.app.pipeline.sources.synthetic_history import CLUSTER as SYNTHETIC
from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation import time_zone
from throttlescope.app.presentation.links.paths import OVERVIEW_PATH
from throttlescope.app.web.data.newest import ClusterFreshness
from throttlescope.ingest.core.errors import ThrottlescopeError
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.language import HTML_CODES, NAMES, current

_LOG = logging.getLogger(__name__)

THEME = {
    "primaryColor": "blue",
    "defaultRadius": "sm",
    # What the machine has: nothing is fetched from elsewhere.
    "fontFamily": (
        "-apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'Liberation Sans', 'PingFang SC', 'Microsoft YaHei', "
        "'Noto Sans CJK SC', 'Noto Sans SC', 'WenQuanYi Zen Hei', sans-serif"
    ),
    "fontFamilyMonospace": "ui-monospace, 'DejaVu Sans Mono', Consolas, monospace",
}


def shell(pages: Sequence[tuple[str, str]]) -> dmc.MantineProvider:
    """The frame: header, the place for a page, and the address that is the state.

    Parameters
    ----------
    pages : sequence of (title, path)
        What the header leads to.
    """
    return dmc.MantineProvider(
        defaultColorScheme="auto",
        theme=THEME,
        children=[
            dcc.Location(id="address", refresh="callback-nav"),
            html.Header(
                className="shell-header",
                children=[
                    html.A(sentence("page.skip"), href="#page", className="skip-link"),
                    dcc.Link("throttlescope", href=OVERVIEW_PATH, className="shell-brand"),
                    html.Nav(
                        [dcc.Link(title, href=path, className="shell-link") for title, path in pages],
                        className="shell-nav",
                        **{"aria-label": sentence("label.pages")},
                    ),
                    html.Span(className="shell-space"),
                    html.Span(sentence("label.read_only"), className="shell-note"),
                    html.Button(
                        [sentence("label.times"), " ", html.Strong(time_zone.name())],
                        id="zone-toggle",
                        className="shell-button",
                        title=sentence("page.zone_hint"),
                    ),
                    _language_toggle(),
                    html.Button(
                        "?", id="keys-open", className="shell-button", title=sentence("label.keys_hint")
                    ),
                    dmc.ColorSchemeToggle(
                        lightIcon="☾",
                        darkIcon="☀",
                        variant="default",
                        size="md",
                        **{"aria-label": sentence("page.scheme_hint")},
                    ),
                ],
            ),
            # What a request that fails or takes long says; the browser's scripts write it.
            html.Div(id="notice", className="notice", hidden=True, role="status", **_words_of_scripts()),
            html.Main(skeleton(), id="page", className="shell-page", tabIndex=-1),
            keys_help(),
        ],
    )


def _language_toggle() -> html.Button:
    """Leads to the next language, whose name it is."""
    codes = list(NAMES)
    other = codes[(codes.index(current()) + 1) % len(codes)]
    return html.Button(
        NAMES[other],
        id="language-toggle",
        className="shell-button",
        title=sentence("label.language_hint", name=NAMES[other]),
        lang=HTML_CODES[other],
        **{"data-language": other},
    )


def _words_of_scripts() -> dict[str, str]:
    """What the browser's scripts write, as attributes of the notice."""
    return {f"data-{name.replace('_', '-')}": sentence(f"label.script.{name}") for name in _SCRIPT_WORDS}


_SCRIPT_WORDS = (
    "retry",
    "dismiss",
    "cancel",
    "slow",
    "logged_out",
    "log_in",
    "server_error",
    "cancelled",
    "timed_out",
    "away",
    "running",
)


def _keys() -> tuple[tuple[str, str], ...]:
    return (
        ("/", sentence("label.keys.search")),
        ("w", sentence("page.keys.worst")),
        ("j k", sentence("page.keys.next")),
        ("Enter", sentence("label.keys.open")),
        ("[ ]", sentence("page.keys.range")),
        ("t", sentence("page.keys.zone")),
        ("?", sentence("label.keys.list")),
    )


def keys_help() -> html.Dialog:
    """What the keys do."""
    return html.Dialog(
        [
            html.H2(sentence("label.keys"), id="keys-title"),
            html.Dl([part for key, does in _keys() for part in (html.Dt(html.Kbd(key)), html.Dd(does))]),
            html.Button(sentence("label.close"), id="keys-close", className="shell-button"),
        ],
        id="keys-help",
        className="keys-help",
        **{"aria-labelledby": "keys-title"},
    )


def skeleton(*, answer: bool = True, answer_px: int = 150, chart: bool = True) -> html.Div:
    """Grey bars in the place of what is being read."""
    bars = [dmc.Skeleton(height=36, mb="md"), dmc.Skeleton(height=answer_px, mb="md")] if answer else []
    return html.Div(
        [*bars, *([dmc.Skeleton(height=320)] if chart else [])],
        className="page-skeleton",
        role="status",
        **{"aria-label": sentence("label.loading")},
    )


def panel(title: str, texts: list[str], *, next_step: object = None, tone: str = "blue") -> dmc.Alert:
    """A box that says what is wrong and what to do next."""
    return dmc.Alert(
        [*(html.P(text) for text in texts), *([html.P(next_step)] if next_step else [])],
        title=title,
        color=tone,
        variant="light",
        className=f"explain explain-{tone}",
    )


def fault(error: ThrottlescopeError) -> dmc.Alert:
    """A fault that is known: what, got, expected, fix."""
    facts = [
        sentence(f"label.fault.{part}", value=value)
        for part, value in (("got", error.got), ("expected", error.expected), ("next", error.fix))
        if value is not None
    ]
    return panel(f"{error.what}.", facts, next_step=back_link(), tone="orange")


def freshness_line(freshness: ClusterFreshness) -> list:
    """How new the data is; recordings are named as such."""
    if freshness.data_up_to_ms is None:
        return [sentence("page.data.none")]
    parts = [html.Span(sentence("page.data.up_to", at=fmt.moment(freshness.data_up_to_ms)))]
    if freshness.is_recording:
        parts.insert(
            0,
            html.Span(
                dmc.Badge(
                    sentence("label.demo_recordings"), color="grape", variant="light", radius="sm", tt="none"
                ),
                title=sentence("page.data.recordings_hint"),
            ),
        )
    if SYNTHETIC in freshness.clusters:
        parts.append(html.Span(sentence("page.data.simulated", cluster=SYNTHETIC), className="quiet"))
    return parts


def cluster_choices(freshness: ClusterFreshness) -> list[dict[str, str]]:
    """The clusters of the lake, as options of a list."""
    return [{"value": cluster, "label": fmt.name(cluster, 60)} for cluster in freshness.clusters]


def no_verdicts(lake_path: str) -> dmc.Alert:
    """An empty lake, and how it is filled."""
    return panel(
        sentence("page.no_verdicts.title"),
        [sentence("page.no_verdicts.lake", path=lake_path), sentence("page.no_verdicts.fix")],
    )


def back_link() -> dcc.Link:
    return dcc.Link(sentence("page.overview_link"), href=OVERVIEW_PATH)


def not_found(pathname: str) -> html.Div:
    return html.Div(
        panel(
            sentence("page.not_found.title"),
            [sentence("page.not_found.why")],
            next_step=back_link(),
            tone="orange",
        ),
        **{"data-path": pathname[:200]},
    )


def explained(build: Callable) -> Callable:
    """Wrap a callback that returns one component: a fault becomes a panel."""

    @functools.wraps(build)
    def guarded(*arguments):
        try:
            return build(*arguments)
        except PreventUpdate:
            raise
        except ThrottlescopeError as error:
            return fault(error)
        except Exception:
            _LOG.exception("a page could not be built")
            return panel(
                sentence("page.failed.title"),
                [sentence("page.failed.why")],
                next_step=back_link(),
                tone="red",
            )

    return guarded
