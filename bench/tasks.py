"""Work outside requests. Each task finds its own work, so it may run twice or be skipped."""

from celery import shared_task

from bench.services import board_rebuild


@shared_task(name="bench.rebuild_board", soft_time_limit=300)
def rebuild_board() -> int:
    return board_rebuild()
