"""What a query gave, ours or Prometheus', in one form. In: an HTTP answer or an :class:`QueryAnswer`. Out: :class:`Outcome`."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from throttlescope.ingest.core.errors import InputError
from throttlescope.transforms.promql.answer import result_of
from throttlescope.transforms.promql.errors import QueryError, UnsupportedPromQLError
from throttlescope.transforms.promql.query import QueryAnswer

BAD_DATA, EXECUTION, UNSUPPORTED, CRASH = "bad_data", "execution", "unsupported", "crash"

Labels = frozenset[tuple[str, str]]
#: Epoch milliseconds and the value as it was printed.
Point = tuple[int, str]
_PLACE = re.compile(r" \(\d+:\d+\)$")


@dataclass(frozen=True)
class Outcome:
    """One answer or error.

    Attributes
    ----------
    kind : str
        ``scalar``, ``string``, ``vector`` or ``matrix``; empty for an error.
    rows : tuple of (Labels, tuple of Point)
        In the order in which they came; a scalar or string is one row without labels.
    error, message : str
        ``bad_data``, ``execution``, ``unsupported`` (ours only) or ``crash`` (an exception that is none of these).
    warnings, infos : frozenset of str
    """

    kind: str = ""
    rows: tuple[tuple[Labels, tuple[Point, ...]], ...] = ()
    error: str = ""
    message: str = ""
    warnings: frozenset[str] = field(default=frozenset())
    infos: frozenset[str] = field(default=frozenset())

    @property
    def filled(self) -> bool:
        """Whether there is at least one value."""
        return any(points for _, points in self.rows)


def plain_note(note: str) -> str:
    """An annotation without its place in the query."""
    return _PLACE.sub("", note)


def server_outcome(body: dict) -> Outcome:
    """The outcome in the JSON of Prometheus' API."""
    if body["status"] != "success":
        return Outcome(error=body["errorType"], message=body["error"])
    data = body["data"]
    return Outcome(
        data["resultType"],
        _rows(data["resultType"], data["result"]),
        warnings=frozenset(body.get("warnings", ())),
        infos=frozenset(body.get("infos", ())),
    )


def our_outcome(query: Callable[[], QueryAnswer]) -> Outcome:
    """What a call of ours gives, errors included."""
    try:
        answer = query()
        rows = _rows(answer.kind, result_of(answer))
    except UnsupportedPromQLError as error:
        return Outcome(error=UNSUPPORTED, message=str(error))
    except InputError as error:
        return Outcome(error=BAD_DATA, message=str(error))
    except QueryError as error:
        return Outcome(error=EXECUTION, message=str(error))
    except Exception as error:
        return Outcome(error=CRASH, message=f"{type(error).__name__}: {error}")
    return Outcome(answer.kind, rows, warnings=frozenset(answer.warnings), infos=frozenset(answer.infos))


def _rows(kind: str, result: list) -> tuple[tuple[Labels, tuple[Point, ...]], ...]:
    if kind in ("scalar", "string"):
        return ((frozenset(), (_point(result),)),)
    return tuple(
        (
            frozenset(one["metric"].items()),
            tuple(_point(point) for point in (one["values"] if "values" in one else [one["value"]])),
        )
        for one in result
    )


def _point(point: list) -> Point:
    return round(point[0] * 1000), point[1]


def difference(
    ours: Outcome, theirs: Outcome, relative: float = 0.0, *, notes: bool = True, ordered: bool = False
) -> str | None:
    """The first difference in words, None where there is none.

    Parameters
    ----------
    relative : float
        0: the printed values are equal, so their bits are, apart from the bits of NaN. Otherwise the allowed relative
        difference of values.
    notes : bool
        Whether warnings and infos are compared.
    ordered : bool
        Whether the rows of an instant vector must come in the same order.
    """
    if ours.error or theirs.error:
        # What Prometheus 3.5 cannot read either may have a name of its own with us.
        if theirs.error in (ours.error, BAD_DATA if ours.error == UNSUPPORTED else ours.error):
            return None
        return f"ours {_told(ours)}, theirs {_told(theirs)}"
    if ours.kind != theirs.kind:
        return f"ours gives a {ours.kind}, theirs a {theirs.kind}"
    trouble = _rows_differ(ours, theirs, relative)
    if trouble is None and (ordered or theirs.kind == "matrix"):
        mine, real = [labels for labels, _ in ours.rows], [labels for labels, _ in theirs.rows]
        if mine != real:
            trouble = f"order of rows: ours {_show(mine[:4])}, theirs {_show(real[:4])}"
    if trouble is None and notes:
        trouble = _notes_differ("warnings", ours.warnings, theirs.warnings) or _notes_differ(
            "infos", ours.infos, theirs.infos
        )
    return trouble


def _told(outcome: Outcome) -> str:
    if outcome.error:
        return f"{outcome.error} ({outcome.message[:300]})"
    rows = "; ".join(f"{_show([labels])[0]} {points[:4]}" for labels, points in outcome.rows[:3])
    return f"a {outcome.kind} of {len(outcome.rows)} rows ({rows})"


def _rows_differ(ours: Outcome, theirs: Outcome, relative: float) -> str | None:
    mine, real = Counter(labels for labels, _ in ours.rows), Counter(labels for labels, _ in theirs.rows)
    if mine != real:
        return f"series: only ours {_show(mine - real)}, only theirs {_show(real - mine)}"
    rows = dict(theirs.rows)
    for labels, points in ours.rows:
        other = rows[labels]
        if [t for t, _ in points] != [t for t, _ in other]:
            only_ours = sorted({t for t, _ in points} - {t for t, _ in other})
            only_theirs = sorted({t for t, _ in other} - {t for t, _ in points})
            return f"{_show([labels])}: times only ours {only_ours[:5]}, only theirs {only_theirs[:5]}"
        for (t, a), (_, b) in zip(points, other, strict=True):
            if a != b and not (relative and _close(a, b, relative)):
                return f"{_show([labels])} at {t}: ours {a}, theirs {b}"
    return None


def _close(a: str, b: str, relative: float) -> bool:
    try:
        x, y = float(a), float(b)
    except ValueError:
        return False
    return x == y or math.isclose(x, y, rel_tol=relative, abs_tol=0)


def _notes_differ(what: str, ours: frozenset[str], theirs: frozenset[str]) -> str | None:
    if ours == theirs:
        return None
    omitted = [note for note in theirs if "annotations omitted" in note]
    if omitted and (theirs - set(omitted)) <= ours:
        return None
    return f"{what}: only ours {sorted(ours - theirs)}, only theirs {sorted(theirs - ours)}"


def _show(keys) -> list[dict]:
    return [dict(sorted(key)) for key in keys]


def same_but_for_ties(ours: Outcome, theirs: Outcome) -> bool:
    """Whether two answers differ only in which of several equal values they chose at a step, as topk may."""
    if ours.error or theirs.error or ours.kind != theirs.kind or _notes_apart(ours, theirs):
        return False
    mine, real = elements_by_time(ours), elements_by_time(theirs)
    if mine.keys() != real.keys():
        return False
    # What both chose falls away; what is left must be as many elements of the same values on both sides.
    return all(_values(mine[t] - real[t]) == _values(real[t] - mine[t]) for t in mine)


def _values(elements: set[tuple[Labels, str]]) -> list[str]:
    # Among ties 0 and -0 are equal.
    return sorted("0" if value == "-0" else value for _, value in elements)


def _notes_apart(ours: Outcome, theirs: Outcome) -> bool:
    return (ours.warnings, ours.infos) != (theirs.warnings, theirs.infos)


def elements_by_time(outcome: Outcome) -> dict[int, set[tuple[Labels, str]]]:
    """Per step the label sets with their values."""
    steps: dict[int, set[tuple[Labels, str]]] = {}
    for labels, points in outcome.rows:
        for time_ms, value in points:
            steps.setdefault(time_ms, set()).add((labels, value))
    return steps
