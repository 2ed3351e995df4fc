"""Texts in a language: PromQL, selectors, rules files, scenario files, configuration. In: a text. Out: what our reader makes of it."""

from __future__ import annotations

import random
import tempfile
from functools import cache
from pathlib import Path

import yaml

from tests.fuzz.mutate import ODD_TEXTS, mutated_json, mutated_text
from tests.fuzz.target import Target, UnlikeTwinError
from tests.promql.conformance import hostile
from tests.promql.conformance.hostile_texts import hostile_text, valid_text
from throttlescope.app.config import load_settings
from throttlescope.app.services.simulate.scenario import check_size, read_scenario
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.selector import parse_selector
from throttlescope.models.throttling.scenario.file import load_scenario
from throttlescope.models.throttling.scenario.scenario import Scenario
from throttlescope.models.throttling.tdmq import scenario as tdmq
from throttlescope.transforms.promql.answer import result_of
from throttlescope.transforms.promql.errors import QueryError
from throttlescope.transforms.promql.query import instant_query, range_query
from throttlescope.transforms.rules.rule_file import read_rule_text

_ROOT = Path(__file__).parents[3]
_NOW_MS = 600_000


# -- PromQL ------------------------------------------------------------------------------------


def _query_text(rng: random.Random) -> str:
    return hostile_text(rng, valid_text)[0]


@cache
def _source():
    return hostile.tiny_source()


def _evaluate(text: str) -> None:
    if len(text) % 2:
        result_of(instant_query(text, _source(), _NOW_MS, hostile.OPTIONS))
    else:
        result_of(range_query(text, _source(), 0, _NOW_MS, 60_000, hostile.OPTIONS))


# -- selectors ---------------------------------------------------------------------------------

_SELECTORS = (
    'pulsar_rate_in{namespace=~"acme/.*"}',
    "{__name__=~'a|b', x!=\"1\", `y`=`z`,}",
    'up{a="\\u00e4\\x41\\n", b!~"c+"} # end',
    '{"odd name", "odd label"="v"}',
    "up",
)
_SELECTOR_WORDS = ("{", "}", "=", "!=", "=~", "!~", '"', "'", "`", ",", "\\", "\\x", "\\u", "\\777", "or", "__name__", "(", "[5m]", "#", "\n", "(?i)", "{1000}", ".*", "\\C")  # fmt: skip


def _select(text: str) -> None:
    selector = parse_selector(text)
    again = parse_selector(str(selector))
    if again != selector:
        raise UnlikeTwinError(f"{selector!r} written as {str(selector)!r} is read as {again!r}")
    selector.matches({"__name__": "up", "a": "b"})


# -- rules files -------------------------------------------------------------------------------

_RULES = (
    'groups:\n- name: g\n  interval: 1m\n  rules:\n  - record: job:x:sum\n    expr: sum by (job) (up)\n    labels: {a: "1"}\n'
    "  - alert: Down\n    expr: up == 0\n    for: 5m\n    keep_firing_for: 1h30m\n    labels: {severity: page}\n"
    "    annotations:\n      text: '{{ $labels.job }} has {{ $value | printf \"%.2f\" }}'\n",
    "groups:\n- name: a\n  limit: 10\n  query_offset: 30s\n  labels: &l {x: y}\n  rules:\n  - &r\n    record: b\n    expr: |\n      1 + 2\n"
    "    labels:\n      <<: *l\n      z: 1\n- name: b\n  rules: [{alert: C, expr: 'vector(1)'}]\n",
    '{"groups":[{"name":"j","rules":[{"record":"k","expr":"1"}]}]}',
)
_YAML_WORDS = (
    "  ", "- ", ": ", "&a ", "*a", "<<: ", "!!str ", "!!int ", "|", ">", "{", "}", "[", "]", "'", '"', "#", "---\n", "...\n", "? ", "%YAML 1.1\n", "~", "null",
    "yes", "1_000", "0x1F", "0o17", "1:30", "2001-13-45", "2026-01-01T00:00:00Z", ".inf", "[*a,*a,*a,*a,*a,*a,*a,*a,*a]", "&b [*a,*a,*a,*a,*a,*a,*a]", "\t",
)  # fmt: skip
_RULE_WORDS = (*_YAML_WORDS, "expr: ", "alert: ", "record: ", "for: 5m\n", "labels: ", "annotations: ", "limit: ", "{{", "}}", "{{ if ", "{{ end }}", "{{range $a, $b := ", "$labels.a", " | humanize", "{{/*")  # fmt: skip


def _rules_text(rng: random.Random) -> str:
    text = mutated_text(rng, _RULES, _RULE_WORDS)
    if rng.random() < 0.1:
        text = text.replace("up == 0", _query_text(rng)[:5_000].replace("\n", " "))
    if rng.random() < 0.02:
        deep = rng.choice((30, 60, 3_000))
        text = rng.choice(("[" * deep, "- " * deep + "a", "{a: " * deep, "'{{" + "(" * deep + "'"))
    return text


def _rules(text: str) -> None:
    for rule in read_rule_text(text, "fuzz.yml").rules:
        _ = rule.known_labels, rule.selectors, rule.plan


# -- files -------------------------------------------------------------------------------------


@cache
def _folder() -> tempfile.TemporaryDirectory:
    place = "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108
    return tempfile.TemporaryDirectory(prefix="fuzz-", dir=place)


def _file(name: str, text: str) -> Path:
    path = Path(_folder().name) / name
    path.write_bytes(text.encode(errors="surrogatepass"))
    return path


@cache
def _scenarios() -> tuple[str, ...]:
    names = ("sub-msg-small", "slow-batched", "diagnosis/both-1-1", "diagnosis/delayed-1-1")
    found = [_ROOT / "tests/lab/scenarios" / f"{name}.yaml" for name in names]
    found += [
        _ROOT / "docs/guides/what-if-example.yaml",
        *sorted(tdmq.SHIPPED.glob("*.yaml"))[:4],
    ]
    return tuple(path.read_text() for path in found)


@cache
def _scenario_values() -> tuple[object, ...]:
    return tuple(yaml.safe_load(text) for text in _scenarios())


def _scenario_text(rng: random.Random) -> str:
    # As YAML's subset that is JSON, too: changes of single values get past the reader of YAML.
    if rng.random() < 0.6:
        return mutated_json(rng, rng.choice(_scenario_values()))
    if rng.random() < 0.03:
        deep = rng.choice((60, 900, 3_000))
        return rng.choice(("[" * deep + "]" * deep, "- " * deep + "a", "{a: " * deep))
    if rng.random() < 0.03:
        rows = [f"a{n}: &a{n} [" + ",".join([f"*a{n - 1}"] * 9) + "]" for n in range(1, rng.choice((4, 12)))]
        return "\n".join(["a0: &a0 [x]", *rows, f"name: *a{len(rows)}", "format: 1"])
    return mutated_text(rng, _scenarios(), _YAML_WORDS)


def _scenario(text: str) -> None:
    path = _file("fuzz.yaml", text)
    readers = (_run_form, load_scenario, tdmq.load_scenario)
    refusals = []
    for load in readers:
        try:
            load(path)
        except InputError as error:
            refusals.append(error)
    # No file is one for all of them.
    if len(refusals) == len(readers):
        raise refusals[0]


def _run_form(path: Path) -> None:
    scenario = read_scenario(path)
    if isinstance(scenario, Scenario):
        check_size(path, scenario, 60)


_CONFIGS = (
    'lake = "lake"\nwindow = "5m"\nevery = "5m"\n\n[ingest]\nmax_concurrent_reads = 2\nadmin_calls_per_s = 10\n\n[objectives]\nbacklog_entries = 10000\n\n'
    '[clusters.pulsar-prod]\ntime_zone = "Europe/Berlin"\nmatch = [\'{namespace=~"acme/.+"}\']\n\n[clusters.pulsar-prod.prometheus]\nurl = "https://p.example.com"\n'
    'token_env = "T"\nheaders = { X-Scope-OrgID = "acme" }\ntimeout = "1m"\n\n[clusters.pulsar-prod.pulsar_admin]\nurls = ["https://a.example.com:8443"]\n'
    'token_file = "/run/t"\nca_file = "~/ca.pem"\n\n[clusters.pulsar-prod.labels]\nnamespace = "exported_namespace"\n',
    '[spark]\nmaster = "spark://h:7077"\nconf.spark.executor.memory = "1g"\nconf."spark.x" = 1\nexecutor_wait = "90s"\n[clusters.a.specification]\ndispatch_msg_rate = 5e4\n'
    "[clusters.a.specification.topic_partition]\npublish_msg_rate = 100\n",
)
_TOML_WORDS = ("[", "]", "[[", "]]", "=", '"""', "'''", '"', "\\u0000", "\\ud800", "\\U00110000", ".", "{", "}", "1979-05-27T07:32:60Z", "2026-13-45", "inf", "nan", "0x", "1__0", "true", "#", "\r", "clusters.", "lake = ", "~nobody/x", "999999999h", "[clusters]\n", "match = [1]\n")  # fmt: skip


def _config_text(rng: random.Random) -> str:
    if rng.random() < 0.02:
        deep = rng.choice((50, 500, 5_000))
        return rng.choice(("a = " + "[" * deep, "a = " + "{b=" * deep, "[" + "a." * deep + "a]", "a" + ".a" * deep + " = 1"))  # fmt: skip
    text = mutated_text(rng, _CONFIGS, _TOML_WORDS)
    return text.replace('"5m"', f'"{rng.choice(ODD_TEXTS)[:5_000]}"') if rng.random() < 0.1 else text


def _config(text: str) -> None:
    settings = load_settings(_file("throttlescope.toml", text))
    settings.spark.options()
    for cluster in settings.clusters.values():
        cluster.labels.renames()


TARGETS = (
    Target(
        "promql", "PromQL", _query_text, _evaluate, (InputError, QueryError),
        # A query may take much, by its options: it is held to the child's bound on memory, not to the length of its text.
        spare_bytes=1 << 30, warm=lambda: hostile._warm(_source()), from_bytes=lambda content: content.decode(errors="surrogateescape"),
    ),
    Target(
        "selectors", "selectors", lambda rng: mutated_text(rng, _SELECTORS, _SELECTOR_WORDS), _select, (InputError,),
        from_bytes=lambda content: content.decode(errors="surrogateescape"),
    ),
    Target(
        "rules", "rules files", _rules_text, _rules, (InputError,), bytes_per_byte=4_096, spare_bytes=64 << 20,
        from_bytes=lambda content: content.decode(errors="replace"),
    ),
    Target("scenarios", "scenario files", _scenario_text, _scenario, (InputError,), bytes_per_byte=4_096, spare_bytes=16 << 20),
    Target(
        "config", "configuration files", _config_text, _config, (InputError,), bytes_per_byte=2_048,
        from_bytes=lambda content: content.decode(errors="replace"),
    ),
)  # fmt: skip
