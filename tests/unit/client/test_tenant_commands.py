"""Keys, the floor, the audit log, risk, previews and one's own profile, from the shell."""

import json
from pathlib import Path

import httpx
import pytest

from pratique.cli import main
from tests.unit.client.certified import PARQUET, posture
from tests.unit.client.scripted import Scripted, Turn, file_answer


def run(line: str | list[str], *turns: Turn) -> tuple[int, Scripted]:
    service = Scripted(*turns)
    return main(line.split() if isinstance(line, str) else line, connect=lambda _: service.client()), service


def told(body: object, status: int = 200) -> httpx.Response:
    return httpx.Response(status, json=body)


def page(*rows: object) -> httpx.Response:
    return told({"data": rows, "next": None})


MADE = {"id": "key_01", "role": "recipient", "recipient": "fl", "key": "prq_secret", "expires_at": None}


def test_a_key_goes_into_a_file_of_ones_own_and_is_shown_nowhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "fl.key"
    words = ["key", "add", "recipient", "--recipient", "fl", "--expires", "2027-01-01T00:00:00Z", "-o", str(path)]
    for way in ([], ["--json"], ["--quiet"]):
        path.unlink(missing_ok=True)
        left, service = run([*words, *way], told(MADE, 201))
        assert (left, path.read_text(), path.stat().st_mode & 0o777) == (0, "prq_secret\n", 0o600)
        assert "prq_secret" not in "".join(capsys.readouterr())
    assert json.loads(service.asked[0].content) == {
        "role": "recipient", "recipient": "fl", "expires_at": "2027-01-01T00:00:00+00:00"
    }  # fmt: skip


def test_no_key_is_made_that_could_not_be_written(tmp_path: Path) -> None:
    (tmp_path / "fl.key").write_text("another")
    left, service = run(["key", "add", "auditor", "-o", str(tmp_path / "fl.key")])
    assert (left, service.asked) == (1, [])


def test_a_key_is_shown_once_where_no_file_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("key add recipient --recipient fl", told(MADE, 201))[0] == 0
    assert "prq_secret" in capsys.readouterr().out
    assert run("key add auditor --recipient fl")[0] == 2
    with pytest.raises(SystemExit, match="2"):
        run("key add auditor --expires 2027-01-01")


def test_a_key_is_asked_for_once_because_each_request_makes_one() -> None:
    left, service = run("key add auditor", httpx.ReadError("gone"), told(MADE, 201))
    assert (left, len(service.asked)) == (1, 1)


def test_keys_are_listed_revoked_and_told_of(capsys: pytest.CaptureFixture[str]) -> None:
    run("key list", page({"id": "key_01", "role": "auditor", "revoked": True}, {"id": "key_02", "role": "admin"}))
    _, service = run("key revoke key_01", httpx.Response(204))
    run("--quiet key whoami", told({"key": "key_02", "tenant": "t", "role": "admin", "recipient": None}))
    assert (service.asked[0].method, service.asked[0].url.path) == ("DELETE", "/api-keys/key_01")
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:4] for line in lines[1:3]] == [
        ["key_01", "auditor", "-", "revoked"],
        ["key_02", "admin", "-", "valid"],
    ]
    assert lines[3:] == ["key_01  revoked", "admin"]


def test_the_floor_is_shown_set_and_taken_away(capsys: pytest.CaptureFixture[str]) -> None:
    floor = {"gate": {"k": {"min": 3.0, "max": None}, "linkage": {"min": None, "max": 0.5}}}
    assert run("floor show", told(floor))[0] == 0
    assert capsys.readouterr().out == "k >= 3\nlinkage <= 0.5\n"
    _, service = run("floor set --gate k>=3 --gate linkage<=0.5", told(floor))
    assert json.loads(service.asked[0].content) == {"gate": {"k": {"min": 3}, "linkage": {"max": 0.5}}}
    _, service = run("floor set --none", told({"gate": {}}))
    assert json.loads(service.asked[0].content) == {"gate": {}}
    assert capsys.readouterr().out.endswith("no bounds: a request alone decides\n")


def test_a_broken_audit_log_exits_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("audit check", told({"intact": True, "entries": 9, "chains": 2, "breaks": []}))[0] == 0
    assert run("audit check", told({"intact": False, "entries": 9, "chains": 2, "breaks": [{"number": 4}]}))[0] == 1
    assert run("audit check", told({"entries": 9}))[0] == 1
    assert capsys.readouterr().out.splitlines()[:2] == [
        "intact  9 entries in 2 chains",
        "BROKEN  9 entries in 2 chains",
    ]
    run("audit list --limit 1", page({"at": "t", "phase": "asked", "operation": "createRelease"}))
    assert "createRelease" in capsys.readouterr().out


def test_a_profile_of_ones_own_closes_a_gate_that_passes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "round.toml"
    done, gate = {"id": "rel_01", "status": "completed"}, posture()["gate"]
    for text, status in (("k = 4\n", 0), ("k = 5\n", 3), ("l = 2\n", 4)):
        path.write_text(text)
        words = ["gate", "rel_01", "--profile", str(path)]
        assert run(words, told(done), told(gate), told(posture()))[0] == status
    assert "k >= 5  measured 4" in capsys.readouterr().out
    path.write_text("kay = 5\n")
    assert run(["gate", "rel_01", "--profile", str(path)])[0] == 1
    assert "No posture has a figure 'kay'" in capsys.readouterr().err


def test_records_may_be_kept_in_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PRATIQUE_CACHE", str(tmp_path))
    assert run("--quiet release records rel_01 --cached", file_answer(PARQUET, ETag='"1"'))[0] == 0
    assert Path(capsys.readouterr().out.strip()).read_bytes() == PARQUET
    assert run("release records rel_01 --cached -o x.parquet")[0] == 2


def test_a_preview_shows_both_sides_and_keeps_to_the_rows_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "policy.json"
    file.write_text('{"steps": [], "attributes": {"drop": []}, "gate": {}}')
    rows = [{"ip": "10.0.0.0/24", "protocols": ["sctp"]}, {"ip": "10.0.1.0/24", "protocols": []}]
    answer = told({"before": {"metrics": {"k": 1}, "rows": rows}, "after": {"metrics": {"k": 2}, "rows": rows}})
    left, service = run(["preview", "--dataset", "dst_1", "--policy", str(file), "--rows", "1"], answer)
    assert left == 0
    assert json.loads(service.asked[0].content) == {
        "source": {"dataset": "dst_1"}, "policy": {"steps": []}, "attributes": {"drop": []}
    }  # fmt: skip
    out = capsys.readouterr().out
    assert ["k", "1", "2"] in [line.split() for line in out.splitlines()]
    assert "10.0.0.0/24" in out
    assert "10.0.1.0/24" not in out
    assert run("preview --policy C4")[0] == 2


def test_a_release_preview_marks_what_was_changed(capsys: pytest.CaptureFixture[str]) -> None:
    row = {"before": {"ip": "10.0.0.7", "n": 1}, "after": {"ip": "*", "n": 1}, "class_size": 3, "changed": ["ip"]}
    assert run("release preview rel_01 -n 1", told({"rows": [row]}))[0] == 0
    assert capsys.readouterr().out.splitlines()[1].split() == ["3", "10.0.0.7", "->", "*", "1"]


def test_risk_is_shown_part_by_part(capsys: pytest.CaptureFixture[str]) -> None:
    found = {
        "subset": [{"columns": ["ip"], "exposure": 0.25}, {"columns": ["ip", "role"], "exposure": 1.0}],
        "attribute": [{"column": "ip", "distinct": 9}],
    }
    left, service = run("risk rel_01 --by subset --by attribute", told(found))
    assert (left, service.asked[0].url.params["by"]) == (0, "subset,attribute")
    out = capsys.readouterr().out
    assert "by subset\nCOLUMNS   EXPOSURE\nip        25.0 %\nip, role  100.0 %" in out
    assert "by attribute" in out


def test_sources_are_listed_shown_and_deleted(capsys: pytest.CaptureFixture[str]) -> None:
    row = {"id": "dst_1", "rows": 3, "columns": [{"name": "x", "type": "integer"}], "name": "charging"}
    run("dataset list", page(row))
    run("dataset show dst_1", told(row))
    for noun, source in (("capture", "cap_1"), ("dataset", "dst_1")):
        _, service = run(f"{noun} delete {source}", httpx.Response(204))
        assert (service.asked[0].method, service.asked[0].url.path) == ("DELETE", f"/{noun}s/{source}")
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split() == ["dst_1", "3", "1", "-", "charging"]
    assert lines[2:] == ["dst_1  3 rows", "  x: integer", "cap_1  deleted", "dst_1  deleted"]
