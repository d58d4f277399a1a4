"""Work outside requests. Each task finds its own work, so it may run twice or be skipped."""

from celery import shared_task

from bench.services import board_rebuild
from bench.services.corpus import corpus_release_due


@shared_task(name="bench.rebuild_board", soft_time_limit=300)
def rebuild_board() -> int:
    return board_rebuild()


@shared_task(name="bench.release_corpus", soft_time_limit=840)
def release_corpus() -> int:
    return 0 if corpus_release_due() is None else 1
