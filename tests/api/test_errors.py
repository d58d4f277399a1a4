"""Every refusal that a program gets is JSON of one shape, whoever in the stack refuses."""

import pytest

pytestmark = pytest.mark.django_db
SHAPE = {"detail", "code", "errors"}


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("get", "/api/v1/nothing", 404, "not_found"),
        ("get", "/auth/nothing", 404, "not_found"),
        ("get", "/auth/login", 405, "method_not_allowed"),
        ("post", "/health", 405, "method_not_allowed"),
        ("get", "/api/v1/keys", 401, "not_authenticated"),
        ("delete", "/api/v1/keys/0d9c3f2e-0000-4000-8000-000000000000", 401, "not_authenticated"),
    ],
)
def test_django_and_the_api_refuse_alike(client, method, path, status, code):
    answer = getattr(client, method)(path)
    assert answer.status_code == status
    assert answer.headers["Content-Type"] == "application/json"
    assert set(answer.json()) == SHAPE
    assert answer.json()["code"] == code
    assert answer.json()["detail"].endswith(".")


def test_a_form_is_no_json(client):
    answer = client.post("/auth/login", {"email": "a@b.eu", "password": "x"})
    assert (answer.status_code, answer.json()["code"]) == (415, "unsupported_media_type")


def test_a_foreign_host_name_is_refused_in_json(client):
    answer = client.get("/api/v1/keys", headers={"host": "evil.example"})
    assert (answer.status_code, set(answer.json())) == (400, SHAPE)


def test_an_error_of_ours_carries_its_code_and_places(client, probe):
    answer = client.get(f"{probe}/broken/known")
    assert answer.status_code == 400
    assert answer.json() == {
        "detail": "Too hot.",
        "code": "too_hot",
        "errors": [{"attr": "t", "code": "hot", "detail": "90 C"}],
    }


def test_a_missing_page_inside_a_view(client, probe):
    answer = client.get(f"{probe}/broken/missing")
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


@pytest.mark.parametrize("how", ["fault", "row"])
def test_a_fault_is_a_500_that_tells_nothing_of_itself(client, probe, how):
    client.raise_request_exception = False
    answer = client.get(f"{probe}/broken/{how}")
    assert (answer.status_code, answer.json()["code"]) == (500, "server_error")
    assert "secret" not in answer.text
    assert "Traceback" not in answer.text


def test_people_get_pages_instead(client, probe):
    client.raise_request_exception = False
    missing, broken = client.get("/nothing/"), client.get("/broken-page/")
    assert (missing.status_code, broken.status_code) == (404, 500)
    assert all(page.headers["Content-Type"].startswith("text/html") for page in (missing, broken))
    assert "secret" not in broken.text


def test_each_wrong_place_is_named_with_its_path(client, probe):
    body = {"text": 7, "inner": [{"a": 1}, {"a": "1"}]}
    answer = client.post(f"{probe}/echo", body, content_type="application/json").json()
    assert answer["code"] == "validation_error"
    assert [place["attr"] for place in answer["errors"]] == ["text", "inner.1.a"]
    assert "(1 more in errors)" in answer["detail"]


def test_a_list_where_an_object_belongs(client):
    answer = client.post("/auth/login", [1], content_type="application/json").json()
    assert (answer["code"], answer["errors"][0]["attr"]) == ("validation_error", "")


def test_an_empty_body_names_what_is_missing(client):
    answer = client.post("/auth/login", b"", content_type="application/json")
    assert answer.status_code == 400
    assert [place["attr"] for place in answer.json()["errors"]] == ["email", "password"]
