"""The example app for Flower: its model learns, and its files say what Flower looks for."""

import importlib.util
import tomllib
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

APP = Path(__file__).resolve().parents[3] / "examples" / "flower"


@pytest.fixture(scope="module")
def model() -> ModuleType:
    spec = importlib.util.spec_from_file_location("posture_gated_model", APP / "posture_gated" / "model.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_model_learns_roles_that_counts_tell_apart(model: ModuleType) -> None:
    chance = np.random.default_rng(1)
    busy = np.arange(200) % 2 == 0
    packets = np.where(busy, 50_000, 20) * chance.uniform(0.5, 2, 200)
    columns = {"packets": packets, "bytes": packets * 90, "peer_count": np.ones(200), "protocol_count": np.ones(200)}
    x, y = model.features(columns), model.labels(["UPF" if each else "UE" for each in busy])
    begun = model.initial()
    trained = model.train(begun, x, y, 200)
    assert model.loss(begun, x, y) == pytest.approx(np.log(len(model.ROLES)))  # every role as likely as any other
    assert model.loss(trained, x, y) < 0.5
    assert model.accuracy(trained, x, y) == 1.0


def test_a_role_that_is_not_in_the_list_counts_as_other(model: ModuleType) -> None:
    assert model.labels(["AMF", "amf", "toaster"]).tolist() == [2, 2, len(model.ROLES) - 1]


def test_the_app_names_components_that_are_there_and_every_setting_that_it_reads() -> None:
    app = tomllib.loads((APP / "pyproject.toml").read_text())["tool"]["flwr"]["app"]
    for component in app["components"].values():
        module, _, name = component.partition(":")
        assert f"{name} = " in (APP / f"{module.replace('.', '/')}.py").read_text()
    code = "".join(path.read_text() for path in (APP / "posture_gated").glob("*.py"))
    assert {name for name in app["config"] if f'["{name}"]' not in code} == set()
