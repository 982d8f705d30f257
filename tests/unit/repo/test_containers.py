"""The containers: one target each, a user of its own, the rooms and keys of its own work, and nothing beyond that."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from pratique_ingest.plan import NO_PLAN, read_plan
from pratique_local.supervisor import HANDED_ON, plan
from pratique_privacy.settings import PrivacySettings
from tests.unit.repo.images import compose, dockerfile, last, lineage, stages
from tests.unit.repo.source import MEMBERS, REPOSITORY

OURS = ("api", "worker", "ingest", "attack-sim")
# What `make run` calls the same processes.
PROGRAMS = {"api": "api", "worker": "privacy", "ingest": "ingest", "attack-sim": "attack-0"}
ROOMS = ("captures", "releases", "keys", "matrices", "scores")


def services() -> dict[str, Any]:
    found: dict[str, Any] = compose()["services"]
    return found


def mounts(service: str) -> dict[str, bool]:
    """The rooms that a service mounts, and whether it may write there."""
    volumes = services()[service]["volumes"]
    return {v["source"]: not v.get("read_only", False) for v in volumes if v["target"].startswith("/store/")}


def secrets_of(service: str) -> set[str]:
    """The names under which a service finds its secrets."""
    return {entry["target"].rpartition("/")[2] for entry in services()[service]["secrets"]}


def test_every_service_of_ours_is_a_target_of_the_dockerfile() -> None:
    built = {name: service["build"] for name, service in services().items() if "build" in service}
    assert {name: build["target"] for name, build in built.items()} == {name: name for name in OURS}
    assert {build["dockerfile"] for build in built.values()} == {"deploy/docker/Dockerfile"}
    assert set(OURS) <= set(dockerfile())


@pytest.mark.parametrize("service", OURS)
def test_a_container_runs_the_module_that_make_run_runs(service: str, tmp_path: Path) -> None:
    program = next(p for p in plan(tmp_path, 8080, {}).programs if p.name == PROGRAMS[service])
    assert json.loads(last(dockerfile(), service, "CMD")) == ["python", *program.command[1:]]


@pytest.mark.parametrize("service", OURS)
def test_a_container_has_the_keys_that_make_run_hands_that_process(service: str, tmp_path: Path) -> None:
    program = next(p for p in plan(tmp_path, 8080, {}).programs if p.name == PROGRAMS[service])
    keys = {name.lower() for name in program.environment if "KEY" in name}
    assert secrets_of(service) == keys | {"pratique_redis_url"}


@pytest.mark.parametrize("service", OURS)
def test_a_container_mounts_the_rooms_that_it_has_keys_of(service: str) -> None:
    assert {f"pratique_key_{room}" for room in mounts(service)} == secrets_of(service) - {
        "pratique_redis_url",
        "pratique_master_key",
    }


def test_ingest_alone_is_told_of_the_network_plan_as_make_run_tells_it(tmp_path: Path) -> None:
    name = "PRATIQUE_NETWORK_PLAN"
    told = {
        program.name for program in plan(tmp_path, 8080, {name: "plan.toml"}).programs if name in program.environment
    }
    assert told == {"ingest"}
    assert {service for service in OURS if name in services()[service]["environment"]} == {"ingest"}
    (mounted,) = services()["ingest"]["configs"]
    assert mounted["target"] == services()["ingest"]["environment"][name]
    assert not [program for program in plan(tmp_path, 8080, {}).programs if name in program.environment]


def test_the_network_plan_of_the_containers_is_empty_and_shows_how_to_write_one() -> None:
    text = (REPOSITORY / "deploy/docker/network-plan.toml").read_text()
    assert read_plan(text).ports == NO_PLAN.ports
    shown = read_plan("\n".join(line.removeprefix("# ") for line in text.splitlines()[2:]))
    assert (len(shown.regions), shown.ports.sctp[38413]) == (1, "ngap")


def test_ingest_sees_captures_and_attack_sim_reads_codes_and_writes_scores() -> None:
    assert mounts("ingest") == {"captures": True}
    assert mounts("attack-sim") == {"matrices": False, "scores": True}
    assert mounts("api") == mounts("worker") == dict.fromkeys(ROOMS, True)


def test_only_the_api_is_published_and_only_the_worker_that_delivers_leads_outside() -> None:
    published = {name: service["ports"] for name, service in services().items() if service.get("ports")}
    assert set(published) == {"api"}
    assert [port["host_ip"] for port in published["api"]] == ["127.0.0.1"]
    assert compose()["networks"]["queue"]["internal"] is True
    assert {name for name, service in services().items() if set(service["networks"]) != {"queue"}} == {"api", "worker"}
    assert set(services()["worker"]["networks"]) == {"queue", "out"}


@pytest.mark.parametrize("service", [*OURS, "valkey"])
def test_a_container_can_change_little_beside_its_volumes(service: str) -> None:
    told = services()[service]
    assert told["read_only"] is True
    assert told["cap_drop"] == ["ALL"]
    assert told["security_opt"] == ["no-new-privileges:true"]
    assert int(told["mem_limit"]) > 0
    assert told["pids_limit"] > 0
    assert told["stop_grace_period"] == "15s"
    assert [each.partition(":")[0] for each in told["tmpfs"]] == ["/tmp"]
    assert "privileged" not in told
    assert "container_name" not in told, "a second one of it could not start"
    assert "docker.sock" not in json.dumps(told)


def test_no_secret_is_in_the_compose_file_or_in_an_image() -> None:
    for service in services().values():
        assert not [name for name in service.get("environment", {}) if re.search("KEY|PASSWORD|REDIS_URL", name)]
    assert all(set(secret) <= {"name", "file"} for secret in compose()["secrets"].values())
    told = [rest for target in OURS for kind, rest in lineage(dockerfile(), target) if kind in {"ENV", "ARG"}]
    assert not [
        rest for rest in told if re.search(r"[0-9a-fA-F]{32}|PASSWORD|REDIS_URL|PRATIQUE_KEY_|MASTER_KEY", rest)
    ]


def test_the_queue_server_forgets_nothing_and_serves_nobody_unnamed() -> None:
    command = services()["valkey"]["command"]
    settings = dict(zip(command[1::2], command[2::2], strict=True))
    assert settings["--appendonly"] == "yes"
    assert settings["--appendfsync"] == "everysec"
    assert settings["--maxmemory-policy"] == "noeviction"
    assert settings["--aclfile"] == "/run/secrets/users.acl"
    assert "healthcheck" in services()["valkey"]


@pytest.mark.parametrize("service", OURS)
def test_a_worker_starts_when_the_queue_server_is_well(service: str) -> None:
    assert services()[service]["depends_on"]["valkey"]["condition"] == "service_healthy"


def test_every_image_has_a_user_of_its_own_by_number() -> None:
    users = {target: last(dockerfile(), target, "USER") for target in OURS}
    assert users == {"api": "10001", "worker": "10001", "ingest": "10002", "attack-sim": "10003"}


@pytest.mark.parametrize("target", OURS)
def test_an_image_is_built_from_the_base_without_the_tools_of_the_build(target: str) -> None:
    made = lineage(dockerfile(), target)
    assert made[0] == ("FROM", "${BASE} AS runtime")
    copies = [rest for kind, rest in made if kind in {"COPY", "ADD"}]
    family = {"api": "privacy", "worker": "privacy"}.get(target, target)
    assert copies == [f"--from={family}-builder /opt/pratique /opt/pratique"]
    assert not [rest for kind, rest in made if kind == "RUN" and re.search(r"\b(pip|uv|apt-get)\b", rest)]


@pytest.mark.parametrize("target", OURS)
def test_an_image_holds_the_rooms_that_its_service_mounts(target: str) -> None:
    # An empty volume takes owner and mode of the folder that it is mounted over; without one it would be root's.
    text = " ".join(rest for kind, rest in lineage(dockerfile(), target) if kind == "RUN")
    assert set(re.findall(r"/store/([a-z]+)", text)) == set(mounts(target))


def test_commands_are_lists_so_that_a_signal_reaches_python() -> None:
    for target in OURS:
        assert last(dockerfile(), target, "ENTRYPOINT").startswith('["/bin/sh", "-c", "umask 0007 && exec ')
        assert json.loads(last(dockerfile(), target, "CMD"))


def test_the_base_is_pinned_and_the_same_everywhere() -> None:
    text = (REPOSITORY / "deploy/docker/Dockerfile").read_text()
    base = re.search(r"^ARG BASE=(\S+)$", text, re.MULTILINE)
    assert base is not None
    assert re.fullmatch(r"python:3\.11\.\d+-slim-[a-z]+", base[1])
    assert {services()[name]["build"]["args"]["BASE"] for name in OURS} == {base[1]}
    assert re.fullmatch(r"valkey/valkey:\d+\.\d+\.\d+", services()["valkey"]["image"])


def test_every_version_is_pinned_by_the_digests_of_its_files() -> None:
    for name in ("lock", "uv"):
        entries = re.split(r"\n(?=[a-z0-9])", (REPOSITORY / f"requirements/{name}.txt").read_text())
        assert [e for e in entries if not re.match(r"[a-z0-9.-]+==[\w.]+( ; [^\\]+)? \\\n    --hash=sha256:", e)] == []
    locked = (REPOSITORY / "requirements/lock.txt").read_text()
    built_by = {
        tomllib.loads(path.read_text())["build-system"]["requires"][0]
        for path in (REPOSITORY / member / "pyproject.toml" for member in MEMBERS)
    }
    assert built_by
    assert [backend for backend in built_by if f"\n{backend} \\\n" not in locked] == []


@pytest.mark.parametrize("file", ["Makefile", "deploy/docker/Dockerfile"])
def test_nothing_is_installed_beside_the_digests(file: str) -> None:
    text = (REPOSITORY / file).read_text().replace("\\\n", " ")
    installs = [line for line in text.splitlines() if re.search(r"pip install", line) and "atheris" not in line]
    assert installs
    held = (
        r"--require-hashes|--constraints requirements/lock\.txt|--constraints lock\.txt|--no-deps --build-constraints"
    )
    assert [line for line in installs if not re.search(held, line)] == []


def test_stages_are_read_with_their_continued_lines() -> None:
    text = "ARG BASE=x\nFROM ${BASE} AS one\nRUN a \\\n  # why\n    && b\nUSER 1\nFROM one AS two\nUSER 2\n"
    found = stages(text)
    assert found["one"] == [("FROM", "${BASE} AS one"), ("RUN", "a && b"), ("USER", "1")]
    assert last(found, "two", "USER") == "2"
    assert lineage(found, "two")[1] == ("RUN", "a && b")


def test_the_api_is_told_the_same_settings_by_make_run_and_by_compose_with_the_defaults_of_the_code() -> None:
    told = {name: value for name, value in services()["api"]["environment"].items() if name in HANDED_ON}
    secret = {"PRATIQUE_ICS_TOKEN", "PRATIQUE_METRICS_TOKEN"}
    assert set(told) == set(HANDED_ON) - secret, "a token is no setting of a compose file"
    defaults = {f"PRATIQUE_{name.upper()}": field.default for name, field in PrivacySettings.model_fields.items()}
    for name, value in told.items():
        assert type(defaults[name])(value) == defaults[name], name


def test_every_setting_of_the_api_stands_in_the_documents() -> None:
    text = "".join((REPOSITORY / name).read_text() for name in ("docs/operations.md", "docs/integrations.md"))
    fields = PrivacySettings.model_fields.items()
    named = {str(field.validation_alias or f"PRATIQUE_{name.upper()}") for name, field in fields}
    assert {name for name in named if f"`{name}`" not in text} == set()
