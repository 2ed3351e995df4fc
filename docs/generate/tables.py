"""The page of the tables. In: the contracts. Out: ``docs/reference/tables.md``."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from docs.generate.markdown import DOCS
from throttlescope.ingest.contracts import TABLES, Column, Table
from throttlescope.ingest.core.labels import LabelMapping, normalise

PAGE = DOCS / "reference" / "tables.md"

_HEAD = """\
# Tables

<!-- Written by `make docs` from ingest/contracts/. Changes belong there. -->

Every table of the lake is declared once, in `ingest/contracts/`, and every row is checked against its declaration
before it is written. Times are UTC epoch milliseconds and end in `_ms`; ranges are [start, end); a unit ends a name.
NULL means not observed; zero is a measurement. Entries are never counted as messages.
"""

# One series as a broker prints it under its own defaults, and as the Helm chart's brokers do.
_SHAPES = (
    (
        "a broker's own default, scraped without `honor_labels`",
        "pulsar_subscription_back_log",
        {
            "cluster": "pulsar-prod",
            "exported_namespace": "acme/shop",
            "topic": "persistent://acme/shop/orders-partition-0",
            "subscription": "billing",
            "instance": "broker-0:8080",
        },
        LabelMapping(renames={"exported_namespace": "namespace"}),
    ),
    (
        "the Helm chart's split labels, without a `cluster`",
        "pulsar_subscription_back_log",
        {
            "namespace": "acme/shop",
            "topic": "persistent://acme/shop/orders",
            "partition": "0",
            "subscription": "billing",
            "instance": "broker-0:8080",
        },
        LabelMapping(cluster="pulsar-prod"),
    ),
)


def render(page: str = "") -> str:
    """The whole page."""
    parts = [_HEAD, "| table | one row is |\n|---|---|"]
    parts[-1] += "".join(f"\n| [`{table.name}`](#{table.name}) | {table.doc} |" for table in TABLES.values())
    parts += ["\n".join(_table(table)) for table in TABLES.values()]
    parts.append("\n".join(_raw_and_normalised()))
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _table(table: Table) -> Iterator[str]:
    yield f"## {table.name}"
    yield ""
    yield table.doc
    yield ""
    yield f"Key: {_names(table.key)}."
    if table.partition_by:
        yield f"Partitioned by {_names(table.partition_by)}."
    yield f"Format {table.format_version}."
    yield ""
    yield "| column | type | meaning |"
    yield "|---|---|---|"
    for column in table.columns:
        yield f"| `{column.name}` | {_type(column.type)}{', NULL' if column.nullable else ''} | {_meaning(column)} |"


def _meaning(column: Column) -> str:
    text = column.doc.replace("|", "\\|")
    return f"{text}: {_names(column.words)}" if column.words else text


def _type(type_: pa.DataType) -> str:
    if pa.types.is_list(type_):
        return f"list of {_type(type_.value_type)}"
    if pa.types.is_map(type_):
        return f"map of {_type(type_.key_type)} to {_type(type_.item_type)}"
    if pa.types.is_struct(type_):
        fields = (
            f"`{field.name}` {_type(field.type)}{', NULL' if field.nullable else ''}" for field in type_
        )
        return f"struct ({'; '.join(fields)})"
    return str(type_)


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _raw_and_normalised() -> Iterator[str]:
    yield "## Raw and normalised"
    yield ""
    yield "Brokers name the same series in several ways. Ingest validation makes them one: the same labels and `series_id`."
    for title, metric_name, labels, mapping in _SHAPES:
        key = normalise(tuple(sorted({**labels, "__name__": metric_name}.items())), mapping)
        settings = [f"{theirs} = {ours}" for theirs, ours in mapping.renames.items()]
        settings += [f"cluster = {mapping.cluster}"] if mapping.cluster else []
        yield ""
        yield f"From {title} (configured: {', '.join(settings)}):"
        yield ""
        yield "```text"
        yield "raw         " + _selector(metric_name, labels)
        yield "normalised  " + _selector(key.metric_name, dict(key.labels))
        yield f"series_id   {key.series_id}, shard {key.shard}"
        yield "```"


def _selector(metric_name: str, labels: dict[str, str]) -> str:
    pairs = ",".join(f'{name}="{value}"' for name, value in sorted(labels.items()) if name != "__name__")
    return f"{metric_name}{{{pairs}}}"
