"""Downloads. In: addresses below ``/export``. Out: CSV, Parquet, JSON, zip and notebook; an error is one line with status 4xx.

==================================  ==========================================================================
``table/NAME.csv``, ``.parquet``    rows of a table: cluster, topic, partition, subscription, broker, from, to
``subscriptions.csv``, ``.parquet`` the table of subscriptions as its address filters it
``verdict.json``                    one verdict of the REST API with its evidence: a subscription's address, ``at`` its window's end
``incident.zip``                    what ``throttlescope incident`` writes, of a subscription's address
``notebook.ipynb``                  a subscription's address, or query, from, to, step
==================================  ==========================================================================
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.parquet as pq
from flask import Blueprint, Response, request

from throttlescope.app.presentation import time_zone
from throttlescope.app.presentation.links.query import one, parts_of, range_of
from throttlescope.app.presentation.links.subscription import SubscriptionAddress, SubscriptionPartition
from throttlescope.app.presentation.output import write_csv, write_json
from throttlescope.app.presentation.table_rows import TableQuery, read_rows
from throttlescope.app.server.exports import notebook
from throttlescope.app.server.rest import resources
from throttlescope.app.server.rest.filters import SubscriptionFilters, VerdictFilters
from throttlescope.app.server.rest.items import VERDICT
from throttlescope.app.services.promql.concurrency import ConcurrencyLimit
from throttlescope.app.services.promql.errors import ApiError
from throttlescope.app.web.address.subscriptions import SubscriptionsAddress
from throttlescope.app.web.data.reader import LakeReader
from throttlescope.ingest.core.errors import InputError, ThrottlescopeError
from throttlescope.ingest.core.subscription_name import SubscriptionName
from throttlescope.ingest.core.times import BLOCK_MS, parse_duration
from throttlescope.ingest.lake import Lake

_BATCH_ROWS = 5_000
_PAGE_ROWS = 1_000
#: Time for the counterfactuals and the advice of a bundle.
_WORK_S = 20.0
_WAIT_S = 30.0


def export_blueprint(lake: Lake, reader: LakeReader) -> Blueprint:
    """The addresses below ``/export``, on one lake and the pages' reader of it."""
    blueprint = Blueprint("export", __name__, url_prefix="/export", root_path="/")
    # Bundles and large tables are expensive: one at a time and a short queue keep pages fast.
    concurrency = ConcurrencyLimit(1, 2)

    @blueprint.route("/table/<name>.<any(csv, parquet):form>")
    def table(name: str, form: str):
        query = TableQuery.parse(name, _values())
        with concurrency.slot(_WAIT_S):
            return _rows_file(read_rows(lake, query), name, form)

    @blueprint.route("/subscriptions.<any(csv, parquet):form>")
    def subscriptions(form: str):
        address = SubscriptionsAddress.parse(_query())
        with concurrency.slot(_WAIT_S):
            rows = []
            wanted = _subscription_filters(address)
            while page := resources.subscriptions(reader, wanted, len(rows), len(rows) + _PAGE_ROWS):
                rows += page
            if not rows:
                raise NothingThereError("No subscription matches this search.")
            return _rows_file(pa.Table.from_pylist(rows), "subscriptions", form)

    @blueprint.route("/verdict.json")
    def verdict():
        address = SubscriptionAddress.parse(_query())
        if address.at_ms is None:
            raise InputError("The address has no window", expected="at=TIME, the window's end")
        rows = resources.verdicts(
            reader, _verdict_filters(address.subscription, address.at_ms), 0, _PAGE_ROWS
        )
        if not rows:
            raise NothingThereError("No verdict of this subscription has a window that ends then.")
        stream = io.StringIO()
        write_json(VERDICT.model_validate(rows[-1]).model_dump(), stream)
        return _file(stream.getvalue(), "verdict.json", "application/json")

    @blueprint.route("/incident.zip")
    def incident():
        from throttlescope.app.incident import selection
        from throttlescope.app.incident.bundle import default_name, make_bundle
        from throttlescope.app.incident.computed import compute_results
        from throttlescope.app.incident.load import read_incident

        address = SubscriptionAddress.parse(_query())
        key = address.subscription
        partition = None if key.partition < 0 else key.partition
        named = str(SubscriptionName(key.topic, partition, key.subscription))
        selected = selection.IncidentSelection(
            named, key.cluster, address.at_ms, address.start_ms, address.end_ms
        )
        with concurrency.slot(_WAIT_S), time_zone.utc():
            found = read_incident(lake, selected)
            bundle = make_bundle(found, compute_results(lake, found, most_s=_WORK_S))
            return _file(bundle.zipped(), default_name(found), "application/zip")

    @blueprint.route("/notebook.ipynb")
    def notebook_file():
        values = _values()
        start_ms, end_ms = range_of(values)
        if start_ms is None or end_ms is None:
            raise InputError("The address has no range", expected="from=TIME and to=TIME")
        query = one(values, "query")
        if query is not None:
            step_ms = parse_duration(one(values, "step") or "1m")
            if not 0 < step_ms <= 24 * BLOCK_MS:
                raise InputError("The step is out of range", expected="more than 0 s, at most 24 h")
            document = notebook.of_query(query, start_ms, end_ms, step_ms)
        else:
            key = SubscriptionAddress.parse(_query()).subscription
            document = notebook.of_subscription(key, start_ms, end_ms)
        text = json.dumps(document, indent=1, ensure_ascii=True)
        return _file(text, "throttlescope.ipynb", "application/x-ipynb+json")

    @blueprint.route("/<path:rest>")
    def unknown(rest: str):
        # Without it the address would show one of the app's pages.
        raise NothingThereError("There is no such download.")

    @blueprint.errorhandler(ThrottlescopeError)
    def refused(error: ThrottlescopeError):
        return _sentence(str(error), 400 if isinstance(error, InputError) else 500)

    @blueprint.errorhandler(ApiError)
    def busy(error: ApiError):
        return _sentence(error.text, error.code)

    @blueprint.errorhandler(NothingThereError)
    def nothing(error: NothingThereError):
        return _sentence(str(error), 404)

    return blueprint


def _subscription_filters(address: SubscriptionsAddress) -> SubscriptionFilters:
    """The rows of the page, as the REST API selects them; the address has checked its parts."""
    causes = "main_cause" if address.view == "recent" else "cause"
    return SubscriptionFilters.model_construct(
        search=address.search,
        cluster=address.clusters,
        own_topics=address.own_topics,
        order=address.view or "now",
        **{causes: address.causes},
    )


def _verdict_filters(key: SubscriptionPartition, window_end_ms: int) -> VerdictFilters:
    return VerdictFilters.model_construct(
        cluster=(key.cluster,),
        topic=(key.topic,),
        partition=key.partition,
        subscription=(key.subscription,),
        window_end_ms=window_end_ms,
    )


class NothingThereError(Exception):
    """The requested object is not in the lake."""


def _query() -> str:
    return request.query_string.decode("utf-8", "replace")


def _values() -> dict[str, list[str]]:
    return parts_of(_query())


def _rows_file(rows: pa.Table, name: str, form: str) -> Response:
    if form == "csv":
        return _file(_csv(rows), f"{name}.csv", "text/csv; charset=utf-8")
    stream = io.BytesIO()
    pq.write_table(rows, stream, compression="zstd")
    return _file(stream.getvalue(), f"{name}.parquet", "application/vnd.apache.parquet")


def _csv(rows: pa.Table) -> Iterator[str]:
    stream = io.StringIO()
    write_csv(rows.column_names, [], stream)
    head = stream.getvalue()
    yield head
    for batch in rows.to_batches(max_chunksize=_BATCH_ROWS):
        stream = io.StringIO()
        write_csv(rows.column_names, batch.to_pylist(), stream)
        yield stream.getvalue()[len(head) :]


def _file(content: str | bytes | Iterator[str], name: str, kind: str) -> Response:
    safe = "".join(c if c.isascii() and (c.isalnum() or c in "-_.") else "_" for c in name)
    headers = {"Content-Disposition": f'attachment; filename="{safe}"', "Cache-Control": "no-store"}
    return Response(content, headers=headers, content_type=kind)


def _sentence(text: str, code: int) -> Response:
    return Response(text + "\n", code, mimetype="text/plain")
