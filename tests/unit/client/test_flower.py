"""A federated round begins only on data that are cleared at that moment."""

import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any, TypeAlias

import httpx
import pytest

from pratique import GateFailed, Profile, Refused, Unreachable
from tests.unit.client.certified import answers, posture
from tests.unit.client.scripted import Scripted, problem

Module: TypeAlias = Any  # what an import gives that mypy cannot follow
Gated: TypeAlias = Any


@pytest.fixture
def flower(monkeypatch: pytest.MonkeyPatch) -> Iterator[Module]:
    """`pratique.flower` over the two names of flwr that it imports; the real flwr is tried by `make federation`."""
    app, server = ModuleType("flwr.app.exception"), ModuleType("flwr.serverapp.exception")
    app.AppExitException = type("AppExitException", (Exception,), {"exit_code": -1})  # type: ignore[attr-defined]
    server.InconsistentMessageReplies = type("I", (), {"exit_code": 200})  # type: ignore[attr-defined]
    for name in ("flwr", "flwr.app", "flwr.serverapp"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, "flwr.app.exception", app)
    monkeypatch.setitem(sys.modules, "flwr.serverapp.exception", server)
    sys.modules.pop("pratique.flower", None)
    import pratique.flower  # noqa: PLC0415

    yield pratique.flower
    sys.modules.pop("pratique.flower", None)


class Averaging:
    """A strategy that counts what it is asked to do."""

    def __init__(self, fraction_train: float = 1.0) -> None:
        self.fraction_train = fraction_train
        self.begun: list[str] = []

    def configure_train(self, server_round: int, arrays: object, config: object, grid: object) -> list[str]:
        self.begun.append(f"train {server_round}")
        return ["message"]

    def configure_evaluate(self, server_round: int, arrays: object, config: object, grid: object) -> list[str]:
        self.begun.append(f"evaluate {server_round}")
        return ["message"]


def gated(flower: Module, service: Scripted, **settings: object) -> Gated:
    kind = type("Gated", (flower.PostureGate, Averaging), {})
    return kind(releases="rel_01", client=service.client(), fraction_train=0.5, **settings)


def test_rounds_go_on_while_the_release_is_cleared_and_the_second_look_is_cheap(flower: Module) -> None:
    service = Scripted(*answers(), httpx.Response(304), httpx.Response(304))
    strategy, config = gated(flower, service, profile=Profile(k=4)), dict[str, object]()
    assert strategy.configure_train(1, None, config, None) == ["message"]
    assert strategy.configure_evaluate(1, None, config, None) == ["message"]
    assert strategy.configure_train(2, None, config, None) == ["message"]
    assert strategy.begun == ["train 1", "evaluate 1", "train 2"]
    assert strategy.fraction_train == 0.5
    assert [request.headers.get("If-None-Match") for request in service.asked] == [None, None, '"p1"', '"p1"']
    assert config == {
        "pratique-releases": ["rel_01"],
        "pratique-records-sha256": [posture()["files"]["parquet"]],
    }


def test_a_gate_that_fails_refuses_the_round_with_flowers_own_exit_code(flower: Module) -> None:
    strategy = gated(flower, Scripted(*answers()), profile=Profile(k=5))
    with pytest.raises(flower.RoundRefused) as caught:
        strategy.configure_train(1, None, {}, None)
    assert strategy.begun == []
    assert str(caught.value) == "Round 1 is refused: rel_01 does not keep to the profile: fail on k >= 5 (4)."
    assert (caught.value.exit_code, caught.value.release) == (200, "rel_01")
    assert isinstance(caught.value.cause, GateFailed)


@pytest.mark.parametrize(
    ("turns", "cause"),
    [
        ([problem(410, "withdrawn")], Refused),
        ([problem(404, "not-found")], Refused),
        ([httpx.ConnectError("refused")] * 5, Unreachable),
        ([httpx.Response(200, json=posture(verdict="fail"))], GateFailed),
    ],
)
def test_what_was_cleared_once_is_refused_once_it_is_not(
    flower: Module, turns: list[httpx.Response | Exception], cause: type[Exception]
) -> None:
    strategy = gated(flower, Scripted(*answers(), *turns))
    strategy.configure_train(1, None, {}, None)
    with pytest.raises(flower.RoundRefused) as caught:
        strategy.configure_evaluate(1, None, {}, None)
    assert isinstance(caught.value.cause, cause)
    assert (strategy.begun, strategy.clearances) == (["train 1"], {})


def test_a_missing_key_file_refuses_the_round_too(flower: Module) -> None:
    strategy = gated(flower, Scripted(*answers()), verify=True, keys="/nowhere/key.pem")
    with pytest.raises(flower.RoundRefused, match="Round 7 is refused"):
        strategy.configure_train(7, None, {}, None)


def test_a_gate_over_no_release_is_refused_at_once(flower: Module) -> None:
    kind = type("Gated", (flower.PostureGate, Averaging), {})
    with pytest.raises(ValueError, match="name the releases"):
        kind(releases=[])
