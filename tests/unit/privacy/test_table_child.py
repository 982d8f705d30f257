"""The operations of the table child, called as its parent calls them."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from pratique_privacy.files import ReleaseBlocked
from pratique_privacy.table_child import answer
from pratique_privacy.verdict import plan_shards
from pratique_shared.contracts.adversary import Attacks, Linkage, PartialQi
from pratique_shared.contracts.attributes import Attributes
from pratique_shared.contracts.facts import Blob, Measured, ReleaseRequested
from pratique_shared.contracts.gate import DEFAULT_GATE, Bound
from pratique_shared.contracts.policy import DropColumn, Policy
from pratique_shared.contracts.posture import PpiParameters
from pratique_shared.contracts.problems import PolicyRefused
from pratique_shared.contracts.releases import Source
from pratique_shared.contracts.studies import Budget, Recommendation
from pratique_shared.runtime.child_process import Body, Reply

BLOB = Blob(key="x", sha256="", bytes=1)
PLAN = plan_shards(None, BLOB, 0, 1)
KEY = "6b" * 32
INLINE = [{"media": "json", "pilot": None, "unit": "row"}]
Row = dict[str, Any]


class Call:
    """A call whose blobs are in memory."""

    def __init__(self, body: Body, *blobs: bytes) -> None:
        self.body, self._blobs = body, blobs

    def blobs(self) -> Iterator[bytes]:
        yield from self._blobs

    def progress(self, body: Body) -> None:
        raise AssertionError(body)


def requested(attributes: Attributes, *steps: Row) -> ReleaseRequested:
    return ReleaseRequested(
        id="rel_00000000000000000000000000", tenant="t", name=None, recipient=None, purpose=None, pilot=None,
        source=Source(records=()), inline=BLOB, attributes=attributes, built_in=None,
        policy=Policy.model_validate({"steps": steps}), policy_sha256="", ppi=PpiParameters(), attacks=Attacks(),
        gate=DEFAULT_GATE, digest="d", created_at="t",
    )  # fmt: skip


def measure(asked: ReleaseRequested, rows: list[Row]) -> tuple[Measured, Reply]:
    body = {"op": "measure", "requested": asked.model_dump(mode="json"), "tenant_key": KEY, "sources": INLINE}
    reply = answer(Call(body, json.dumps(rows).encode()))
    return Measured.model_validate({**reply.body["figures"], "read": (), "table": BLOB, "plan": PLAN, "at": "t"}), reply


def publish(asked: ReleaseRequested, rows: list[Row]) -> Reply:
    measured, reply = measure(asked, rows)
    body = {"op": "publish", "requested": asked.model_dump(mode="json"), "sources": INLINE}
    return answer(
        Call({**body, "measured": measured.model_dump(mode="json")}, reply.blobs[0], json.dumps(rows).encode())
    )


@pytest.mark.parametrize(
    ("identifier", "copy"),
    [
        ("001010000000001", "001010000000001"),
        ("001010000000001", "see imsi-001010000000001"),
        ("AMF", "AMF"),
        (1234567, 1234567),
        (123456790.0, "123456790"),
        ({"imsi": "001010000000001"}, "001010000000001"),
    ],
)
def test_an_identifier_that_stands_in_another_released_column_blocks_the_release(
    identifier: object, copy: object
) -> None:
    attributes = Attributes(identifiers=("who",), quasi_identifiers=("copy",))
    rows = [{"who": identifier, "copy": copy}] * 3
    with pytest.raises(ReleaseBlocked) as blocked:
        publish(requested(attributes, {"column": "who", "op": "cell"}), rows)
    assert blocked.value.code == "identifier-found"


def test_a_short_number_is_no_identifier_in_another_column() -> None:
    attributes = Attributes(identifiers=("id",), quasi_identifiers=("count",))
    rows = [{"id": n, "count": n // 4} for n in range(8)]
    assert len(publish(requested(attributes, {"column": "id", "op": "cell"}), rows).blobs) == 4


def test_a_subscriber_of_the_source_blocks_a_release_that_only_dropped_its_column() -> None:
    attributes = Attributes(quasi_identifiers=("note",), drop=("imsi",))
    rows = [{"note": "001010000000001", "imsi": ["001010000000001"]}] * 3
    with pytest.raises(ReleaseBlocked):
        publish(requested(attributes), rows)


def test_labels_are_named_only_where_the_column_is_published_as_it_is() -> None:
    attributes = Attributes(quasi_identifiers=("ip",), sensitive=("illness",))
    rows = [{"ip": "10.0.0.1", "illness": "flu"}, {"ip": "10.0.0.1", "illness": "cold"}] * 3
    plain, _ = measure(requested(attributes), rows)
    assert plain.records.survival_by_label == {"cold": 1.0, "flu": 1.0}
    for step in ({"column": "illness", "op": "drop_column"}, {"column": "illness", "op": "token"}):
        hidden, _ = measure(requested(attributes, step), rows)
        assert hidden.records.survival_by_label == {}


def test_risk_of_a_release_that_dropped_its_only_quasi_identifier_is_one_class() -> None:
    attributes = Attributes(quasi_identifiers=("ip",), sensitive=("s",))
    measured, reply = measure(
        requested(attributes, {"column": "ip", "op": "drop_column"}), [{"ip": str(n), "s": "x"} for n in range(5)]
    )
    body = {
        "op": "risk",
        "measured": measured.model_dump(mode="json"),
        "by": ["class", "subset", "record"],
        "k_target": 5,
    }
    found = answer(Call({**body, "sources": []}, reply.blobs[0])).body
    assert found["class"]["histogram"] == [{"size": 5, "classes": 1, "rows": 5}]
    (subset,) = found["subset"]
    assert subset == {"columns": ["ip"], "distinct": 1, "exposure": 0.2, "uniques": 0, "minimal_uniques": 0}
    assert found["record"] == [{"size": 5, "values": {"ip": "*"}}]


def test_risk_names_the_fields_that_give_a_record_away() -> None:
    attributes = Attributes(quasi_identifiers=("cell", "hour"), sensitive=("s",))
    places = [("north", 1), ("north", 1), ("north", 2), ("south", 2), ("south", 2)]
    measured, reply = measure(requested(attributes), [{"cell": c, "hour": h, "s": "x"} for c, h in places])
    body = {"op": "risk", "measured": measured.model_dump(mode="json"), "k_target": 2, "sources": []}
    found = answer(Call({**body, "by": ["class", "attribute", "record"]}, reply.blobs[0])).body
    assert found["record"][0] == {
        "size": 1,
        "values": {"cell": "north", "hour": 2},
        "singled_by": [["cell", "hour"]],
    }
    cell, hour, sensitive = found["attribute"]
    assert cell == {
        "column": "cell", "distinct": 2, "minimal_uniques": 1, "minimal_share": 1.0, "singled_rows": 1,
        "singled_share": 1.0,
    }  # fmt: skip
    assert hour["minimal_uniques"] == 1
    assert sensitive == {"column": "s", "distinct": 1}
    assert found["class"]["worst"] == {"size": 1, "risk": 1.0, "rows": 1}
    assert found["class"]["typical"] == {"size": 2, "risk": 0.5, "rows": 4}
    assert found["class"]["below"][0] == {"k": 2, "rows": 1, "share": 0.2}


def test_two_releases_of_one_source_are_joined_by_its_rows() -> None:
    rows = [{"ip": f"10.0.{n // 2}.{n}", "port": n // 3, "s": "x"} for n in range(6)]
    networks = Attributes(quasi_identifiers=("ip",), sensitive=("s",), drop=("port",))
    ports = Attributes(quasi_identifiers=("port",), sensitive=("s",), drop=("ip",))
    made = [
        measure(requested(networks, {"column": "ip", "op": "ip_prefix"}, {"op": "class_support", "tau": 2}), rows),
        measure(requested(ports), rows),
    ]
    parts = [
        {"policy": {"steps": []}, "key_epoch": 1, "quasi_identifiers": names, "read": ["d"], "source_rows": [6]}
        for names in (["ip"], ["port"])
    ]
    call = Call({"op": "compose", "parts": parts, "forget": 0.5, "sources": []}, *(reply.blobs[0] for _, reply in made))
    found = answer(call).body
    # Networks {0,1} {2,3} {4,5} and ports {0,1,2} {3,4,5}: together 2, 3 alone.
    assert (found["k"], found["uniques"], found["classes"]) == (1, 2, 4)
    assert list(found["joined"]) == [{"shared": 6, "linked": 0}]
    assert made[0][0].source_rows == (6,)


def test_a_recommended_policy_gives_what_was_predicted_of_it() -> None:
    rows = [{"ip": f"10.0.{n % 3}.{n}", "imsi": str(n), "role": "UE" if n % 4 else "AMF"} for n in range(24)]
    attributes = Attributes(identifiers=("imsi",), quasi_identifiers=("ip",), sensitive=("role",))
    drop = DropColumn(column="imsi", op="drop_column")
    question = Recommendation(
        attributes=attributes, gate={"k": Bound(min=4), "l": Bound(min=2)}, first=(drop,), ppi=PpiParameters(),
        partial_qi=PartialQi(), linkage=Linkage(), taus=(2, 3), exempt=None, hierarchies={}, budget=Budget(),
    )  # fmt: skip
    body = {"op": "recommend", "asked": question.model_dump(mode="json"), "pilot": None, "tenant_key": KEY}
    found = json.loads(answer(Call({**body, "sources": INLINE}, json.dumps(rows).encode())).blobs[0])
    steps = found["recommended"]["policy"]["steps"]
    assert [step["op"] for step in steps] == ["drop_column", "ip_prefix"]
    assert found["proved"]
    measured, _ = measure(requested(attributes, *steps), rows)
    predicted = found["recommended"]["predicted"]
    assert (measured.after.k, measured.after.l, measured.after.t) == (predicted["k"], predicted["l"], predicted["t"])
    assert predicted["k"] >= 4


@pytest.mark.parametrize(("pilot", "refused"), [(None, True), ("lab", False)])
def test_a_pseudonym_without_a_pilot_is_refused_when_the_release_is_asked_for(pilot: str | None, refused: bool) -> None:
    attributes = Attributes(quasi_identifiers=("ip",))
    policy = Policy.model_validate({"steps": [{"column": "ip", "op": "hmac"}]})
    body = {
        "op": "admit", "columns": None, "policy": policy.model_dump(), "attributes": attributes.model_dump(),
        "built_in": None, "pilot": pilot, "sources": INLINE,
    }  # fmt: skip
    call = Call(body, b'[{"ip": "10.0.0.1"}]')
    if refused:
        with pytest.raises(PolicyRefused) as problem:
            answer(call)
        assert problem.value.code == "pilot-missing"
    else:
        assert answer(call).body["columns"] == {"ip": "text"}


def test_the_pilot_of_a_source_goes_before_that_of_the_release() -> None:
    attributes = Attributes(quasi_identifiers=("ip",))
    asked = requested(attributes, {"column": "ip", "op": "hmac"})

    def tokens(release: str | None, *sources: str | None) -> list[dict[str, object]]:
        body = {
            "op": "preview", "policy": asked.policy.model_dump(), "attributes": attributes.model_dump(),
            "built_in": None, "ppi": {}, "pilot": release, "tenant_key": KEY, "rows": 10, "suggest": False,
            "sources": [{"media": "ndjson", "pilot": pilot, "unit": "host"} for pilot in sources],
        }  # fmt: skip
        reply = answer(Call(body, *[b'{"ip": "10.0.0.1"}'] * len(sources)))
        found: list[dict[str, object]] = reply.body["after"]["rows"]
        return found

    north, south = tokens(None, "north"), tokens(None, "south")
    assert north != south
    assert tokens("south", "north") == north
    assert tokens("south", None) == south
    assert tokens("south", "north", "north") == north * 2


def trial(rows: int, *, suggest: bool) -> Body:
    source = [{"ip": "10.0.1.1", "role": "a"}, {"ip": "10.0.2.1", "role": "b"}, {"ip": "10.0.1.2", "role": "b"}]
    attributes = Attributes(quasi_identifiers=("ip",), sensitive=("role",))
    steps = [{"column": "ip", "op": "ip_prefix"}, {"op": "class_support", "tau": 2}]
    body = {
        "op": "preview", "policy": {"steps": steps}, "attributes": attributes.model_dump(), "built_in": None,
        "ppi": {}, "pilot": None, "tenant_key": KEY, "sources": INLINE, "rows": rows, "suggest": suggest,
    }  # fmt: skip
    return answer(Call(body, json.dumps(source).encode())).body


def test_a_preview_of_few_rows_has_the_figures_of_all() -> None:
    whole, part = trial(10, suggest=True), trial(2, suggest=False)
    assert (whole["kept"], whole["class_sizes"]) == ([0, 2], [2, 2])
    assert (part["kept"], part["class_sizes"]) == ([0], [2])  # of the first two source rows, one is left
    assert (len(part["before"]["rows"]), part["after"]["rows"]) == (2, [{"ip": "10.0.1.0/24", "role": "a"}])
    assert part["after"]["metrics"] == whole["after"]["metrics"]
    assert part["after"]["metrics"]["k"] == 2
    assert part["distinct"] == {"ip": {"before": 3, "after": 1}, "role": {"before": 2, "after": 2}}
    assert part["suggestions"] == []


def test_a_classification_says_the_type_of_each_column() -> None:
    body = {"op": "classify", "sources": INLINE}
    found = answer(Call(body, b'[{"ip": "10.0.0.1", "n": 1, "protocols": ["tcp"]}]')).body["columns"]
    assert {column["column"]: column["type"] for column in found} == {"ip": "text", "n": "integer", "protocols": "list"}
