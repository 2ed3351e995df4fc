"""Opens the sources of a run. In: a `RunRequest`. Out: sources that answered, before anything is started or written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from throttlescope.app.pipeline.sources.source import Source
from throttlescope.ingest.core.errors import InputError

if TYPE_CHECKING:
    from throttlescope.app.pipeline.request import RunRequest


def open_sources(request: RunRequest) -> list[Source]:
    """Open everything that a request names, before anything is started or written.

    Raises
    ------
    InputError
        There is nothing to read, or a selector or recording is wrong.
    SourceError
        A source cannot be reached or refuses.
    """
    if request.command == "diagnose":
        from throttlescope.app.pipeline.sources.lake import open_lake

        return open_lake(request)
    if request.recordings:
        from throttlescope.app.pipeline.sources.recordings import open_recordings

        return open_recordings(request)
    clusters = request.settings.clusters
    if not clusters:
        raise InputError(
            "There is no source to read",
            got="no --prometheus, no --recording and no cluster in a configuration file",
            fix="add --prometheus URL, or write a throttlescope.toml (docs/reference/configuration.md)",
        )
    without = [name for name, cluster in clusters.items() if cluster.prometheus is None]
    if without:
        raise InputError(
            "A cluster has no Prometheus to read samples from",
            got=", ".join(without),
            fix=f"add --prometheus URL, or url to [clusters.{without[0]}.prometheus]",
        )
    from throttlescope.app.pipeline.sources.prometheus import open_cluster

    return [open_cluster(name, cluster, request) for name, cluster in clusters.items()]
