"""YAML as Prometheus decodes it. In: the text of a file. Out: nodes with their lines, read as strings, lists and fields.

Prometheus decodes into typed fields: a scalar for a text field is its characters whatever they look like (``1``, ``true``),
an empty scalar is nothing, a key that comes twice is an error, ``<<`` merges. PyYAML's own constructors differ in all four,
so its events are read here.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import yaml

#: The most values that aliases of one file may expand to (against YAML bombs).
_MOST_ALIASED = 100_000
#: The format itself has six levels.
_DEEPEST = 50
#: Of a whole number of 64 bits, its sign and its base.
_MOST_DIGITS = 80
_NULLS = frozenset(("", "~", "null", "Null", "NULL"))
_STRING_TAG = "tag:yaml.org,2002:str"
_WHOLE = re.compile(r"([-+]?)(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]*|[1-9][0-9]*)")
_FRACTION = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")

# The loader of libyaml where PyYAML was built with it; Prometheus' decoder is a port of the same library.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class DocumentError(ValueError):
    """The text is not what Prometheus' decoder takes.

    Attributes
    ----------
    line : int or None
        Where, counted from 1.
    deliberate : bool
        Whether Prometheus' decoder takes it all the same.
    """

    deliberate = False

    def __init__(
        self,
        what: str,
        line: int | None,
        *,
        got: str | None = None,
        expected: str | None = None,
        fix: str | None = None,
    ) -> None:
        super().__init__(what)
        self.what, self.line, self.got, self.expected, self.fix = what, line, got, expected, fix


@dataclass(eq=False)
class YamlNode:
    """A scalar, a list or a mapping.

    Attributes
    ----------
    kind : str
        ``scalar``, ``list`` or ``mapping``.
    line : int
        Counted from 1.
    text : str
        Of a scalar.
    plain : bool
        Whether a scalar is written without quotes and without a tag.
    items : list of YamlNode
        Of a list; of a mapping key and value in turn.
    aliased : bool
        Whether it is reached through an alias.
    """

    kind: str
    line: int
    text: str = ""
    plain: bool = False
    items: list[YamlNode] = field(default_factory=list)
    aliased: bool = False

    @property
    def is_null(self) -> bool:
        return self.kind == "scalar" and self.plain and self.text in _NULLS

    @property
    def is_merge(self) -> bool:
        return self.kind == "scalar" and self.plain and self.text == "<<"

    def shown(self) -> str:
        """What it is, in a message."""
        if self.kind != "scalar":
            return f"a {self.kind}"
        return "nothing" if self.is_null else repr(self.text)


def parse_document(text: str) -> YamlNode | None:
    """The first document of a YAML text; None where there is none.

    Raises
    ------
    DocumentError
        No YAML, a second document, or a feature that rules files do without.
    """
    try:
        return _compose(yaml.parse(text, Loader=_LOADER))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = None if mark is None else mark.line + 1
        raise DocumentError("cannot be read as YAML", line, got=error.problem or error.context) from error
    except (yaml.YAMLError, UnicodeEncodeError) as error:
        # Half of a surrogate pair is no letter: a browser may send one.
        raise DocumentError("cannot be read as YAML", None, got=str(error)) from error


def _compose(events: Iterator[yaml.Event]) -> YamlNode | None:
    root: YamlNode | None = None
    open_nodes: list[YamlNode] = []
    anchors: dict[str, YamlNode] = {}
    aliased = 0
    for event in events:
        line = event.start_mark.line + 1
        if isinstance(event, yaml.DocumentStartEvent) and root is not None:
            raise _deliberate(DocumentError("has a second document, which Prometheus would not read", line))
        if isinstance(event, yaml.CollectionEndEvent):
            open_nodes.pop()
            continue
        if isinstance(event, yaml.AliasEvent):
            target = anchors.get(event.anchor)
            if target is None or target in open_nodes:
                raise DocumentError("has an alias without a value", line, got=f"*{event.anchor}")
            aliased += _size(target, _MOST_ALIASED - aliased)
            if aliased >= _MOST_ALIASED:
                raise DocumentError("has too many aliases", line)
            node = YamlNode(target.kind, target.line, target.text, target.plain, target.items, aliased=True)
        elif isinstance(event, yaml.ScalarEvent):
            _only_plain_tags(event, line)
            node = YamlNode(
                "scalar", line, event.value, plain=event.style in (None, "") and event.tag is None
            )
        elif isinstance(event, yaml.SequenceStartEvent | yaml.MappingStartEvent):
            _only_plain_tags(event, line)
            node = YamlNode("list" if isinstance(event, yaml.SequenceStartEvent) else "mapping", line)
        else:
            continue
        if open_nodes:
            open_nodes[-1].items.append(node)
        else:
            root = node
        if not isinstance(event, yaml.AliasEvent) and event.anchor:
            anchors[event.anchor] = node
        if isinstance(event, yaml.CollectionStartEvent):
            open_nodes.append(node)
            if len(open_nodes) > _DEEPEST:
                raise DocumentError(f"is nested deeper than {_DEEPEST} levels", line)
    return root


def _size(node: YamlNode, most: int) -> int:
    """Number of nodes below ``node``, counted up to ``most``."""
    count, waiting = 0, [node]
    while waiting and count < most:
        count += 1
        waiting += waiting.pop().items
    return count


def _only_plain_tags(event: yaml.NodeEvent, line: int) -> None:
    if event.tag not in (None, "!", _STRING_TAG):
        raise _deliberate(DocumentError("has a YAML tag", line, got=event.tag, expected="plain values"))


def _deliberate(error: DocumentError) -> DocumentError:
    error.deliberate = True
    return error


# -- reading nodes ---------------------------------------------------------------------------


def fields_of(node: YamlNode, known: tuple[str, ...], what: str) -> dict[str, YamlNode]:
    """The fields of a mapping with a fixed list of them; merged fields included.

    Raises
    ------
    DocumentError
        No mapping, a field that is not known, or one that comes twice.
    """
    fields: dict[str, YamlNode] = {}
    for key, value in _pairs(node, what):
        if key.text not in known:
            near = difflib.get_close_matches(key.text, known, 1)
            raise DocumentError(
                f"{what} has a field that is not known",
                key.line,
                got=repr(key.text),
                expected=", ".join(known),
                fix=f"write {near[0]}" if near else "drop it",
            )
        fields.setdefault(key.text, value)
    return fields


def texts_of(node: YamlNode | None, what: str) -> dict[str, str]:
    """A mapping of names to texts, such as labels; nothing is an empty text."""
    if node is None or node.is_null:
        return {}
    texts: dict[str, str] = {}
    for key, value in _pairs(node, what):
        texts.setdefault(key.text, text_of(value, f"{what} {key.text}") or "")
    return texts


def items_of(node: YamlNode | None, what: str) -> list[YamlNode]:
    """The items of a list, without those that are nothing."""
    if node is None or node.is_null:
        return []
    if node.kind != "list":
        raise DocumentError(f"{what} is no list", node.line, got=node.shown())
    return [item for item in node.items if not item.is_null]


def text_of(node: YamlNode | None, what: str) -> str | None:
    """The text of a scalar; None where it is missing or nothing."""
    if node is None or node.is_null:
        return None
    if node.kind != "scalar":
        raise DocumentError(f"{what} is no text", node.line, got=node.shown())
    return node.text


def whole_of(node: YamlNode | None, what: str) -> int | None:
    """A whole number; a fraction is cut off, as Go does."""
    text = text_of(node, what)
    if text is None:
        return None
    digits = text.replace("_", "")
    # Python refuses thousands of digits with an error of its own.
    found = _WHOLE.fullmatch(digits) if len(digits) <= _MOST_DIGITS else None
    value: int | None = None
    if node.plain and found:
        sign, body = found.groups()
        if body[:2].lower() in ("0x", "0b", "0o"):
            value = int(body, 0) if len(body) > 2 else None
        else:
            value = int(body, 8 if body.startswith("0") else 10)
        value = -value if value is not None and sign == "-" else value
    elif node.plain and _FRACTION.fullmatch(digits):
        number = float(digits)
        value = int(number) if abs(number) < 2**63 else None
    if value is None or not -(2**63) <= value < 2**63:
        raise DocumentError(f"{what} is no whole number", node.line, got=node.shown())
    return value


def _pairs(node: YamlNode, what: str) -> Iterator[tuple[YamlNode, YamlNode]]:
    """Key and value of a mapping, its own before merged ones."""
    if node.kind != "mapping":
        raise DocumentError(f"{what} is no mapping", node.line, got=node.shown())
    keys, values = node.items[::2], node.items[1::2]
    first: dict[str, YamlNode] = {}
    for key in keys:
        if key.kind != "scalar":
            raise DocumentError(f"{what} has a name that is no text", key.line, got=key.shown())
        if key.text in first:
            raise DocumentError(
                f"{what} has a field twice",
                key.line,
                got=f"{key.text!r}, first in line {first[key.text].line}",
            )
        first[key.text] = key
    merges = []
    for key, value in zip(keys, values, strict=True):
        if key.is_merge:
            merges.append(value)
        elif not key.is_null:
            yield key, value
    for value in merges:
        for merged in value.items if value.kind == "list" else [value]:
            if merged.kind != "mapping":
                raise DocumentError("<< merges something that is no mapping", value.line, got=merged.shown())
            yield from _pairs(merged, what)
