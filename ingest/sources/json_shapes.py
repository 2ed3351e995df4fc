"""Shapes of Prometheus' JSON. In: a parsed JSON answer. Out: the same, checked to be lists, label sets and numbers; else a TypeError.

A wrong server, or a proxy in between, may send any JSON: it is refused here, so that later code need not check.
"""

from __future__ import annotations

from typing import Any

#: What reading JSON of any shape ends with: nested too deeply, digits without end, another kind of value.
STRANGE_JSON = (ValueError, TypeError, LookupError, AttributeError, RecursionError)


def list_of(found: Any) -> list:
    """A list, where one belongs."""
    if not isinstance(found, list):
        raise TypeError(f"{type(found).__name__} instead of a list")
    return found


def text_list(found: Any) -> list[str]:
    """A list of texts."""
    if not all(isinstance(one, str) for one in list_of(found)):
        raise TypeError("a list with something else than texts")
    return found


def label_set(found: Any) -> dict[str, str]:
    """Labels: names and values are texts."""
    if not isinstance(found, dict) or not all(isinstance(value, str) for value in found.values()):
        raise TypeError("a series without labels")
    return found


def matrix_of(found: Any) -> list[dict]:
    """Series of a matrix; their samples are looked at where they are decoded."""
    for item in list_of(found):
        label_set(item["metric"])
        list_of(item.get("values", []))
    return found


def vector_of(found: Any) -> list[dict]:
    """Elements of a vector, each with its labels and a number."""
    for item in list_of(found):
        label_set(item["metric"])
        number_of(item)
    return found


def number_of(item: dict) -> float:
    """The value of a vector's element."""
    seconds, text = item["value"]
    if not isinstance(seconds, (int, float)) or not isinstance(text, str):
        raise TypeError("a value that is no number")
    return float(text)
