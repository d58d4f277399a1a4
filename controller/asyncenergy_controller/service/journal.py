"""Log lines for whoever reads them: the journal, a file or a terminal."""

import logging
import os
import sys
from typing import TextIO

PRIORITIES = {logging.CRITICAL: 2, logging.ERROR: 3, logging.WARNING: 4, logging.INFO: 6, logging.DEBUG: 7}
"""syslog's numbers, which sd-daemon reads from the start of a line."""


class JournalFormatter(logging.Formatter):
    """One priority a line; the journal has the time itself."""

    def format(self, record: logging.LogRecord) -> str:
        prefix = f"<{PRIORITIES.get(record.levelno, 6)}>"
        return "\n".join(prefix + line for line in super().format(record).splitlines() or [""])


def configure_logging(stream: TextIO = sys.stderr, *, level: int = logging.INFO) -> None:
    """Send the controller's log to `stream`, without colours."""
    handler = logging.StreamHandler(stream)
    plain = logging.Formatter("%(asctime)s %(levelname)s %(message)s", "%Y-%m-%dT%H:%M:%S%z")
    handler.setFormatter(JournalFormatter() if is_journal(stream) else plain)
    logger = logging.getLogger("asyncenergy_controller")
    logger.handlers = [handler]
    logger.setLevel(level)
    logger.propagate = False


def is_journal(stream: TextIO) -> bool:
    """Whether the stream is the one that systemd connected; a child may have another."""
    try:
        status = os.fstat(stream.fileno())
    except (OSError, ValueError):
        return False
    return os.environ.get("JOURNAL_STREAM") == f"{status.st_dev}:{status.st_ino}"
