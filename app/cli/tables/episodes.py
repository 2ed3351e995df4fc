"""Episodes, incidents and roll-ups in every format. In: an `EpisodeListing`. Out: a table, JSON or CSV on stdout."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from throttlescope.app.presentation.episodes import (
    ROLLUP_COLUMNS,
    exported,
    exported_columns,
    print_episodes,
    print_incidents,
    print_rollups,
)
from throttlescope.app.presentation.output import write_rows

if TYPE_CHECKING:
    from throttlescope.app.cli.settings import CommandOptions
    from throttlescope.app.queries.episodes import EpisodeListing


def write_episodes(found: EpisodeListing, options: CommandOptions) -> None:
    """Write the listing in the requested format."""
    rows = found.rows
    if found.by is not None:
        show = functools.partial(print_rollups, rows, found.by)
        return write_rows(options.format, rows, table=show, columns=lambda: list(ROLLUP_COLUMNS))
    show = {
        "episodes": functools.partial(print_episodes, rows, now_ms=options.now_ms),
        "incidents": functools.partial(print_incidents, rows),
    }[found.table]
    write_rows(
        options.format,
        rows,
        table=show,
        export=functools.partial(exported, table=found.table),
        columns=functools.partial(exported_columns, found.table),
    )
