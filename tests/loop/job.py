"""What the jobs of the campaigns do: say that they begin, work for a while, say that they are done."""

import os
import sys
import time


def say(ledger: str, word: str) -> None:
    """One line in one write, so that no line is ever half there."""
    handle = os.open(ledger, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(handle, f"{word} {sys.argv[2]} {os.environ['ASYNCENERGY_RUN_ID']}\n".encode())
    os.close(handle)


say(sys.argv[1], "begin")
time.sleep(float(sys.argv[3]))
say(sys.argv[1], "end")
