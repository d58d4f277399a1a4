"""The methodology and the gates are told by the code that applies them."""

import re
from pathlib import Path

import pytest
from asyncenergy_controller.metrics import tiers

from bench.pages.gates import REFUSED
from bench.pages.sources import function, limits
from bench.verification import GATES
from tests.bench.pages_html import read

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).resolve().parents[2]
REFUSING = (
    "bench/verification/refusals.py",
    "bench/services/ingest.py",
    "controller/asyncenergy_controller/wire/*.py",
)
CODE = re.compile(
    r"""(?:Refusal\(\s*[^,]+,|WireError\(|PrivacyFinding\([^,]+,|code=|"negative"\ if\ below\ else)\s*"([a-z_]+)\"""",
    re.VERBOSE,
)


def test_every_gate_stands_on_its_page_with_its_rule_and_code(client):
    page = read(client.get("/bench/gates/"))
    for gate in GATES:
        assert gate.code in page.values("id")
        assert gate.rule in page.text
        assert f"def {gate.check.__name__}" in page.text


def test_every_code_of_a_refusal_is_explained(client):
    sources = [path.read_text() for pattern in REFUSING for path in ROOT.glob(pattern)]
    codes = {code for source in sources for code in CODE.findall(source)}
    assert codes - {"unknown_version"} <= set(REFUSED)  # a place inside the refusal "schema"
    assert {"negative", "schema", "private_key", "contradiction"} <= codes


def test_a_changed_limit_changes_the_page(client, monkeypatch):
    assert "differ by at most 3 %" in read(client.get("/bench/methodology/")).text
    monkeypatch.setattr(tiers, "MAX_DRIFT_PCT", 4.5)
    text = read(client.get("/bench/methodology/")).text
    assert "differ by at most 4.5 %" in text
    assert "MAX_DRIFT_PCT 4.5" in text


def test_every_limit_of_the_tiers_stands_on_the_page(client):
    text = read(client.get("/bench/methodology/")).text
    for name, value in vars(tiers).items():
        if name.isupper():
            assert f"{name} {value}" in text


def test_formulas_come_with_their_helpers():
    shown = function(tiers.derive_tier)
    assert "def _missing_for_a" in shown.source
    assert ("MIN_DURATION_S", tiers.MIN_DURATION_S) in limits([tiers.derive_tier])


def test_a_formula_says_what_it_does(client):
    page = read(client.get("/bench/methodology/"))
    assert "Wilson 95 % interval of a share" in page.text
    assert "def wilson_interval" in page.text
