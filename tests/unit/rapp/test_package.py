"""The rApp package: what the manager checks before it takes one, and what its files refer to."""

import io
import json
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from pratique_privacy.ics.bodies import ABOUT, POSTURE, SCHEMAS, PostureJob
from tests.unit.repo.source import REPOSITORY

SCRIPT = REPOSITORY / "deploy/rapp/csar.py"
DME = "Files/Dme"


def build(to: Path) -> Path:
    subprocess.run([sys.executable, SCRIPT, "--out", to], check=True, capture_output=True)
    return to


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("csar") / "posture-watch.csar")


def complaints(path: Path, known: frozenset[str] = frozenset()) -> list[str]:
    """The five checks of the rApp manager, one after the other; what each finds."""
    found = []
    if path.suffix != ".csar":
        found.append("the name does not end in .csar")
    with zipfile.ZipFile(path) as archive:
        names = set(archive.namelist())
        needed = ("Files/Acm/definition/compositions.json", "TOSCA-Metadata/TOSCA.meta")
        found += [f"{name} is missing" for name in needed if name not in names]
        artifacts = artifacts_of(archive) if "Definitions/asd.yaml" in names else None
        if artifacts is None:
            return [*found, "the ASD is missing"]
        found += [f"the artifact {name} is missing" for name in artifacts if name not in names]
        own = {Path(n).stem for n in names if n.startswith((f"{DME}/producerinfotypes/", f"{DME}/consumerinfotypes/"))}
        found += [f"the type {name} is unknown" for name in sorted(types_of(archive) - own - known)]
    return found


def artifacts_of(archive: zipfile.ZipFile) -> list[str]:
    descriptor = yaml.safe_load(archive.read("Definitions/asd.yaml"))
    nodes = descriptor["topology_template"]["node_templates"].values()
    return [artifact["file"] for node in nodes for artifact in node["artifacts"].values()]


def types_of(archive: zipfile.ZipFile) -> set[str]:
    """The info types that producers and consumers of the package name."""
    found: set[str] = set()
    for name in archive.namelist():
        if name.startswith(f"{DME}/infoconsumers/"):
            found.add(json.loads(archive.read(name))["info_type_id"])
        if name.startswith(f"{DME}/infoproducers/"):
            found |= set(json.loads(archive.read(name))["supported_info_types"])
    return found


def contents(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def without(package: Path, to: Path, *missing: str) -> Path:
    """The package again, some of its files left out."""
    with zipfile.ZipFile(to, "w") as archive:
        for name, content in contents(package).items():
            if name not in missing:
                archive.writestr(name, content)
    return to


def test_the_manager_has_nothing_to_complain_of(package: Path) -> None:
    assert complaints(package) == []


@pytest.mark.parametrize(
    ("missing", "complaint"),
    [
        ("Files/Acm/definition/compositions.json", "Files/Acm/definition/compositions.json is missing"),
        ("TOSCA-Metadata/TOSCA.meta", "TOSCA-Metadata/TOSCA.meta is missing"),
        ("Definitions/asd.yaml", "the ASD is missing"),
        ("Artifacts/Deployment/HELM/posture-watch-0.1.0.tgz", "the artifact Artifacts/Deployment/HELM/posture-watch"),
        (f"{DME}/consumerinfotypes/{POSTURE}.json", f"the type {POSTURE} is unknown"),
    ],
)
def test_each_check_finds_what_it_is_for(package: Path, tmp_path: Path, missing: str, complaint: str) -> None:
    (found,) = complaints(without(package, tmp_path / "x.csar", missing))
    assert found.startswith(complaint)


def test_a_type_that_the_platform_knows_need_not_be_in_the_package(package: Path, tmp_path: Path) -> None:
    bare = without(package, tmp_path / "x.csar", f"{DME}/consumerinfotypes/{POSTURE}.json")
    assert complaints(bare, frozenset({POSTURE})) == []
    assert complaints(without(package, tmp_path / "x.zip"))[0] == "the name does not end in .csar"


def test_the_same_files_give_the_same_bytes(package: Path, tmp_path: Path) -> None:
    assert build(tmp_path / "again.csar").read_bytes() == package.read_bytes()


def test_the_type_and_the_job_of_the_package_are_those_of_the_producer(package: Path) -> None:
    found = contents(package)
    published = {"info_job_data_schema": SCHEMAS[POSTURE], "info_type_information": {"description": ABOUT[POSTURE]}}
    assert json.loads(found[f"{DME}/consumerinfotypes/{POSTURE}.json"]) == published
    job = json.loads(found[f"{DME}/infoconsumers/posture-watch-1.json"])
    assert PostureJob.model_validate(job["job_definition"]).include_history is True
    instance = json.loads(found["Files/Acm/instances/k8s-instance.json"])
    defined = json.loads(found["Files/Acm/definition/compositions.json"])["topology_template"]["node_templates"]
    assert {one["definition"]["name"] for one in instance["elements"].values()} <= set(defined)
    manifest = found["asd.mf"].decode().split("Source: ")[1:]
    assert {name.strip() for name in manifest} <= set(found)


def test_the_chart_is_laid_out_as_helm_reads_it(package: Path) -> None:
    packed = contents(package)["Artifacts/Deployment/HELM/posture-watch-0.1.0.tgz"]
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        names = archive.getnames()
        member = archive.extractfile("posture-watch/Chart.yaml")
        assert member is not None
        chart: dict[str, Any] = yaml.safe_load(member.read())
    assert {"posture-watch/values.yaml", "posture-watch/templates/deployment.yaml"} <= set(names)
    assert f"{chart['name']}-{chart['version']}" == "posture-watch-0.1.0"
