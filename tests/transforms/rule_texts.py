"""Rules files for tests: written ones, good and bad, and random ones."""

from __future__ import annotations

import random
from itertools import pairwise


def _rule(text: str) -> str:
    return "groups: [{name: g, rules: [{" + text + "}]}]"


#: Files that Prometheus and we take.
GOOD = [
    "",
    "# nothing but a comment\n",
    "~",
    "{}",
    "groups:",
    "groups: []",
    # A null item of a list is no item.
    "groups: [~]",
    "groups: [{name: g, rules: [~]}]",
    "groups: [{name: g, rules: }]",
    # A text is taken as written, whatever else it could be.
    _rule("record: a, expr: 1"),
    "groups: [{name: 1, rules: [{record: 9a, expr: up}]}]",
    _rule("record: a, expr: up, labels: {a: 1, b: true, c: ~, d: 1.50, é: x, 'a-b': y}"),
    # Names are UTF-8, as in Prometheus 3.
    _rule("record: 'a é', expr: up"),
    _rule("record: a, alert: '', expr: up"),
    _rule("record: a, expr: up, for: 0s, keep_firing_for: 0, annotations: {}"),
    _rule("alert: A, expr: up == 0, for: 1h5m, keep_firing_for: 5m, annotations: {a-b: 'x'}"),
    _rule("alert: A, expr: up, annotations: {__name__: 'x', t: '{{ $value | humanize }} {{/* c */}}'}"),
    _rule("alert: A, expr: up, annotations: {t: '{{ if gt $value 1.0 }}a{{ else }}b{{ end }}'}"),
    _rule("alert: A, expr: up, annotations: {t: '{{ range query \"up\" }}{{ . | value }}{{ end }}'}"),
    # Templates are for alerts.
    _rule("record: a, expr: up, labels: {x: '{{ nothing'}"),
    # A group's labels are not looked into when a file is loaded.
    "groups: [{name: g, labels: {x: '{{ nothing'}, rules: [{alert: A, expr: up}]}]",
    "groups: [{name: g, limit: 0x10}, {name: h, limit: -1}, {name: i, limit: 1.9}, {name: j, limit: 1_0}]",
    "groups: [{name: g, interval: 0}, {name: h, interval: 1m30s, query_offset: 0s}]",
    # The same name is another rule where a label tells them apart.
    "groups: [{name: g, rules: [{record: a, expr: x, labels: {b: c}}, {record: a, expr: y}]}]",
    "groups:\n- &g\n  name: g\n- <<: *g\n  name: h\n",
    "groups:\n- name: g\n  rules:\n  - &r\n    record: a\n    expr: up\n  - <<: *r\n    record: b\n",
    "groups: [{name: g, rules: [{alert: A, expr: up, labels: {<<: [{a: b}, {c: d}], e: f}}]}]",
    "---\ngroups: []\n...\n",
    # Rules that feed one another, forwards and backwards, and one that reads itself.
    "groups: [{name: g, rules: [{record: a, expr: x}, {record: b, expr: a}, {alert: C, expr: b > 1}]}]",
    "groups: [{name: g, rules: [{record: b, expr: a}, {record: a, expr: x}]}]",
    "groups: [{name: g, rules: [{record: b, expr: a}]}, {name: h, rules: [{record: a, expr: x}]}]",
    _rule("record: a, expr: a offset 1m + 1"),
    _rule("alert: A, expr: 'ALERTS{alertname=\"A\"}'"),
]

#: Files that neither takes, and the words of the error.
BAD = [
    ("x", ["some.yml, line 1: the file is no mapping", "'x'"]),
    ("groups: [", ["some.yml", "cannot be read as YAML"]),
    ("groups: {}", ["groups is no list", "got a mapping"]),
    ("groups: []\ngroups: []", ["line 2", "twice", "first in line 1"]),
    ("group: []", ["'group'", "expected groups", "write groups"]),
    ("groups:\n- name: g\n  rule: []", ["line 3", "the group has a field that is not known", "write rules"]),
    ("groups: [{name: g, partial_response_strategy: warn}]", ["'partial_response_strategy'", "drop it"]),
    ("groups: [x]", ["the group is no mapping"]),
    ("groups: [{rules: []}]", ["the group has no name"]),
    ("groups: [{name: ''}]", ["the group has no name"]),
    ("groups:\n- name: g\n- name: g\n", ["line 3", "the group comes twice", "first in line 2"]),
    ("groups: [{name: g, interval: 5}]", ["interval is no duration", "'5'", "30s"]),
    ("groups: [{name: g, interval: ''}]", ["interval is no duration"]),
    ("groups: [{name: g, query_offset: -5m}]", ["query_offset is no duration"]),
    ("groups: [{name: g, limit: many}]", ["limit is no whole number", "'many'"]),
    ("groups: [{name: g, limit: '5'}]", ["limit is no whole number"]),
    ("groups: [{name: g, labels: {__name__: x}}]", ["group 'g'", "'__name__'"]),
    ("groups: [{name: g, labels: [a]}]", ["labels is no mapping", "a list"]),
    ("groups: [{name: g, rules: [[]]}]", ["rule 1: the rule is no mapping"]),
    ("groups: *nowhere", ["alias"]),
    ("groups: &a [*a]", ["alias"]),
    # A billion nodes from a few lines; nesting that a parser could fall into.
    (
        "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
        + "".join(f"{b}: &{b} [{','.join(['*' + a] * 10)}]\n" for a, b in pairwise("abcdefghi"))
        + "groups: *i\n",
        ["too many aliases"],
    ),
    ("groups: " + "[" * 100_000, ["nested deeper than 50 levels"]),
    ("groups:\n" + "".join(" " * n + "-\n" for n in range(1, 200)), ["nested deeper than 50 levels"]),
    (_rule("alert: A, expr: up, annotations: {a: '" + "{{if 1}}" * 500 + "'}"), ["nested deeper than 100"]),
    (_rule("expr: up"), ["neither record nor alert"]),
    (_rule("record: a, alert: b, expr: up"), ["both record and alert"]),
    (_rule("record: a"), ["rule 1 'a': the rule has no expr"]),
    (_rule("record: a, expr: ''"), ["the rule has no expr"]),
    (_rule("record: a, expr: [up]"), ["expr is no text", "a list"]),
    (_rule("record: a, expr: up, expr: up"), ["twice"]),
    (_rule("record: a, expr: up, forr: 5m"), ["'forr'", "write for"]),
    (_rule("record: a, expr: up, for: 5m"), ["a recording rule has a field of alerts", "got for"]),
    (_rule("record: a, expr: up, annotations: {a: b}"), ["a field of alerts", "got annotations"]),
    (_rule("record: 'a{b=\"c\"}', expr: up"), ["the recorded name has braces"]),
    (_rule("record: a, expr: 'rate(x)'"), ["rule 1 'a': rate", "expected range vector"]),
    (_rule("record: a, expr: 'info(x)'"), ["rule 1 'a'", "info"]),
    (_rule("record: a, expr: 'rate(x[5m] smoothed)'"), ["rule 1 'a'", "smoothed"]),
    (_rule('record: a, expr: \'{a="b" or c="d"}\''), ["rule 1 'a'", "or"]),
    (_rule("record: a, expr: '1 +'"), ["line 1, column 4", "the end of the text"]),
    (_rule("record: a, expr: up, labels: {__name__: x}"), ["'__name__'", "record"]),
    (_rule("record: a, expr: up, labels: {'': x}"), ["a label has a name"]),
    (_rule("record: a, expr: up, labels: {a: [b]}"), ["labels a is no text"]),
    (_rule("alert: A, expr: up, for: 1d1w"), ["for is no duration"]),
    (_rule("alert: A, expr: up, for: 300y"), ["for is no duration"]),
    (_rule("alert: A, expr: up, annotations: {'': b}"), ["an annotation has no name"]),
    (_rule("alert: A, expr: up, annotations: {a: '{{ $value'}"), ["annotations a", "}} is missing"]),
    (_rule("alert: A, expr: up, annotations: {a: '{{ $nope }}'}"), ["$nope is not defined"]),
    (_rule("alert: A, expr: up, labels: {a: '{{ nope 1 }}'}"), ["labels a", "function nope"]),
    (_rule("alert: A, expr: up, labels: {a: '{{ if 1 }}'}"), ["{{end}} is missing"]),
    (
        "groups:\n- name: g\n  rules:\n  - record: a\n    expr: x\n  - record: a\n    expr: y\n",
        ["line 6, group 'g', rule 2 'a': the rule comes twice", "line 4, group 'g', rule 1 'a'", "rename"],
    ),
    (
        "groups: [{name: g, rules: [{alert: A, expr: x}]}, {name: h, rules: [{alert: A, expr: y}]}]",
        ["group 'h', rule 1 'A': the rule comes twice"],
    ),
]

#: Files that Prometheus takes and we do not, on purpose.
STRICTER = [
    (_rule("record: a, expr: 'up[5m]'"), ["gives nothing that can be written", "range vector"]),
    (_rule("record: a, expr: '\"text\"'"), ["gives nothing that can be written", "string"]),
    ("groups: []\n---\ngroups: []\n", ["a second document"]),
    ("groups: !mine []", ["a YAML tag"]),
    (
        "groups: [{name: g, rules: [{record: a, expr: b}, {record: b, expr: a}]}]",
        ["group 'g', rule 1 'a': the rules read one another", "a reads b reads a"],
    ),
    (
        "groups: [{name: g, rules: [{record: a, expr: b}, {record: b, expr: c}, {record: c, expr: a + x}]}]",
        ["a reads b reads c reads a"],
    ),
    (
        "groups: [{name: g, rules: [{record: a, expr: d}, {record: b, expr: x}]}, "
        "{name: h, rules: [{record: c, expr: b}, {record: d, expr: x}]}]",
        ["groups read one another", "g reads h reads g"],
    ),
    (
        "groups: [{name: g, rules: [{record: a, expr: 'sum(ALERTS)'}, {alert: B, expr: a > 1}]}]",
        ["a reads B reads a"],
    ),
]

_VALUES = """'';~;null;1;0;true;"x";5m;1h30m;5m1h;-5m;0s;[];{};[a];{a: b};1.5;0x10;010;08;1_000;-3;"3";up;sum(up);{a: ~}
{a: 1, b: true};{a: [1]};{"": x};{__name__: x};{a: x, a: y};{é: x};{a-b: x};{1: x};{~: x};*anc;&anc x;!!str 5;1e3;+5;.5
.inf;2020-01-01;3y;300y;1s1ms;1ms1s;a{b="c"};{x: "{{ $labels.y }}"};{x: "{{ $nope }}"};{x: "{{ end }}"}
{<<: {a: b}, c: d};{<<: [{a: b}, {c: d}]};{<<: 1}""".replace("\n", ";").split(";")
_EXPRESSIONS = ["up", "up > 0", "1", "'\"a\"'", "up[5m]", "rate(up)", "sum(up)", "~", "", "'up'", "'up +'"]


def random_rules_file(numbers: random.Random) -> str:
    """A file with a fault here and there; about one in eight is good."""
    groups = [
        _random_group(numbers, n) if numbers.random() < 0.97 else "  - " + numbers.choice(["~", "x", "[]"])
        for n in range(numbers.randint(1, 2))
    ]
    return "groups:\n" + "\n".join(groups) + "\n"


def _random_group(numbers: random.Random, n: int) -> str:
    fields = [("name", numbers.choice([f"g{n}"] * 12 + ["g0", "~", '""', "1"]))]
    for name in ("interval", "query_offset", "limit", "labels"):
        if numbers.random() < 0.08:
            fields.append((name, numbers.choice(_VALUES)))
    if numbers.random() < 0.03:
        fields.append(numbers.choice([("partial", "1"), ("Name", "1"), fields[0]]))
    lines = [f"  {'-' if first else ' '} {name}: {value}" for first, (name, value) in _firsts(fields)]
    rules = [
        _random_rule(numbers)
        if numbers.random() < 0.97
        else "      - " + numbers.choice(["~", "x", "[]", "{}", ""])
        for _ in range(numbers.randint(0, 2))
    ]
    lines.append("    rules:" + ("" if rules else numbers.choice([" []", " ~", ""])))
    return "\n".join(lines + rules)


def _random_rule(numbers: random.Random) -> str:
    odd = numbers.random()
    if odd < 0.5:
        names = [f"r{numbers.randint(0, 30)}"] * 4 + ["a:b", "é", "a b", "a{", '""', "~"]
        fields = [("record", numbers.choice(names))]
    elif odd < 0.95:
        fields = [("alert", numbers.choice([f"A{numbers.randint(0, 30)}"] * 4 + ["a b", "1", "~"]))]
    else:
        fields = numbers.choice([[], [("record", "a"), ("alert", "b")]])
    good = numbers.random() < 0.8
    fields.append(("expr", numbers.choice(["up", "up > 0", "sum(up)"] if good else _EXPRESSIONS + _VALUES)))
    for name in ("for", "keep_firing_for", "labels", "annotations"):
        if numbers.random() < 0.12:
            fields.append((name, numbers.choice(_VALUES)))
    if numbers.random() < 0.04:
        fields.append(numbers.choice([("forr", "5m"), ("Expr", "x"), ("<<", "{for: 5m}"), fields[0]]))
    if numbers.random() < 0.3:
        numbers.shuffle(fields)
    return "\n".join(
        f"      {'-' if first else ' '} {name}: {value}" for first, (name, value) in _firsts(fields)
    )


def _firsts(items: list) -> list[tuple[bool, object]]:
    return [(n == 0, item) for n, item in enumerate(items)]


# fmt: off
_PIECES = [
    "{{", "}}", "{{", "}}", "{{-", "-}}", "$labels", "$labels.x", "$value", "$x", "$", ".", ".Labels",
    ".Labels.x", "|", "(", ")", '"a"', "`b`", "'c'", '"\\q"', '"\\n"', "1", "1.5", "0x1f", "1e3", "-3",
    "1_0", "089", "1i", "1+2i", "nil", "true", "printf", "humanize", "nofunc", "if", "else", "end",
    "range", "with", "define", "block", "template", "break", "continue", ":=", "=", ",", "/*", "*/",
    "text", "len", "eq", "query", "first", "value", "%", "?", "é", ".5", '"', "`", "'", " ", "  ", "\n",
    "$x :=", "$i, $v :=",
]
# fmt: on
_ARGUMENTS = (
    "$value",
    "$labels.x",
    ".Value",
    '"a"',
    "1",
    "(humanize $value)",
    "nil",
    ".",
    "true",
    "($labels).x",
)


def random_template(numbers: random.Random) -> str:
    """A template: pieces in any order, or a good one with a piece too much."""
    odd = numbers.random()
    if odd < 0.4:
        return "".join(numbers.choice(_PIECES) for _ in range(numbers.randint(1, 9)))
    if odd < 0.6:
        pieces = (numbers.choice(_PIECES) + numbers.choice(["", " "]) for _ in range(numbers.randint(1, 6)))
        return "{{" + "".join(pieces) + "}}"
    text = "".join(_template_part(numbers, 0) for _ in range(numbers.randint(1, 3)))
    if numbers.random() < 0.3 and text:
        at = numbers.randrange(len(text))
        text = text[:at] + numbers.choice(_PIECES) + text[at + numbers.randint(0, 3) :]
    return text


def _template_part(numbers: random.Random, depth: int) -> str:
    def argument() -> str:
        return numbers.choice(_ARGUMENTS)

    def pipeline() -> str:
        return numbers.choice(
            [
                argument(),
                f"humanize {argument()}",
                f"{argument()} | humanize",
                f'printf "%s" {argument()} {argument()}',
                f'{argument()} | printf "%v" | {argument()}',
            ]
        )

    odd = numbers.random()
    if odd < 0.4 or depth > 3:
        ends = numbers.choice(["", " ", "- "]), numbers.choice(["", " ", " -"])
        return "{{" + ends[0] + pipeline() + ends[1] + "}}"
    if odd < 0.5:
        return numbers.choice(["a", " ", "\n", "x {", "}"])
    body = "".join(_template_part(numbers, depth + 1) for _ in range(numbers.randint(0, 2)))
    if odd < 0.7:
        otherwise = ["", "{{else}}b", "{{else if " + pipeline() + "}}", "{{else with 1}}"]
        return "{{if " + pipeline() + "}}" + body + numbers.choice(otherwise) + "{{end}}"
    if odd < 0.8:
        head = numbers.choice(["", "$i := ", "$i, $v := ", "$i, $v, $w := ", "$v = "])
        tail = numbers.choice(["", "{{break}}", "{{continue}}", "{{else}}c", "{{$i}}"])
        return "{{range " + head + pipeline() + "}}" + body + tail + "{{end}}"
    if odd < 0.9:
        tail = numbers.choice(["", "{{else}}", "{{else with 2}}", "{{else if 2}}", "{{$i}}"])
        return "{{with " + numbers.choice(["", "$i := "]) + pipeline() + "}}" + body + tail + "{{end}}"
    if odd < 0.95:
        return '{{define "' + numbers.choice("ab") + '"}}' + body + "{{end}}"
    return numbers.choice(
        [
            '{{template "a"}}',
            '{{template "a" .}}',
            '{{block "b" .}}z{{end}}',
            "{{/* c */}}",
            "{{- /* c */ -}}",
            "{{break}}",
            "{{$y := 1}}{{$y}}",
            "{{$y}}",
        ]
    )
