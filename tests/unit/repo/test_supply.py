"""What the services are made of: every package locked, under a licence that may stand beside ours, and audited."""

import re

import pytest
from deploy.supply.audit import verdict
from deploy.supply.licences import ALLOWED, licence_of, needed, packages, refused
from packaging.utils import canonicalize_name

from tests.unit.repo.source import REPOSITORY


def test_every_package_that_the_services_need_has_a_licence_that_may_stand_beside_ours() -> None:
    found = packages()
    assert len(found) > 30
    assert {package.name: bad for package in found if (bad := refused(package.licence))} == {}


def test_every_allowed_licence_is_one_of_a_package() -> None:
    said = " ".join(package.licence for package in packages())
    assert [name for name in ALLOWED if not re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])", said)] == []


def test_every_package_that_the_services_need_is_in_the_lock_at_its_version() -> None:
    locked = set(
        re.findall(r"^([a-z0-9.-]+==[\w.]+)", (REPOSITORY / "requirements/lock.txt").read_text(), re.MULTILINE)
    )
    assert {f"{canonicalize_name(p.metadata['Name'])}=={p.version}" for p in needed()} <= locked


def test_the_client_needs_no_package_of_the_server() -> None:
    names = {canonicalize_name(package.metadata["Name"]) for package in needed(("pratique",))}
    assert "httpx" in names
    assert names <= {"anyio", "certifi", "h11", "httpcore", "httpx", "idna", "typing-extensions"}


@pytest.mark.parametrize(
    ("expression", "bad"),
    [
        ("MIT", []),
        ("Apache-2.0 OR GPL-2.0-only", []),
        ("MIT AND GPL-3.0-only", ["GPL-3.0-only"]),
        ("AGPL-3.0-or-later OR SSPL-1.0", ["AGPL-3.0-or-later"]),
        ("", ["no licence"]),
    ],
)
def test_a_licence_that_binds_others_is_refused(expression: str, bad: list[str]) -> None:
    assert refused(expression) == bad


def test_a_package_without_an_expression_is_known_by_its_classifier() -> None:
    assert {p.metadata["Name"]: licence_of(p) for p in needed() if p.metadata["Name"] == "dpkt"} == {
        "dpkt": "BSD-3-Clause"
    }


def test_an_audit_that_nobody_answered_is_no_clean_one() -> None:
    clean = {"name": "a", "version": "1", "vulns": []}
    known = {"name": "b", "version": "2", "vulns": [{"id": "CVE-2026-2"}, {"id": "CVE-2026-1"}]}
    skipped = {"name": "c", "skip_reason": "not found"}
    assert verdict({"dependencies": [clean]}) == (0, "1 packages audited, 0 with known vulnerabilities")
    status, said = verdict({"dependencies": [clean, skipped]})
    assert status == 2
    assert said.startswith("NOT AUDITED: 1 of 2 packages")
    status, said = verdict({"dependencies": [clean, known, skipped]})
    assert status == 1
    assert said.startswith("b 2: CVE-2026-1, CVE-2026-2")
