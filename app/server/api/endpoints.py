"""The endpoints below ``/api/v1``. In: parameters. Out: the JSON of ``data`` with warnings and infos, or an ApiError."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import orjson

from throttlescope.app.server.api.build_info import build_information, metadata
from throttlescope.app.server.api.parameters import MAX_NS, Parameters, parse_duration, parse_integer
from throttlescope.app.services.promql.concurrency import ConcurrencyLimit, QueryLimits
from throttlescope.app.services.promql.errors import BAD_DATA, TIMEOUT, ApiError, api_error_of, bad_parameter
from throttlescope.app.services.promql.lake_queries import LakeQueries
from throttlescope.transforms.promql.answer import data_pieces, label_json, points_of, truncate
from throttlescope.transforms.promql.query import Options, QueryAnswer

TRUNCATED = "results truncated due to limit"
#: Up to here an answer is sent as one piece.
_POINTS_OF_ONE_PIECE = 100_000
_NOTES_SHOWN = 10


@dataclass(frozen=True)
class Reply:
    """A successful answer: its data as JSON, in one or more pieces."""

    pieces: Iterable[bytes]
    warnings: tuple[str, ...] = ()
    infos: tuple[str, ...] = ()

    @classmethod
    def of(cls, data: object) -> Reply:
        return cls((orjson.dumps(data),))


class Endpoints:
    """Answers over one lake."""

    def __init__(
        self, queries: LakeQueries, limits: QueryLimits, concurrency: ConcurrencyLimit | None = None
    ) -> None:
        self._queries, self._limits = queries, limits
        self._concurrency = concurrency or ConcurrencyLimit(limits.running, limits.waiting)

    # -- queries ------------------------------------------------------------------------------

    def query(self, parameters: Parameters) -> Reply:
        """One moment."""
        limit = parameters.limit()
        time_ms = _within(parameters.time_or("time", time.time_ns()), "time")
        text = parameters.text("query")
        return self._evaluated(
            parameters, text, limit, lambda options: self._queries.instant(text, time_ms, options)
        )

    def query_range(self, parameters: Parameters) -> Reply:
        """Every step of a range."""
        limit = parameters.limit()
        start_ns, end_ns = parameters.time_ns("start"), parameters.time_ns("end")
        start_ms, end_ms = _within(start_ns, "start"), _within(end_ns, "end")
        if end_ns < start_ns:
            raise bad_parameter("end", "end timestamp must not be before start time")
        step_ns = parameters.duration_ns("step")
        if step_ns <= 0:
            raise bad_parameter(
                "step",
                "zero or negative query resolution step widths are not accepted. Try a positive integer",
            )
        points = self._limits.options.max_points
        if (end_ns - start_ns) // step_ns > points:
            raise ApiError(
                BAD_DATA,
                f"exceeded maximum resolution of {points:,} points per timeseries. "
                "Try decreasing the query resolution (?step=XX)",
            )
        step_ms = step_ns // 1_000_000
        if step_ms == 0:
            raise bad_parameter("step", "a step below one millisecond is not evaluated")
        text = parameters.text("query")
        return self._evaluated(
            parameters,
            text,
            limit,
            lambda options: self._queries.range(text, start_ms, end_ms, step_ms, options),
        )

    def _evaluated(self, parameters: Parameters, text: str, limit: int, evaluate) -> Reply:
        options = self._options(parameters)
        begun_s = time.monotonic()
        try:
            with self._concurrency.slot(options.timeout_s) as left_s:
                placed_s = time.monotonic()
                answer = evaluate(replace(options, timeout_s=left_s))
        except ApiError:
            raise
        except Exception as error:
            raise api_error_of(error, text) from error
        done_s = time.monotonic()
        answer, truncated = truncate(answer, limit)
        pieces: Iterable[bytes] = data_pieces(answer)
        if parameters.text("stats"):
            timings = {
                "evalTotalTime": done_s - placed_s,
                "execQueueTime": placed_s - begun_s,
                "execTotalTime": done_s - begun_s,
            }
            pieces = _with_stats(pieces, {"timings": timings, "throttlescope": answer.stats})
        if points_of(answer) <= _POINTS_OF_ONE_PIECE:
            pieces = (b"".join(pieces),)
        return Reply(pieces, *_notes(answer, truncated))

    def _options(self, parameters: Parameters) -> Options:
        options = self._limits.options
        if parameters.text("timeout"):
            timeout_ns = parameters.duration_ns("timeout")
            if timeout_ns <= 0:
                # Prometheus gives this answer, or 400 or 422 in other words, as it happens to notice.
                raise ApiError(TIMEOUT, "query timed out in query execution")
            options = replace(options, timeout_s=min(options.timeout_s, timeout_ns / 1e9))
        if lookback := parameters.text("lookback_delta"):
            try:
                lookback_ns = parse_duration(lookback)
            except ValueError as error:
                raise ApiError(BAD_DATA, f"error parsing lookback delta duration: {error}") from None
            if lookback_ns > 0:
                options = replace(options, lookback_ms=lookback_ns // 1_000_000)
        return options

    # -- the catalogue ------------------------------------------------------------------------

    def labels(self, parameters: Parameters) -> Reply:
        """Label names."""
        limit, *bounds = parameters.limit(), parameters.bound_ms("start"), parameters.bound_ms("end")
        catalogue, selectors = self._queries.catalogue(), parameters.selectors()
        return _limited(catalogue.label_names(selectors, *bounds), limit, catalogue.warnings(selectors))

    def label_values(self, parameters: Parameters, name: str) -> Reply:
        """Values of one label."""
        limit, *bounds = parameters.limit(), parameters.bound_ms("start"), parameters.bound_ms("end")
        catalogue, selectors = self._queries.catalogue(), parameters.selectors()
        values = catalogue.label_values(name, selectors, *bounds)
        return _limited(values, limit, catalogue.warnings(selectors))

    def series(self, parameters: Parameters) -> Reply:
        """Label sets."""
        if not parameters.texts("match[]"):
            raise ApiError(BAD_DATA, "no match[] parameter provided")
        limit, *bounds = parameters.limit(), parameters.bound_ms("start"), parameters.bound_ms("end")
        try:
            selectors = parameters.selectors()
        except ApiError as error:
            raise bad_parameter("match[]", error.text) from None
        catalogue = self._queries.catalogue()
        found = catalogue.series(selectors, *bounds)
        shown = found[:limit] if limit else found
        data = b"[" + b",".join(label_json(labels) for labels in shown) + b"]"
        warnings = (*catalogue.warnings(selectors), *((TRUNCATED,) if len(shown) < len(found) else ()))
        return Reply((data,), warnings)

    def metadata(self, parameters: Parameters) -> Reply:
        """Type, help and unit of the lake's metrics."""
        limits = {}
        for name in ("limit", "limit_per_metric"):
            text = parameters.text(name)
            try:
                limits[name] = parse_integer(text) if text else -1
            except ValueError:
                raise ApiError(BAD_DATA, f"{name} must be a number") from None
        metric = parameters.text("metric")
        names = [name for name in self._queries.catalogue().metric_names if metric in ("", name)]
        known = metadata(names)
        if limits["limit"] >= 0:
            known = dict(list(known.items())[: limits["limit"]])
        return Reply.of(known)

    def build_information(self, parameters: Parameters) -> Reply:
        """Who answers."""
        return Reply.of(build_information())


def _within(time_ns: int, name: str) -> int:
    """Milliseconds of a query's time, cut towards zero as Go cuts them."""
    if abs(time_ns) > MAX_NS:
        raise bad_parameter(name, "the time is not between the years 1677 and 2262")
    return int(abs(time_ns) // 1_000_000) * (1 if time_ns >= 0 else -1)


def _limited(found: list[str], limit: int, warnings: Sequence[str]) -> Reply:
    """Some texts, ``limit`` of them at most where it is not 0."""
    truncated = bool(limit) and len(found) > limit
    data = orjson.dumps(found[:limit] if limit else found)
    return Reply((data,), (*warnings, *((TRUNCATED,) if truncated else ())))


def _notes(answer: QueryAnswer, truncated: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Warnings and infos: ten of each, and how many more there are."""
    shown = []
    for kind, notes in (("warning", answer.warnings), ("info", answer.infos)):
        notes = [*notes, TRUNCATED] if truncated and kind == "warning" else list(notes)
        left_out = len(notes) - _NOTES_SHOWN
        notes = notes[:_NOTES_SHOWN]
        shown.append(
            (*notes, f"{left_out} more {kind} annotations omitted") if left_out > 0 else tuple(notes)
        )
    return tuple(shown)


def _with_stats(pieces: Iterable[bytes], stats: dict) -> Iterable[bytes]:
    """``stats`` as the last member of ``data``, whose last piece is its closing brace."""
    waiting = b""
    for piece in pieces:
        yield waiting
        waiting = piece
    yield waiting[:-1] + b',"stats":' + orjson.dumps(stats) + b"}"
