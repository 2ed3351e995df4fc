"""The Helm chart: rendered by Helm's own code over tables of values, every object checked against its schema, contradictions refused."""

from __future__ import annotations

import copy
import json
import re
import tomllib

import helm_python
import jsonschema
import kubernetes_validate
import pytest
import yaml

from deploy.generate import CHART, GENERATED, RULES_FILE, SCHEMA_FILE
from docs.generate.markdown import DOCS
from tests.app.commands import throttlescope
from throttlescope.app.config import load_settings
from throttlescope.app.services.rule_files import check_rule_files
from throttlescope.ingest.contracts import TABLES

#: The oldest that Chart.yaml allows, and the newest.
KUBERNETES_VERSIONS = ("1.31", "1.37")
VALUES = yaml.safe_load((CHART / "values.yaml").read_text())
SCHEMA = json.loads(SCHEMA_FILE.read_text())

CLUSTERS = {
    "pulsar-prod": {
        "prometheus": {"url": "http://prometheus.monitoring:9090", "token_file": "/run/secrets/throttlescope/prometheus-token"},
        "pulsar_admin": {"urls": ["http://pulsar-broker.pulsar:8080"], "timeout": "30s"},
        "specification": {"dispatch_msg_rate": 50_000},
    }
}  # fmt: skip
WITH_CLUSTERS = {"config": {"clusters": CLUSTERS}}
TOKENS = {"secrets": {"existingSecret": "throttlescope-tokens"}}
OBJECT_STORE = {
    "kind": "objectStore",
    "objectStore": {"address": "s3://metrics/throttlescope", "endpoint": "http://minio:9000", "region": "eu-central-1",
                    "allowHttp": True, "credentialsSecret": "minio"},
}  # fmt: skip
INGRESS = {"enabled": True, "className": "nginx", "host": "scope.example", "tlsSecret": "scope-tls"}
LOGIN = {"login": {"kind": "users", "usersSecret": "scope-users"}}

#: Deployments that people have: each is rendered, linted and validated.
DEPLOYMENTS = {
    "default": {},
    "volume": WITH_CLUSTERS | TOKENS,
    "claim that is there": WITH_CLUSTERS | {"lake": {"persistentVolume": {"existingClaim": "lake", "accessMode": "ReadWriteMany"}}, "server": {"replicas": 3}},
    "object store": WITH_CLUSTERS | {"lake": OBJECT_STORE, "server": {"replicas": 2}, "secrets": {"values": {"prometheus-token": "t"}}},
    "open to the outside": WITH_CLUSTERS | {"ingress": INGRESS, "server": LOGIN, "networkPolicy": {
        "from": [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "ingress-nginx"}}}],
        "egress": [{"to": [{"podSelector": {}}], "ports": [{"port": 9090, "protocol": "TCP"}]}]}},
    "behind a proxy": WITH_CLUSTERS | {"ingress": INGRESS, "server": {"login": {"kind": "userHeader", "userHeader": "X-Forwarded-User", "proxies": ["10.0.0.0/8"]}}},
    "monitored": WITH_CLUSTERS | {"server": LOGIN, "serviceMonitor": {"enabled": True, "labels": {"release": "kps"}, "basicAuthSecret": "scrape"},
                                  "prometheusRule": {"enabled": True, "labels": {"release": "kps"}, "externalUrl": "https://scope.example/"}},
    "only hourly": WITH_CLUSTERS | {"follow": {"enabled": False}, "config": {"clusters": CLUSTERS, "every": "5m"}},
    "only the server": {"follow": {"enabled": False}, "hourlyRun": {"enabled": False}, "upkeep": {"enabled": False}, "check": {"enabled": False},
                        "networkPolicy": {"enabled": False}, "serviceAccount": {"create": False, "name": "mine"}},
    "pinned": {"image": {"repository": "registry.example/throttlescope", "digest": "sha256:" + "0" * 64}, "imagePullSecrets": [{"name": "pull"}],
               "nodeSelector": {"disk": "ssd"}, "tolerations": [{"key": "batch", "operator": "Exists"}], "priorityClassName": "low",
               "podLabels": {"team": "messaging"}, "podAnnotations": {"note": "x"}, "fullnameOverride": "scope"},
}  # fmt: skip

#: Values that contradict, the place that is named, and a part of the line.
CONTRADICTIONS = {
    "store and volume": ({"lake": {"objectStore": {"address": "s3://a/b"}}}, "/lake/objectStore/address", "empty, because lake.kind is persistentVolume"),
    "store without address": ({"lake": {"kind": "objectStore"}}, "/lake/objectStore/address", "because lake.kind is objectStore"),
    "store and claim": ({"lake": OBJECT_STORE | {"persistentVolume": {"existingClaim": "lake"}}}, "/lake/persistentVolume/existingClaim", "because lake.kind is objectStore"),
    "store without TLS": ({"lake": {"kind": "objectStore", "objectStore": {"address": "s3://a/b", "endpoint": "http://minio"}}}, "/lake/objectStore/endpoint", "allowHttp"),
    "two servers, one node's volume": ({"server": {"replicas": 2}}, "/server/replicas", "several servers need ReadWriteMany"),
    "run replaces what is followed": ({"config": {"every": "5m"}}, "/config/every", "follow and hourlyRun write the same lake"),
    "two secrets": ({"secrets": {"existingSecret": "a", "values": {"b": "c"}}}, "/secrets/existingSecret", "secrets.values makes a Secret"),
    "login without users": ({"server": {"login": {"kind": "users"}}}, "/server/login/usersSecret", "server.login.kind is users"),
    "users without login": ({"server": {"login": {"usersSecret": "a"}}}, "/server/login/usersSecret", "is not users"),
    "header without proxies": ({"server": {"login": {"kind": "userHeader", "userHeader": "X-User"}}}, "/server/login/proxies", "a list of addresses"),
    "header without login": ({"server": {"login": {"userHeader": "X-User"}}}, "/server/login/userHeader", "is not userHeader"),
    "ingress without login": ({"ingress": INGRESS}, "/server/login/kind", "ingress.enabled is true"),
    "ingress without TLS": ({"ingress": INGRESS | {"tlsSecret": ""}, "server": LOGIN}, "/ingress/tlsSecret", "ingress.enabled is true"),
    "ingress without host": ({"ingress": INGRESS | {"host": ""}, "server": LOGIN}, "/ingress/host", "a host name"),
    "scrape without login": ({"server": LOGIN, "serviceMonitor": {"enabled": True}}, "/serviceMonitor/basicAuthSecret", "/metrics needs the login"),
    "scrape past the proxy": ({"server": {"login": {"kind": "userHeader", "userHeader": "X-User", "proxies": ["10.0.0.1"]}}, "serviceMonitor": {"enabled": True}},
                              "/serviceMonitor/enabled", "the server answers the proxy alone"),
    "annotations without account": ({"serviceAccount": {"create": False, "annotations": {"a": "b"}}}, "/serviceAccount/annotations", "serviceAccount.create is false"),
}  # fmt: skip

#: Values that are wrong by themselves.
WRONG = {
    "unknown key": ({"sever": {}}, "sever"),
    "unknown key of the configuration": ({"config": {"windows": "5m"}}, "windows"),
    "the lake in the configuration": ({"config": {"lake": "/srv/lake"}}, "lake"),
    "a followers' number": ({"follow": {"replicas": 2}}, "replicas"),
    "cluster without address": ({"config": {"clusters": {"p": {"prometheus": {}}}}}, "url"),
    "no duration": ({"follow": {"interval": "often"}}, "/follow/interval"),
    "no schedule": ({"hourlyRun": {"schedule": "hourly"}}, "/hourlyRun/schedule"),
    "password in an address": ({"lake": {"kind": "objectStore", "objectStore": {"address": "s3://me:secret@a/b"}}}, "/lake/objectStore/address"),
    "access mode of one pod": ({"lake": {"persistentVolume": {"accessMode": "ReadWriteOncePod"}}}, "/lake/persistentVolume/accessMode"),
}  # fmt: skip

_NAME, _TEXT = {"type": "string", "minLength": 1}, {"type": "string"}
_META = {
    "type": "object", "additionalProperties": False, "required": ["name", "labels"],
    "properties": {"name": _NAME, "labels": {"type": "object", "additionalProperties": _TEXT}},
}  # fmt: skip
_KEY = {"type": "object", "additionalProperties": False, "required": ["name", "key"], "properties": {"name": _NAME, "key": _NAME}}  # fmt: skip


def _crd(kind, spec):
    fields = {"apiVersion": {"const": "monitoring.coreos.com/v1"}, "kind": {"const": kind}, "metadata": _META, "spec": spec}  # fmt: skip
    return {"type": "object", "additionalProperties": False, "required": list(fields), "properties": fields}


def _object(required, **properties):
    return {"type": "object", "additionalProperties": False, "required": required, "properties": properties}


#: What the chart uses of the operator's resources, by hand: no package has their own schemas in a strict form.
OPERATOR_SCHEMAS = {
    "ServiceMonitor": _crd("ServiceMonitor", _object(
        ["selector", "endpoints"],
        selector=_object(["matchLabels"], matchLabels={"type": "object", "minProperties": 2, "additionalProperties": _TEXT}),
        endpoints={"type": "array", "minItems": 1, "items": _object(
            ["port", "path"], port=_NAME, path={"const": "/metrics"}, interval={"type": "string", "pattern": "^[0-9]+(ms|[smhdwy])"},
            honorLabels={"type": "boolean"}, basicAuth=_object(["username", "password"], username=_KEY, password=_KEY))},
    )),
    "PrometheusRule": _crd("PrometheusRule", _object(["groups"], groups={"type": "array", "minItems": 1, "items": _object(
        ["name", "rules"], name=_NAME, interval=_NAME, rules={"type": "array", "minItems": 1, "items": {
            **_object(["expr"], record=_NAME, alert=_NAME, expr=_NAME, labels={"type": "object", "additionalProperties": _TEXT},
                      annotations={"type": "object", "additionalProperties": _TEXT}, **{"for": _NAME}),
            "oneOf": [{"required": ["record"]}, {"required": ["alert"]}]}})})),
}  # fmt: skip


@pytest.fixture(scope="module")
def chart():
    return helm_python.Chart.load(CHART)


def rendered_objects(chart, values):
    """The objects that ``helm template scope --namespace monitoring`` would print."""
    manifests = chart.render(values, name="scope", namespace="monitoring")
    texts = [text for path, text in manifests.items() if path.endswith(".yaml")]
    return [found for text in texts for found in yaml.load_all(text, yaml.CSafeLoader) if found]


@pytest.fixture(scope="module", params=DEPLOYMENTS)
def rendered(request, chart):
    """Values and objects of one deployment."""
    values = DEPLOYMENTS[request.param]
    return merged(VALUES, values), rendered_objects(chart, values)


def merged(base, over):
    """Values as Helm merges them."""
    result = copy.deepcopy(base)
    for key, value in over.items():
        result[key] = (
            merged(result[key], value)
            if isinstance(value, dict) and isinstance(result.get(key), dict)
            else value
        )
    return result


def of_kind(objects, kind):
    return [found for found in objects if found["kind"] == kind]


def pod_specs(objects):
    for found in objects:
        if found["kind"] == "Deployment":
            yield found["metadata"]["name"], found["spec"]["template"]
        elif found["kind"] == "CronJob":
            yield found["metadata"]["name"], found["spec"]["jobTemplate"]["spec"]["template"]


def containers(template):
    return [*template["spec"]["initContainers"], *template["spec"]["containers"]]


# -- without Helm --------------------------------------------------------------------------


@pytest.mark.parametrize("path", GENERATED, ids=lambda path: path.name)
def test_generated_files_are_up_to_date(path):
    present = path.read_text()
    assert GENERATED[path](present) == present, "run make chart"


def test_operations_alerts_equal_the_guide():
    guide = re.search(r"```yaml\n(groups:.*?)```", (DOCS / "guides" / "operate.md").read_text(), re.DOTALL)[1]
    written = yaml.safe_load((CHART / "files" / "operations.rules.yml").read_text())
    assert written == yaml.safe_load(guide)


@pytest.mark.long
def test_every_value_has_a_schema():
    """A value without one would be refused; a schema without a value explains nothing."""

    def keys(schema, values, path=""):
        for name, inner in schema.get("properties", {}).items():
            if "$ref" in inner:
                continue
            assert name in values or path + name == "global", f"values.yaml has no {path}{name}"
            if inner.get("properties"):
                keys(inner, values[name], f"{path}{name}.")

    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(VALUES, SCHEMA)
    keys(SCHEMA, VALUES)
    assert set(VALUES) < set(SCHEMA["properties"])


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_schema_names_the_contradiction(name):
    values, place, words = CONTRADICTIONS[name]
    jsonschema.validate(VALUES, SCHEMA)
    faults = list(jsonschema.Draft202012Validator(SCHEMA).iter_errors(merged(VALUES, values)))
    assert ["/" + "/".join(fault.absolute_path) for fault in faults] == [place]
    assert words in faults[0].message


def test_upkeep_names_tables_of_the_lake():
    assert set(VALUES["upkeep"]["keep"]) <= set(TABLES)


# -- with Helm -----------------------------------------------------------------------------


@pytest.mark.long
def test_helm_lint_accepts_deployments():
    for name, values in DEPLOYMENTS.items():
        report = helm_python.lint(CHART, values, strict=True)
        assert (report["total_charts_linted"], report["errors"]) == (1, []), name


@pytest.mark.sampled(4)
@pytest.mark.long
@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_helm_refuses_a_contradiction(chart, name):
    """Lint and rendering, each with one line that names the value and the reason."""
    values, place, words = CONTRADICTIONS[name]
    linted = helm_python.lint(CHART, values)["errors"]
    with pytest.raises(helm_python.HelmError) as refused:
        chart.render(values)
    for said in (linted[0], str(refused.value)):
        (line,) = [line for line in said.splitlines() if "value must be" in line]
        assert f"at '{place}'" in line
        assert words in line


@pytest.mark.sampled(4)
@pytest.mark.long
@pytest.mark.parametrize("name", WRONG)
def test_helm_refuses_a_wrong_value(chart, name):
    values, words = WRONG[name]
    with pytest.raises(helm_python.HelmError, match=re.escape(words)):
        chart.render(values)


@pytest.mark.sampled(3)
@pytest.mark.long
def test_objects_are_valid(rendered):
    values, objects = rendered
    assert objects
    for found in objects:
        if found["apiVersion"].startswith("monitoring.coreos.com/"):
            jsonschema.validate(found, OPERATOR_SCHEMAS[found["kind"]])
            continue
        for version in KUBERNETES_VERSIONS:
            kubernetes_validate.validate(found, version, strict=True)
    assert bool(of_kind(objects, "ServiceMonitor")) == values["serviceMonitor"]["enabled"]
    assert bool(of_kind(objects, "PrometheusRule")) == values["prometheusRule"]["enabled"]
    assert bool(of_kind(objects, "Ingress")) == values["ingress"]["enabled"]
    assert len(of_kind(objects, "CronJob")) == sum(
        values[job]["enabled"] for job in ("hourlyRun", "upkeep", "check")
    )
    names = [(found["kind"], found["metadata"]["name"]) for found in objects]
    assert len(set(names)) == len(names)


@pytest.mark.long
def test_validation_finds_a_wrong_object(chart):
    server = of_kind(rendered_objects(chart, {}), "Deployment")[0]
    server["spec"]["template"]["spec"]["containers"][0]["reediness"] = {}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(server, KUBERNETES_VERSIONS[0], strict=True)


@pytest.mark.sampled(3)
@pytest.mark.long
def test_pods_have_no_rights(rendered):
    """And no writable root, and no token of the cluster's API."""
    _, objects = rendered
    found = 0
    for name, template in pod_specs(objects):
        spec = template["spec"]
        assert spec["automountServiceAccountToken"] is False, name
        assert spec["securityContext"]["runAsNonRoot"] is True
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        for container in containers(template):
            found += 1
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]},
            }  # fmt: skip
            assert {"requests", "limits"} <= set(container["resources"])
    assert found >= 2


@pytest.mark.sampled(3)
@pytest.mark.long
def test_configuration_is_read_by_throttlescope(rendered, tmp_path):
    values, objects = rendered
    (config,) = of_kind(objects, "ConfigMap")
    file = tmp_path / "throttlescope.toml"
    file.write_text(config["data"]["throttlescope.toml"])
    settings = load_settings(file)
    assert set(settings.clusters) == set(values["config"]["clusters"])
    on_volume = values["lake"]["kind"] == "persistentVolume"
    assert str(settings.lake) == (
        "/var/lib/throttlescope/lake" if on_volume else values["lake"]["objectStore"]["address"]
    )
    assert tomllib.loads(file.read_text())["spark"]["master"] == "local[2]"


@pytest.mark.sampled(3)
@pytest.mark.long
def test_volume_of_one_node_keeps_pods_together(rendered):
    values, objects = rendered
    one_node = (
        values["lake"]["kind"] == "persistentVolume"
        and values["lake"]["persistentVolume"]["accessMode"] == "ReadWriteOnce"
    )
    for _, template in pod_specs(objects):
        terms = (
            (template["spec"].get("affinity") or {})
            .get("podAffinity", {})
            .get("requiredDuringSchedulingIgnoredDuringExecution", [])
        )
        assert bool(terms) == one_node
        for term in terms:
            assert term["labelSelector"]["matchLabels"].items() <= template["metadata"]["labels"].items()


@pytest.mark.long
def test_commands_are_the_command_lines(chart):
    """Every container's arguments are parsed by the real command line, which then shows its help."""
    commands = {
        tuple(container["args"])
        for values in DEPLOYMENTS.values()
        for _, template in pod_specs(rendered_objects(chart, values))
        for container in containers(template)
        if "args" in container
    }
    assert len(commands) > 8
    for command in commands:
        outcome = throttlescope(*command, "--help")
        assert outcome.code == 0, (command, outcome.err)
        options = {argument for argument in command if argument.startswith("--")}
        assert options <= set(re.findall(r"--[a-z-]+", outcome.out)), command


@pytest.mark.long
def test_alerts_are_the_exported_ones(chart, tmp_path):
    (rule,) = of_kind(rendered_objects(chart, DEPLOYMENTS["monitored"]), "PrometheusRule")
    text = yaml.safe_dump({"groups": rule["spec"]["groups"]})
    assert "http://127.0.0.1:8050" not in text
    assert "https://scope.example/" in text
    exported = yaml.safe_load(RULES_FILE.read_text())["groups"]
    named = [one.get("alert") or one["record"] for group in exported for one in group["rules"]]
    assert [
        one.get("alert") or one["record"] for group in rule["spec"]["groups"][:-1] for one in group["rules"]
    ] == named
    file = tmp_path / "rendered.rules.yml"
    file.write_text(text)
    (checked,) = check_rule_files([file])
    assert checked["fault"] is None
    assert checked["remarks"] == []
