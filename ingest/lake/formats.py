"""Whether this version can read a stored table. In: a Delta table and its contract. Out: nothing, or an error that says why not.

The format of a table is kept in its Delta properties. A table without that property is of format 1: so are all that were
written before there was a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

import pyarrow as pa

from throttlescope.ingest.contracts import Table
from throttlescope.ingest.core.errors import InputError, ThrottlescopeError

if TYPE_CHECKING:
    from deltalake import DeltaTable

FORMAT_PROPERTY = "throttlescope.format_version"
#: Of Delta's features for readers those that change only its log, or add a type that no contract has.
_FEATURES_OF_THE_LOG = frozenset({"v2Checkpoint", "vacuumProtocolCheck", "timestampNtz"})
_MAPPING, _MAPPING_PROPERTY = "columnMapping", "delta.columnMapping.mode"


class MissingFilesError(ThrottlescopeError):
    """The log of a table names files that are not there."""

    @classmethod
    def of(cls, table: str, relative_paths: Sequence[str]) -> Self:
        count = len(relative_paths)
        return cls(
            f"Files of table {table} are missing",
            got=f"{count} of them, such as {table}/{min(relative_paths)}" if count else None,
            expected="every file that the table's log names",
            fix="bring the whole folder of the lake back from where it was copied, or read the sources into a new lake; "
            "throttlescope lake check names them all",
        )


def stored_format(delta: DeltaTable) -> int:
    """The format that a stored table says it has."""
    text = delta.metadata().configuration.get(FORMAT_PROPERTY)
    if text is None:
        return 1
    try:
        return int(text)
    except ValueError:
        raise InputError(
            "A table's format cannot be read",
            got=f"{FORMAT_PROPERTY} = {text!r}",
            expected="a whole number",
            fix="set the table's property right, or open another lake",
        ) from None


def format_properties(contract: Table) -> dict[str, str]:
    """Delta properties that a new table of this contract needs; none says format 1."""
    return {} if contract.format_version == 1 else {FORMAT_PROPERTY: str(contract.format_version)}


def check_readable(delta: DeltaTable, contract: Table) -> None:
    """Refuse a table of another format, of Delta features that hide rows or rename columns, or whose columns have other types than the contract's.

    Columns that the contract does not know are left alone: a later version may have added them within the format.

    Raises
    ------
    InputError
    """
    found = stored_format(delta)
    if found > contract.format_version:
        raise InputError(
            f"Table {contract.name} of this lake was written by a newer version",
            got=f"format {found}",
            expected=f"format {contract.format_version}",
            fix="upgrade throttlescope, or read the sources into a new lake; nothing was changed",
        )
    if found < contract.format_version:
        raise InputError(
            f"Table {contract.name} of this lake was written by an older version, and its columns meant something else",
            got=f"format {found}",
            expected=f"format {contract.format_version}",
            fix="read the sources into a new lake, or open this one with the version that wrote it; nothing was changed",
        )
    if features := features_of_files(delta):
        raise InputError(
            f"Table {contract.name} of this lake uses features of Delta that another program has switched on",
            got=", ".join(features),
            expected="data files that are read as they are",
            fix="let that program write the table without them (delta-spark: ALTER TABLE ... DROP FEATURE), or bring the lake back from a copy",
        )
    wrong = other_types(delta, contract)
    if wrong:
        name, stored, declared = wrong[0]
        more = f" and {len(wrong) - 1} more" if len(wrong) > 1 else ""
        raise InputError(
            f"A column of table {contract.name} has another type than it should",
            got=f"{name} is {stored}{more}",
            expected=f"{name} is {declared}",
            fix="this table was not written by throttlescope, or only in part: bring it back from a copy, or read the "
            "sources into a new lake; nothing was changed",
        )


def features_of_files(delta: DeltaTable) -> list[str]:
    """Names of the table's Delta features without which its data files are read wrong, such as deletion vectors.

    Data files are read by their paths, as everything in them were a row of the table under the column's name.
    """
    protocol = delta.protocol()
    # Before features had names, version 2 meant that columns may be mapped.
    named = set(protocol.reader_features or ()) | ({_MAPPING} if protocol.min_reader_version == 2 else set())
    if delta.metadata().configuration.get(_MAPPING_PROPERTY, "none") == "none":
        named.discard(_MAPPING)
    return sorted(named - _FEATURES_OF_THE_LOG)


def other_types(delta: DeltaTable, contract: Table) -> list[tuple[str, str, str]]:
    """Columns of other types: name, stored type, declared type. Of lists, maps and structs only that they are such."""
    stored = {field.name: field.type for field in pa.schema(delta.schema())}
    return [
        (column.name, str(stored[column.name]), str(column.type))
        for column in contract.columns
        if column.name in stored and _kind(stored[column.name]) != _kind(column.type)
    ]


def _kind(type_: pa.DataType) -> str:
    for kind in ("list", "map", "struct"):
        if getattr(pa.types, f"is_{kind}")(type_) or (kind == "list" and pa.types.is_large_list(type_)):
            return kind
    # Delta has one type of text; which of Arrow's it is read as depends on the reader.
    if pa.types.is_large_string(type_) or pa.types.is_string_view(type_):
        return str(pa.string())
    return str(type_)
