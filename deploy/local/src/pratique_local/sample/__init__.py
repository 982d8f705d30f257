"""A generated capture of a small 5G and O-RAN lab, and the truth about what it holds."""

import json
from pathlib import Path
from random import Random
from typing import Literal

from pratique_local.sample import access, charging, core, legacy, oran, surroundings, visit
from pratique_local.sample.container import pcap, pcapng
from pratique_local.sample.lab import Lab
from pratique_local.sample.subscribers import MOST_SUBSCRIBERS, ORAN_SLICES, draw_subscribers
from pratique_local.sample.truth import Kind, SampleTruth, Stay, Traffic

__all__ = ["Kind", "SampleTruth", "Scenario", "Stay", "Traffic", "truth_path", "write_sample", "write_truth"]

Scenario = Literal["lab", "oran"]


def write_sample(path: Path, *, seed: int = 1, subscribers: int = 24, scenario: Scenario = "lab") -> SampleTruth:
    """Write a capture of about twelve minutes and return what it holds; the same seed gives the same file.

    A name that ends in `.pcap` gets the classic format, any other pcapng. The scenario `oran` has subscribers of its
    own. Raises ValueError unless there are 1..240 subscribers.
    """
    if not 1 <= subscribers <= MOST_SUBSCRIBERS:
        msg = f"a sample has 1 to {MOST_SUBSCRIBERS} subscribers, not {subscribers}"
        raise ValueError(msg)
    chance = Random(seed)  # noqa: S311 - reproducible traffic, no secret
    lab = _oran(chance) if scenario == "oran" else _lab(chance, subscribers)
    lab.wire.run()
    encode = pcap if path.suffix == ".pcap" else pcapng
    path.write_bytes(encode(lab.wire.frames))
    return lab.ledger.close()


def truth_path(path: Path) -> Path:
    """Return where the truth about a capture stands: beside it."""
    return path.with_name(path.name + ".truth.json")


def write_truth(path: Path, truth: SampleTruth) -> Path:
    """Write the truth about a capture beside it, as JSON; return where."""
    beside = truth_path(path)
    beside.write_text(json.dumps(truth.document(), indent=1) + "\n", encoding="utf-8")
    return beside


def _lab(chance: Random, visitors: int) -> Lab:
    lab = Lab(chance)
    core.start(lab)
    access.start(lab)
    visit.start(lab, draw_subscribers(lab.chance, visitors))
    legacy.start(lab)
    charging.start(lab)
    surroundings.start(lab)
    return lab


def _oran(chance: Random) -> Lab:
    lab = Lab(chance, ORAN_SLICES)
    core.start(lab)
    access.start(lab)
    oran.start(lab)
    return lab
