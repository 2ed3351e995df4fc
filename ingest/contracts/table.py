"""The table contract: columns with their types, units and meaning, declared once.

In: nothing. Out: the Arrow, Spark and Delta schema of a table, and a check that a batch keeps it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa

from throttlescope.ingest.core.errors import InputError


@dataclass(frozen=True)
class Column:
    """One column: its name (a unit ends it), Arrow type, whether NULL is allowed, and its meaning."""

    name: str
    type: pa.DataType
    doc: str
    nullable: bool = False
    words: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Table:
    """One table of the lake.

    Attributes
    ----------
    key : tuple of str
        Columns that together name a row; a repeated key is a fault.
    partition_by : tuple of str
        Delta's partition columns. The log has their values and so have the files, so that a list of
        files can be read by anything that reads Parquet.
    format_version : int
        Raised when a column changes its meaning; readers refuse a version that they do not know.
    """

    name: str
    doc: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    partition_by: tuple[str, ...] = ()
    format_version: int = 1

    @cached_property
    def schema(self) -> pa.Schema:
        return pa.schema([pa.field(c.name, c.type, c.nullable) for c in self.columns])

    @cached_property
    def loose_schema(self) -> pa.Schema:
        """The same columns without the NOT NULL flags, as Spark writes them."""
        return pa.schema([pa.field(c.name, c.type) for c in self.columns])

    def column(self, name: str) -> Column:
        return next(column for column in self.columns if column.name == name)

    def conform(self, rows: pa.Table) -> pa.Table:
        """Select and cast ``rows`` to exactly this table's columns, in this order.

        Raises
        ------
        InputError
            A column is missing, surplus, of another type, NULL where it may not be, or outside
            its closed list of words.
        """
        names = set(rows.column_names)
        wanted = {c.name for c in self.columns}
        if names != wanted:
            raise InputError(
                f"Columns of {self.name} do not keep its contract",
                got=f"missing {sorted(wanted - names)}, surplus {sorted(names - wanted)}",
                expected=f"{len(wanted)} columns of format {self.format_version}",
            )
        # The cast is made without the NOT NULL flags so that the checks below can name the column.
        try:
            rows = rows.select(self.loose_schema.names)
            if not rows.schema.equals(self.loose_schema):
                rows = rows.cast(self.loose_schema)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise InputError(f"Types of {self.name} do not keep its contract", got=str(error)) from error
        for column in self.columns:
            values = rows.column(column.name)
            if not column.nullable and values.null_count:
                raise InputError(
                    f"{self.name}.{column.name} may not be NULL", got=f"{values.null_count} NULL rows"
                )
            if column.words is not None:
                strange = set(values.unique().to_pylist()) - set(column.words) - {None}
                if strange:
                    raise InputError(
                        f"{self.name}.{column.name} is a closed list",
                        got=sorted(strange),
                        expected=", ".join(column.words),
                    )
        # Nothing is left to be cast but the flags, which were just checked.
        return pa.Table.from_arrays(rows.columns, schema=self.schema)
