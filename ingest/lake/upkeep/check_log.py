"""Whether a table's log is whole. In: a lake, a table, its files. Out: files of the log that cannot be read or do not fit together.

Delta's log has no checksums. What can be checked: every commit is JSON, has as many files as it says, and none is left out between
the oldest and the newest; every checkpoint is Parquet; and what the commits that are there have added and not removed is what the newest version names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from throttlescope.ingest.core.errors import ThrottlescopeError
from throttlescope.ingest.lake.actions import FILES_ADDED, FILES_REMOVED
from throttlescope.ingest.lake.lake import Lake
from throttlescope.ingest.lake.storage import StoredFile
from throttlescope.ingest.lake.upkeep.log import log_folder

_COMMIT = re.compile(r"/(\d{20})\.json$")
CHECKPOINT = re.compile(r"/(\d{20})\.checkpoint[^/]*\.parquet$")
LAST_CHECKPOINT = "_last_checkpoint"
#: Operations whose commits carry the table's columns.
_OF_METADATA = ("CREATE TABLE", "ADD COLUMN")


def log_faults(lake: Lake, table: str, stored: Mapping[str, StoredFile]) -> list[tuple[str, str]]:
    """Paths below the lake, each with what is wrong, in words."""
    folder = f"{log_folder(table)}/"
    paths = sorted(path for path in stored if path.startswith(folder))
    commits = {int(match[1]): path for path in paths if (match := _COMMIT.search(path))}
    checkpoints = {int(match[1]): path for path in paths if (match := CHECKPOINT.search(path))}
    found = [
        (path, fault)
        for path in (*checkpoints.values(), f"{folder}{LAST_CHECKPOINT}")
        if path in stored and (fault := checkpoint_fault(lake, path, checkpoints))
    ]
    actions: dict[int, list[dict[str, Any]]] = {}
    for version, path in sorted(commits.items()):
        content = lake.storage.read(path)
        # Another process may clean the log up meanwhile.
        if content is None:
            continue
        try:
            actions[version] = read_actions(content)
        except ValueError as error:
            found.append((path, f"the commit of version {version} cannot be read: {error}"))
    found += _holes(folder, commits, checkpoints)
    return found or [(f"{table}/{path}", what) for _, path, what in contradictions(lake, table, actions)]


def read_actions(content: bytes) -> list[dict[str, Any]]:
    """Delta's actions in a commit.

    Raises
    ------
    ValueError
        It is not JSON, one object a line, says nothing, or has lost its end.
    """
    actions = [json.loads(line) for line in content.decode().splitlines() if line.strip()]
    if not actions:
        raise ValueError("it is empty")
    for action in actions:
        for name in ("add", "remove"):
            if not isinstance(action, dict) or not isinstance(action.get(name, {}), dict):
                raise ValueError("an action is no object")
            if name in action and not isinstance(action[name].get("path"), str):
                raise ValueError(f"{name} without a path")
    _refuse_cut(actions)
    return actions


def _refuse_cut(actions: list[dict[str, Any]]) -> None:
    """Cut at the end of a line, a commit is JSON still. Delta writes its information first, and ours says how much follows."""
    info = next((action["commitInfo"] for action in actions if "commitInfo" in action), None)
    if not isinstance(info, dict):
        return
    for key, name in ((FILES_ADDED, "add"), (FILES_REMOVED, "remove")):
        # Commits of an earlier release do not say.
        said, found = info.get(key), sum(name in action for action in actions)
        if said is not None and str(said) != str(found):
            raise ValueError(f"it has {found} of {said} files to {name}")
    if info.get("operation") in _OF_METADATA and not any("metaData" in action for action in actions):
        raise ValueError("it has lost the columns")


def checkpoint_fault(lake: Lake, path: str, checkpoints: Mapping[int, str]) -> str | None:
    """What is wrong with a checkpoint, or with the file that names the last one; None: nothing, or it has just gone."""
    content = lake.storage.read(path)
    if content is None:
        return None
    if path.endswith(LAST_CHECKPOINT):
        try:
            version = json.loads(content)["version"]
        except (ValueError, KeyError, TypeError):
            return "it does not say which checkpoint is the last one"
        return (
            None
            if version in checkpoints
            else f"it names the checkpoint of version {version}, which is not there"
        )
    try:
        pq.read_table(pa.BufferReader(content))
    except (pa.ArrowException, OSError, ValueError) as error:
        return f"the checkpoint cannot be read: {' '.join(str(error).split())[:160]}"
    return None


def _holes(
    folder: str, commits: Mapping[int, str], checkpoints: Mapping[int, str]
) -> Iterator[tuple[str, str]]:
    """Commits that are not there although a newer one is, and that no checkpoint replaces: older ones may have been cleaned up."""
    for version in range(max(checkpoints, default=-1) + 1, max(commits, default=0)):
        if version not in commits:
            yield f"{folder}{version:020}.json", f"the commit of version {version} is missing"


def contradictions(
    lake: Lake, table: str, actions: Mapping[int, list[dict[str, Any]]]
) -> Iterator[tuple[int, str, str]]:
    """Data files of which the commits say otherwise than the newest version: the commit that spoke of it last, its path, and what is wrong."""
    if not actions:
        return
    newest = max(actions)
    try:
        version = lake.version(table)
        # A commit that was made since then is not looked at.
        files = [] if version is None else lake.files(table, version=newest)
    except ThrottlescopeError:
        return
    named = {file.relative_path for file in files}
    # Behind a commit that is not there nothing follows: old ones may have been cleaned up.
    first = next(v for v in range(newest, -2, -1) if v - 1 not in actions)
    state: dict[str, tuple[int, bool]] = {}
    for version, some in sorted(actions.items()):
        if version < first:
            continue
        # Removed and added again in one commit is there.
        for name, is_there in (("remove", False), ("add", True)):
            state |= {action[name]["path"]: (version, is_there) for action in some if name in action}
    for path, (version, is_there) in sorted(state.items()):
        if is_there != (path in named):
            what = "names it no more" if is_there else "still names it"
            yield (
                version,
                path,
                f"by the commits it was {'added' if is_there else 'removed'}, and version {newest} {what}",
            )
