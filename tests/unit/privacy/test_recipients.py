"""What of a recipient's other releases is read for a join, and which of them its figures name."""

from dataclasses import replace

from pratique_privacy.composition import Composition, Joined, Said
from pratique_privacy.recipients import MOST_JOINED_ROWS, Company, Met
from pratique_shared.contracts.facts import Blob
from pratique_shared.contracts.policy import Policy
from pratique_shared.runtime.clock import new_id

SAID = Said("table", ("source",), (9,), ("age",), "policy", 1, Policy())
FOUND = Composition((Joined(9, 0), Joined(4, 2)), rows=9, classes=3, k=2, uniques=0, exact_qi=0.3, partial_qi=0.2)


def met(said: Said | None, rows: int = 9) -> Met:
    return Met(new_id("rel"), True, Blob(key="blobs/x", sha256="0" * 64, bytes=1), rows, said)


def test_alike_releases_are_read_once_and_each_is_named() -> None:
    first, other, second = met(SAID), met(replace(SAID, key_epoch=2)), met(SAID)
    company = Company((), (first, other, second))
    assert company.joinable() == [(first, second), (other,)]
    figures = company.figures(FOUND, [[one.id for one in alike] for alike in company.joinable()])
    assert [(each.release, each.shared, each.linked) for each in figures.releases] == [
        (first.id, 9, 0),
        (other.id, 4, 2),
        (second.id, 9, 0),
    ]
    assert figures.k == 2


def test_a_release_that_cannot_be_joined_leaves_the_figures_open() -> None:
    gone, there = met(None), met(SAID)
    company = Company((), (gone, there))
    assert company.joinable() == [(there,)]
    figures = company.figures(replace(FOUND, joined=FOUND.joined[:1]), [[there.id]])
    assert [(each.release, each.shared) for each in figures.releases] == [(gone.id, None), (there.id, 9)]
    assert figures.k is None


def test_alike_releases_take_the_memory_of_one() -> None:
    half = MOST_JOINED_ROWS // 2 + 1
    alike = [met(SAID, half) for _ in range(3)]
    too_much = met(replace(SAID, table_sha256="another"), half)
    assert Company((), (*alike, too_much)).joinable() == [tuple(alike)]
