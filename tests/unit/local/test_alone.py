"""A release without a service says what the service would say, and writes records only of one that passes."""

import argparse
import io
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from pratique_local.alone.command import EXAMPLES, add_arguments
from pratique_local.alone.policy_file import read_policy
from pratique_local.alone.session import perform
from pratique_local.sample import write_sample
from pratique_shared.contracts.problems import Unprocessable

ROWS = "ip,role,packets\n" + "".join(f"10.0.{n // 4}.{n},{'AMF' if n % 2 else 'UE'},{n}\n" for n in range(12))
POLICY = """attributes: {quasi_identifiers: [ip], sensitive: [role], insensitive: [packets]}
steps:
  - {op: ip_prefix, column: ip, v4: 24, v6: 64}
gate: {k: {min: 4}, exact_qi: {max: 0.25}}
"""


def run(*words: str | Path) -> tuple[int, str, str]:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quiet", action="store_true")
    out, err = io.StringIO(), io.StringIO()
    return perform(parser.parse_args([*map(str, words)]), out, err), out.getvalue(), err.getvalue()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("alone")
    (path / "night.csv").write_text(ROWS)
    (path / "policy.yaml").write_text(POLICY)
    return path


@pytest.fixture(scope="module")
def made(folder: Path) -> tuple[int, dict[str, Any]]:
    left, out, _ = run(folder / "night.csv", "--policy", folder / "policy.yaml", "-o", folder / "passed", "--json")
    return left, json.loads(out)


def test_a_release_that_passes_leaves_posture_and_records(folder: Path, made: tuple[int, dict[str, Any]]) -> None:
    left, posture = made
    assert (left, posture["verdict"]) == (0, "pass")
    # Twelve hosts in three networks of four: k 4, and 3/12 for whoever knows the address.
    assert (posture["after"]["k"], posture["attacks"]["exact_qi"]) == (4, 0.25)
    assert json.loads((folder / "passed" / "posture.json").read_text()) == posture
    table = pl.read_parquet(folder / "passed" / "records.parquet")
    assert sorted(set(table["ip"])) == ["10.0.0.0/24", "10.0.1.0/24", "10.0.2.0/24"]
    assert set(posture["files"]) == {"parquet", "arrow", "csv", "ndjson"}


def test_the_adversaries_are_the_services_own(made: tuple[int, dict[str, Any]]) -> None:
    attacks = made[1]["attacks"]
    assert attacks["linkage"]["repetitions"] == 20
    assert attacks["partial_qi"]["agrees"] is True


def test_a_release_that_fails_leaves_no_records_and_removes_earlier_ones(folder: Path) -> None:
    out = folder / "failed"
    out.mkdir()
    (out / "records.parquet").write_bytes(b"of yesterday")
    left, told, _ = run(
        folder / "night.csv", "--policy", folder / "policy.yaml", "--gate", "k>=5", "-o", out, "--quiet"
    )
    assert (left, told) == (3, "fail\n")
    assert [path.name for path in out.iterdir()] == ["posture.json"]


def test_what_was_not_measured_is_no_pass(folder: Path) -> None:
    words = ["--gate", "composition.k>=1", "-o", str(folder / "open"), "--quiet"]
    assert run(folder / "night.csv", "--policy", folder / "policy.yaml", *words)[:2] == (4, "indeterminate\n")


def test_what_cannot_stand_is_said_with_its_place_and_code(folder: Path) -> None:
    cases = {
        "steps: [{op: ip_prefix, column: ip, v4: 99}]\n": "/steps/0/v4: must be at most 32",
        "steps: [\n": "is no YAML",
        "- a\n- b\n": "code policy-invalid",
        "steps: []\ngate: {kay: {min: 2}}\n": "code gate-unknown-metric",
    }
    for text, said in cases.items():
        (folder / "wrong.yaml").write_text(text)
        left, _, err = run(folder / "night.csv", "--policy", folder / "wrong.yaml", "-o", folder / "wrong")
        assert left == 1
        assert said in err


def test_a_policy_may_be_toml_json_or_a_built_in(folder: Path) -> None:
    (folder / "p.toml").write_text('[[steps]]\nop = "ip_prefix"\ncolumn = "ip"\n[gate.k]\nmin = 4\n')
    (folder / "p.json").write_text('{"steps": [{"op": "ip_prefix", "column": "ip"}], "gate": {"k": {"min": 4}}}')
    toml, in_json = (read_policy(str(folder / name))[0] for name in ("p.toml", "p.json"))
    assert toml == in_json
    assert read_policy("C4")[1] == "C4"
    with pytest.raises(Unprocessable, match="policy-unknown"):
        read_policy("C9")


def test_yaml_makes_no_objects(folder: Path) -> None:
    (folder / "evil.yaml").write_text("!!python/object/apply:os.system ['true']\n")
    with pytest.raises(Unprocessable, match="policy-invalid"):
        read_policy(str(folder / "evil.yaml"))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("twice.yaml", POLICY + "gate: {}\n"),
        ("twice.json", '{"steps": [], "gate": {"k": {"min": 4}}, "gate": {}}'),
        ("twice.toml", "steps = []\n[gate.k]\nmin = 4\n[gate.k]\nmin = 1\n"),
    ],
)
def test_a_policy_in_which_a_name_stands_twice_is_refused_and_no_gate_is_lost(
    folder: Path, name: str, text: str
) -> None:
    (folder / name).write_text(text)
    with pytest.raises(Unprocessable, match="policy-invalid"):
        read_policy(str(folder / name))


def test_anchors_and_merges_of_yaml_are_no_names_that_stand_twice(folder: Path) -> None:
    (folder / "merged.yaml").write_text(
        "steps: [&net {op: ip_prefix, column: ip, v4: 24, v6: 64}, {<<: *net, column: peer, v4: 16}]\n"
    )
    first, second = read_policy(str(folder / "merged.yaml"))[0].model_dump()["steps"]
    assert (first["v4"], second["v4"], second["column"]) == (24, 16, "peer")


def test_a_folder_or_device_is_called_no_file(folder: Path) -> None:
    for place in (folder, Path("/dev/null")):
        left, _, err = run(place, "--policy", "C4", "-o", folder / "none")
        assert (left, "code not-a-file" in err) == (1, True)


def test_a_missing_file_and_a_short_secret_are_named(folder: Path) -> None:
    left, _, err = run(folder / "none.pcap", "--policy", "C4", "-o", folder / "none")
    assert (left, "none.pcap: No such file" in err) == (1, True)
    (folder / "short").write_bytes(b"123")
    left, _, err = run(folder / "night.csv", "--policy", "C4", "--secret", folder / "short")
    assert (left, "code secret-too-short" in err) == (1, True)


def test_the_help_shows_a_policy_that_reads(folder: Path) -> None:
    (folder / "help.yaml").write_text(EXAMPLES.partition("policy.yaml:\n")[2])
    stored, built_in = read_policy(str(folder / "help.yaml"))
    assert ([step.op for step in stored.steps], built_in) == (["ip_prefix", "threshold"], None)


def test_a_capture_is_profiled_in_a_confined_process(folder: Path) -> None:
    write_sample(folder / "lab.pcapng", subscribers=1)
    left, out, _ = run(folder / "lab.pcapng", "--policy", "C0", "--gate", "k>=2", "-o", folder / "lab", "--json")
    posture = json.loads(out)
    assert (left, posture["verdict"], posture["unit"], posture["built_in"]) == (3, "fail", "host", "C0")
    assert posture["records"]["in"] > 20
