"""What the database knows around a bundle, asked with a fixed number of queries however many runs it has."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from accounts.models import User
from bench.derivation import Aliases, Derived, names_to_look_up
from bench.models import Alias, BoardRow, Node, Run
from bench.selectors.people import same_person


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Facts that only the corpus has: recordings, machines and rows that were there before."""

    fingerprints: frozenset[str]
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
    seen = Run.objects.filter(fingerprint__in=prints).order_by().values_list("fingerprint", flat=True)
    elsewhere = Node.objects.filter(node_hash__in=hashes).exclude(account__in=same_person(account))
    rows = BoardRow.objects.filter(config_key__in=keys).values_list("config_key", "task", "joules_per_token")
    return Surroundings(
        fingerprints=frozenset(print_ for print_ in seen if print_) | _repeated(runs),
        nodes_elsewhere=frozenset(elsewhere.values_list("node_hash", flat=True)),
        peer_joules_per_token={(key, task): value for key, task, value in rows},
    )


def _repeated(runs: Sequence[Derived]) -> frozenset[str]:
    """Recordings that stand twice in one bundle."""
    prints = [one.fingerprint for one in runs if one.fingerprint]
    return frozenset(one for one in prints if prints.count(one) > 1)
