"""The Kubernetes manifests: valid, closed, and of one mind with the Dockerfile and the compose file."""

import copy
import json
from functools import cache
from pathlib import Path
from typing import Any, get_args

import jsonschema_rs
import kubernetes_validate
import pytest
import yaml

from pratique_shared.contracts.messages import Queue
from pratique_shared.runtime.queues import DRAIN
from tests.unit.repo.images import compose, dockerfile, last
from tests.unit.repo.source import REPOSITORY

FOLDER = REPOSITORY / "deploy/k8s"
OURS = ("api", "worker", "ingest", "attack-sim")
QUEUES = {"worker": "privacy", "ingest": "ingest", "attack-sim": "attack"}
SECRETS = {"api": "privacy", "worker": "privacy", "ingest": "ingest", "attack-sim": "attack"}
VERSION = "1.31"  # the oldest that the manifests are held against; `make check` takes the newest
Manifest = dict[str, Any]


def documents(path: Path) -> list[Manifest]:
    return [document for document in yaml.safe_load_all(path.read_text()) if document is not None]


@cache
def base() -> tuple[Manifest, ...]:
    kustomization = documents(FOLDER / "base/kustomization.yaml")[0]
    return tuple(document for name in kustomization["resources"] for document in documents(FOLDER / "base" / name))


def named(kind: str, name: str) -> Manifest:
    (found,) = [m for m in base() if m["kind"] == kind and m["metadata"]["name"] == name]
    return found


def pod(name: str) -> Manifest:
    spec: Manifest = named("Deployment", name)["spec"]["template"]["spec"]
    return spec


def container(name: str) -> Manifest:
    (found,) = pod(name)["containers"]
    return dict(found)


CONFIGURED: dict[str, str] = named("ConfigMap", "pratique")["data"]


@cache
def keda() -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for(json.loads((FOLDER / "keda.schema.json").read_text()))


def test_every_manifest_is_in_the_kustomization() -> None:
    kustomization = documents(FOLDER / "base/kustomization.yaml")[0]
    assert sorted(kustomization["resources"]) == sorted(
        path.name for path in (FOLDER / "base").glob("*.yaml") if path.name != "kustomization.yaml"
    )


@pytest.mark.parametrize("manifest", base(), ids=lambda m: f"{m['kind']}-{m['metadata']['name']}")
def test_a_manifest_is_valid_to_the_last_property(manifest: Manifest) -> None:
    if manifest["apiVersion"].startswith("keda.sh/"):
        assert [error.message for error in keda().iter_errors(manifest)] == []
    else:
        assert kubernetes_validate.validate(manifest, VERSION, strict=True) == VERSION


def test_a_planted_error_is_found() -> None:
    wrong = copy.deepcopy(named("Deployment", "api"))
    wrong["spec"]["template"]["spec"]["containers"][0]["securityContext"]["readonlyRootFilesystem"] = True
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, VERSION, strict=True)
    scaled = copy.deepcopy(named("ScaledObject", "ingest"))
    scaled["spec"]["triggers"][0]["metadata"]["enableTLS"] = "false"
    assert not keda().is_valid(scaled)


def test_every_patch_of_the_example_meets_something_of_the_base() -> None:
    overlay = documents(FOLDER / "overlays/example/kustomization.yaml")[0]
    for patch in overlay["patches"]:
        if "path" in patch:
            for change in documents(FOLDER / "overlays/example" / patch["path"]):
                assert change.keys() <= named(change["kind"], change["metadata"]["name"]).keys()
        else:
            target = patch["target"]
            met = [m for m in base() if all(v in (m["kind"], m["metadata"]["name"]) for v in target.values())]
            assert met
            for change, manifest in ((c, m) for c in yaml.safe_load(patch["patch"]) for m in met):
                where: Any = manifest
                for step in change["path"].strip("/").split("/"):
                    where = where[int(step) if step.isdecimal() else step]
                assert type(where) is type(change["value"])
    assert {image["name"] for image in overlay["images"]} == {container(name)["image"] for name in OURS}


@pytest.mark.parametrize("name", OURS)
def test_a_pod_can_change_nothing_and_is_nobody(name: str) -> None:
    spec, own = pod(name), container(name)["securityContext"]
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["runAsUser"] == int(last(dockerfile(), name, "USER"))
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert spec["automountServiceAccountToken"] is False
    assert own["allowPrivilegeEscalation"] is False
    assert own["readOnlyRootFilesystem"] is True
    assert own["capabilities"] == {"drop": ["ALL"]}
    assert spec["terminationGracePeriodSeconds"] > DRAIN
    assert not spec.get("hostNetwork")


@pytest.mark.parametrize("name", OURS)
def test_a_pod_runs_what_its_image_runs_within_the_memory_that_compose_gives(name: str) -> None:
    told = container(name)
    assert told["args"] == json.loads(last(dockerfile(), name, "CMD"))
    unit = {"Mi": 1 << 20, "Gi": 1 << 30}
    limit = told["resources"]["limits"]["memory"]
    assert int(limit[:-2]) * unit[limit[-2:]] == int(compose()["services"][name]["mem_limit"])
    assert "livenessProbe" in told
    assert ("readinessProbe" in told) == (name == "api")


def test_the_health_of_a_worker_is_asked_as_its_image_asks() -> None:
    for name in QUEUES:
        asked = json.loads(last(dockerfile(), name, "HEALTHCHECK").partition(" CMD ")[2])
        assert container(name)["livenessProbe"]["exec"]["command"] == asked


@pytest.mark.parametrize("name", OURS)
def test_a_pod_has_the_secrets_of_its_own_kind_by_name_only(name: str) -> None:
    secrets = {v["secret"]["secretName"] for v in pod(name)["volumes"] if "secret" in v}
    assert secrets - {"pratique-first-admin-key"} == {f"pratique-{SECRETS[name]}"}
    assert ("pratique-first-admin-key" in secrets) == (name == "api")
    assert not [m for m in base() if m["kind"] == "Secret"]


@pytest.mark.parametrize("name", QUEUES)
def test_a_kind_of_worker_is_scaled_by_its_own_queue(name: str) -> None:
    scaled = named("ScaledObject", name)["spec"]
    assert scaled["scaleTargetRef"] == {"name": name}
    assert QUEUES[name] in get_args(Queue)
    lists = [trigger["metadata"]["listName"] for trigger in scaled["triggers"]]
    assert lists == [f"pratique:{QUEUES[name]}", f"pratique:{QUEUES[name]}:working"]


def test_nobody_is_reached_but_the_api_and_the_meters_and_nobody_reaches_outside_but_the_worker() -> None:
    policies = [m for m in base() if m["kind"] == "NetworkPolicy"]
    closed = named("NetworkPolicy", "nothing")["spec"]
    assert closed == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    inward = [p["spec"]["podSelector"]["matchLabels"] for p in policies if p["spec"].get("ingress")]
    assert inward == [{"app.kubernetes.io/name": "api"}, {"app.kubernetes.io/part-of": "pratique"}]
    (scraped,) = named("NetworkPolicy", "metrics")["spec"]["ingress"]
    assert scraped["from"] == [{"namespaceSelector": {"matchLabels": {"pratique-monitoring": "true"}}}]
    assert [port["port"] for port in scraped["ports"]] == [int(CONFIGURED["PRATIQUE_METRICS_PORT"])]
    wide = [p for p in policies if "0.0.0.0/0" in json.dumps(p)]
    assert [p["spec"]["podSelector"]["matchLabels"] for p in wide] == [{"app.kubernetes.io/name": "worker"}]
    labels = [named("Deployment", n)["spec"]["template"]["metadata"]["labels"] for n in OURS]
    assert {label["app.kubernetes.io/part-of"] for label in labels} == {"pratique"}


@pytest.mark.parametrize("name", OURS)
def test_prometheus_is_told_the_port_that_the_configuration_opens(name: str) -> None:
    port = CONFIGURED["PRATIQUE_METRICS_PORT"]
    told = named("Deployment", name)["spec"]["template"]["metadata"]["annotations"]
    assert told == {"prometheus.io/scrape": "true", "prometheus.io/port": port}
    assert {"name": "metrics", "containerPort": int(port)} in container(name)["ports"]


@pytest.mark.parametrize("name", OURS)
def test_some_of_every_kind_stay_when_a_node_is_emptied(name: str) -> None:
    budget = named("PodDisruptionBudget", name)["spec"]
    assert budget["selector"] == named("Deployment", name)["spec"]["selector"]
    assert {"minAvailable", "maxUnavailable"} & budget.keys()


@pytest.mark.parametrize("name", OURS)
def test_the_credentials_of_the_store_reach_as_far_as_the_rooms_of_a_container(name: str) -> None:
    policy = json.loads((FOLDER / f"s3/{SECRETS[name]}.json").read_text())
    reach: dict[str, bool] = {}
    for statement in policy["Statement"]:
        for resource in statement["Resource"]:
            room = resource.removeprefix("arn:aws:s3:::pratique").removeprefix("/store/").removesuffix("/*")
            if room:
                reach[room] = "s3:PutObject" in statement["Action"]
    volumes = compose()["services"][name]["volumes"]
    rooms = {v["source"]: not v.get("read_only", False) for v in volumes if v["target"].startswith("/store/")}
    assert reach == rooms
