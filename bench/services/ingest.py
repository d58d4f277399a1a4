"""Takes a bundle in: reads it strictly, derives every figure, and stores all of it or nothing."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from asyncenergy_controller.wire import TABLES, WireError, check_json_bytes, parse_bundle, refuse_private
from django.conf import settings
from django.db import IntegrityError, transaction

from accounts.models import User
from asyncenergy import clock
from bench.configuration import item_set
from bench.derivation import Aliases, Derived, Sent, derived, sent_runs
from bench.errors import BundleRefused, BundleTooLarge
from bench.fingerprint import alike
from bench.models import Decision, Node, ReviewStatus, Run, RunColumns, RunMark, Submission
from bench.packing import pack, pack_columns
from bench.services import context
from bench.services.nodes import node_upsert
from bench.services.submitters import require_welcome
from bench.verification import Evidence, GateResult, Severity, bundle_refusals, judge

MAX_BYTES = 16 * 2**20
MAX_PLACES = 20
ACCEPTED, QUARANTINED, DUPLICATE = "accepted", "quarantined", "duplicate"
RULE = "a rule"


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """What became of one run of the bundle: ``accepted``, ``quarantined`` or ``duplicate``."""

    index: int
    status: str
    run: Run


@dataclass(frozen=True, slots=True)
class IngestResult:
    """`created` is False where every run was known: then `submission` is the one that brought them."""

    submission: Submission
    created: bool
    runs: list[RunOutcome]


@dataclass(frozen=True, slots=True)
class _Parcel:
    account: User
    raw: bytes
    bundle: Mapping[str, Any]
    sent: list[Sent]
    now: datetime
    is_reference: bool

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.raw).hexdigest()

    @property
    def generated_at(self) -> datetime:
        return datetime.fromisoformat(self.bundle["generated_at"])


@dataclass(frozen=True, slots=True)
class _Judged:
    one: Derived
    gates: list[GateResult]

    @property
    def is_held(self) -> bool:
        return any(gate.passed is False and gate.severity == Severity.QUARANTINE for gate in self.gates)

    @property
    def marks(self) -> list[dict[str, str]]:
        failed = [gate for gate in self.gates if gate.passed is False and gate.severity == Severity.FLAG]
        return [{"code": gate.code, "label": gate.label or gate.code, "sentence": gate.sentence} for gate in failed]


def submission_ingest(
    *, account: User, raw: bytes, now: datetime | None = None, is_reference: bool = False
) -> IngestResult:
    """Store a bundle's new runs. Raises BundleRefused, BundleTooLarge or Banned, with nothing stored."""
    require_welcome(account)
    bundle, sent = _read(raw)
    parcel = _Parcel(account, raw, bundle, sent, now or clock.now(), is_reference)
    try:
        return _take_in(parcel)
    except IntegrityError:  # the same runs came in at the same moment; now they are known
        return _take_in(parcel)


def _read(raw: bytes) -> tuple[Mapping[str, Any], list[Sent]]:
    """The bundle and its runs, with everything checked that keeps one out."""
    if len(raw) > MAX_BYTES:
        raise BundleTooLarge(len(raw), MAX_BYTES)
    try:
        data = check_json_bytes(raw)
        _check(data)
    except WireError as error:
        raise BundleRefused.of(error) from error
    sent = sent_runs(data)
    _refuse(data, sent)
    return data, sent


def _check(data: Any) -> None:
    """Privacy net and schema: the net's finding comes first, and columns that passed the schema hold only numbers."""
    try:
        parse_bundle(data)
    except WireError:
        refuse_private(data)
        raise
    refuse_private({**data, "runs": [{**run, **dict.fromkeys(TABLES)} for run in data["runs"]]})


def _refuse(bundle: Mapping[str, Any], sent: Sequence[Sent]) -> None:
    found = bundle_refusals(bundle, [one.measured for one in sent], allow_simulated=settings.DEMO)
    places = [{"attr": one.attr, "code": one.code, "detail": one.detail} for one in islice(found, MAX_PLACES)]
    if places:
        more = f" ({len(places) - 1} more places)" if len(places) > 1 else ""
        raise BundleRefused(f"{places[0]['attr']}: {places[0]['detail']}{more}", code=places[0]["code"], errors=places)


def _take_in(parcel: _Parcel) -> IngestResult:
    known = context.known_runs(parcel.account, [one.identity for one in parcel.sent])
    first = {one.identity: one for one in reversed(parcel.sent) if one.identity not in known}
    new = sorted(first.values(), key=lambda one: one.index)
    return _stored(parcel, known, _judged(parcel, new)) if new else _duplicate(parcel, known)


def _duplicate(parcel: _Parcel, known: Mapping[str, Run]) -> IngestResult:
    outcomes = [RunOutcome(one.index, DUPLICATE, known[one.identity]) for one in parcel.sent]
    same = Submission.objects.filter(account=parcel.account, sha256=parcel.sha256).first()
    return IngestResult(same or outcomes[0].run.submission, False, outcomes)


def _judged(parcel: _Parcel, new: Sequence[Sent]) -> list[_Judged]:
    """Recompute and judge, all of it before the transaction, so that no lock waits for arithmetic."""
    aliases = context.aliases_for(parcel.bundle)
    runs = [_derived(one, parcel.bundle, aliases) for one in new]
    around = context.surroundings(parcel.account, runs)
    return [_Judged(one, judge(_evidence(one, _alike(one, runs, around), around, parcel))) for one in runs]


def _alike(one: Derived, beside: Sequence[Derived], around: context.Surroundings) -> int:
    """The most marks that the recording shares with one stored before, or with another of its bundle."""
    others = [*around.marks, *(other.marks for other in beside if other is not one)]
    return max((alike(one.marks, marks) for marks in others), default=0)


def _derived(one: Sent, bundle: Mapping[str, Any], aliases: Aliases) -> Derived:
    try:
        return derived(one, bundle, aliases)
    except ValueError as error:
        attr = f"runs.{one.index}"
        place = {"attr": attr, "code": "contradiction", "detail": str(error)}
        raise BundleRefused(f"{attr}: {error}", code="contradiction", errors=[place]) from error


def _evidence(one: Derived, shared_marks: int, around: context.Surroundings, parcel: _Parcel) -> Evidence:
    return Evidence(
        run=one.run,
        figures=one.figures,
        claimed=one.claimed,
        has_columns=one.items is not None,
        is_scored_by_server=one.is_scored_by_server,
        gpu_class=one.config["gpu_class"],
        idle_w=one.figures.get("idle_empty_w") or one.figures.get("idle_loaded_w"),
        empty_memory_mib=one.empty_memory_mib,
        weights_mib=one.weights_mib,
        peer_joules_per_token=around.peer_joules_per_token.get((one.config_key, one.run.get("task"))),
        ahead_s=(parcel.generated_at - parcel.now).total_seconds(),
        is_seen_elsewhere=one.run.get("node_hash") in around.nodes_elsewhere,
        is_replay=one.fingerprint in around.fingerprints,
        shared_marks=shared_marks,
    )


@transaction.atomic
def _stored(parcel: _Parcel, known: Mapping[str, Run], judged: Sequence[_Judged]) -> IngestResult:
    submission = _submission_create(parcel, is_held=any(one.is_held for one in judged))
    nodes = _nodes_upsert(parcel)
    runs = [_run(submission, nodes, one) for one in judged]
    Run.objects.bulk_create(runs)
    RunColumns.objects.bulk_create(_columns(runs, judged))
    RunMark.objects.bulk_create(_marks(runs, judged))
    Decision.objects.bulk_create(_quarantine(run) for run in runs if run.status == ReviewStatus.QUARANTINED)
    return IngestResult(submission, True, _outcomes(parcel, known, {run.identity: run for run in runs}))


def _submission_create(parcel: _Parcel, *, is_held: bool) -> Submission:
    return Submission.objects.create(
        account=parcel.account,
        sha256=parcel.sha256,
        bundle_packed=pack(parcel.raw),
        bundle_bytes=len(parcel.raw),
        schema_version=parcel.bundle["schema_version"],
        suite=parcel.bundle.get("suite", "quick"),
        status=ReviewStatus.QUARANTINED if is_held else ReviewStatus.PENDING,
        generated_at=parcel.generated_at,
        received_at=parcel.now,
    )


def _nodes_upsert(parcel: _Parcel) -> dict[str, Node]:
    """The machines that the bundle's runs name."""
    told = {entry["node_hash"]: entry for entry in parcel.bundle.get("nodes") or ()}
    nodes: dict[str, Node] = {}
    for one in parcel.sent:
        node_hash = one.run.get("node_hash")
        if node_hash and node_hash not in nodes:
            facts = {**told.get(node_hash, {}), **_hardware(one.run), "node_hash": node_hash}
            nodes[node_hash] = node_upsert(
                account=parcel.account, now=parcel.now, is_reference=parcel.is_reference, **facts
            )
    return nodes


def _hardware(run: Mapping[str, Any]) -> dict[str, Any]:
    return {name: run.get(name) for name in ("gpu_name", "driver_version")}


def _run(submission: Submission, nodes: Mapping[str, Node], judged: _Judged) -> Run:
    one, figures, config = judged.one, judged.one.figures, judged.one.config
    return Run(
        submission=submission,
        account_id=submission.account_id,
        node=nodes.get(one.run.get("node_hash") or ""),
        index=one.sent.index,
        identity=one.sent.identity,
        fingerprint=one.fingerprint,
        status=ReviewStatus.QUARANTINED if judged.is_held else ReviewStatus.PENDING,
        received_at=submission.received_at,
        methodology=one.methodology,
        suite=submission.suite,
        is_simulated=one.is_simulated,
        is_canary=bool(one.run.get("is_canary")),
        measured_at=one.measured_at,
        config_key=one.config_key,
        config=config,
        task=one.run.get("task"),
        model=config["model"],
        quantization=config["quantization"],
        engine=config["engine"],
        gpu_class=config["gpu_class"],
        item_set=item_set(one.run),
        tier=figures["tier"],
        tier_claimed=one.claimed.get("measurement_tier"),
        correctness_word=Run.Word.SERVER if one.is_scored_by_server else Run.Word.SUBMITTER,
        energy_j=figures["total_joules_gpu_best"],
        joules_per_correct_answer=figures["joules_per_correct_answer"],
        joules_per_token=figures["joules_per_token"],
        n_items=figures["n_items"],
        n_correct=figures["n_correct"],
        figures=figures,
        claimed=one.claimed,
        facts=one.facts,
        gates=[gate.as_dict() for gate in judged.gates],
        flags=judged.marks,
    )


def _columns(runs: Sequence[Run], judged: Sequence[_Judged]) -> list[RunColumns]:
    return [
        RunColumns(run=run, items_packed=pack_columns(one.one.items), trace_packed=pack_columns(one.one.trace))
        for run, one in zip(runs, judged, strict=True)
        if one.one.items is not None and one.one.trace is not None
    ]


def _marks(runs: Sequence[Run], judged: Sequence[_Judged]) -> list[RunMark]:
    pairs = zip(runs, judged, strict=True)
    return [RunMark(run_id=run.pk, mark=mark) for run, one in pairs for mark in one.one.marks]


def _quarantine(run: Run) -> Decision:
    held = [gate for gate in run.gates if gate["severity"] == Severity.QUARANTINE and gate["passed"] is False]
    return Decision(
        run=run,
        action=Decision.Action.QUARANTINE,
        from_status=ReviewStatus.PENDING,
        to_status=ReviewStatus.QUARANTINED,
        reason_code=Decision.Reason.RULE,
        note=" ".join(gate["sentence"] for gate in held),
        decider=RULE,
        at=run.received_at,
    )


def _outcomes(parcel: _Parcel, known: Mapping[str, Run], new: dict[str, Run]) -> list[RunOutcome]:
    """One outcome for each run of the bundle; a run that stands twice in it is new once."""
    outcomes = []
    for one in parcel.sent:
        run = new.get(one.identity)
        if run is None or run.index != one.index:
            outcomes.append(RunOutcome(one.index, DUPLICATE, run or known[one.identity]))
        else:
            held = run.status == ReviewStatus.QUARANTINED
            outcomes.append(RunOutcome(one.index, QUARANTINED if held else ACCEPTED, run))
    return outcomes
