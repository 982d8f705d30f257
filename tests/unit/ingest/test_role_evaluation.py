"""Roles of real hosts, held against their laboratories' documents: docs/roles.md says what is measured."""

from tests.support.beside import captures
from tests.unit.ingest.role_evaluation import DOCUMENT, Judged, Label, block, judge, labels, report, rules


def judged(is_: str, *given: str) -> Judged:
    return Judged(Label("lab.pcap", "10.0.0.1", tuple(is_.split())), given)


def test_the_figures_of_the_document_are_those_that_are_measured() -> None:
    measured = judge(captures())
    assert block(DOCUMENT.read_text(encoding="utf-8"), "measured") == report(measured)
    assert sum(one.first_right for one in measured) / len(measured) >= 0.9


def test_the_rules_of_the_document_are_those_of_the_code() -> None:
    assert block(DOCUMENT.read_text(encoding="utf-8"), "rules") == rules()


def test_every_label_is_of_one_host_and_no_host_has_none() -> None:
    known = list(labels())
    assert len({(label.file, label.ip) for label in known}) == len(known) > 200
    assert all(label.roles for label in known)


def test_a_host_of_several_functions_is_right_with_any_of_them_first() -> None:
    assert judged("gNB AMF", "AMF", "SMF").first_right
    assert not judged("gNB AMF", "SMF", "AMF").first_right
    assert judged("gNB AMF", "SMF", "AMF").any_right


def test_no_role_where_there_is_none_is_right_and_a_role_there_is_wrong() -> None:
    assert judged("unknown", "unknown").verdict == "right"
    assert judged("unknown", "DNS").verdict == "wrong"
    assert judged("AMF", "unknown").verdict == "silent"
    assert judged("SMF", "SMF/UPF").verdict == "vague"


def test_precision_and_recall_are_counted_over_first_and_all_roles() -> None:
    # AMF: labelled 3, found 2 (first and second); given first 2, one of them wrongly.
    some = [judged("AMF", "AMF"), judged("AMF gNB", "gNB", "AMF"), judged("AMF", "unknown"), judged("SMF", "AMF")]
    assert "| AMF | 3 | 2 | 0.67 | 2 | 0.50 |" in report(some)
    assert "| the first role is right | 2 of 4 (50.0 %) |" in report(some)
    assert "| AMF | 2 | AMF 1, unknown 1 |" in report(some)
