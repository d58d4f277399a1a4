"""JSON is read as strictly as the contract says, and its types are kept apart."""

import pytest

pytestmark = pytest.mark.django_db


@pytest.fixture
def echo(client, probe):
    def post(raw: str | bytes):
        return client.post(f"{probe}/echo", raw, content_type="application/json")

    return post


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        ('{"number": NaN}', "not_finite"),
        ('{"number": Infinity}', "not_finite"),
        ('{"number": -Infinity}', "not_finite"),
        ('{"number": 1e999}', "not_finite"),
        ('{"text": "a\\u0000b"}', "nul"),
        ('{"a": 1, "a": 2}', "unreadable"),
        ("[" * 13 + "]" * 13, "too_deep"),
        ("[" * 200_000, "too_deep"),
        ('{"a":' * 100_000, "too_deep"),
        ("{", "too_deep"),
        ("not json", "unreadable"),
        (b"\xff\xfe", "unreadable"),
    ],
)
def test_what_is_no_good_json_is_refused_with_a_sentence(echo, raw, code):
    answer = echo(raw)
    assert (answer.status_code, answer.json()["code"]) == (400, code)
    assert answer.json()["detail"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("whole", '"12"'),
        ("whole", "true"),
        ("whole", "1.5"),
        ("number", '"1.5"'),
        ("number", "false"),
        ("text", "7"),
        ("text", "true"),
        ("yes", '"true"'),
        ("yes", "1"),
        ("at", '"2026-08-20T09:00:00"'),
        ("at", '"2026-08-20"'),
        ("at", '"tomorrow"'),
        ("at", "1790000000"),
        ("at", '"0001-01-01T00:00:00+14:00"'),
    ],
)
def test_a_value_of_another_type_is_refused(echo, field, value):
    answer = echo(f'{{"{field}": {value}}}')
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["attr"] == field


def test_right_types_pass_and_times_come_back_in_utc(echo):
    raw = '{"whole": 12, "number": 3, "text": "x", "yes": true, "at": "2026-08-20T09:00:00.9+02:00", "unknown": {}}'
    answer = echo(raw)
    assert answer.status_code == 200
    assert answer.json() == {
        "whole": 12,
        "number": 3.0,
        "text": "x",
        "yes": True,
        "at": "2026-08-20T07:00:00+00:00",
    }
