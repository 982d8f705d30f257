"""An answer that says no becomes one error that says why."""

import httpx
import pytest

from pratique import Fault, LocalFault, PratiqueError, Refused, Unreachable
from pratique.commands.complaint import advice
from tests.unit.client.scripted import Scripted, problem


def refused(answer: httpx.Response) -> PratiqueError:
    with Scripted(answer).client() as client, pytest.raises(PratiqueError) as caught:
        client.create_release({})
    return caught.value


def test_a_problem_document_gives_code_status_detail_places_and_request() -> None:
    places = [{"pointer": "/attributes/quasi_identifiers/0", "detail": "No record has this column."}]
    error = refused(problem(422, "unknown-column", errors=places, request_id="req_7"))
    assert isinstance(error, Refused)
    assert (error.code, error.status, error.detail, error.request_id) == ("unknown-column", 422, "It is so.", "req_7")
    assert error.errors == (Fault("/attributes/quasi_identifiers/0", "No record has this column."),)
    assert str(error) == "It is so."


def test_a_foreign_error_page_is_named_by_its_status_and_never_repeated() -> None:
    error = refused(httpx.Response(500, text="<h1>secret 001011234567890</h1>"))
    assert (error.code, "001011234567890" in str(error)) == ("http-500", False)


@pytest.mark.parametrize("document", ["[]", '"no"', '{"code": 7, "detail": null, "errors": {"a": 1}}', ""])
def test_a_misshapen_problem_is_still_a_refusal(document: str) -> None:
    error = refused(httpx.Response(409, text=document))
    assert isinstance(error, Refused)
    assert (error.code, error.errors) == ("http-409", ())


def test_a_redirect_is_not_followed_with_the_key_in_hand() -> None:
    service = Scripted(httpx.Response(307, headers={"Location": "http://elsewhere.example/releases"}))
    with service.client() as client, pytest.raises(Refused) as caught:
        client.create_release({})
    assert (caught.value.code, len(service.asked)) == ("redirected", 1)


@pytest.mark.parametrize("text", ["<html>It works!</html>", "[1, 2]", ""])
def test_an_answer_that_is_not_pratiques_is_said_to_be_none(text: str) -> None:
    error = refused(httpx.Response(200, text=text))
    assert isinstance(error, Unreachable)
    assert error.code == "not-pratique"


def test_a_body_with_nan_is_not_sent() -> None:
    service = Scripted()
    with service.client() as client, pytest.raises(ValueError, match="JSON"):
        client.preview({"source": {"records": [{"x": float("nan")}]}})
    assert service.asked == []


@pytest.mark.parametrize(
    "code",
    ["no-key", "metric-unknown", "profile-empty", "bound-wrong", "profile-unreadable", "unknown-table", "bad-id"],
)
def test_what_is_wrong_on_this_side_comes_with_advice(code: str) -> None:
    assert advice(LocalFault(code, "It is so."))
