"""A generated capture of a small 5G and O-RAN lab, and the truth about what it holds."""

from pathlib import Path
from random import Random

from pratique_local.sample import access, charging, core, legacy, surroundings, visit
from pratique_local.sample.container import pcap, pcapng
from pratique_local.sample.lab import Lab
from pratique_local.sample.subscribers import MOST_SUBSCRIBERS, draw_subscribers
from pratique_local.sample.truth import Kind, SampleTruth

__all__ = ["Kind", "SampleTruth", "write_sample"]


def write_sample(path: Path, *, seed: int = 1, subscribers: int = 24) -> SampleTruth:
    """Write a capture of about twelve minutes and return what it holds; the same seed gives the same file.

    A name that ends in `.pcap` gets the classic format, any other pcapng. Raises ValueError unless there are
    1..240 subscribers.
    """
    if not 1 <= subscribers <= MOST_SUBSCRIBERS:
        msg = f"a sample has 1 to {MOST_SUBSCRIBERS} subscribers, not {subscribers}"
        raise ValueError(msg)
    lab = _lab(seed, subscribers)
    lab.wire.run()
    encode = pcap if path.suffix == ".pcap" else pcapng
    path.write_bytes(encode(lab.wire.frames))
    return lab.ledger.close()


def _lab(seed: int, visitors: int) -> Lab:
    lab = Lab(Random(seed))  # noqa: S311 - reproducible traffic, no secret
    core.start(lab)
    access.start(lab)
    visit.start(lab, draw_subscribers(lab.chance, visitors))
    legacy.start(lab)
    charging.start(lab)
    surroundings.start(lab)
    return lab
