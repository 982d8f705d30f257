"""Studies on the real service: a sweep, further adversaries and a utility study of one generated capture."""

from pathlib import Path

import pytest

from pratique_local.sample import write_sample
from tests.support.house import House

CONFIGURATIONS = [f"C{number}" for number in range(8)]


@pytest.fixture(scope="module")
def capture(running: House, tmp_path_factory: pytest.TempPathFactory) -> str:
    path: Path = tmp_path_factory.mktemp("sample") / "sample.pcap"
    write_sample(path)
    with running.client() as client:
        identity: str = client.push_capture(path, pilot="lab")["id"]
        client.wait_capture(identity)
    return identity


def test_a_sweep_measures_every_configuration_and_publishes_none(running: House, capture: str) -> None:
    with running.client() as client, running.http() as http:
        state = client.create_sweep({"sources": [capture], "configurations": CONFIGURATIONS, "seed": 3})
        done = client.wait_sweep(state["id"], timeout=120)
        assert [row["configuration"] for row in done["releases"]] == CONFIGURATIONS
        assert all(row["error"] is None for row in done["releases"])
        by_name = {row["configuration"]: row for row in done["releases"]}
        # A pseudonym renames classes and moves no row: every exact figure of C1 is that of C0.
        for figure in ("k", "ppi", "ppi_prime", "exact", "partial_qi_exact", "linkage_exact"):
            assert by_name["C0"][figure] == by_name["C1"][figure], figure
        holds = {(row["finding"], row["measure"]): row["holds"] for row in done["findings"]}
        assert holds["pseudonyms_change_nothing", None] is True
        member = by_name["C4"]["release"]
        assert http.get(f"/releases/{member}/records").json()["code"] == "not-published"
        assert http.get(f"/releases/{member}/posture").json()["after"]["k"] == by_name["C4"]["k"]
        assert member not in [release["id"] for release in client.releases()]
        rows = http.get(f"/sweeps/{state['id']}/results", params={"format": "csv"}).text.splitlines()
        assert len(rows) == 1 + len(CONFIGURATIONS)


def test_further_adversaries_use_their_own_parameters_and_leave_the_posture_alone(running: House, capture: str) -> None:
    with running.client() as client:
        release = client.create_release({"source": {"capture": capture}, "policy": "C2", "attacks": None})["id"]
        client.wait_release(release)
        before = client.posture(release)
        assert before["attacks"] is None
        asked = {"linkage": {"accuracy": 1.0}, "partial_qi": {"forget": 0.0}, "repetitions": 2}
        attack = client.create_attack(release, asked)["id"]
        found = client.wait_attack(release, attack)["attacks"]
        # Nothing forgotten and everything observed right: both adversaries reach the full-QI bound.
        assert found["exact_qi"] == pytest.approx(before["after"]["exact_reid"])
        assert found["linkage"]["exact"] == pytest.approx(found["exact_qi"])
        assert found["partial_qi"]["estimate"] == pytest.approx(found["exact_qi"])
        assert client.posture(release) == before


def test_a_utility_study_says_what_a_classifier_still_learns(running: House, capture: str) -> None:
    asked = {"sources": [capture], "taus": [1, 500], "repeats": 2, "trees": 5}
    with running.client() as client:
        body = client.wait_utility(client.create_utility(asked)["id"], timeout=120)
        whole, nothing = body["rows"]
        # No class has 500 rows: nothing survives, nothing is learnt.
        assert (whole["survival"], nothing["survival"], nothing["untrained"]) == (1.0, 0.0, 2)
        assert whole["macro_f1"] > nothing["macro_f1"] == 0.0
        assert sum(body["labels"].values()) == body["records"]


def test_the_profiles_of_a_capture_are_generalised_as_a_study(running: House, capture: str) -> None:
    with running.http() as http:
        asked = {"capture": capture, "gamma": [0.0, 0.2]}
        taken = http.post("/profiles/generalise", json=asked, headers={"Prefer": "wait=30"})
        assert taken.status_code == 201, taken.text
        found = taken.json()
        assert found["status"] == "completed"
        assert len(found["results"]) == 2 * len(found["hosts"])
        hosts = [row["ip"] for row in http.get(f"/captures/{capture}/records", params={"limit": 1000}).json()["data"]]
        assert {host for own in found["hosts"] for host in own} <= set(hosts)
        gained = [row["entropy"] - row["entropy_before"] for row in found["results"] if row["gamma"] == 0.2]
        assert min(gained) > -1e-7
        assert max(gained) > 0.01
        again = http.get(taken.headers["location"])
        assert again.json()["results"] == found["results"]
