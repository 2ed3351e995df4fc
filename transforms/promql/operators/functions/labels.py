"""Functions that write a label. In: label sets and texts. Out: the label sets that they become."""

from __future__ import annotations

from collections.abc import Sequence

from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.regex import Pattern, compile_pattern
from throttlescope.transforms.promql.errors import QueryError
from throttlescope.transforms.promql.semantics import Labels, is_label_name, is_text, shown

#: Characters that a written label may have. Nested functions can double it at every level; Prometheus has no bound.
MAX_LABEL_LENGTH = 1_000_000


def relabelled(function: str, labels: tuple[Labels, ...], texts: Sequence[str]) -> tuple[Labels, ...]:
    """``label_replace`` or ``label_join``; the caller refuses series that become equal.

    Raises
    ------
    QueryError
        A label name is empty or no UTF-8, or a written value or the pattern cannot be read.
    """
    write = _replacing if function == "label_replace" else _joining
    return write(labels, *texts)


def _replacing(
    labels: tuple[Labels, ...], target: str, replacement: str, source: str, pattern: str
) -> tuple[Labels, ...]:
    matcher = _compiled(pattern)
    if not is_label_name(target):
        raise QueryError(f"invalid destination label name in label_replace(): {shown(target)}")
    _check_value("label_replace", replacement)
    parts = template_parts(replacement)
    # Many series share a value.
    written: dict[str, str | None] = {}
    out = []
    for one in labels:
        value = _value(one, source)
        if value not in written:
            found = matcher.match_of(value)
            written[value] = None if found is None else expanded(parts, found)
        new = written[value]
        out.append(one if new is None else _with(one, target, new))
    return tuple(out)


def _joining(labels: tuple[Labels, ...], target: str, separator: str, *sources: str) -> tuple[Labels, ...]:
    for source in sources:
        if not is_label_name(source):
            raise QueryError(f"invalid source label name in label_join(): {shown(source)}")
    if not is_label_name(target):
        raise QueryError(f"invalid destination label name in label_join(): {shown(target)}")
    _check_value("label_join", separator)
    return tuple(
        _with(one, target, _text(separator, [_value(one, source) for source in sources])) for one in labels
    )


def _compiled(pattern: str) -> Pattern:
    try:
        if is_text(pattern):
            return compile_pattern(pattern)
    except InputError:
        pass
    raise QueryError(f"invalid regular expression in label_replace(): {shown(pattern)}")


def _check_value(function: str, text: str) -> None:
    """Prometheus would write the bytes into a label, where neither JSON nor a table can carry them."""
    if not is_text(text):
        raise QueryError(
            f"{function}() would write a label value that is no UTF-8",
            got=shown(text),
            expected="text",
            fix="write the character itself, or \\u and its code point",
        )


def _value(labels: Labels, name: str) -> str:
    for own, value in labels:
        if own == name:
            return value
    return ""


def _with(labels: Labels, name: str, value: str) -> Labels:
    rest = [pair for pair in labels if pair[0] != name]
    return tuple(sorted([*rest, (name, value)])) if value else tuple(rest)


def template_parts(template: str) -> list[str | int | tuple[str]]:
    """A replacement as text, numbers of groups and names of groups (each in a tuple).

    A name is the longest run of letters, digits and ``_`` behind ``$``, or the text in ``${}``; ``$$`` is a dollar, and
    so is a ``$`` that no name follows.
    """
    parts: list[str | int | tuple[str]] = []
    at = 0
    while at < len(template):
        dollar = template.find("$", at)
        if dollar < 0:
            parts.append(template[at:])
            break
        parts.append(template[at:dollar])
        braced = template.startswith("{", dollar + 1)
        begin = end = dollar + 1 + braced
        while end < len(template) and (
            template[end].isalpha() or template[end].isdecimal() or template[end] == "_"
        ):
            end += 1
        if (
            template.startswith("$", dollar + 1)
            or end == begin
            or (braced and not template.startswith("}", end))
        ):
            parts.append("$")
            at = dollar + (2 if template.startswith("$", dollar + 1) else 1)
            continue
        name = template[begin:end]
        plain_number = name.isascii() and name.isdigit() and (name == "0" or name[0] != "0") and len(name) < 9
        parts.append(int(name) if plain_number else (name,))
        at = end + braced
    return parts


def expanded(parts: Sequence[str | int | tuple[str]], found) -> str:
    """The replacement of one match; a group that does not exist, or took no part, is empty."""
    names = found.re.groupindex
    out = []
    for part in parts:
        if isinstance(part, str):
            out.append(part)
            continue
        number = part if isinstance(part, int) else names.get(part[0], -1)
        out.append((found.group(number) or "") if 0 <= number <= found.re.groups else "")
    return _text("", out)


def _text(separator: str, pieces: Sequence[str]) -> str:
    """Pieces as one text, refused before it is made where it would be too long."""
    length = sum(map(len, pieces)) + len(separator) * max(0, len(pieces) - 1)
    if length > MAX_LABEL_LENGTH:
        raise QueryError(
            "A label would be too long",
            got=f"{length:,} characters",
            expected=f"at most {MAX_LABEL_LENGTH:,}",
        )
    return separator.join(pieces)
