"""The addresses of the REST API. In: the pages' reader of a lake, and limits. Out: a Flask blueprint for ``/api/throttlescope/v1``.

As in :mod:`throttlescope.app.server.api.routes`, addresses and methods are dispatched here: a mistyped one is a problem document and
not one of the app's pages. Every answer is of one version of the lake, which its ETag names.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import version
from typing import TypeVar

import duckdb
from flask import Blueprint, Response, current_app, request
from pydantic import BaseModel

from throttlescope.app.server.api.replies import METHODS, compressed, for_origin
from throttlescope.app.server.api.routes import DEFAULT_LIMITS, NO_ORIGIN
from throttlescope.app.server.rest import problems
from throttlescope.app.server.rest.cursors import CursorPosition, cursor_position, cursor_text, old_cursor
from throttlescope.app.server.rest.filters import PageFilters, RecommendationFilters
from throttlescope.app.server.rest.items import LakeFreshness, RecommendationsPage
from throttlescope.app.server.rest.openapi import (
    PREFIX,
    RECOMMENDATIONS,
    openapi_document,
    page_of,
    verdict_schema,
)
from throttlescope.app.server.rest.problems import ProblemError, problem_of
from throttlescope.app.server.rest.recommendations import recommendations
from throttlescope.app.server.rest.resources import RESOURCES, RestResource
from throttlescope.app.services.promql.concurrency import ConcurrencyLimit, QueryLimits
from throttlescope.app.services.promql.errors import ApiError
from throttlescope.app.web.data.reader import LakeReader, end_reading_at
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.regex import compile_pattern
from throttlescope.models.messages.catalogue import sentence

_READ = ("GET", "HEAD")
#: Tables whose version is part of an answer that is computed from the lake.
_REPLAYED = ("signals", "limits", "policies", "series", "verdicts")
Check = Callable[[], object]
T = TypeVar("T")


def rest_blueprint(
    reader: LakeReader,
    limits: QueryLimits = DEFAULT_LIMITS,
    *,
    concurrency: ConcurrencyLimit | None = None,
    checks: Iterable[Check] = (),
    cors_origin: str = NO_ORIGIN,
) -> Blueprint:
    """The API of one lake.

    Parameters
    ----------
    reader : LakeReader
        That of the pages: both show the same.
    limits : QueryLimits
        ``options.timeout_s`` is the longest that a request may take.
    concurrency : ConcurrencyLimit, optional
        Shared with queries of the same process; by default its own.
    checks : iterable of callable
        Those of ``/-/ready``; while one raises, the lake is gone and an old snapshot would be a wrong answer.
    cors_origin : str
        Regular expression of the origins whose pages may read answers.
    """
    answers = RestAnswers(
        reader, limits, concurrency or ConcurrencyLimit(limits.running, limits.waiting), list(checks)
    )
    allowed = compile_pattern(cors_origin)
    blueprint = Blueprint("rest_api", __name__, root_path="/")

    @blueprint.route(PREFIX, defaults={"path": ""}, methods=METHODS, provide_automatic_options=False)
    @blueprint.route(f"{PREFIX}/<path:path>", methods=METHODS, provide_automatic_options=False)
    def rest(path: str) -> Response:
        if request.method == "OPTIONS":
            return for_origin(Response(status=204, headers={"Allow": _allowed()}), request, allowed)
        try:
            if request.method not in _READ:
                raise ProblemError(problems.METHOD, sentence("rest.detail.method", method=request.method))
            response = answers.answer(path)
        except Exception as error:
            response = _failed(error)
        return compressed(for_origin(response, request, allowed), request)

    return blueprint


class RestAnswers:
    """Answers over one lake."""

    def __init__(
        self, reader: LakeReader, limits: QueryLimits, concurrency: ConcurrencyLimit, checks: Sequence[Check]
    ) -> None:
        self._reader, self._limits, self._concurrency = reader, limits, concurrency
        self._checks = checks
        # A replay is a process of its own with a core of its own.
        self._replays = ConcurrencyLimit(1, 1)

    def answer(self, path: str) -> Response:
        """The response to a GET.

        Raises
        ------
        Exception
            What :func:`~throttlescope.app.server.rest.problems.problem_of` makes a problem of.
        """
        if path == "openapi.json":
            return _static(openapi_document())
        if path == "verdict.schema.json":
            return _static(verdict_schema())
        if path == RECOMMENDATIONS:
            return self._recommendations(RecommendationFilters.parse(request.query_string))
        resource = RESOURCES.get(path)
        if resource is None:
            known = ", ".join(f"{PREFIX}/{name}" for name in (*RESOURCES, RECOMMENDATIONS, "openapi.json"))
            raise ProblemError(problems.NOT_FOUND, sentence("rest.detail.not_found", known=known))
        return self._page(resource, resource.filters.parse(request.query_string))

    def _page(self, resource: RestResource, wanted: PageFilters) -> Response:
        conditions = wanted.conditions()
        start, versions = 0, None
        if wanted.cursor is not None:
            position = cursor_position(wanted.cursor, resource.name, conditions)
            start, versions = position.start, position.versions
        self._check()
        if versions is not None:
            self._pin(versions)
        versions = self._versions(resource.tables)
        etag = _etag(resource.name, wanted.model_dump(mode="json"), versions)
        if request.if_none_match.contains_weak(etag):
            return _unchanged(etag)
        with self._concurrency.slot(self._limits.options.timeout_s) as left_s:
            end_reading_at(time.monotonic() + left_s)
            # One more than shown says whether another page follows.
            rows = self._read(lambda: resource.read(self._reader, wanted, start, start + wanted.limit + 1))
        # Where files went away meanwhile, the reader took the newest version.
        versions = self._versions(resource.tables)
        etag = _etag(resource.name, wanted.model_dump(mode="json"), versions)
        more = None
        if len(rows) > wanted.limit:
            more = cursor_text(resource.name, conditions, CursorPosition(versions, start + wanted.limit))
        page = page_of(resource).model_validate(
            {"items": rows[: wanted.limit], "next_cursor": more, "freshness": self._freshness(versions)}
        )
        return _fresh(page, etag)

    def _recommendations(self, wanted: RecommendationFilters) -> Response:
        self._check()
        versions = self._versions(_REPLAYED)
        etag = _etag(RECOMMENDATIONS, wanted.model_dump(mode="json"), versions)
        if request.if_none_match.contains_weak(etag):
            return _unchanged(etag)
        timeout_s = self._limits.options.timeout_s
        end_reading_at(time.monotonic() + timeout_s)
        found = self._read(lambda: recommendations(self._reader, wanted, self._replays, most_s=timeout_s))
        page = RecommendationsPage.model_validate({**found, "freshness": self._freshness(versions)})
        return _fresh(page, etag)

    def _check(self) -> None:
        for check in self._checks:
            try:
                check()
            except Exception as error:
                raise _gone(error) from error

    def _pin(self, versions) -> None:
        """Read what the cursor's first page was read from."""
        try:
            self._reader.pin(versions)
        except Exception as error:
            current_app.logger.info("a cursor's version of the lake is gone: %s", error)
            raise old_cursor() from error

    def _read(self, read: Callable[[], T]) -> T:
        """What a reading gives; files of the snapshot may go away meanwhile, with the lake or by a vacuum."""
        try:
            return read()
        except (ProblemError, InputError, ApiError, duckdb.InterruptException):
            raise
        except Exception as error:
            self._check()
            if isinstance(error, duckdb.IOException):
                raise (old_cursor() if "cursor" in request.args else _gone(error)) from error
            raise

    def _versions(self, tables: Iterable[str]) -> dict[str, int | None]:
        return self._reader.read(lambda _, snapshot: {table: snapshot.versions[table] for table in tables})

    def _freshness(self, versions: dict[str, int | None]) -> LakeFreshness:
        def read(_, snapshot):
            newest: dict[str, int] = {}
            for file in snapshot.files["verdicts"]:
                cluster = file.partition["cluster"]
                newest[cluster] = max(newest.get(cluster, 0), file.maximum["window_end_ms"])
            return newest

        clusters = [
            {"cluster": cluster, "verdicts_until_ms": until_ms}
            for cluster, until_ms in sorted(self._reader.read(read).items())
        ]
        return LakeFreshness(clusters=clusters, table_versions=versions)


def _gone(error: Exception) -> ProblemError:
    current_app.logger.error("the lake cannot be read: %s: %s", type(error).__name__, error)
    return ProblemError(problems.LAKE, sentence("rest.detail.lake"))


def _failed(error: Exception) -> Response:
    problem = problem_of(error)
    if problem.kind == problems.INTERNAL:
        # The client gets one line; details go to the server's log.
        current_app.logger.exception("%s %s", request.method, request.path)
    response = Response(
        problem.document.model_dump_json(exclude_none=True), problem.status, mimetype=problems.MEDIA_TYPE
    )
    if problem.status == 503:
        response.headers["Retry-After"] = str(problems.RETRY_AFTER_S)
    if problem.kind == problems.METHOD:
        response.headers["Allow"] = _allowed()
    return response


def _allowed() -> str:
    return ", ".join((*_READ, "OPTIONS"))


def _etag(resource: str, parameters: dict, versions: dict[str, int | None]) -> str:
    """A weak one: an answer may be compressed in several ways."""
    text = json.dumps([version("throttlescope"), resource, parameters, versions], sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def _unchanged(etag: str) -> Response:
    return _tagged(Response(status=304), etag)


def _fresh(page: BaseModel, etag: str) -> Response:
    return _tagged(Response(page.model_dump_json(), mimetype="application/json"), etag)


def _tagged(response: Response, etag: str) -> Response:
    response.set_etag(etag, weak=True)
    # Stored, and checked each time: only the server knows the lake's version.
    response.headers["Cache-Control"] = "private, no-cache"
    return response


def _static(document: dict) -> Response:
    """A document that only another version of throttlescope changes."""
    text = json.dumps(document, ensure_ascii=False)
    etag = hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
    if request.if_none_match.contains_weak(etag):
        return _unchanged(etag)
    return _tagged(Response(text, mimetype="application/json"), etag)
