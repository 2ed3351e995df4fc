"""The list of generators. In: their modules. Out: :data:`GENERATORS`, by the name of the module."""

from __future__ import annotations

from types import ModuleType

from docs.generate import (
    cli,
    configuration,
    diagnosis,
    episodes,
    grafana_fleet,
    grafana_subscription,
    known_bugs,
    man,
    openapi,
    promql_support,
    quality,
    real_broker,
    rest_api,
    tables,
    tdmq,
    throttling_model,
    verdict_schema,
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
        openapi,
        verdict_schema,
        rest_api,
        grafana_fleet,
        grafana_subscription,
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
