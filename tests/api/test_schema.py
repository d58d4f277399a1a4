"""The checked-in OpenAPI document is what the code gives, without a warning."""

import difflib
from io import StringIO
from pathlib import Path

import yaml
from django.core.management import call_command

CHECKED_IN = Path(__file__).resolve().parents[2] / "api" / "openapi.yaml"


def test_the_checked_in_document_is_up_to_date():
    generated = StringIO()
    call_command("spectacular", "--validate", "--fail-on-warn", stdout=generated)
    difference = difflib.unified_diff(
        CHECKED_IN.read_text().splitlines(), generated.getvalue().splitlines(), "api/openapi.yaml", "the code", n=1
    )
    assert not list(difference), "run `make schema`"


def test_every_call_names_the_one_error_shape_and_its_credentials():
    document = yaml.safe_load(CHECKED_IN.read_text())
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            error = operation["responses"]["default"]["content"]["application/json"]["schema"]
            assert error == {"$ref": "#/components/schemas/Error"}, (method, path)
            assert operation.get("summary"), (method, path)
    assert set(document["components"]["securitySchemes"]) == {"bearer", "apiKey"}
    assert document["paths"]["/api/v1/keys"]["get"]["security"] == [{"bearer": []}, {"apiKey": []}]
