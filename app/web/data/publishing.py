"""Publishing for the page of limits. In: a reader and its address. Out: what the query of the terminal reads, of the selected clusters."""

from __future__ import annotations

from dataclasses import replace

from throttlescope.app.queries.publishing import Publishing, read_publishing
from throttlescope.app.web.address.limits import LimitsAddress
from throttlescope.app.web.data.reader import LakeReader
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.topic_name import namespace_of
from throttlescope.ingest.lake import Lake


def publishing(reader: LakeReader, address: LimitsAddress) -> Publishing | None:
    """Limits of publishing and their use; None where the lake has no samples.

    It is read once for each version of the tables.
    """
    found = reader.read_cached("publishing", lambda _cursor, _snapshot: _read(reader.lake_path))
    if found is None:
        return None
    clusters, namespaces = set(address.clusters), set(address.namespaces)

    def of(cluster: str, *names: str) -> bool:
        here = not clusters or cluster in clusters
        return here and (not namespaces or not names or bool(namespaces.intersection(names)))

    return replace(
        found,
        limits=[one for one in found.limits if of(one.cluster, *one.namespaces)],
        namespaces=[one for one in found.namespaces if of(one.cluster, one.name)],
        # A tenant has more namespaces than those that were selected.
        tenants=[] if namespaces else [one for one in found.tenants if of(one.cluster)],
        stopped=[one for one in found.stopped if of(one.cluster, namespace_of(one.topic))],
    )


def _read(lake_path: str) -> Publishing | None:
    try:
        return read_publishing(Lake(lake_path))
    except InputError:
        return None
