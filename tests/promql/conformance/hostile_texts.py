"""Texts that want to hurt a parser or an evaluator. In: a random generator. Out: a text and the name of its family."""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.promql.conformance.expressions import Writer, whole_language
from throttlescope.transforms.promql.functions import FUNCTIONS

MEGABYTE = 1_000_000
_TOKENS = [
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    "@",
    "#",
    "=",
    "==",
    "!=",
    "=~",
    "!~",
    ">",
    "<",
    ">=",
    "<=",
    "+",
    "-",
    "*",
    "/",
    "%",
    "^",
    "atan2",
    "and",
    "or",
    "unless",
    "by",
    "without",
    "on",
    "ignoring",
    "group_left",
    "group_right",
    "bool",
    "offset",
    "start()",
    "end()",
    "inf",
    "nan",
    "0",
    "1",
    "1e3",
    "0x1f",
    "5m",
    "1h30m",
    "1ms",
    "3y",
    "m_total",
    "up",
    '"a"',
    "'b'",
    "`c`",
    '"',
    "'",
    "`",
    "\\",
    "\n",
    "\t",
    ".",
    "..",
    "...",
    ";",
    "$",
    "&",
    "|",
    "?",
    "!",
    "~",
    "sum",
    "avg",
    "topk",
    "count_values",
    "quantile",
    "rate(m_total[5m])",
    "__name__",
    "le",
    'a="1"',
    "fill",
    "anchored",
    "smoothed",
    "limit",
]
_ODD_CHARACTERS = (
    "\0\x01\x1b\x7f\x85\u00a0\u00ad\u0300\u0660\u06f3\u0967\u1680\u2003\u200b\u200d\u202e\u2028\u2029\u2044\u2212\u3000"
    "\ufeff\ufffd\uff11\uff08\U0001f600\U0010ffff\U000e0001\u00b2\u2160\u00df\u0130"
)
_BOMBS = (
    "(a+)+b", "(a|a)*b", "(.*)*x", "((a*)*)*c", "(a{1,1000}){1,1000}", "((a{100}){100}){100}", "a{1000}{1000}",
    "(?:a?){500}a{500}", "(x+x+)+y", "^(([a-z])+.)+[A-Z]([a-z])+$", "(?i)(\u00e4+)+$", "[^a]*(a*)*[^b]", "(((((((((a",
    "\\\\C", "\\\\pN+", "(?P<n>a)(?P=n)", "(?=a)b", "a**", "[z-a]", "(?#", "\\\\x{10ffff}*", "a|" * 300,
)  # fmt: skip


def hostile_text(
    rng: random.Random, valid: Callable[[random.Random], str], only: str = ""
) -> tuple[str, str]:
    """One text and its family, or one of the family ``only``; ``valid`` makes queries that can be read."""
    families = (
        (_mutated, 40),
        (_soup, 15),
        (_nested, 10),
        (_strange_characters, 10),
        (_numbers, 10),
        (_regex_bomb, 6),
        (_growing_labels, 3),
        (_endless_subquery, 4),
        (_long, 0.4),
        (_bytes, 2),
    )
    weights = [weight if only in ("", family.__name__[1:]) else 0 for family, weight in families]
    (family,) = rng.choices([family for family, _ in families], weights)
    return family(rng, valid), family.__name__[1:]


def valid_text(rng: random.Random) -> str:
    """A query over the metrics of the tiny source."""
    return str(Writer(rng, whole_language(0), "").vector(rng.randint(0, 4)))


def _mutated(rng: random.Random, valid) -> str:
    text = valid(rng)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        at, after = sorted(rng.randint(0, len(text)) for _ in range(2))
        kind = rng.randrange(7)
        if kind == 0:
            text = text[:at] + text[at + 1 :]
        elif kind == 1:
            text = text[:at] + rng.choice(_TOKENS) + text[at:]
        elif kind == 2:
            text = text[:at] + text[at:after] * rng.randint(2, 5) + text[after:]
        elif kind == 3:
            text = text[:at] + text[after:]
        elif kind == 4:
            text = text[:at] + rng.choice(_ODD_CHARACTERS) + text[at:]
        elif kind == 5:
            text = text[:at] + text[at:after][::-1] + text[after:]
        else:
            text = text[:at] + chr(rng.randint(1, 126)) + text[at + 1 :]
    return text


def _soup(rng: random.Random, _valid) -> str:
    words = [*_TOKENS, *rng.sample(sorted(FUNCTIONS), 8)]
    return rng.choice((" ", "", " ")).join(rng.choice(words) for _ in range(rng.randint(0, 60)))


def _nested(rng: random.Random, _valid) -> str:
    count = rng.choice((3, 30, 100, 127, 128, 129, 300, 1_000, 10_000, 30_000))
    close = rng.choice((count, count, count - 1, count + 1, 0))
    opening, inner, closing = rng.choice(
        (
            ("(", "up", ")"),
            ("(", "", ")"),
            ("-", "up", ""),
            ("+-", "1", ""),
            ("abs(", "up", ")"),
            ("sum by (a) (", "up", ")"),
            ("topk(1, ", "up", ")"),
            ("vector(scalar(", "up", "))"),
            ("max_over_time((", "up", ")[1m:10s])"),
            ("", "up", "[5m:1m]"),
            ("", "up", " offset 5m"),
            ("", "up", " @ 1"),
            ("1 + ", "1", ""),
            ("", "up", " or up"),
            ("2 ^ ", "2", ""),
            ("up{", 'a="1"', "}"),
            ("{", "up", "}"),
            ("[", "5m", "]"),
            ("up == bool ", "up", ""),
            ("label_replace(", "up", ', "a", "$1", "b", "(.*)")'),
            ("", "up", " and on (a) up"),
            ("# \n", "up", ""),
        )
    )
    return opening * count + inner + closing * max(close, 0)


def _strange_characters(rng: random.Random, valid) -> str:
    if rng.random() < 0.5:
        some = [
            chr(rng.choice((rng.randint(0, 0xD7FF), rng.randint(0xE000, 0x10FFFF))))
            for _ in range(rng.randint(1, 40))
        ]
        return "".join(rng.choice((*some, *_ODD_CHARACTERS)) for _ in range(rng.randint(1, 60)))
    text = valid(rng)
    for _ in range(rng.randint(1, 6)):
        at = rng.randint(0, len(text))
        text = text[:at] + rng.choice(_ODD_CHARACTERS) * rng.choice((1, 1, 50)) + text[at:]
    return text


def _numbers(rng: random.Random, _valid) -> str:
    digits = rng.choice(
        ("9", "1", "0", "18446744073709551616", "9223372036854775807", "9" * 400, "9" * 5_000, "0" * 5_000)
    )
    number = rng.choice(
        (
            digits, f"{digits}.{digits}", f"1e{digits}", f"1e-{digits}", f"0x{digits}", f"-{digits}", f".{digits}",
            f"{digits}y", f"{digits}ms", f"{digits}s{digits}ms", f"{digits}_0", "1e308", "5e-324", "-0", "1__0", "0b1", "0o7",
            "08", "1e", "0x", "1.e5", "1..2", "Inf", "-Inf", "NaN", "292y", "293y", "106751d", "1y1y", "1s1h",
        )
    )  # fmt: skip
    form = rng.choice(
        (
            "{}", "up * {}", "up[{}]", "rate(m_total[{}])", "up offset {}", "up offset -{}", "up @ {}", "up @ -{}",
            "max_over_time(up[{}:1s])", "max_over_time(up[1h:{}])", "max_over_time(up[{}:{}])", "topk({}, up)",
            "bottomk({}, up)", "limitk({}, up)", "limit_ratio({}, up)", "quantile({}, up)", "round(up, {})",
            "clamp(up, {}, -{})", "predict_linear(up[5m], {})", "up ^ {}", "{} ^ {}", "{} % {}", "vector({})",
            "hour(vector({}))", "days_in_month(vector({}))", "year(vector(-{}))", "histogram_quantile({}, m_bucket)",
            "count_values(\"v\", vector({}))", "quantile_over_time({}, up[5m])", "up[5m] @ {} offset {}",
            "timestamp(up @ {})", "time() * {} ^ {}", "absent_over_time(up[{}])", "double_exponential_smoothing(up[5m], {}, {})",
        )
    )  # fmt: skip
    return form.replace("{}", number)


def _regex_bomb(rng: random.Random, _valid) -> str:
    bomb = rng.choice(_BOMBS)
    if rng.random() < 0.3:
        bomb = "".join(
            rng.choice((*"a()[]{}*+?|.^$\\\\d", "{2,1000}", "(?i", "\\\\b", "[[:alpha:]]"))
            for _ in range(rng.randint(1, 60))
        )
    return rng.choice(
        (
            f'up{{long=~"{bomb}"}}',
            f'up{{long!~"{bomb}"}}',
            f'{{__name__=~"{bomb}"}}',
            f'label_replace(up, "x", "$1$1", "long", "{bomb}")',
            f'sum by (long) (up{{long=~"{bomb}", long=~".*{bomb}.*"}})',
        )
    )


def _growing_labels(rng: random.Random, _valid) -> str:
    """Labels whose values get several times as long with every call."""
    text = "up"
    for _ in range(rng.choice((2, 10, 40, 100, 120))):
        times = rng.choice((2, 8))
        if rng.random() < 0.5:
            text = f'label_join({text}, "long", "", ' + ", ".join(['"long"'] * times) + ")"
        else:
            text = f'label_replace({text}, "long", "' + "$1" * times + '", "long", "(.*)")'
    return text


def _endless_subquery(rng: random.Random, _valid) -> str:
    """Grids of steps that no memory holds."""
    text = rng.choice(("up", "m_total", "vector(time())", "rate(m_total[5m])", "nothing"))
    for _ in range(rng.choice((1, 1, 2, 3))):
        window, step = (
            rng.choice(("1h", "1d", "1y", "290y", "10m")),
            rng.choice(("1ms", "1s", "7s", "1d", "300y", "")),
        )
        name = rng.choice(
            ("max_over_time", "rate", "count_over_time", "quantile_over_time", "absent_over_time", "deriv")
        )
        text = f"{name}({'0.5, ' if name == 'quantile_over_time' else ''}({text})[{window}:{step}])"
    return text


def _long(rng: random.Random, valid) -> str:
    size = rng.choice((50_000, 99_999, 100_001, MEGABYTE))
    unit = rng.choice(
        (
            "(",
            "a",
            "up or ",
            'a="1",',
            "-",
            "1+",
            " ",
            "\0",
            "\u00e4",
            "#",
            '"',
            "\\",
            "[5m:1m]",
            "9",
            "{",
            valid(rng) + " + ",
        )
    )
    body = (unit * (size // len(unit) + 1))[:size]
    return (
        rng.choice(("{}", '"{}"', 'up{{a="{}"}}', "up # {}", "sum by ({}) (up)", 'up{{a=~"{}"}}', "`{}`"))
        .replace("{}", body)
        .replace("{{", "{")
        .replace("}}", "}")
    )


def _bytes(rng: random.Random, valid) -> str:
    # Half of a surrogate pair is what a broken client sends; it has no UTF-8.
    text = (
        valid(rng)
        if rng.random() < 0.5
        else "".join(chr(rng.randint(0, 255)) for _ in range(rng.randint(0, 200)))
    )
    at = rng.randint(0, len(text))
    return (
        text[:at]
        + rng.choice(
            ("\ud800", "\udfff", "\udc80", '"\\xff"', '"\\ud800"', '"\\U00110000"', '"\\400"', "'\\8'")
        )
        + text[at:]
    )
