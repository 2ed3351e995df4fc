"""A lake as it stood. In: a lake and a moment. Out: the same lake for readers, every table in the version that was newest then.

Nothing is copied and nothing can be written. It reaches back as far as the tables' logs do, and as the files are still there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from deltalake import DeltaTable

from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.times import format_time, parse_time
from throttlescope.ingest.lake.files import DataFile
from throttlescope.ingest.lake.lake import Lake

#: A whole number below this is a version; as epoch seconds it would be a time in 1973.
_VERSIONS_BELOW = 100_000_000


class PastLake(Lake):
    """Delta tables as they stood at a moment.

    Parameters
    ----------
    as_of_ms : int
        The moment.
    versions : mapping of str to int, optional
        Versions of tables that are meant exactly, and not by the moment.

    Raises
    ------
    InputError
        When a table is read: its log does not reach back that far, or files of that version have been vacuumed.
    """

    def __init__(self, root: str | Path, as_of_ms: int, versions: Mapping[str, int] | None = None) -> None:
        super().__init__(root)
        self.as_of_ms = as_of_ms
        self._newest = Lake(root)
        self._versions: dict[str, int | None] = dict(versions or {})
        self._there: dict[str, set[str]] = {}

    def __reduce__(self):
        return (PastLake, (self.root, self.as_of_ms, self._versions))

    def files(
        self,
        table: str,
        *,
        partition: dict[str, Iterable[str]] | None = None,
        between: dict[str, tuple[int | str, int | str]] | None = None,
        version: int | None = None,
    ) -> list[DataFile]:
        """As of the lake, of the version then.

        Raises
        ------
        InputError
            Some of the files are gone.
        """
        found = super().files(table, partition=partition, between=between, version=version)
        if found and table not in self._there:
            stored = self.storage.list(f"{table}/data")
            self._there[table] = {file.relative_path.removeprefix(f"{table}/") for file in stored}
        gone = [file for file in found if file.relative_path not in self._there[table]] if found else []
        if gone:
            raise InputError(
                "The lake does not have all files of that moment any more",
                got=f"{len(gone)} of {len(found)} files of {table}, version {self.version(table)}, are gone",
                expected="a moment since the last vacuum, less the time that it kept",
                fix="choose a later --as-of; throttlescope lake vacuum --older-than says how long files are kept",
            )
        return found

    def commit(self, table: str, *args: object, **kwargs: object) -> None:
        """Refuse: the past is not written."""
        raise InputError("A lake as of a moment cannot be written", got=f"a commit to {table}")

    def _open(self, table: str, version: int | None = None) -> DeltaTable | None:
        if version is None:
            version = self._version_then(table)
            if version is None:
                return None
        return super()._open(table, version)

    def _version_then(self, table: str) -> int | None:
        if table not in self._versions:
            newest = self._newest
            version = newest.version_at(table, self.as_of_ms)
            if (
                version is None
                and newest.version(table) is not None
                and (oldest := _oldest_time_ms(newest, table))
            ):
                raise InputError(
                    f"The log of {table} does not reach back that far",
                    got=format_time(self.as_of_ms),
                    expected=f"{format_time(oldest)} or later",
                    fix="choose a later --as-of; throttlescope lake history TABLE lists what there is",
                )
            self._versions[table] = version
        return self._versions[table]


def lake_as_of(root: str | Path, text: str, table: str, *, now_ms: int) -> PastLake:
    """The lake as of a time, or as of a version of one table.

    Parameters
    ----------
    text : str
        A time as users write it, or a version of ``table``: then the other tables are read as of its commit.

    Raises
    ------
    InputError
        It is neither, lies in the future, or there is no such version.
    """
    if text.strip().isdecimal() and int(text) < _VERSIONS_BELOW:
        version, lake = int(text), Lake(root)
        times = _times_ms(lake, table)
        if version not in times:
            raise InputError(
                f"There is no such version of {table}",
                got=text.strip(),
                expected=f"{min(times)} to {max(times)}" if times else "a table that was written",
                fix=f"throttlescope lake history {table} lists them",
            )
        return PastLake(root, times[version], {table: version})
    as_of_ms = parse_time(text, now_ms=now_ms)
    if as_of_ms > now_ms:
        raise InputError(
            "--as-of lies in the future", got=format_time(as_of_ms), expected="a time that has passed"
        )
    return PastLake(root, as_of_ms)


def _times_ms(lake: Lake, table: str) -> dict[int, int]:
    with lake._delta.looking():
        delta = lake._open(table)
        return {} if delta is None else {one["version"]: one["timestamp"] for one in delta.history()}


def _oldest_time_ms(lake: Lake, table: str) -> int | None:
    """When the oldest commit of the log was made, where older ones were cleaned up; None where it holds them all."""
    times = _times_ms(lake, table)
    return times[min(times)] if times and min(times) > 0 else None
