"""The list of generators. In: their modules. Out: :data:`GENERATORS`, by the name of the module."""

from __future__ import annotations

from types import ModuleType

from docs.generate import (
    cli,
    configuration,
    diagnosis,
    episodes,
    known_bugs,
    man,
    promql_support,
    quality,
    real_broker,
    tables,
    tdmq,
    throttling_model,
    what_if,
)

#: Modules with ``PAGE`` and ``render``.
GENERATORS: dict[str, ModuleType] = {
    module.__name__.rpartition(".")[2]: module
    for module in (
        tables,
        cli,
        man,
        configuration,
        what_if,
        promql_support,
        quality,
        diagnosis,
        episodes,
        known_bugs,
        throttling_model,
        tdmq,
        real_broker,
    )
}
