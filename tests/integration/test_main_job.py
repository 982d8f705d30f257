"""The main job on the real service: a capture goes in, a measured release comes out, and nothing else."""

import io
import ipaddress
import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import polars as pl
import pytest

from pratique import Client
from pratique_local.sample import write_sample
from pratique_local.sample.truth import SampleTruth
from tests.assurance.pushed import ADDRESS, GOOD, IMSI, TAG, VALUE, wrong_bodies
from tests.support.house import House, house

FORMATS = ("parquet", "arrow", "csv", "ndjson")

# Twelve O-RAN sessions in three classes of 6, 3 and 3 rows; the slices in them are (2,2,2), (1,1,1) and (2,0,1).
# k = 3; l = 2; k_rw = (36 + 9 + 9) / 12 = 9/2. Over all rows G1 stands in 5/12, T1 in 3/12, M1 in 4/12.
# In the third class the variation is 1/2 (|2/3 - 5/12| + 3/12 + |1/3 - 4/12|) = 1/4, the largest.
# PPI = 0.4 * 3/5 + 0.3 * 1 + 0.3 * 3/4 = 0.765; PPI' has k_rw / 5 = 0.9 for 3/5: 0.885.
CLASSES = [
    ("R1", "10:00-10:04", "E2 Node", ["G1", "G1", "T1", "T1", "M1", "M1"]),
    ("R2", "10:00-10:04", "E2 Node", ["G1", "T1", "M1"]),
    ("R1", "10:05-10:09", "Near-RT RIC", ["G1", "G1", "M1"]),
]
ORAN = [{"region": r, "window": w, "role": role, "sd": sd} for r, w, role, slices in CLASSES for sd in slices]
ORAN_REQUEST: dict[str, Any] = {
    "source": {"records": ORAN},
    "attributes": {"quasi_identifiers": ["region", "window", "role"], "sensitive": ["sd"]},
    "policy": {"steps": []},
    "gate": {"k": {"min": 3}, "t": {"max": 0.25}, "linkage": {"max": 0.22}},
}


@pytest.fixture(scope="module")
def client(running: House) -> Iterator[Client]:
    with running.client() as client:
        yield client


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, SampleTruth]:
    path = tmp_path_factory.mktemp("sample") / "sample.pcapng"
    return path, write_sample(path)


def test_the_oran_sessions_have_the_figures_worked_by_hand(client: Client) -> None:
    release = client.create_release(ORAN_REQUEST)
    client.wait_release(release["id"])
    posture = client.posture(release["id"])
    for side in (posture["before"], posture["after"]):
        assert (side["k"], side["l"], side["t"], side["k_rw"]) == (3, 2, 0.25, 4.5)
        assert side["ppi"] == pytest.approx(0.765, abs=1e-12)
        assert side["ppi_prime"] == pytest.approx(0.885, abs=1e-12)
    attacks = posture["attacks"]
    assert attacks["exact_qi"] == 3 / 12
    assert attacks["partial_qi"]["exact"] == pytest.approx(3 / 16, abs=1e-12)
    assert attacks["linkage"]["exact"] == pytest.approx(27 / 125, abs=1e-12)
    assert posture["verdict"] == "pass"


def test_a_capture_becomes_hosts_and_a_release_under_c4(
    client: Client, sample: tuple[Path, SampleTruth], tmp_path: Path
) -> None:
    path, truth = sample
    capture = client.wait_capture(client.push_capture(path, pilot="lab")["id"])
    assert (capture["packets"], capture["records"], capture["complete"]) == (truth.packets, len(truth.hosts), True)
    records = client.records(capture["id"])
    assert {r["ip"]: (r["packets"], r["peer_count"]) for r in records} == truth.hosts
    found = client.identifiers(capture["id"])
    assert {entry["value"] for entry in found["imsi"]} == truth.identifiers["imsi"]

    release = client.create_release(
        {"source": {"capture": capture["id"]}, "policy": "C4", "gate": {"k": {"min": 3}, "linkage": {"max": 0.5}}}
    )
    client.wait_release(release["id"])
    posture = client.posture(release["id"])
    networks: dict[str, int] = {}
    for ip in truth.hosts:  # C4 by hand: /24 or /64, then networks of fewer than three hosts become `*`
        network = ".".join(ip.split(".")[:3]) if "." in ip else ":".join(_long(ip).split(":")[:4])
        networks[network] = networks.get(network, 0) + 1
    kept = [size for size in networks.values() if size >= 3]
    lone = len(truth.hosts) - sum(kept)
    sizes = [*kept, lone] if lone else kept
    assert posture["after"]["classes"] == len(sizes)
    assert posture["after"]["k"] == min(sizes)
    assert posture["before"]["k"] == 1
    assert posture["records"]["cells_suppressed"]["ip"] == pytest.approx(lone / len(truth.hosts))
    assert posture["verdict"] == "pass"
    assert (posture["built_in"], posture["sources"]) == ("C4", [capture["id"]])
    assert posture["attributes"]["quasi_identifiers"] == ["ip"]
    assert [step["op"] for step in posture["steps"]] == ["ip_prefix", "threshold"]
    download = client.download_records(release["id"], tmp_path / "records.parquet")
    assert download.sha256 == posture["files"]["parquet"]
    table = pl.read_parquet(tmp_path / "records.parquet")
    assert table.columns == ["ip", "protocols"]
    assert table["ip"].n_unique() == len(sizes)


def _long(address: str) -> str:
    return ipaddress.ip_address(address).exploded


def test_what_leaves_is_the_same_table_in_every_format(running: House, client: Client) -> None:
    release = client.create_release(ORAN_REQUEST)
    client.wait_release(release["id"])
    with running.http() as http:
        answers = {form: http.get(f"/releases/{release['id']}/records?format={form}") for form in FORMATS}
    assert {answer.status_code for answer in answers.values()} == {200}
    parquet = pl.read_parquet(io.BytesIO(answers["parquet"].content))
    assert sorted(parquet.rows()) == sorted(tuple(row.values()) for row in ORAN)
    assert pl.read_ipc_stream(io.BytesIO(answers["arrow"].content)).equals(parquet)
    assert pl.read_csv(answers["csv"].content).equals(parquet)
    assert [json.loads(line) for line in answers["ndjson"].text.splitlines()] == parquet.to_dicts()


def test_behind_a_closed_gate_no_route_gives_a_record(running: House, client: Client) -> None:
    closed = ORAN_REQUEST | {"gate": {"k": {"min": 4}}}
    release = client.create_release(closed)
    client.wait_release(release["id"])
    assert client.gate(release["id"])["verdict"] == "fail"
    with running.http() as http:
        for form in (*FORMATS, "json"):
            answer = http.get(f"/releases/{release['id']}/records?format={form}")
            assert (answer.status_code, answer.json()["code"]) == (403, "gate-failed")


def test_an_empty_release_is_an_answer_and_never_a_pass(client: Client) -> None:
    steps = [{"op": "class_support", "tau": 100}]
    release = client.create_release(ORAN_REQUEST | {"policy": {"steps": steps}, "gate": {}})
    client.wait_release(release["id"])
    posture = client.posture(release["id"])
    assert posture["verdict"] != "pass"
    assert "empty_release" in posture["flags"]
    assert (posture["after"]["rows"], posture["after"]["k"], posture["after"]["ppi"]) == (0, None, None)


@pytest.mark.parametrize(
    ("change", "code", "pointer"),
    [
        ({"attributes": {"quasi_identifiers": ["region"], "sensitive": ["sd"]}}, "attribute-unlisted", "/attributes"),
        ({"policy": {"steps": [{"column": "role", "op": "threshold", "tau": 0}]}}, None, "/policy/steps/0/tau"),
        ({"policy": {"steps": [{"column": "rolle", "op": "cell"}]}}, "column-unknown", "/policy/steps/0/column"),
        ({"source": {"records": []}}, "source-empty", None),
        ({"source": {"records": [{"sd": 1, "region": 1}, {"sd": "1"}]}}, "mixed-types", "/source/records/sd"),
        ({"gate": {"privacy": {"min": 1}}}, "gate-unknown-metric", "/gate/privacy"),
    ],
)
def test_a_wrong_request_is_refused_at_once_with_a_pointer(
    running: House, change: dict[str, Any], code: str | None, pointer: str | None
) -> None:
    with running.http() as http:
        answer = http.post("/releases", json=ORAN_REQUEST | change)
    problem = answer.json()
    assert answer.status_code == 422, problem
    assert answer.headers["content-type"] == "application/problem+json"
    assert code in (None, problem["code"])
    if pointer is not None:
        assert any(error["pointer"].startswith(pointer) for error in problem["errors"]), problem


def test_identifiers_reach_neither_log_nor_error(tmp_path: Path) -> None:
    """Canaries through uploads, refusals, a failing release and a killed worker; the log holds none of them."""
    canaries = [IMSI, ADDRESS, TAG, VALUE]
    bodies = [GOOD, *wrong_bodies()]
    with house(tmp_path / "house", PRATIQUE_LOG_LEVEL="DEBUG") as running:
        with running.http() as http:
            answers = [http.post("/releases", json=body, headers={"Prefer": "wait=20"}) for body in bodies]
            answers.append(http.post("/captures?name=x", content=canaries[0].encode()))
            answers.append(http.post("/datasets", content=f"a,b\n{canaries[2]}", headers={"Content-Type": "text/csv"}))
            answers.append(http.get(f"/releases/{canaries[2]}"))
            answers.append(http.get("/me", headers={"Authorization": f"Bearer {canaries[2]}"}))
        assert (answers[0].status_code, answers[0].json()["status"]) == (201, "completed"), answers[0].text
        errors = "".join(answer.text for answer in answers[1:] if answer.status_code >= 400)
        assert len(errors) > 1000
        key = running.key
        assert running.stop() == 0
        log = running.log
    assert '"level": "INFO"' in log  # the control: the log is there and is read
    for canary in (*canaries, key.split(".")[1]):
        assert canary not in errors
        assert canary not in log


def test_sigterm_during_work_ends_with_zero_and_what_was_accepted_is_done_at_the_next_start(tmp_path: Path) -> None:
    rows = [{"a": n % 97, "b": n % 89, "s": str(n % 5)} for n in range(20_000)]
    body = {
        "source": {"records": rows},
        "attributes": {"quasi_identifiers": ["a", "b"], "sensitive": ["s"]},
        "policy": {"steps": []},
        "attacks": {"repetitions": 200},
        "gate": {},
    }
    with house(tmp_path / "house") as running:
        with running.http() as http:
            accepted = [http.post("/releases", json=body).json()["id"] for _ in range(3)]
        assert running.stop() == 0
    with house(tmp_path / "house") as running, running.client() as client:
        assert [client.wait_release(release)["status"] for release in accepted] == ["completed"] * 3


def test_a_second_pratique_on_the_same_folder_is_refused(running: House) -> None:
    with pytest.raises(AssertionError, match="already runs"), house(running.data):
        pass


def test_the_problem_texts_name_no_file_of_the_service(running: House) -> None:
    answer = httpx.get(f"{running.url}/releases/rel_0", trust_env=False)
    assert answer.status_code == 401
    assert not re.search(r"/[a-z]+/[a-z]+\.py", answer.text)


def test_a_second_release_of_the_same_records_to_the_same_recipient_names_the_first(client: Client) -> None:
    asked = ORAN_REQUEST | {"recipient": "twice"}
    first, second, other = (client.create_release(body)["id"] for body in (asked, asked, asked | {"recipient": "once"}))
    for release in (first, second, other):
        client.wait_release(release)
    third = client.create_release(asked)["id"]
    client.wait_release(third)
    named = [prior["release"] for prior in client.posture(third)["prior_releases"]]
    assert named == sorted((first, second), reverse=True)
    assert client.posture(other)["prior_releases"] == []
    assert client.posture(other)["composition"] is None
    posture = client.posture(third)
    # The same policy on the same records adds no knowledge: the join has the classes of the release itself.
    assert {each["release"] for each in posture["composition"]["releases"]} == {first, second}
    assert [each["shared"] for each in posture["composition"]["releases"]] == [posture["records"]["out"]] * 2
    assert posture["composition"]["k"] == posture["after"]["k"]
    assert posture["composition"]["exact_qi"] == posture["after"]["exact_reid"]


def test_the_policy_that_is_recommended_passes_its_gate(client: Client, running: House) -> None:
    rows = [{"ip": f"10.{n % 3}.{n % 5}.{n}", "n": n, "role": ("UE", "gNB", "AMF")[n % 3]} for n in range(120)]
    asked = {
        "source": {"records": rows},
        "attributes": {"quasi_identifiers": ["ip", "n"], "sensitive": ["role"]},
        "gate": {"k": {"min": 5}, "survival": {"min": 0.9}},
    }
    with running.http() as http:
        where = http.post("/recommendations", json=asked).headers["location"]
        found = _until(lambda: http.get(where).json(), lambda body: body["status"] in ("completed", "failed"))
    assert found["status"] == "completed", found
    policy = found["recommended"]["policy"]
    release = client.create_release({**asked, "policy": policy, "attacks": None})["id"]
    assert client.wait_release(release)["verdict"] == "pass"
    after, predicted = client.posture(release)["after"], found["recommended"]["predicted"]
    assert [after[name] for name in ("k", "l", "classes", "rows")] == [
        predicted[n] for n in ("k", "l", "classes", "rows")
    ]


def _until(look: Callable[[], dict[str, Any]], done: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    for _ in range(300):
        if done(body := look()):
            return body
        time.sleep(0.2)
    raise AssertionError(body)


def test_a_release_that_singles_records_out_beside_an_earlier_one_is_held_back(client: Client) -> None:
    rows = [{"age": n, "town": n // 2 % 3, "s": "x"} for n in range(12)]
    asked = {
        "source": {"records": rows},
        "recipient": "both",
        "attacks": None,
        "gate": {"k": {"min": 4}, "composition.k": {"min": 4}},
    }
    ages = {"attributes": {"quasi_identifiers": ["age"], "sensitive": ["s"], "drop": ["town"]}}
    towns = {"attributes": {"quasi_identifiers": ["town"], "sensitive": ["s"], "drop": ["age"]}}
    bins = {"policy": {"steps": [{"column": "age", "op": "bin", "width": 4}]}}
    first = client.create_release(asked | ages | bins)["id"]
    assert client.wait_release(first)["verdict"] == "pass"
    # Ages 0-3 with towns 0 0 1 1, 4-7 with 2 2 0 0, 8-11 with 1 1 2 2: pairs, where each release has fours.
    second = client.create_release(asked | towns | {"policy": {"steps": []}})["id"]
    assert client.wait_release(second)["verdict"] == "fail"
    posture = client.posture(second)
    assert (posture["after"]["k"], posture["composition"]["k"]) == (4, 2)
    assert posture["composition"]["releases"][0] | {"created_at": ""} == {
        "release": first, "created_at": "", "shared": 12, "linked": 0,
    }  # fmt: skip
