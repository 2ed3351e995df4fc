"""The controls: a slider and a field for each setting, which show the same value. In: a window's scales and a run. Out: components, and scales for the browser.

The browser's script writes what is moved into the address; everything else follows from there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import dash_mantine_components as dmc
from dash import dcc, html

from throttlescope.app.services.whatif.scales import Scale
from throttlescope.app.web.components.parts import section
from throttlescope.app.web.components.sentence_parts import sentence_parts
from throttlescope.app.web.pages.what_if import run_text
from throttlescope.app.web.pages.what_if.replayed_runs import settings_of
from throttlescope.models.messages.catalogue import message, sentence
from throttlescope.models.throttling.replay import Change, Observed
from throttlescope.models.throttling.replay.rebuild import own_limits

#: Steps of a slider; one more lifts a limit.
STEPS = 120
VALUE, SLIDER = "what-if-value", "what-if-slider"
#: What is typed, and written into the address, for no limit.
NONE = "none"


def controls(observed: Observed, scales: Mapping[str, Scale], text: str) -> html.Section:
    """A field and a slider for everything that can be moved; limits that are not set are folded."""
    settings = dict(part.partition("=")[::2] for part in settings_of(text))
    there, folded = [], []
    for key, scale in scales.items():
        is_limit = key not in ("consumers", "processing_ms", "load", "batch_msg")
        row = _control(observed, scale, settings.get(key))
        (folded if is_limit and scale.now is None and key not in settings else there).append(row)
    more = html.Details(
        [html.Summary(sentence("what_if_page.controls.unset", number=len(folded))), *folded],
        className="what-if-more",
    )
    return section(
        sentence("label.change"),
        [
            html.P(
                [
                    html.Span(id="what-if-moves", **{"data-words": sentence("what_if_page.controls.moves")}),
                    " ",
                    *sentence_parts(message("what_if_page.controls.hint", none=html.Code(NONE))),
                ],
                className="facts",
            ),
            *there,
            *([more] if folded else []),
            dcc.Store(id="what-if-scales", data={key: _for_browser(scale) for key, scale in scales.items()}),
        ],
        note=sentence("what_if_page.controls.per_partition") if len(observed.partitions) > 1 else None,
    )


def position(scale: Scale, value: float | None) -> int:
    """Where a value is on its slider; a value beyond its ends is at the nearer end."""
    if value is None:
        return STEPS + 1 if scale.liftable else STEPS // 2
    if value <= scale.low:
        return 0
    share = math.log(min(value, scale.high) / scale.low) / math.log(scale.high / scale.low)
    return round(STEPS * share)


def _control(observed: Observed, scale: Scale, text: str | None) -> html.Div:
    label, unit = run_text.lever_labels()[scale.key]
    at = position(scale, _number(scale, text))
    return html.Div(
        [
            dmc.TextInput(
                id={"type": VALUE, "key": scale.key},
                label=[
                    label,
                    html.Span(sentence("what_if_page.controls.unit", unit=unit), className="quiet"),
                ],
                value=text or "",
                placeholder=_plain(scale),
                debounce=True,
                size="xs",
                className="what-if-field",
                spellCheck=False,
                autoComplete="off",
            ),
            dmc.Slider(
                id={"type": SLIDER, "key": scale.key},
                min=0,
                max=STEPS + 1 if scale.liftable else STEPS,
                step=1,
                value=at,
                updatemode="drag",
                label=None,
                size="sm",
                thumbLabel=label + sentence("what_if_page.controls.unit", unit=unit),
                marks=[{"value": position(scale, scale.now)}] if scale.now is not None else [],
                className="what-if-slider",
            ),
            html.Span(
                sentence("what_if_page.controls.now", value=_as_it_is(observed, scale)),
                className="facts what-if-now",
            ),
        ],
        className="what-if-control",
    )


def _as_it_is(observed: Observed, scale: Scale) -> str:
    if scale.key in ("consumers", "load", "batch_msg"):
        return run_text.amount(scale.now, scale.key)
    if scale.key == "processing_ms":
        if scale.now is None:
            return sentence("what_if_page.controls.capacity_unknown")
        return run_text.amount(scale.now, scale.key)
    level = scale.key.partition(".")[0]
    period_s = own_limits(observed, Change()).get(level, {}).get("period_s")
    if scale.key.endswith("period_s") and scale.now is None:
        return sentence("label.no_limit")
    return run_text.amount(scale.now, scale.key, period_s)


def _number(scale: Scale, text: str | None) -> float | None:
    """The value of a setting; where it is none, or cannot be read, that of what is."""
    if text is None:
        return scale.now
    if text == NONE:
        return None
    try:
        found = float(text)
    except ValueError:
        return scale.now
    return found if math.isfinite(found) else scale.now


def _plain(scale: Scale) -> str:
    """The placeholder of an empty field."""
    if scale.now is None:
        return (
            NONE if scale.liftable else "-" if scale.key.endswith("period_s") else sentence("label.not_seen")
        )
    return f"{scale.now:.6g}" if scale.now < 1e6 else f"{scale.now:.0f}"


def _for_browser(scale: Scale) -> dict:
    return {
        "low": scale.low,
        "high": scale.high,
        "steps": STEPS,
        "whole": scale.whole,
        "liftable": scale.liftable,
        "now": position(scale, scale.now),
    }
