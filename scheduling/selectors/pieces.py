"""An interruptible run is reported piece by piece; only together they are the run."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from uuid import UUID

from django.db.models import Q

from scheduling.models import RunRecord

Pieces = tuple[RunRecord, ...]


def pieces_of(finished: Sequence[RunRecord]) -> Mapping[UUID, Pieces]:
    """Return each finished run with the earlier pieces of its attempt before it; most are their own only piece."""
    earlier: dict[tuple[UUID | None, int | None], list[RunRecord]] = defaultdict(list)
    occurrences = {run.occurrence_id for run in finished if run.piece_of_attempt is not None}
    if occurrences:
        rows = RunRecord.objects.filter(earlier_pieces(), occurrence__in=occurrences).select_related("profile")
        for piece in rows.order_by("ts", "pk"):
            earlier[piece.occurrence_id, piece.piece_of_attempt].append(piece)
    return {run.pk: (*earlier[run.occurrence_id, run.piece_of_attempt], run) for run in finished}


def earlier_pieces() -> Q:
    """What ended as a piece and not as the run."""
    return Q(exit_status=RunRecord.Exit.PREEMPTED, piece_of_attempt__isnull=False)
