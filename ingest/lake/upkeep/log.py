"""Delta's log of one table. In: a lake and a table. Out: its commits that are still there, newest first, with their actions.

Only what upkeep needs of the protocol: commits are numbered JSON files, one action a line. What a table has now is read
with ``deltalake``, never with this.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from throttlescope.ingest.lake.lake import Lake
from throttlescope.ingest.lake.storage import StoredFile

_COMMIT = re.compile(r"^(\d{20})\.json$")


@dataclass(frozen=True)
class Commit:
    """One version of a table: who made it, when, and Delta's actions in it.

    Attributes
    ----------
    time_ms : int
        When it was committed, as its writer's clock had it.
    add, remove : tuple of dict
        Delta's actions of these names.
    changes_table : bool
        It says what columns and settings the table has.
    """

    version: int
    time_ms: int
    run_id: str | None
    operation: str | None
    add: tuple[dict[str, Any], ...]
    remove: tuple[dict[str, Any], ...]
    changes_table: bool


def log_folder(table: str) -> str:
    """Path of a table's log below the lake."""
    return f"{table}/_delta_log"


def commit_files(lake: Lake, table: str) -> list[tuple[int, StoredFile]]:
    """Versions that the log still has a commit of, oldest first, with their files."""
    found = []
    for file in lake.storage.list(log_folder(table)):
        if match := _COMMIT.match(file.relative_path.rsplit("/", 1)[-1]):
            found.append((int(match[1]), file))
    return sorted(found, key=lambda one: one[0])


def commits(lake: Lake, table: str) -> Iterator[Commit]:
    """Commits of a table that are still in its log, newest first; each is read when it is needed."""
    for version, file in reversed(commit_files(lake, table)):
        content = lake.storage.read(file.relative_path)
        # Another process may clean the log up meanwhile: from here on nothing older is there.
        if content is None:
            return
        yield _commit(version, content.decode(), file)


def _commit(version: int, text: str, file: StoredFile) -> Commit:
    add, remove, info, changes_table = [], [], {}, False
    for line in text.splitlines():
        action = json.loads(line) if line.strip() else {}
        if "add" in action:
            add.append(action["add"])
        elif "remove" in action:
            remove.append(action["remove"])
        elif "commitInfo" in action:
            info = action["commitInfo"]
        elif "metaData" in action:
            changes_table = True
    return Commit(
        version,
        int(info.get("timestamp", file.modified_ms)),
        info.get("run_id"),
        info.get("operation"),
        tuple(add),
        tuple(remove),
        changes_table,
    )
