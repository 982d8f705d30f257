"""The command line: words in, an exit status that a script can trust, and errors that read like help."""

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from pratique import Client
from pratique.cli import main, parser
from pratique.columns import plain
from tests.unit.client.scripted import Scripted, Turn, file_answer, problem

CHECK = {"metric": "k", "op": ">=", "bound": 3, "value": 5, "status": "pass"}


def run(line: str | list[str], *turns: Turn) -> tuple[int, Scripted]:
    service = Scripted(*turns)
    words = line.split() if isinstance(line, str) else line
    return main(words, connect=lambda _: service.client()), service


def told(body: object, status: int = 200) -> httpx.Response:
    return httpx.Response(status, json=body)


def completed(verdict: str | None) -> httpx.Response:
    return told({"id": "rel_01", "status": "completed", "verdict": verdict})


@pytest.mark.parametrize(("verdict", "status"), [("pass", 0), ("fail", 3), ("indeterminate", 4), (None, 4), ("new", 4)])
def test_gate_exits_with_the_verdict(verdict: str | None, status: int, capsys: pytest.CaptureFixture[str]) -> None:
    gate = told({"verdict": verdict, "checks": [{**CHECK, "status": verdict}]})
    assert run("gate rel_01", completed(verdict), gate)[0] == status
    assert "k >= 3  measured 5" in capsys.readouterr().out


@pytest.mark.parametrize(("verdict", "status"), [("pass", 0), ("fail", 3), ("indeterminate", 4)])
def test_release_create_waits_and_exits_with_the_verdict(verdict: str, status: int) -> None:
    queued = told({"id": "rel_01", "status": "queued"}, 202)
    left, service = run("release create --capture cap_1 --policy C4", queued, completed(verdict))
    assert left == status
    assert json.loads(service.asked[0].content) == {"source": {"capture": "cap_1"}, "policy": "C4"}


def test_release_create_without_waiting_prints_the_id_and_exits_0(capsys: pytest.CaptureFixture[str]) -> None:
    line = "--quiet release create --dataset dst_1 --policy mine --no-wait"
    assert run(line, told({"id": "rel_01", "status": "queued"}, 202))[0] == 0
    assert capsys.readouterr() == ("rel_01\n", "")


def test_the_options_of_a_release_become_its_request(tmp_path: Path) -> None:
    attributes, policy = tmp_path / "classes.json", tmp_path / "policy.json"
    attributes.write_text('{"quasi_identifiers": ["ip"]}')
    policy.write_text('{"steps": [], "attributes": {"drop": ["x"]}, "attacks": null}')
    words = ["release", "create", "--capture", "cap_1", "--capture", "cap_2", "--unit", "session", "--no-wait"]
    words += ["--policy", str(policy), "--attributes", str(attributes), "--gate", "k>=3", "--gate", "k <= 9"]
    words += [
        "--gate",
        "all_columns.uniques<=0",
        "--recipient",
        "fl",
        "--purpose",
        "round 12",
        "--name",
        "n",
        "--pilot",
        "p",
    ]
    _, service = run(words, told({"id": "rel_01", "status": "queued"}, 202))
    assert json.loads(service.asked[0].content) == {
        "source": {"captures": ["cap_1", "cap_2"], "unit": "session"},
        "policy": {"steps": []},
        "attributes": {"quasi_identifiers": ["ip"]},
        "attacks": None,
        "gate": {"k": {"min": 3, "max": 9}, "all_columns.uniques": {"max": 0}},
        "recipient": "fl",
        "purpose": "round 12",
        "name": "n",
        "pilot": "p",
    }


def test_the_command_line_speaks_louder_than_the_request_file(tmp_path: Path) -> None:
    file = tmp_path / "request.json"
    file.write_text('{"source": {"dataset": "dst_9"}, "policy": "C1", "recipient": "a", "gate": {"k": {"min": 9}}}')
    words = ["release", "create", "--file", str(file), "--policy", "C4", "--recipient", "b", "--no-gate", "--no-wait"]
    _, service = run(words, told({"id": "rel_01", "status": "queued"}, 202))
    assert json.loads(service.asked[0].content) == {
        "source": {"dataset": "dst_9"},
        "policy": "C4",
        "recipient": "b",
        "gate": {},
    }


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("release create --capture cap_1", "give --policy"),
        ("release create --policy C4", "give --capture"),
        ("release create --capture c --policy C4 --gate k>=3 --gate k>=4", "bounds k twice"),
        ("release create --dataset d --policy C4 --unit host", "--unit goes with --capture"),
        ("classify", "give --capture or --dataset"),
    ],
)
def test_words_that_do_not_go_together_exit_2(line: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    left, service = run(line)
    assert (left, service.asked) == (2, [])
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("bound", ["k>3", "k", ">=3", "k>=", "k>=x", "k>=nan", "k>=1e999", "K>=3", "k>=3 t<=1", "k=3"])
def test_a_bound_that_is_none_exits_2(bound: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        run(["release", "create", "--capture", "c", "--policy", "C4", "--gate", bound])
    assert left.value.code == 2
    assert "--gate" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text",
    [
        '{"steps": [], "gate": {"k": {"min": 4}}, "gate": {}}',
        '{"steps": [], "gate": {"k": {"min": NaN}}}',
        "[" * 100_000,
    ],
    ids=["twice", "no number", "deep"],
)
def test_a_file_whose_json_says_less_than_it_seems_to_is_not_sent(
    tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "odd.json").write_text(text)
    with pytest.raises(SystemExit) as left:
        run(["policy", "put", "night", str(tmp_path / "odd.json")])
    assert left.value.code == 2
    assert "each name once" in capsys.readouterr().err


def test_a_policy_file_must_be_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "broken.json").write_text('{"steps": [')
    for name, said in (("p.yaml", "are JSON"), ("broken.json", "not JSON: line 1"), ("none.json", "cannot read")):
        with pytest.raises(SystemExit) as left:
            run(["release", "create", "--capture", "c", "--policy", str(tmp_path / name)])
        assert left.value.code == 2
        assert said in capsys.readouterr().err


@pytest.mark.parametrize("line", ["", "capture", "release", "policy", "dataset"])
def test_a_noun_alone_prints_its_help_and_exits_2(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(line)[0] == 2
    assert "COMMAND" in capsys.readouterr().err


def test_an_error_reads_like_help(capsys: pytest.CaptureFixture[str]) -> None:
    places = [{"pointer": "/policy/steps/0/tau", "detail": "Must be at least 1."}]
    answer = problem(422, "bad-policy", errors=places, request_id="req_7")
    assert run("release create --capture c --policy C4", answer)[0] == 1
    assert capsys.readouterr().err.splitlines() == [
        "pratique: It is so.",
        "  /policy/steps/0/tau: Must be at least 1.",
        "  (code bad-policy, status 422, request req_7)",
    ]


def test_an_error_says_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("capture show cap_1", problem(401, "unknown-key"))[0] == 1
    assert "What to do: the key is unknown" in capsys.readouterr().err


def test_under_json_an_error_is_json_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("capture show cap_1 --json", problem(404, "not-found", request_id="req_8"))[0] == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert json.loads(err) == {
        "error": {"code": "not-found", "detail": "It is so.", "status": 404, "errors": [], "request_id": "req_8"}
    }


def test_no_key_is_an_error_that_says_where_keys_come_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("PRATIQUE_KEY", "PRATIQUE_KEY_FILE", "PRATIQUE_DATA", "PRATIQUE_URL"):
        monkeypatch.delenv(name, raising=False)
    assert main(["capture", "list"]) == 1
    assert "--key-file" in capsys.readouterr().err


def test_a_file_that_is_not_there_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["capture", "push", str(tmp_path / "none.pcap")])[0] == 1
    assert capsys.readouterr().err == f"pratique: {tmp_path}/none.pcap: No such file or directory\n"


def test_capture_push_waits_and_says_what_was_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.pcap").write_bytes(b"x")
    ready = {
        "id": "cap_1",
        "status": "ready",
        "packets": 1200,
        "records": 7,
        "complete": False,
        "warnings": [{"code": "cut-frame", "count": 1, "detail": "The last frame is cut."}],
    }
    line = ["capture", "push", str(tmp_path / "a.pcap"), "--pilot", "lab", "--open-to", "fl", "--max-packets", "1200"]
    left, service = run(line, told({"id": "cap_1", "status": "queued"}, 202), told(ready))
    assert left == 0
    assert dict(service.asked[0].url.params) == {
        "name": "a.pcap", "pilot": "lab", "open_to": "fl", "max_packets": "1200"
    }  # fmt: skip
    assert capsys.readouterr().out.splitlines() == [
        "cap_1  ready",
        "  1,200 frames, 7 hosts; not all of the file, as the warnings say",
        "  1 x cut-frame: The last frame is cut.",
    ]


def test_a_capture_that_fails_exits_1_with_the_services_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.pcap").write_bytes(b"x")
    failed = told({"id": "cap_1", "status": "failed", "error": {"code": "child-died", "detail": "Twice."}})
    assert run(["capture", "push", str(tmp_path / "a.pcap")], told({"id": "cap_1"}, 202), failed)[0] == 1
    assert "child-died" in capsys.readouterr().err


def test_dataset_push_needs_no_waiting_when_the_columns_are_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.csv").write_bytes(b"x\n1\n")
    answer = told({"id": "dst_1", "rows": 1, "columns": [{"name": "x", "type": "integer"}]}, 201)
    assert run(["dataset", "push", str(tmp_path / "a.csv")], answer)[0] == 0
    assert capsys.readouterr().out == "dst_1  1 rows\n  x: integer\n"


def test_records_are_written_where_asked_in_the_format_of_the_ending(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "out.csv"
    left, service = run(["release", "records", "rel_1", "-o", str(target)], file_answer(b"a\n1\n"))
    assert (left, target.read_bytes(), service.asked[0].url.params["format"]) == (0, b"a\n1\n", "csv")
    assert "sha256" in capsys.readouterr().out


def test_records_of_a_release_that_did_not_pass_exit_3(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "out.parquet"
    assert run(["release", "records", "rel_1", "-o", str(target)], problem(403, "gate-failed"))[0] == 3
    assert not target.exists()
    assert "pratique gate" in capsys.readouterr().err


def test_a_digest_mismatch_exits_1_and_leaves_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = file_answer(b"altered", announced=b"original")
    assert run(["release", "records", "rel_1", "-o", str(tmp_path / "r.parquet")], answer)[0] == 1
    assert list(tmp_path.iterdir()) == []
    assert "download again" in capsys.readouterr().err


def test_lists_have_a_row_a_line_and_stop_at_the_limit(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"id": f"rel_{n}", "status": "completed", "verdict": "pass", "name": "night " * 40} for n in range(30)]
    assert run("release list --limit 3", told({"data": rows, "next": "more"}))[0] == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["ID", "rel_0", "rel_1", "rel_2"]


def test_a_list_as_json_is_an_array_and_quiet_is_ids(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"id": "cap_2", "status": "ready"}, {"id": "cap_1", "status": "failed"}]
    run("capture list --json", told({"data": rows, "next": None}))
    assert json.loads(capsys.readouterr().out) == rows
    run("--quiet capture list", told({"data": rows, "next": None}))
    assert capsys.readouterr().out == "cap_2\ncap_1\n"


def test_raw_records_and_identifiers_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    record = {"ip": "10.0.0.1", "role": "AMF", "packets": 4, "bytes": 9, "peer_count": 1, "protocols": ["NGAP", "SCTP"]}
    run("capture records cap_1 --unit host", told({"data": [record], "next": None}))
    assert capsys.readouterr().out.splitlines()[1].split() == ["10.0.0.1", "AMF", "4", "9", "1", "NGAP,SCTP"]
    run("capture identifiers cap_1", told({"imsi": [{"value": "001", "packets": 2, "hosts": 1}], "suci": []}))
    assert capsys.readouterr().out == "imsi     001  2 packets, 1 hosts\n"


def test_release_cancel_withdraw_and_show_say_what_became_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("release cancel rel_1", told({"status": "running"}, 202))[0] == 0
    left, service = run("release withdraw rel_1", httpx.Response(204))
    assert (left, service.asked[0].method, service.asked[0].url.path) == (0, "DELETE", "/releases/rel_1")
    progress = {"stage": "attack", "done": 3, "total": 20}
    run("release show rel_1", told({"id": "rel_1", "status": "attacking", "progress": progress}))
    assert capsys.readouterr().out.splitlines() == [
        "rel_1  running",
        "rel_1  withdrawn",
        "rel_1  attacking",
        "  attack: 3 of 20",
    ]


def test_posture_prints_the_table_or_the_document(capsys: pytest.CaptureFixture[str]) -> None:
    posture = {"release": "rel_1", "status": "completed", "verdict": "fail", "after": {"k": 2}}
    assert run("posture rel_1", told(posture))[0] == 0
    assert capsys.readouterr().out.startswith("Release rel_1   FAIL\n")
    run("posture rel_1 --json", told(posture))
    assert json.loads(capsys.readouterr().out) == posture


def test_policies_are_listed_shown_and_stored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "p.json"
    file.write_text('{"steps": []}')
    run("policy list", told({"data": [{"name": "C4", "built_in": True}, {"name": "mine", "version": 2}], "next": None}))
    run("policy show C4", told({"steps": []}))
    _, service = run(["policy", "put", "mine", str(file)], told({"name": "mine", "version": 3}, 201))
    request = service.asked[0]
    assert (request.method, request.url.path, request.content) == ("PUT", "/policies/mine", b'{"steps": []}')
    out = capsys.readouterr().out
    assert [line.split()[:2] for line in out.splitlines()[1:3]] == [["C4", "built-in"], ["mine", "2"]]
    assert out.endswith("mine  stored  version 3\n")


def test_suggestions_come_with_reason_change_and_figures(capsys: pytest.CaptureFixture[str]) -> None:
    each = {"rule": "raw-ip", "reason": "A raw IP is a QI.", "patch": [{"op": "add"}], "predicted": {"k": 4, "t": 0.2}}
    run("suggestions rel_1", told([each]))
    assert capsys.readouterr().out.splitlines() == [
        "raw-ip: A raw IP is a QI.",
        '  change: [{"op": "add"}]',
        "  expect: k 4, t 0.2",
    ]


def test_classify_asks_for_a_source_and_gives_reasons(capsys: pytest.CaptureFixture[str]) -> None:
    answer = told({"columns": [{"column": "imsi", "class": "identifier", "reason": "Names one subscriber."}]})
    _, service = run("classify --capture cap_1 --unit host", answer)
    assert json.loads(service.asked[0].content) == {"source": {"capture": "cap_1", "unit": "host"}}
    assert "imsi    identifier  Names one subscriber." in capsys.readouterr().out


def test_what_the_service_says_cannot_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    run("capture list", told({"data": [{"id": "cap_1", "name": "\x1b]0;owned\x07"}], "next": None}))
    assert "\x1b" not in capsys.readouterr().out
    assert plain("a\u202eb\r") == "a?b?"


def test_interruption_exits_130_without_a_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(_: argparse.Namespace) -> Client:
        raise KeyboardInterrupt

    assert main(["capture", "list"], connect=interrupted) == 130
    assert "Traceback" not in capsys.readouterr().err


def test_a_reader_that_has_gone_ends_the_command_quietly() -> None:
    program = """
import sys, httpx
from pratique import Client
from pratique.cli import main
rows = [{"id": f"cap_{n}"} for n in range(20000)]
answer = httpx.MockTransport(lambda _: httpx.Response(200, json={"data": rows, "next": None}))
sys.exit(main(["capture", "list", "--limit", "0"], lambda _: Client("http://127.0.0.1:1", "k", transport=answer)))
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        said = process.stderr.read()
    assert (process.returncode, said) == (141, b"")


def test_global_options_stand_before_or_after_the_command() -> None:
    before = parser().parse_args(["--url", "http://a", "--json", "--key-file", "k", "capture", "list"])
    after = parser().parse_args(["capture", "list", "--url", "http://a", "--json", "--key-file", "k"])
    for options in (before, after):
        assert (options.url, options.json, options.key_file, options.quiet) == ("http://a", True, "k", False)


def helps() -> list[list[str]]:
    def walk(words: list[str], root: argparse.ArgumentParser) -> list[list[str]]:
        groups = [action for action in root._actions if isinstance(action, argparse._SubParsersAction)]
        return [words] + [
            each for group in groups for name, below in group.choices.items() for each in walk([*words, name], below)
        ]

    return walk([], parser())


@pytest.mark.parametrize("words", helps(), ids=lambda words: "-".join(words) or "pratique")
def test_every_command_has_a_help_that_fits_the_page(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main([*words, "--help"])
    out = capsys.readouterr().out
    assert left.value.code == 0
    assert f"usage: {' '.join(['pratique', *words])}" in out
    assert "safe" not in out.lower()
    assert max(len(line) for line in out.splitlines()) <= 120
    assert re.search(r"^(examples?|first steps):$", out, re.MULTILINE)
    if words:
        example = out[out.index("example") :]
        assert f"pratique {words[0]}" in example


def test_every_command_has_the_three_ways_to_speak_and_a_run() -> None:
    root = parser()
    for words in helps():
        at = root
        for word in words:
            (below,) = [action for action in at._actions if isinstance(action, argparse._SubParsersAction)]
            at = below.choices[word]
        leaf = not any(isinstance(action, argparse._SubParsersAction) for action in at._actions)
        options = {name for action in at._actions for name in action.option_strings}
        assert {"--json", "--quiet", "--url", "--key-file", "--help"} <= options
        if leaf:
            assert callable(at.get_default("run") or at.get_default("run_offline"))


def test_the_nouns_are_those_of_the_product() -> None:
    nouns = {words[0] for words in helps() if len(words) == 1}
    assert nouns >= {
        "capture", "dataset", "release", "posture", "gate", "risk", "preview", "cert", "recommend", "sweep", "utility",
        "profile", "policy", "webhook", "key", "floor", "audit", "local", "completion",
    }  # fmt: skip
