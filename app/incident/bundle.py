"""The zip of an incident. In: a lake and a selection. Out: one file; the same lake gives the same bytes.

Its members have fixed names and times, so that no name of a cluster becomes a path and no clock becomes a difference.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Any

from throttlescope.app.incident import files
from throttlescope.app.incident.computed import ComputedResults
from throttlescope.app.incident.html import html
from throttlescope.app.incident.load import Incident
from throttlescope.app.incident.markdown import markdown
from throttlescope.app.incident.page import page
from throttlescope.app.incident.plots import incident_figure, photograph
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.times import format_time
from throttlescope.models.diagnosis.verdict import RULES_VERSION

if TYPE_CHECKING:
    import plotly.graph_objects as go

FORMAT = 1
FOLDER = "incident"
PICTURE = "plots.png"
#: The oldest time that a zip can hold.
_NO_TIME = (1980, 1, 1, 0, 0, 0)
_MODE = 0o100644 << 16

Photograph = Callable[["go.Figure"], tuple[bytes | None, str | None]]


@dataclass(frozen=True)
class Bundle:
    """The files of a bundle by name, including the manifest, and descriptions of the missing ones."""

    files: Mapping[str, bytes]
    not_made: tuple[str, ...]

    def zipped(self) -> bytes:
        """All of it as one zip."""
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w") as archive:
            for name, content in self.files.items():
                member = zipfile.ZipInfo(f"{FOLDER}/{name}", _NO_TIME)
                member.external_attr = _MODE
                member.create_system = 3
                member.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(member, content, compresslevel=9)
        return stream.getvalue()


def make_bundle(
    incident: Incident,
    computed: ComputedResults,
    *,
    external_url: str | None = None,
    picture: Photograph | None = photograph,
) -> Bundle:
    """Write every file of a bundle.

    Parameters
    ----------
    external_url : str, optional
        Where people reach ``throttlescope serve``; the page links to it.
    picture : callable, optional
        Makes a PNG of a figure, or says why not; None: no picture is wanted.
    """
    figure = incident_figure(incident)
    png, why_not = (None, None) if figure is None or picture is None else picture(figure)
    unmade = () if why_not is None else (why_not,)
    blocks = page(
        incident,
        computed,
        external_url=external_url,
        picture=None if png is None else PICTURE,
        no_picture=unmade,
    )
    text = {
        "README.md": markdown(blocks, picture=None if png is None else PICTURE),
        "incident.html": html(blocks, figure, title=f"{incident.key.subscription}: incident"),
        "verdicts.json": files.verdicts_json(incident, computed),
        "evidence.csv": files.evidence_csv(incident),
        "signals.csv": files.signals_csv(incident),
        "limits.json": files.limits_json(incident),
        "policies.jsonl": files.policies_jsonl(incident),
        "queries.promql": files.queries_promql(incident, computed),
        "commands.sh": files.commands_sh(incident, computed),
    }
    # What is no text any more (half a character) is shown, never a reason to fail.
    content = {name: whole.encode("utf-8", "backslashreplace") for name, whole in text.items()}
    if png is not None:
        content[PICTURE] = png
    content["manifest.json"] = _manifest(incident, computed, content)
    reasons = [f"{what}: {reason}" for what, reason in computed.why_not.items()]
    return Bundle(content, (*reasons, *unmade))


def _manifest(incident: Incident, computed: ComputedResults, content: Mapping[str, bytes]) -> bytes:
    verdict = incident.verdict
    found: dict[str, Any] = {
        "format": FORMAT,
        "throttlescope": version("throttlescope"),
        "rules_version": RULES_VERSION,
        "told_rules_version": None if verdict is None else verdict["rules_version"],
        "forecast_versions": sorted({row["method_version"] for row in computed.forecasts or ()}),
        "cluster": incident.key.cluster,
        "subscription": str(incident.name),
        "told_at": format_time(incident.at_ms),
        "told_window": None
        if verdict is None
        else [format_time(verdict["window_start_ms"]), format_time(verdict["window_end_ms"])],
        "data_until": format_time(incident.known_until_ms),
        "range": [format_time(incident.start_ms), format_time(incident.end_ms)],
        "range_was_cut": incident.was_cut,
        "episode_id": None if incident.episode is None else incident.episode["episode_id"],
        "episode_was_stored": incident.episodes_stored,
        "table_versions": dict(incident.versions),
        "not_computed": dict(computed.why_not),
        "executed": False,
        "files": [
            {"name": name, "bytes": len(content[name]), "sha256": hashlib.sha256(content[name]).hexdigest()}
            for name in sorted(content)
        ],
    }
    return (json.dumps(found, indent=2) + "\n").encode("ascii")


def default_name(incident: Incident) -> str:
    """A file name of safe characters: subscription and time."""
    words = re.sub(r"[^A-Za-z0-9]+", "-", f"{incident.key.cluster}-{incident.key.subscription}").strip("-")
    when = re.sub(r"[^0-9TZ]", "", format_time(incident.at_ms - incident.at_ms % 1000))
    return f"incident-{words[:60].strip('-') or 'subscription'}-{when}.zip"


def check_out(path: Path, *, force: bool) -> None:
    """Raise for a file that could not be written, or that already exists.

    Raises
    ------
    InputError
        It is a folder, its folder is not there or may not be written, or it is there and ``force`` is not given.
    """
    folder = path.parent
    if path.is_dir():
        raise InputError("--out: a folder, not a file", got=str(path), fix=f"--out {path}/incident.zip")
    if not folder.is_dir():
        raise InputError("--out: the folder is not there", got=str(folder), fix=f"mkdir -p {folder}")
    if path.exists() and not force:
        raise InputError(
            "--out: the file is there already", got=str(path), fix="name another, or add --force"
        )
    if not os.access(folder, os.W_OK):
        raise InputError("--out: the folder may not be written", got=str(folder), fix="name another")


def write_out(path: Path, content: bytes) -> None:
    """Write a file atomically.

    Raises
    ------
    InputError
        The disk does not take it.
    """
    try:
        with NamedTemporaryFile(dir=path.parent, prefix=".incident-", delete=False) as part:
            part.write(content)
        os.chmod(part.name, 0o644)
        os.replace(part.name, path)
    except OSError as error:
        raise InputError("--out: the file cannot be written", got=f"{path}: {error.strerror}") from error
