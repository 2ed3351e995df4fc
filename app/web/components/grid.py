"""Looks and cells that all tables share. In: values. Out: plain values; the browser draws them."""

from __future__ import annotations

from collections.abc import Callable

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.causes import CAUSES, cause_tip

#: The content of an empty cell; "not measured" would not fit.
NONE = "\N{EN DASH}"

GRID_THEME = {
    "function": (
        "themeQuartz.withParams({"
        "backgroundColor: 'var(--mantine-color-body)', foregroundColor: 'var(--mantine-color-text)',"
        "borderColor: 'var(--mantine-color-default-border)', headerBackgroundColor: 'var(--mantine-color-default-hover)',"
        "rowHoverColor: 'var(--mantine-color-default-hover)', accentColor: '#0072B2', fontFamily: 'inherit',"
        "fontSize: 13, headerFontSize: 12, spacing: 5, wrapperBorderRadius: 4})"
    )
}


def badge_cells(
    field: str, word: str, limiter: str | None, more: str = "", more_tip: str = ""
) -> dict[str, str]:
    """A cause as the browser's ``CauseBadge`` draws it in the column ``field``; ``word`` is one of ``ingest.contracts.vocabulary.CAUSES``."""
    cause = CAUSES[word]
    return {
        field: cause.label + more,
        f"{field}_mark": cause.mark,
        f"{field}_colour": cause.colour,
        f"{field}_extra": limiter or "",
        f"{field}_tip": f"{cause_tip(word, limiter)}{more_tip}",
    }


def or_none(value: float | None, write: Callable[[float], str]) -> str:
    """A number as text, or :data:`NONE`."""
    return NONE if fmt.is_missing(value) else write(value)
