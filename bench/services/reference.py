"""Our own recorded runs: through the same gates, published by the same service."""

import gzip
from dataclasses import dataclass
from pathlib import Path

from django.db import transaction

from accounts.models import User
from bench.errors import AnotherAccount
from bench.services.aliases import alias_list_names
from bench.services.ingest import IngestResult, submission_ingest
from bench.services.moderation import submission_publish_reference

REFERENCE_EMAIL = "reference-data@asyncenergy.invalid"
FOLDER = Path(__file__).resolve().parent.parent / "reference"


@dataclass(frozen=True, slots=True)
class Loaded:
    """One reference bundle: what ingest said, and how many runs this call published."""

    name: str
    result: IngestResult
    n_published: int


def reference_load(*, folder: Path = FOLDER) -> list[Loaded]:
    """Ingest and publish every bundle of the folder; those that are there already change nothing."""
    account = _account()
    return [_load(account, path) for path in sorted(folder.glob("*.json.gz"))]


@transaction.atomic
def _load(account: User, path: Path) -> Loaded:
    result = submission_ingest(account=account, raw=gzip.decompress(path.read_bytes()), is_reference=True)
    alias_list_names(runs=list(result.submission.runs.all()))
    decisions = submission_publish_reference(submission=result.submission)
    return Loaded(path.name, result, len(decisions))


def _account() -> User:
    """The account that nobody can enter. An address that somebody else took is never trusted."""
    found = User.objects.filter(email=REFERENCE_EMAIL).first()
    if found is None:
        return User.objects.create_user(REFERENCE_EMAIL, None, is_active=False)
    if found.is_active or found.has_usable_password():
        raise AnotherAccount(
            f"{REFERENCE_EMAIL} belongs to somebody's account; rename that account first.", code="reference_taken"
        )
    return found
