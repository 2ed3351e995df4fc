"""When a part of a query is evaluated. In: a grid of moments. Out: that of a subquery, what stays the same, what is read."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tests.naive.promql.data import Query
from throttlescope.transforms.promql import ast

#: These give another answer at each moment even where all of their arguments are pinned.
_TIMELY = (
    "time", "timestamp", "predict_linear", "days_in_month", "day_of_month", "day_of_week", "day_of_year", "hour",
    "minute", "month", "year",
)  # fmt: skip


@dataclass(frozen=True)
class Grid:
    """The moments at which a part of a query is evaluated.

    Attributes
    ----------
    first_ms, last_ms, step_ms : int
    read_from_ms, read_to_ms : int
        The moments for which the storage was asked, before the selector's own offset.
    slip_ms : int
        How much later than it says a pin inside is read. 0 but for one oddity, see :func:`subquery_grid`.
    outer_offset_ms, outer_pin_ms : int, int or None
        What the slip of the grids inside is made of.
    in_parameter : bool
        Inside the parameter of an aggregation: there start() and end() pin nothing, and a pin drifts along with the
        moments after the first.
    """

    first_ms: int
    last_ms: int
    step_ms: int
    read_from_ms: int
    read_to_ms: int
    slip_ms: int = 0
    outer_offset_ms: int = 0
    outer_pin_ms: int | None = None
    in_parameter: bool = False

    @property
    def moments(self) -> range:
        return range(self.first_ms, self.last_ms + 1, self.step_ms)

    def first_alone(self) -> Grid:
        return replace(self, last_ms=self.first_ms)

    def for_parameter(self) -> Grid:
        return replace(self, in_parameter=True)


def grid_of_query(query: Query, step_ms: int) -> Grid:
    return Grid(query.start_ms, query.end_ms, step_ms, query.start_ms, query.end_ms)


def is_pinned(expr: ast.Expr) -> bool:
    """Whether a part is made of numbers and pinned selectors alone, so that it is evaluated once."""
    match expr:
        case ast.NumberLiteral() | ast.StringLiteral():
            return True
        case ast.VectorSelector(at=at) | ast.Subquery(at=at):
            return at is not None
        case ast.MatrixSelector(vector=inner) | ast.Paren(expr=inner) | ast.Unary(expr=inner):
            return is_pinned(inner)
        case ast.Aggregate(expr=inner):
            return is_pinned(inner)
        case ast.Binary(left=left, right=right):
            return is_pinned(left) and is_pinned(right)
        case ast.Call(function=name, arguments=arguments):
            return name not in _TIMELY and all(is_pinned(argument) for argument in arguments)
    raise TypeError(expr)


def pin_ms(expr: ast.VectorSelector | ast.Subquery, grid: Grid, query: Query) -> int | None:
    """The time behind ``@``, None without one."""
    if expr.at is None or (grid.in_parameter and isinstance(expr.at.time, str)):
        return None
    return {"start": query.start_ms, "end": query.end_ms}.get(expr.at.time, expr.at.time)


def read_at(expr: ast.VectorSelector | ast.Subquery, now_ms: int, grid: Grid, query: Query) -> int:
    """The moment that a selector looks back from."""
    pin = pin_ms(expr, grid, query)
    if pin is None:
        return now_ms - expr.offset_ms
    return pin - expr.offset_ms + grid.slip_ms + (now_ms - grid.first_ms)


def visible(expr: ast.VectorSelector, length_ms: int, grid: Grid, query: Query) -> tuple[int, int]:
    """After which and up to which time the storage gives samples of a selector: no more than the text seems to need."""
    pin = pin_ms(expr, grid, query)
    first, last = (grid.read_from_ms, grid.read_to_ms) if pin is None else (pin, pin)
    return first - expr.offset_ms - length_ms, last - expr.offset_ms


def subquery_grid(expr: ast.Subquery, grid: Grid, query: Query) -> Grid:
    """The moments of what is inside a subquery: multiples of its step, for all windows of the grid around it at once.

    A grid ends where the grid around it does, and not at its own last moment, so that a subquery inside of it goes on.

    Prometheus has two faults here, which ``query.faults`` False leaves out. The inside of a pinned subquery goes on after
    its one window for as long as the grid around it lasts, unless the whole call is pinned; that shows only where an
    error at a moment that nothing asks for fails the query. And a pin is turned into an offset from the first
    moment of a grid, which is not done anew for a subquery whose first moment is that of the grid around it: pins inside
    are off by its offset.
    """
    step = query.subquery_step_ms if expr.step_ms is None else expr.step_ms
    pin = pin_ms(expr, grid, query)
    from_ms = read_at(expr, grid.first_ms, grid, query)
    first = (from_ms - expr.range_ms) // step * step + step
    read_from, read_to = (grid.read_from_ms, grid.read_to_ms) if pin is None else (pin, pin)
    last = from_ms if pin is not None and not query.faults else from_ms + grid.last_ms - grid.first_ms
    inner = Grid(
        first,
        last,
        step,
        read_from - expr.offset_ms - expr.range_ms,
        read_to - expr.offset_ms,
        in_parameter=grid.in_parameter,
    )
    if first != grid.first_ms or not query.faults:
        return inner
    offset, outer_pin = grid.outer_offset_ms + expr.offset_ms, grid.outer_pin_ms
    if pin is not None:
        offset, outer_pin = expr.offset_ms, pin
    slip = offset if outer_pin is None else offset + first - outer_pin
    return replace(inner, slip_ms=slip, outer_offset_ms=offset, outer_pin_ms=outer_pin)
