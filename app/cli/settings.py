"""From flags to settings: the configuration file with the flags laid over it, narrowed to the sources asked for."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from throttlescope.app.config import Settings


@dataclass(frozen=True)
class SourceFlags:
    """The flags that name sources; what was not given is None and leaves the file's value."""

    prometheus: str | None = None
    pulsar_admin: Sequence[str] | None = None
    cluster: str | None = None
    match: Sequence[str] | None = None
    reader: str | None = None
    token_file: Path | None = None
    admin_token_file: Path | None = None


def settings_with(
    config: Path | None, flags: Mapping[str, Any], sources: SourceFlags = SourceFlags()
) -> Settings:
    """Settings of the file that ``--config``, the environment or the working folder names, under the flags.

    Without a flag that names a source, all clusters of the file are meant. ``--cluster`` narrows them to one;
    ``--prometheus`` and ``--pulsar-admin`` stand for one cluster, the file's of that name if there is one.

    Raises
    ------
    InputError
        The file is not right, or ``--cluster`` names none of its clusters and no address is given.
    """
    from throttlescope.app.config import UNNAMED, find_config, load_settings
    from throttlescope.ingest.core.errors import InputError

    file = find_config(config)
    addressed = sources.prometheus is not None or bool(sources.pulsar_admin)
    if not addressed:
        settings = load_settings(file, flags)
        known = settings.clusters
        if sources.cluster is not None:
            if sources.cluster not in known:
                near = difflib.get_close_matches(sources.cluster, known, n=1)
                raise InputError(
                    "--cluster names no cluster of the configuration",
                    got=f"{sources.cluster} ({file or 'no configuration file'})",
                    expected="one of " + ", ".join(known) if known else None,
                    fix=f"did you mean {near[0]}?"
                    if near
                    else "add --prometheus URL, or the cluster to the file",
                )
            known = {sources.cluster: known[sources.cluster]}
        names = list(known)
    else:
        names = [sources.cluster or UNNAMED]
    given = {
        "prometheus": {"url": sources.prometheus, "reader": sources.reader, "token_file": sources.token_file},
        "pulsar_admin": {
            "urls": list(sources.pulsar_admin) if sources.pulsar_admin else None,
            "token_file": sources.admin_token_file,
        },
        "match": list(sources.match) if sources.match else None,
    }
    if not addressed:
        # A flag such as --reader reaches only the sources that the file has; it must not make new ones.
        given_by_name = {
            name: {
                key: value
                for key, value in given.items()
                if key == "match" or getattr(known[name], key) is not None
            }
            for name in names
        }
    else:
        given_by_name = dict.fromkeys(names, given)
    settings = load_settings(file, {**flags, "clusters": given_by_name})
    return settings.model_copy(update={"clusters": {name: settings.clusters[name] for name in names}})
