"""The page of the API says what the document says."""

import json
from collections import Counter

import pytest

from api import reference
from api.schema import schema_json
from tests.bench.pages_html import read

DOCUMENT = json.loads(schema_json())


@pytest.fixture(scope="module")
def calls():
    return [call for section in reference.sections(DOCUMENT) for call in section.calls]


def test_every_call_of_the_document_is_listed_once(calls):
    listed = sorted((call.path, call.method.lower()) for call in calls)
    assert listed == sorted((path, method) for path, methods in DOCUMENT["paths"].items() for method in methods)
    assert len({call.anchor for call in calls}) == len(calls)


def test_every_call_says_what_it_is_for(calls):
    assert [call.path for call in calls if not call.summary] == []


def test_who_may_call_is_said(calls):
    needed = {call.anchor: call.credentials for call in calls}
    assert needed["bench_leaderboard"] == ""
    assert needed["account"] == "a login or an API key"


def test_no_words_for_programmers_of_the_server_reach_its_callers(calls):
    assert [call.path for call in calls if "required_scope" in call.words or "A view for" in call.words] == []
    words = Counter(call.words for call in calls if call.words)
    assert [sentence for sentence, n in words.items() if n > 1] == []


@pytest.mark.parametrize(
    ("schema", "words", "shape"),
    [
        ({"$ref": "#/components/schemas/Row"}, "Row", "Row"),
        ({"type": "array", "items": {"$ref": "#/components/schemas/Row"}}, "list of Row", "Row"),
        ({"type": "string", "format": "uuid"}, "string (uuid)", None),
        ({"type": "number", "nullable": True}, "number or null", None),
        ({"type": ["number", "null"], "format": "double"}, "number or null (double)", None),
        ({"enum": ["started", "failed", None]}, "started | failed | null", None),
        ({"type": "object", "additionalProperties": {"type": "number"}}, "object of number by name", None),
        ({"oneOf": [{"$ref": "#/components/schemas/A"}, {"type": "null"}]}, "A or null", "A"),
        ({}, "any value", None),
    ],
)
def test_a_type_is_said_in_words(schema, words, shape):
    document = {"paths": {}, "components": {"schemas": {"X": {"properties": {"field": schema}}}}}
    (field,) = reference.shapes(document)[0].fields
    assert (field.kind.words, field.kind.shape) == (words, shape)


def test_the_page_holds_every_call_and_every_shape_and_its_links_lead_to_them(client, db):
    page = read(client.get("/api/docs"))
    anchors = set(page.values("id"))
    operations = [each for methods in DOCUMENT["paths"].values() for each in methods.values()]
    assert {each["operationId"] for each in operations} <= anchors
    assert {f"shape-{name}" for name in DOCUMENT["components"]["schemas"]} <= anchors
    links = {link[1:] for link in page.values("href") if link.startswith("#")}
    assert links - anchors == set()
