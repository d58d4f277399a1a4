"""What the database knows around a bundle, asked with a fixed number of queries however many runs it has."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from accounts.models import User
from bench.derivation import Aliases, Derived, names_to_look_up
from bench.models import Alias, BoardRow, Node, Run, RunMark
from bench.selectors.people import same_person


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Facts that only the corpus has: recordings, machines and rows that were there before."""

    fingerprints: frozenset[str]
    marks: Sequence[frozenset[int]]
    nodes_elsewhere: frozenset[str]
    peer_joules_per_token: Mapping[tuple[str, str | None], float | None]


def known_runs(account: User, identities: Sequence[str]) -> dict[str, Run]:
    """The account's runs with these identities."""
    runs = Run.objects.filter(account=account, identity__in=identities).select_related("submission")
    return {run.identity: run for run in runs.defer("submission__bundle_packed")}


def aliases_for(bundle: Mapping[str, Any]) -> Aliases:
    """What the names of this bundle are called here."""
    found = Alias.objects.filter(raw__in=names_to_look_up(bundle))
    return {(alias.kind, alias.raw): alias.name for alias in found}


def surroundings(account: User, runs: Sequence[Derived]) -> Surroundings:
    """What was there before these runs."""
    prints = {one.fingerprint for one in runs if one.fingerprint}
    hashes = {one.run["node_hash"] for one in runs if one.run.get("node_hash")}
    keys = {one.config_key for one in runs}
    marked = {mark for one in runs for mark in one.marks}
    seen = Run.objects.filter(fingerprint__in=prints).order_by().values_list("fingerprint", flat=True)
    elsewhere = Node.objects.filter(node_hash__in=hashes).exclude(account__in=same_person(account))
    rows = BoardRow.objects.filter(config_key__in=keys).values_list("config_key", "task", "joules_per_token")
    return Surroundings(
        fingerprints=frozenset(print_ for print_ in seen if print_) | _repeated(runs),
        marks=_recordings(marked),
        nodes_elsewhere=frozenset(elsewhere.values_list("node_hash", flat=True)),
        peer_joules_per_token={(key, task): value for key, task, value in rows},
    )


def _recordings(marks: Collection[int]) -> list[frozenset[int]]:
    """Of each stored recording that shares some of these marks, those that it shares."""
    shared: dict[UUID, set[int]] = defaultdict(set)
    for run_id, mark in RunMark.objects.filter(mark__in=marks).values_list("run_id", "mark"):
        shared[run_id].add(mark)
    return [frozenset(found) for found in shared.values()]


def _repeated(runs: Sequence[Derived]) -> frozenset[str]:
    """Recordings that stand twice in one bundle."""
    prints = [one.fingerprint for one in runs if one.fingerprint]
    return frozenset(one for one in prints if prints.count(one) > 1)
