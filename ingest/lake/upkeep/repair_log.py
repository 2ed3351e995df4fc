"""Repair of a damaged log. In: a lake and a table. Out: the table as its newest whole version, and in words what was done; nothing is deleted.

What cannot be read is set aside under another name. A checkpoint only repeats what commits say, so without it nothing is lost where they
are all there. A commit that cannot be read makes those after it useless: the table goes back to the version before.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from throttlescope.ingest.lake.damage import ASIDE
from throttlescope.ingest.lake.lake import Lake
from throttlescope.ingest.lake.upkeep.check_log import (
    CHECKPOINT,
    LAST_CHECKPOINT,
    checkpoint_fault,
    contradictions,
    read_actions,
)
from throttlescope.ingest.lake.upkeep.log import commit_files, log_folder


def repair_log(lake: Lake, table: str, *, dry_run: bool = False) -> list[str]:
    """Set aside what of a table's log cannot be read.

    Returns
    -------
    list of str
        What was done, or would be; nothing where the log is whole, or where it cannot be repaired.
    """
    folder = log_folder(table)
    stored = [file.relative_path for file in lake.storage.list(folder)]
    checkpoints = {int(match[1]): path for path in stored if (match := CHECKPOINT.search(path))}
    last = f"{folder}/{LAST_CHECKPOINT}"
    bad = {path for path in checkpoints.values() if checkpoint_fault(lake, path, checkpoints) is not None}
    good = max((version for version, path in checkpoints.items() if path not in bad), default=-1)
    done, aside = [], sorted(bad)
    if bad:
        done.append(
            f"{table}: {len(bad)} checkpoint{'s' if len(bad) > 1 else ''} set aside; its commits say the same"
        )
    if last in stored and (bad or checkpoint_fault(lake, last, checkpoints) is not None):
        aside.append(last)
        if not bad:
            done.append(
                f"{table}: the file that names the last checkpoint set aside; readers look for it themselves"
            )
    commits = {version: file.relative_path for version, file in commit_files(lake, table)}
    said = {version: _actions(lake, path) for version, path in commits.items()}
    newest = max(commits, default=good)
    broken = next((v for v in range(good + 1, newest + 1) if said.get(v) is None), None)
    if broken is not None:
        if broken == 0:
            # There is no version before it.
            return []
        behind = [path for version, path in sorted(commits.items()) if version >= broken]
        aside += behind
        done.append(
            f"{table}: version {broken} cannot be read; back to version {broken - 1}, {newest - broken + 1} versions set aside"
        )
    old = sorted(_wrong_before(lake, table, said, good))
    if old:
        aside += [commits[version] for version in old]
        done.append(f"{table}: {len(old)} old commits set aside; only the history knew them")
    if not dry_run:
        for path in aside:
            set_aside(lake, path)
    return done


def set_aside(lake: Lake, path: str) -> None:
    """Give a file another name; one that is not there is no error."""
    content = lake.storage.read(path)
    if content is not None:
        lake.storage.write(path + ASIDE, content)
        lake.storage.delete([path])


def _wrong_before(
    lake: Lake, table: str, said: Mapping[int, list[dict[str, Any]] | None], good: int
) -> set[int]:
    """Versions that a good checkpoint replaces, and whose commits cannot be read or contradict it."""
    readable = {version: actions for version, actions in said.items() if actions is not None}
    wrong = said.keys() - readable.keys() | {
        version for version, _, _ in contradictions(lake, table, readable)
    }
    return {version for version in wrong if version <= good}


def _actions(lake: Lake, path: str) -> list[dict[str, Any]] | None:
    """What a commit says; None of one that cannot be read."""
    content = lake.storage.read(path)
    try:
        return None if content is None else read_actions(content)
    except ValueError:
        return None
