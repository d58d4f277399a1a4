"""What travels between a controller and the server, checked by the same code on both ends.

Pure: standard library and pydantic. No numpy, no network, no Django.
"""

from asyncenergy_controller.wire.bundle import Bundle, BundleV2, BundleV3, parse_bundle
from asyncenergy_controller.wire.canonical import TABLES, canonical_json, run_identity
from asyncenergy_controller.wire.columns import MAX_ITEMS, MAX_SAMPLES, WORD_COLUMNS, ItemColumns, TraceColumns
from asyncenergy_controller.wire.consent import CONSENT_TEXT, CONSENT_VERSION
from asyncenergy_controller.wire.errors import WireError
from asyncenergy_controller.wire.json_bytes import MAX_NESTING, check_json_bytes
from asyncenergy_controller.wire.names import (
    ENERGY_BOUNDARIES,
    ENERGY_SOURCES,
    KNOWN_TASKS,
    LEDGER_PHASES,
    SHIPPED_ANSWER_TASKS,
)
from asyncenergy_controller.wire.privacy import PrivacyFinding, find_private, refuse_private
from asyncenergy_controller.wire.runs import RunV2, RunV3

BundleError = WireError

__all__ = [
    "CONSENT_TEXT",
    "CONSENT_VERSION",
    "ENERGY_BOUNDARIES",
    "ENERGY_SOURCES",
    "KNOWN_TASKS",
    "LEDGER_PHASES",
    "MAX_ITEMS",
    "MAX_NESTING",
    "MAX_SAMPLES",
    "SHIPPED_ANSWER_TASKS",
    "TABLES",
    "WORD_COLUMNS",
    "Bundle",
    "BundleError",
    "BundleV2",
    "BundleV3",
    "ItemColumns",
    "PrivacyFinding",
    "RunV2",
    "RunV3",
    "TraceColumns",
    "WireError",
    "canonical_json",
    "check_json_bytes",
    "find_private",
    "parse_bundle",
    "refuse_private",
    "run_identity",
]
