"""A share of the mutated captures of `tests/assurance`: a limited child answers each, by both paths alike."""

from tests.assurance.corpus import CONTAINERS, LINKS, conversations, seeds
from tests.assurance.mutations import A_CHILD, HANG, fault, mutated, run


async def test_a_limited_child_answers_a_thousand_mutated_captures_and_both_paths_agree() -> None:
    findings = await run(first=0, count=A_CHILD, seed=20_261, processes=1)
    assert findings.faults == []
    assert findings.taken == A_CHILD
    assert findings.slowest < HANG
    assert findings.memory < 512


def test_the_seeds_are_captures_of_every_container_link_and_protocol() -> None:
    whole = seeds()
    assert {*CONTAINERS, *(f"link {link}" for link in LINKS)} <= whole.keys()
    assert {
        "ngap",
        "nas-5gs",
        "pfcp",
        "gtp",
        "gtpv2",
        "f1ap",
        "e2ap",
        "ocpp",
        "http2",
        "sbi",
        "dns",
        "tls",
    } <= whole.keys()
    for name, file in whole.items():
        wrong, profile = fault(file)
        assert (wrong, profile is not None and profile.packets > 0) == (None, True), name


def test_a_number_names_one_capture() -> None:
    corpus = [list(one.frames) for one in conversations()]
    files = [mutated(corpus, 1, number) for number in range(50)]
    assert [mutated(corpus, 1, number) for number in range(50)] == files
    assert len(set(files)) == 50
